/**
 * Which rows that may update others share a statement: PostgreSQL updates no row twice in one. Whether two keys are the
 * same is for the database to say; here they are compared as the request wrote them. Where that was wrong the database
 * refuses, and the rows are written apart.
 */
import type { OnConflict } from '../../../../ir/mutation.ts';
import type { Operand } from '../../../../ir/value.ts';
import { printJson } from '../../../../util/json.ts';
import type { LevelRow } from './insert-level.ts';

export interface Parts {
  readonly written: readonly (readonly LevelRow[])[];
  /** Rows that change nothing after an earlier one, which others refer to in their place. */
  readonly repeated: readonly { readonly row: LevelRow; readonly of: LevelRow }[];
  /** By row: another text is most likely another row of the table; null where nothing is known. */
  readonly texts: readonly string[] | null;
}

const NOTHING_REPEATED: Parts['repeated'] = [];

/** Each in a statement of its own, but for neighbours of the same parent that have nothing nested. */
export function apart(rows: readonly LevelRow[]): readonly (readonly LevelRow[])[] {
  const parts: LevelRow[][] = [];
  let last: LevelRow | null = null;
  for (const row of rows) {
    const plain = row.row.before.length === 0 && row.number === null;
    if (plain && last !== null && last.fills === row.fills) parts.at(-1)?.push(row);
    else parts.push([row]);
    last = plain ? row : null;
  }
  return parts;
}

/**
 * Each key once in a statement. The rows of a key stay in their order.
 * @param key columns of the conflict
 * @param inOrder whether all rows do
 * @param update what becomes of a row that is there, where it is known to change nothing else; null: this is not known
 */
export function united(rows: readonly LevelRow[], key: readonly string[], inOrder: boolean, update: OnConflict['update']): Parts {
  const texts = rows.map((row, i) => keyText(row, key) ?? `${i}`);
  /** By key the last row, and the part that it is in. */
  const last = new Map<string, { readonly row: LevelRow; readonly part: number }>();
  const written: LevelRow[][] = [];
  const repeated: Parts['repeated'][number][] = [];
  rows.forEach((row, i) => {
    const text = texts[i] as string;
    const before = last.get(text);
    if (before !== undefined && update !== null && changesNothing(row, before.row, update)) {
      repeated.push({ row, of: before.row });
      return;
    }
    const next = before === undefined ? 0 : before.part + 1;
    const part = inOrder ? Math.max(next, written.length - 1) : next;
    last.set(text, { row, part });
    const rowsOfPart = written[part];
    if (rowsOfPart === undefined) written.push([row]);
    else rowsOfPart.push(row);
  });
  return { written, repeated: repeated.length === 0 ? NOTHING_REPEATED : repeated, texts };
}

/** Null where no other row can have the same: a null, or what the database generates. */
function keyText({ row, fills }: LevelRow, key: readonly string[]): string | null {
  let text = 'k';
  for (const column of key) {
    const fill = fills.get(column);
    const operand = row.values.get(column);
    const part = fill === undefined ? (operand === undefined ? null : operandText(operand)) : `of ${fill.of}`;
    if (part === null) return null;
    text += `${part.length} ${part}`;
  }
  return text;
}

/** The same for values that are the same, whatever the request; null for null. */
function operandText({ value }: Operand): string | null {
  switch (value.kind) {
    case 'literal':
      return value.json === null ? null : `json ${printJson(value.json)}`;
    case 'session':
      return `session ${value.name}`;
    case 'variable':
      return `variable ${value.name} ${JSON.stringify(value.path)}`;
    default:
      return `${value.kind} ${JSON.stringify(value)}`;
  }
}

/** Whether a row leaves the one of the same key that was written last as it is. */
function changesNothing({ row, fills, number }: LevelRow, last: LevelRow, update: NonNullable<OnConflict['update']>): boolean {
  if (number !== null && last.number === null) return false;
  if (fills.size > 0 || last.fills.size > 0 || update.presets.size > 0) return false;
  if (!isTrue(update.where) || (update.check !== null && !isTrue(update.check))) return false;
  return update.columns.every((column) => {
    const [value, other] = [row.values.get(column), last.row.values.get(column)];
    return value !== undefined && other !== undefined && (value === other || operandText(value) === operandText(other));
  });
}

function isTrue(condition: NonNullable<OnConflict['update']>['where']): boolean {
  return condition.kind === 'constant' && condition.value;
}
