/**
 * Finds the inserted row that the database refused by the values in its error. A row is reported only if the error can be about no row with
 * other values.
 */
import type { RowsOfRequest } from '../../backend/backend.ts';
import type { CatalogType } from '../../catalog/catalog.ts';
import type { Json } from '../../util/json.ts';
import type { Path } from '../../util/path.ts';
import { encoder } from './coerce/encode.ts';
import type { DatabaseError } from './driver/database-error.ts';
import { sqlName } from './sql-name.ts';

/** Returns the path of the row; `null` if it is not certain. Reads each value once or twice. */
export function wrongRow(failure: DatabaseError, rowsOf: () => RowsOfRequest): Path | null {
  const { code } = failure;
  // Errors in functions of the database are about their own values.
  if (failure.where !== null && failure.where !== '' && !PARAMETER.test(failure.where)) return null;
  if (code.startsWith('22')) {
    const rows = rowsOf();
    return placeOf(rows, unreadable(failure.message, rows));
  }
  if (!code.startsWith('23')) return null;
  const rows = rowsOf();
  if (!rows.unchanged || failure.table !== rows.table.name || failure.schema !== rows.table.schema) return null;
  switch (code) {
    case '23502':
      return placeOf(rows, withoutValue(failure.column, rows));
    case '23503':
      return placeOf(rows, first(withKey(failure.detail, rows, false)));
    case '23505':
      return placeOf(rows, only(withKey(failure.detail, rows, true)));
    case '23514':
      return placeOf(rows, only(likeDescribed(failure.detail, rows)));
    default:
      return null;
  }
}

/** Part of the context of an error in a parameter, in any language of the server. */
const PARAMETER = /\$\d/;

function placeOf(rows: RowsOfRequest, index: number | null): Path | null {
  return index === null ? null : rows.place(index);
}

function first(indexes: readonly number[]): number | null {
  return indexes[0] ?? null;
}

function only(indexes: readonly number[]): number | null {
  return indexes.length === 1 ? first(indexes) : null;
}

/** Names of types in messages that differ from both the catalog's name and `sqlName`. */
const MESSAGE_NAMES: Readonly<Record<string, string>> = { timestamptz: 'timestamp with time zone', timetz: 'time with time zone' };

/** Returns the first row with the text that a type cannot read: every row with it is wrong. */
function unreadable(message: string, rows: RowsOfRequest): number | null {
  const start = message.indexOf('"');
  const end = message.lastIndexOf('"');
  if (end <= start) return null;
  const text = message.slice(start + 1, end);
  const isNamed = (name: string): boolean => message.startsWith(` ${name}: `, start - name.length - 3) || message.endsWith(` ${name}`);
  const found = rows.columns.flatMap(({ name, type }) => {
    if (isText(type) || type.array) return [];
    const index = textsOf(rows, name, type).indexOf(text);
    return index < 0 ? [] : [{ type, index }];
  });
  const named = found.filter(({ type }) => isNamed(MESSAGE_NAMES[type.name] ?? sqlName(type)));
  const candidates = named.length > 0 ? named : found;
  const [one] = candidates;
  if (one === undefined || candidates.some(({ type }) => type.name !== one.type.name || type.schema !== one.type.schema)) return null;
  return Math.min(...candidates.map(({ index }) => index));
}

/** Returns the first row with null or no value in a column. */
function withoutValue(column: string | null, rows: RowsOfRequest): number | null {
  if (column === null || !rows.columns.some(({ name }) => name === column)) return null;
  const cells = rows.cells(column);
  const explicit = cells.indexOf(null);
  const missing = cells.indexOf(undefined);
  // A row without a value may get null or a default.
  if (explicit >= 0 && missing >= 0) return null;
  return explicit >= 0 ? explicit : missing >= 0 ? missing : null;
}

/** Returns rows with the key of `Key (a, b)=(1, x) …`. @param all whether to return none if another row may have the key in another form */
function withKey(detail: string | null, rows: RowsOfRequest, all: boolean): readonly number[] {
  const open = detail?.indexOf('(') ?? -1;
  const middle = detail?.indexOf(')=(') ?? -1;
  if (detail === null || open < 0 || middle < open) return [];
  const value = detail.slice(middle + 3, detail.lastIndexOf(')'));
  const texts: (readonly (string | null | undefined)[])[] = [];
  const names = detail.slice(open + 1, middle).split(', ');
  for (const name of names) {
    const column = rows.columns.find((one) => one.name === name);
    if (column === undefined) return [];
    const cells = rows.cells(name).map((cell) => (cell === undefined ? undefined : exactText(cell, column.type)));
    if (cells.some((cell) => (cell === undefined ? all : names.length > 1 && cell?.includes(', ') === true))) return [];
    texts.push(cells);
  }
  const [one] = texts;
  const isThat = (i: number): boolean => {
    const parts = texts.map((column) => column[i]);
    return parts.every((part) => typeof part === 'string') && parts.join(', ') === value;
  };
  return one === undefined ? [] : one.flatMap((_, i) => (isThat(i) ? [i] : []));
}

/** Maximum length of values in messages, which truncate longer ones. */
const CUT_AT = 64;

/** Returns rows that may be the one of `Failing row contains (1, x, null).` */
function likeDescribed(detail: string | null, rows: RowsOfRequest): readonly number[] {
  const open = detail?.indexOf('(') ?? -1;
  // The detail has the names of columns if the service may not read all of them.
  if (detail === null || open < 0 || detail.includes(') = (')) return [];
  const described = `, ${detail.slice(open + 1, detail.lastIndexOf(')'))}, `;
  let like: readonly number[] | null = null;
  for (const { name, type } of rows.columns) {
    const fits = (cell: Json | undefined): boolean => {
      const text = cell === undefined ? undefined : exactText(cell, type);
      if (text === undefined) return true;
      if (text !== null && (Buffer.byteLength(text) > CUT_AT || text.endsWith(' '))) return true;
      return described.includes(`, ${text ?? 'null'}, `);
    };
    const cells = rows.cells(name);
    const before: readonly number[] = like ?? cells.map((_, i) => i);
    like = before.filter((i) => fits(cells[i]));
  }
  return like ?? [];
}

/** Returns a value as the database prints it; `undefined` if that is unknown. */
function exactText(cell: Json, type: CatalogType): string | null | undefined {
  if (cell === null) return null;
  const text = encoder({ type, list: false, value: { kind: 'literal', json: cell } })(cell);
  if (text === null || type.array || type.schema !== 'pg_catalog') return undefined;
  switch (type.name) {
    case 'text':
    case 'varchar':
      return text;
    case 'int2':
    case 'int4':
    case 'int8':
      return /^(?:0|-?[1-9]\d*)$/.test(text) ? text : undefined;
    case 'bool':
      return typeof cell === 'boolean' ? (cell ? 't' : 'f') : undefined;
    case 'uuid':
      return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text) ? text : undefined;
    default:
      return undefined;
  }
}

function isText({ schema, name }: CatalogType): boolean {
  return schema === 'pg_catalog' && (name === 'text' || name === 'varchar' || name === 'bpchar');
}

function textsOf(rows: RowsOfRequest, column: string, type: CatalogType): readonly (string | null)[] {
  return rows.cells(column).map((cell) => {
    return cell === undefined || cell === null ? null : encoder({ type, list: false, value: { kind: 'literal', json: cell } })(cell);
  });
}
