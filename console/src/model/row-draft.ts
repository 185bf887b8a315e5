/** Edited values of a row, and the editors of its columns. */
import { cellText, jsonOfText } from './cell-text.ts';
import type { Json } from './json.ts';

/** Distinguishes null, text that may be empty, and the default of the database. */
export type ColumnDraft = { readonly kind: 'text'; readonly text: string } | { readonly kind: 'null' } | { readonly kind: 'unset' };

export type Drafts = Readonly<Record<string, ColumnDraft>>;

export type EditorKind = 'text' | 'number' | 'boolean' | 'date' | 'time' | 'datetime' | 'instant' | 'json' | 'list' | 'choice';

const NUMBERS = /^(?:Int|Float|bigint|numeric|smallint|float[48]|int[28]|decimal|double|double_precision|money|bigserial)$/;
const TIMES: Readonly<Record<string, EditorKind>> = {
  date: 'date',
  time: 'time',
  timetz: 'time',
  timestamp: 'datetime',
  timestamptz: 'instant',
  datetime: 'datetime',
};

/** Returns the editor for a GraphQL type. @param hasChoices true if the values of the column are listed */
export function editorOf(type: string, hasChoices: boolean): EditorKind {
  const core = type.replaceAll('!', '');
  if (hasChoices) return 'choice';
  if (core.startsWith('[')) return 'list';
  if (core === 'Boolean') return 'boolean';
  if (/^jsonb?$/.test(core)) return 'json';
  return TIMES[core.toLowerCase()] ?? (NUMBERS.test(core) ? 'number' : 'text');
}

/** Returns the draft for an edited text. Only texts can be empty: other columns get null, or their default if that is not allowed. */
export function draftOfText(text: string, editor: EditorKind, isNullable: boolean, isNew: boolean): ColumnDraft {
  if (text !== '' || editor === 'text') return { kind: 'text', text };
  if (isNew) return { kind: 'unset' };
  return isNullable ? { kind: 'null' } : { kind: 'text', text };
}

/** Returns true if a draft changes nothing. */
export function isUnchanged(before: Json | undefined, draft: ColumnDraft): boolean {
  return draft.kind === 'null' ? before === null : draft.kind === 'text' && before !== null && cellText(before) === draft.text;
}

/** Returns the values of the drafts, and by column what is wrong with a draft. @param types GraphQL types by column */
export function valuesOf(
  drafts: Drafts,
  types: ReadonlyMap<string, string>,
): { readonly values: Readonly<Record<string, Json>>; readonly problems: Readonly<Record<string, string>> } {
  const values: Record<string, Json> = {};
  const problems: Record<string, string> = {};
  for (const [name, draft] of Object.entries(drafts)) {
    const type = types.get(name) ?? 'String';
    try {
      if (draft.kind !== 'unset') values[name] = draft.kind === 'null' ? null : jsonOfText(draft.text, type);
    } catch (error) {
      problems[name] = `Not a valid ${type}: ${error instanceof Error ? error.message : String(error)}`;
    }
  }
  return { values, problems };
}

/** Returns the column that an error of a write names, by its path such as `….objects[0].name` or by its message. */
export function columnOfError(message: string, path: string | undefined, columns: Iterable<string>): string | undefined {
  const known = new Set(columns);
  const last = /(?:objects\[\d+\]|_set)\.(\w+)$/.exec(path ?? '')?.[1];
  if (last !== undefined && known.has(last)) return last;
  const named = /column "([^"]+)"|Column '([^']+)'/.exec(message);
  const column = named?.[1] ?? named?.[2];
  return column !== undefined && known.has(column) ? column : undefined;
}

/** Returns drafts with the values of some columns of a row. Columns without a value are left out. */
export function draftsOf(row: Readonly<Record<string, Json>>, columns: Iterable<string>): Drafts {
  const drafts: Record<string, ColumnDraft> = {};
  for (const name of columns) {
    const json = row[name];
    if (json !== undefined) drafts[name] = json === null ? { kind: 'null' } : { kind: 'text', text: cellText(json) ?? '' };
  }
  return drafts;
}
