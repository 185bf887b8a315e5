/** Splits the rows of a request into statements of a few sizes, so that their texts stay prepared. */
import type { RepeatedRows } from '../../backend/statement-flow.ts';
import { isJsonArray, type Json, parseJson } from '../../util/json.ts';

export interface RepeatedStatement {
  readonly text: string;
  readonly values: readonly (string | null)[];
  readonly rows: number;
}

const SIZES = [256, 64, 16, 4, 1] as const;
/** Maximum values of a statement; the protocol allows 65,535. */
const MAX_VALUES = 20_000;
/** Maximum characters of the values of a statement with several rows, so that it fits into a packet together with its other values. */
const MAX_CHARACTERS = 262_144;

/** @param values of the parameters; lists are JSON arrays of texts and nulls, all of the same length */
export function* repeatedStatements(
  { before, row, after, lists }: RepeatedRows,
  values: readonly (string | null)[],
): Iterable<RepeatedStatement> {
  const columns = lists.map((isList, i) => (isList ? itemsOf(values[i] ?? '[]') : (values[i] ?? null)));
  const rest = values.slice(lists.length);
  const count = Math.max(0, ...columns.map((column) => (typeof column === 'string' || column === null ? 0 : column.length)));
  for (let start = 0; start < count; ) {
    const size = sizeOf(columns, start, count);
    const cells: (string | null)[] = [];
    for (let i = start; i < start + size; i++) for (const column of columns) cells.push(cellOf(column, i));
    const tuples = Array.from({ length: size }, () => row).join(', ');
    yield { text: `${before}${tuples}${after}`, values: [...cells, ...rest], rows: size };
    start += size;
  }
}

type Column = readonly (string | null)[] | string | null;

function cellOf(column: Column, index: number): string | null {
  return typeof column === 'string' || column === null ? column : (column[index] ?? null);
}

function itemsOf(text: string): readonly (string | null)[] {
  const items = parseJson(text);
  if (!isJsonArray(items)) throw new Error('invariant: a list of values is an array');
  return items.map((item: Json) => (typeof item === 'string' ? item : null));
}

function sizeOf(columns: readonly Column[], start: number, count: number): number {
  return SIZES.find((size) => size === 1 || isSize(columns, start, count, size)) ?? 1;
}

function isSize(columns: readonly Column[], start: number, count: number, size: number): boolean {
  if (start + size > count || size * columns.length > MAX_VALUES) return false;
  let characters = 0;
  for (let i = start; i < start + size; i++) for (const column of columns) characters += cellOf(column, i)?.length ?? 0;
  return characters <= MAX_CHARACTERS;
}
