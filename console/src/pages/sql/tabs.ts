/** Open SQL texts, stored in this browser, and the history of statements, stored there without those that may hold a password. */
import { computed, signal } from '@preact/signals';
import { remember, remembered } from '../../browser/storage.ts';
import { mayHoldPassword } from '../../model/sql-statements.ts';
import { showToast } from '../../parts/toast.tsx';

export interface SqlTab {
  readonly id: number;
  readonly text: string;
  /** Name of a saved statement that was opened in the tab. */
  readonly name?: string;
}

const HISTORY_LENGTH = 50;
/** Maximum length of the label of a tab without a name. */
const MAX_LABEL = 24;

export const sqlTabs = signal<readonly SqlTab[]>(remembered<readonly SqlTab[]>('sql-tabs', [{ id: 1, text: '' }]));
const chosenId = signal(sqlTabs.peek()[0]?.id ?? 1);
export const chosenTab = computed<SqlTab>(
  () => sqlTabs.value.find(({ id }) => id === chosenId.value) ?? sqlTabs.value[0] ?? { id: 1, text: '' },
);
export const sqlHistory = signal<readonly string[]>(
  remembered<readonly string[]>('sql-history', []).filter((sql) => !mayHoldPassword(sql)),
);

function keep(tabs: readonly SqlTab[]): void {
  sqlTabs.value = tabs;
  remember('sql-tabs', tabs);
}

export function chooseTab(id: number): void {
  chosenId.value = id;
}

/** Replaces the text of the open tab. */
export function writeText(text: string): void {
  const { id } = chosenTab.peek();
  keep(sqlTabs.peek().map((tab) => (tab.id === id ? { ...tab, text } : tab)));
}

/** Names the open tab after a saved statement. */
export function nameTab(name: string): void {
  const { id } = chosenTab.peek();
  keep(sqlTabs.peek().map((tab) => (tab.id === id ? { ...tab, name } : tab)));
}

/** Opens a text in a new tab, or in the open one if that is empty. */
export function openText(text: string, name?: string): void {
  const tab = { id: Math.max(0, ...sqlTabs.peek().map(({ id }) => id)) + 1, text, ...(name === undefined ? {} : { name }) };
  const empty = chosenTab.peek();
  keep(text !== '' && empty.text.trim() === '' ? sqlTabs.peek().map((each) => (each === empty ? tab : each)) : [...sqlTabs.peek(), tab]);
  chosenId.value = tab.id;
}

/** Closes a tab. If it has text, a message offers to open it again. */
export function closeSqlTab(id: number): void {
  const closed = sqlTabs.peek().find((tab) => tab.id === id);
  if (closed !== undefined && closed.text.trim() !== '')
    showToast(`Closed ${labelOfTab(closed)}`, { actions: [{ label: 'Undo', run: () => openText(closed.text, closed.name) }] });
  const rest = sqlTabs.peek().filter((tab) => tab.id !== id);
  keep(rest.length > 0 ? rest : [{ id: id + 1, text: '' }]);
  if (chosenId.peek() === id) chosenId.value = sqlTabs.peek()[0]?.id ?? 1;
}

export function labelOfTab({ id, text, name }: SqlTab): string {
  if (name !== undefined) return name;
  const line = text
    .replace(/--[^\n]*/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  if (line === '') return `statement ${id}`;
  return line.length > MAX_LABEL ? `${line.slice(0, MAX_LABEL)}…` : line;
}

export function addToSqlHistory(sql: string): void {
  if (mayHoldPassword(sql)) return;
  sqlHistory.value = [sql, ...sqlHistory.peek().filter((each) => each !== sql)].slice(0, HISTORY_LENGTH);
  remember('sql-history', sqlHistory.peek());
}
