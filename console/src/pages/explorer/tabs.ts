/** The documents that are open and those that were run; of this browser, without headers. */
import { signal } from '@preact/signals';
import { remember, remembered } from '../../browser/storage.ts';

export interface Draft {
  readonly id: number;
  readonly text: string;
  readonly variables: string;
}

export interface HistoryEntry {
  readonly text: string;
  readonly variables: string;
  readonly at: string;
  readonly isStarred: boolean;
}

const MOST_HISTORY = 200;
const FIRST = '# Ctrl+Enter runs it, Ctrl+Space helps\n{\n  \n}\n';

export const drafts = signal<readonly Draft[]>(remembered<readonly Draft[]>('explorer', [{ id: 1, text: FIRST, variables: '' }]));
export const chosenDraft = signal(drafts.peek()[0]?.id ?? 1);
export const history = signal<readonly HistoryEntry[]>(remembered<readonly HistoryEntry[]>('history', []));

export function changeDraft(id: number, changes: Partial<Draft>): void {
  drafts.value = drafts.peek().map((draft) => (draft.id === id ? { ...draft, ...changes } : draft));
  remember('explorer', drafts.peek());
}

export function openDraft(text = FIRST, variables = ''): void {
  const id = Math.max(0, ...drafts.peek().map((draft) => draft.id)) + 1;
  drafts.value = [...drafts.peek(), { id, text, variables }];
  chosenDraft.value = id;
  remember('explorer', drafts.peek());
}

export function closeDraft(id: number): void {
  const rest = drafts.peek().filter((draft) => draft.id !== id);
  drafts.value = rest.length > 0 ? rest : [{ id: id + 1, text: FIRST, variables: '' }];
  if (chosenDraft.peek() === id) chosenDraft.value = drafts.peek()[0]?.id ?? 1;
  remember('explorer', drafts.peek());
}

export function isUntouched(text: string): boolean {
  return text === FIRST;
}

export function addToHistory(text: string, variables: string): void {
  const known = history.peek().find((entry) => entry.text === text && entry.variables === variables);
  const entry: HistoryEntry = { text, variables, at: new Date().toISOString(), isStarred: known?.isStarred ?? false };
  const others = history.peek().filter((each) => each !== known);
  const kept = [entry, ...others];
  const stars = kept.filter(({ isStarred }) => isStarred);
  history.value = kept.slice(0, MOST_HISTORY).concat(stars.filter((star) => kept.indexOf(star) >= MOST_HISTORY));
  remember('history', history.peek());
}

export function star(entry: HistoryEntry): void {
  history.value = history.peek().map((each) => (each === entry ? { ...each, isStarred: !each.isStarred } : each));
  remember('history', history.peek());
}
