/** Open SQL texts, stored in this browser. */
import { type TextTab, textTabs } from '../../browser/text-tabs.ts';
import { showToast } from '../../parts/toast.tsx';

interface SqlText {
  readonly text: string;
  /** Name of a saved statement that was opened in the tab. */
  readonly name?: string;
}

export type SqlTab = TextTab<SqlText>;

/** Maximum length of the label of a tab without a name. */
const MAX_LABEL = 24;

export const sqlTabs = textTabs<SqlText>('sql-tabs', { text: '' });

/** Changes the open tab. */
export function updateOpenTab(changes: Partial<SqlText>): void {
  sqlTabs.update(sqlTabs.chosen.peek().id, changes);
}

/** Opens a text in a new tab, or in the open one if that is empty. */
export function openText(text: string, name?: string): void {
  const open = sqlTabs.chosen.peek();
  const replaced = text !== '' && open.text.trim() === '' ? open.id : undefined;
  sqlTabs.open({ text, ...(name === undefined ? {} : { name }) }, replaced);
}

/** Closes a tab. If it has text, a message offers to open it again. */
export function closeSqlTab(id: number): void {
  const closed = sqlTabs.all.peek().find((tab) => tab.id === id);
  if (closed !== undefined && closed.text.trim() !== '')
    showToast(`Closed ${labelOfTab(closed)}`, { actions: [{ label: 'Undo', run: () => openText(closed.text, closed.name) }] });
  sqlTabs.close(id);
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
