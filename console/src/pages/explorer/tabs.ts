/** Open queries and the history, stored in this browser without headers. */
import { signal } from '@preact/signals';
import type { GraphqlEndpoint } from '../../api/graphql.ts';
import { remember, remembered } from '../../browser/storage.ts';
import { type TextTab, textTabs } from '../../browser/text-tabs.ts';

export type QueryTab = TextTab<{ readonly text: string; readonly variables: string }>;

export interface HistoryEntry {
  readonly text: string;
  readonly variables: string;
  readonly at: string;
  readonly isStarred: boolean;
}

const HISTORY_LENGTH = 200;
const INITIAL_TEXT = '# Ctrl+Enter runs the query, Ctrl+Space completes it\n{\n  \n}\n';

export const queryTabs = textTabs('explorer', { text: INITIAL_TEXT, variables: '' });
export const queryHistory = signal<readonly HistoryEntry[]>(remembered<readonly HistoryEntry[]>('history', []));

/** Endpoint of all tabs. */
export const endpoint = signal<GraphqlEndpoint>(remembered<GraphqlEndpoint>('explorer-endpoint', 'v1/graphql'));

export function chooseEndpoint(next: GraphqlEndpoint): void {
  endpoint.value = next;
  remember('explorer-endpoint', next);
}

export function isUntouched(text: string): boolean {
  return text === INITIAL_TEXT;
}

export function addToHistory(text: string, variables: string): void {
  const known = queryHistory.peek().find((entry) => entry.text === text && entry.variables === variables);
  const entry: HistoryEntry = { text, variables, at: new Date().toISOString(), isStarred: known?.isStarred ?? false };
  const others = queryHistory.peek().filter((each) => each !== known);
  const all = [entry, ...others];
  const stars = all.filter(({ isStarred }) => isStarred);
  queryHistory.value = all.slice(0, HISTORY_LENGTH).concat(stars.filter((star) => all.indexOf(star) >= HISTORY_LENGTH));
  remember('history', queryHistory.peek());
}

export function star(entry: HistoryEntry): void {
  queryHistory.value = queryHistory.peek().map((each) => (each === entry ? { ...each, isStarred: !each.isStarred } : each));
  remember('history', queryHistory.peek());
}
