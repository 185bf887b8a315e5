/**
 * Assignment of rows that may update others to statements: PostgreSQL does not update a row twice in one statement. Keys are compared as
 * the request wrote them, although only the database decides whether two are equal. If the comparison was wrong, the database refuses the
 * statement, and the fallback writes the rows one by one.
 */
import type { OnConflict } from '../../../../ir/mutation.ts';
import type { Operand } from '../../../../ir/value.ts';
import { printJson } from '../../../../util/json.ts';
import type { LevelRow } from './insert-level.ts';

export interface Parts {
  readonly written: readonly (readonly LevelRow[])[];
  /** Rows that change nothing after an earlier one, to which other rows refer in their place. */
  readonly repeated: readonly { readonly row: LevelRow; readonly of: LevelRow }[];
  /** Texts by row: different texts are most likely different rows of the table. `null` if nothing is known. */
  readonly texts: readonly string[] | null;
}

const NOTHING_REPEATED: Parts['repeated'] = [];

/** Puts each row into a statement of its own, except for consecutive rows of the same parent without nested rows. */
export function separated(rows: readonly LevelRow[]): readonly (readonly LevelRow[])[] {
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
 * Puts each key into a statement at most once. The rows of a key keep their order.
 * @param key columns of the conflict
 * @param inOrder whether all rows keep their order
 * @param update update of existing rows, if it is known to have no other effects
 */
export function combined(rows: readonly LevelRow[], key: readonly string[], inOrder: boolean, update: OnConflict['update']): Parts {
  const texts = rows.map((row, i) => keyText(row, key) ?? `${i}`);
  /** Last row by key, with its part. */
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

/** Returns `null` if no other row can have the same key: it has a null or a generated value. */
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

/** Returns equal texts for values that are equal in any request; `null` for null. */
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

/** Returns whether a row changes nothing in the last written row with its key. */
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
