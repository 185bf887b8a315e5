/** Rows of a response as a table: fields of nested objects become columns of their own. */
import { cellText } from './cell-text.ts';
import { isList, isObject, type Json, type JsonObject } from './json.ts';

export interface FlatRows {
  /** Such as `artist.name`. */
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | null)[])[];
}

/** A list of objects in a response. */
export interface RowList {
  /** Such as `album`, or `library.album`. */
  readonly path: string;
  readonly rows: readonly JsonObject[];
}

/** Returns the lists of objects in a response that are in no other list. Empty lists are left out. */
export function rowLists(json: Json | undefined, path = ''): readonly RowList[] {
  if (isList(json)) {
    const rows = json.filter(isObject);
    return rows.length > 0 && rows.length === json.length ? [{ path, rows }] : [];
  }
  if (!isObject(json)) return [];
  return Object.entries(json).flatMap(([key, value]) => rowLists(value, path === '' ? key : `${path}.${key}`));
}

/** Spreads nested objects over columns. Lists stay JSON. */
export function flatRows(rows: readonly JsonObject[]): FlatRows {
  const flat = rows.map((row) => new Map(cellsOf(row, '')));
  const first = (column: string): string => column.split('.', 1)[0] ?? '';
  const found = [...new Set(flat.flatMap((cells) => [...cells.keys()]))];
  const order = [...new Set(found.map(first))];
  const all = found.toSorted((a, b) => order.indexOf(first(a)) - order.indexOf(first(b)));
  // A row whose nested object is null has no columns for it: the column of the object itself is left out, unless all rows lack the object.
  const columns = all.filter((column) => !all.some((other) => other.startsWith(`${column}.`)));
  return { columns, rows: flat.map((cells) => columns.map((column) => cells.get(column) ?? null)) };
}

function cellsOf(row: JsonObject, prefix: string): (readonly [string, string | null])[] {
  return Object.entries(row).flatMap(([key, value]) => {
    const name = `${prefix}${key}`;
    return isObject(value) && Object.keys(value).length > 0 ? cellsOf(value, `${name}.`) : [[name, cellText(value)] as const];
  });
}
