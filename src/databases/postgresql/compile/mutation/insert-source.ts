/**
 * Sources of inserted rows. Few rows are a list of values, which may contain `default`. Many rows with the same columns are one array per
 * column, so that neither the text of the statement nor the number of its parameters grows with the rows.
 */
import type { CatalogType } from '../../../../catalog/catalog.ts';
import type { InsertColumn, UniformRows } from '../../../../ir/mutation.ts';
import type { Operand, Value } from '../../../../ir/value.ts';
import { EMPTY, identifier, integer, join, parameter, string, type Sql, sql } from '../../../../sql/fragment.ts';
import { encoder, isJsonType } from '../../coerce/encode.ts';
import { baseType } from '../../operators.ts';
import type { Context } from '../context.ts';
import { fromTextSql, isSpatial, operandSql } from '../operand.ts';
import { typeNameSql } from '../type-name.ts';
import type { Fill, Fills, LevelRow } from './insert-level.ts';
import { filledSql, keysSql } from './transaction-local-keys.ts';
import type { SettingSlot } from './program.ts';
import { setRowNumber, UNNUMBERED } from './row-number.ts';

/** Number of rows from which on arrays are used. */
const MANY_ROWS = 50;
/** Maximum number of values in one statement; the protocol's limit for parameters is 65,535. */
const MAX_VALUES = 20_000;
/**
 * Maximum number of rows in one list whose values come from other rows: each is a subquery, and the time to plan grows with their square.
 */
const MAX_FILLED = 100;

const TEXT = baseType('text');
const INT = baseType('int4');

/** Rows that one statement inserts. */
export type Batch =
  | { readonly kind: 'values'; readonly rows: readonly LevelRow[] }
  /** One row with values from other rows. */
  | { readonly kind: 'select'; readonly rows: readonly LevelRow[] }
  | { readonly kind: 'arrays'; readonly rows: readonly LevelRow[] }
  /** Any number of rows, as one array per column. */
  | { readonly kind: 'uniform'; readonly rows: UniformRows; readonly fills: Fills };

/**
 * Splits rows into statements in their order.
 * @param numbersRows if false, rows that others refer to are written alone, and lists of values have no subqueries
 */
export function batches(columns: readonly InsertColumn[], rows: readonly LevelRow[], numbersRows: boolean): readonly Batch[] {
  const found: Batch[] = [];
  let waiting: LevelRow[] = [];
  let width = 1;
  const flush = (): void => {
    if (waiting.length > 0) found.push({ kind: 'values', rows: waiting });
    waiting = [];
    width = 1;
  };
  for (let start = 0; start < rows.length; ) {
    const alike = numbersRows ? alikeRows(columns, rows, start) : unmarkedRows(columns, rows, start);
    const [first] = alike;
    if (!numbersRows && first !== undefined && (first.number !== null || first.fills.size > 0)) {
      flush();
      if (alike.length > 1 && isArrayable(columns, alike)) found.push({ kind: 'arrays', rows: alike });
      else for (const row of alike) found.push({ kind: row.fills.size > 0 ? 'select' : 'values', rows: [row] });
    } else if (alike.length >= MANY_ROWS && isArrayable(columns, alike)) {
      flush();
      found.push({ kind: 'arrays', rows: alike });
    } else {
      for (const row of alike) {
        width = Math.max(width, columns.length + row.fills.size);
        // A row with only defaults is inserted alone: `default values` inserts one row.
        const most = row.fills.size === 0 ? MAX_VALUES / width : MAX_FILLED;
        if (isAllDefaults(row) || isAllDefaults(waiting[0]) || waiting.length >= most) flush();
        waiting.push(row);
      }
    }
    start += alike.length;
  }
  flush();
  return found;
}

function isAllDefaults(row: LevelRow | undefined): boolean {
  return row !== undefined && row.row.values.size === 0 && row.fills.size === 0;
}

/** Returns the rows from `start` on with the same columns. */
function alikeRows(columns: readonly InsertColumn[], rows: readonly LevelRow[], start: number): readonly LevelRow[] {
  const first = rows[start] as LevelRow;
  let end = start + 1;
  while (end < rows.length && areAlike(columns, first, rows[end] as LevelRow)) end++;
  return start === 0 && end === rows.length ? rows : rows.slice(start, end);
}

/** Returns the rows for a statement that cannot number its rows: one row that others refer to, or several that no row refers to. */
function unmarkedRows(columns: readonly InsertColumn[], rows: readonly LevelRow[], start: number): readonly LevelRow[] {
  const alike = alikeRows(columns, rows, start);
  const end = alike.findIndex(({ number }) => number !== null);
  return end < 0 ? alike : alike.slice(0, Math.max(end, 1));
}

function areAlike(columns: readonly InsertColumn[], a: LevelRow, b: LevelRow): boolean {
  if (!columns.every(({ name }) => a.row.values.has(name) === b.row.values.has(name))) return false;
  if (a.fills === b.fills) return true;
  if (a.fills.size !== b.fills.size) return false;
  for (const [name, { slot }] of a.fills) if (b.fills.get(name)?.slot !== slot) return false;
  return true;
}

export interface InsertSource {
  /** SQL before `insert`. */
  readonly prefix: Sql;
  /** `("a", "b") values (…), (…)`, or a select. */
  readonly rows: Sql;
}

/** @param isNumbered whether the statement reports the number of each row that it writes; see `row-number.ts` */
export function sourceSql(context: Context, columns: readonly InsertColumn[], batch: Batch, isNumbered: boolean): InsertSource {
  if (batch.kind === 'values') return valuesSql(context, columns, batch.rows, isNumbered);
  if (batch.kind === 'select') return { prefix: EMPTY, rows: selectSql(columns, batch.rows) };
  const rows =
    batch.kind === 'arrays' ? arraysSql(context, columns, batch.rows, isNumbered) : uniformSql(context, columns, batch.fills, batch.rows);
  return { prefix: EMPTY, rows };
}

function valuesSql(context: Context, columns: readonly InsertColumn[], rows: readonly LevelRow[], isNumbered: boolean): InsertSource {
  const filled = new Set(rows.flatMap(({ fills }) => [...fills.keys()]));
  const explicit = columns.flatMap(({ name }) => (!filled.has(name) && rows.some(({ row }) => row.values.has(name)) ? [name] : []));
  const names = [...filled, ...explicit];
  if (names.length === 0) return { prefix: EMPTY, rows: defaultRows(columns, rows.length) };
  const shared = new SharedKeys(context, rows.length > 1);
  const items = rows.map((row) => {
    let unnumbered = isNumbered;
    const cells = names.map((name) => {
      const cell = cellSql(row, name, shared);
      if (cell === null) return sql`default`;
      if (!unnumbered) return cell;
      unnumbered = false;
      return sql`case when ${setRowNumber(string(`${row.number ?? UNNUMBERED}`))} then ${cell} end`;
    });
    return sql`(${join(cells, sql`, `)})`;
  });
  return { prefix: shared.prefix(), rows: sql`(${join(names.map(identifier), sql`, `)}) values ${join(items, sql`, `)}` };
}

function selectSql(columns: readonly InsertColumn[], [only]: readonly LevelRow[]): Sql {
  if (only === undefined) throw new Error('invariant: a batch has a row');
  const { row, fills } = only;
  const explicit = columns.flatMap(({ name }) => {
    const operand = fills.has(name) ? undefined : row.values.get(name);
    return operand === undefined ? [] : [{ name, cell: operandSql(operand) }];
  });
  const filled = [...fills].map(([name, fill]) => ({ name, cell: filledSql(keysSql(fill.slot), fill, integer(fill.row)) }));
  const all = [...filled, ...explicit];
  return sql`(${join(
    all.map(({ name }) => identifier(name)),
    sql`, `,
  )}) select ${join(
    all.map(({ cell }) => cell),
    sql`, `,
  )}`;
}

/** Returns `null` for a default. */
function cellSql({ row, fills }: LevelRow, name: string, keys: SharedKeys): Sql | null {
  const fill = fills.get(name);
  if (fill !== undefined) return keys.value(fill);
  const operand = row.values.get(name);
  return operand === undefined ? null : operandSql(operand);
}

/** Keys that many values of a list of rows read. */
class SharedKeys {
  readonly #context: Context;
  readonly #many: boolean;
  readonly #names = new Map<SettingSlot, Sql>();

  constructor(context: Context, many: boolean) {
    this.#context = context;
    this.#many = many;
  }

  value(fill: Fill): Sql {
    if (!this.#many) return filledSql(keysSql(fill.slot), fill, integer(fill.row));
    let name = this.#names.get(fill.slot);
    if (name === undefined) {
      name = this.#context.alias();
      this.#names.set(fill.slot, name);
    }
    return sql`(select ${filledSql(sql`${name}."keys"`, fill, integer(fill.row))} from ${name})`;
  }

  prefix(): Sql {
    if (this.#names.size === 0) return EMPTY;
    const parts = [...this.#names].map(([slot, name]) => sql`${name} as materialized (select ${keysSql(slot)} as "keys")`);
    return sql`with ${join(parts, sql`, `)} `;
  }
}

/** Compiles rows that have only defaults. */
function defaultRows(columns: readonly InsertColumn[], count: number): Sql {
  const [column] = columns;
  if (count === 1 || column === undefined) return sql`default values`;
  const items = Array.from({ length: count }, () => sql`(default)`);
  return sql`(${identifier(column.name)}) values ${join(items, sql`, `)}`;
}

/** Returns whether each column has one value, or values that can be in one array. */
function isArrayable(columns: readonly InsertColumn[], rows: readonly LevelRow[]): boolean {
  let varies = (rows[0] as LevelRow).fills.size > 0;
  for (const { name } of columns) {
    const operands = rows.map(({ row }) => row.values.get(name));
    if (isSame(operands)) continue;
    if (!operands.every((operand) => operand !== undefined && !operand.list && isData(operand.value))) return false;
    varies = true;
  }
  return varies;
}

function isSame(operands: readonly (Operand | undefined)[]): boolean {
  const [first] = operands;
  return operands.every((operand) => operand === first);
}

/** Returns whether a value is JSON when it is bound; session variables are texts, which are not put into arrays. */
function isData(value: Value): boolean {
  return value.kind === 'literal' || value.kind === 'variable' || (value.kind === 'list' && value.items.every(isData));
}

function arraysSql(context: Context, columns: readonly InsertColumn[], rows: readonly LevelRow[], isNumbered: boolean): Sql {
  const [{ row, fills }] = rows as readonly [LevelRow];
  const source = new ArraySource(context);
  const numbers = isNumbered ? source.add(INT, numbersOf(rows.map(({ number }) => number ?? UNNUMBERED))) : null;
  const names: Sql[] = [];
  const cells: Sql[] = [];
  const places = new Map<SettingSlot, Sql>();
  for (const [name, fill] of fills) {
    let place = places.get(fill.slot);
    if (place === undefined) {
      place = source.add(INT, numbersOf(rows.map((one) => one.fills.get(name)?.row ?? UNNUMBERED)));
      places.set(fill.slot, place);
    }
    names.push(identifier(name));
    cells.push(filledSql(keysSql(fill.slot), fill, place));
  }
  for (const { name } of columns) {
    const first = row.values.get(name);
    if (first === undefined || fills.has(name)) continue;
    const operands = rows.map((one) => one.row.values.get(name) as Operand);
    names.push(identifier(name));
    if (isSame(operands)) cells.push(operandSql(first));
    else cells.push(source.add(first.type, { kind: 'list', items: operands.map(({ value }) => value) }));
  }
  if (numbers === null) return sql`(${join(names, sql`, `)}) select ${join(cells, sql`, `)} from ${source.from()}`;
  const inside = cells.map((cell, i) => sql`${cell} as ${identifier(`c${i}`)}`);
  const outside = context.alias();
  const values = cells.map((_, i) => sql`${outside}.${identifier(`c${i}`)}`);
  // With `offset 0` nothing in the subquery is evaluated ahead of the written row.
  const numbered = sql`(select ${join([...inside, sql`${numbers}::text as "n"`], sql`, `)} from ${source.from()} offset 0) as ${outside}`;
  return sql`(${join(names, sql`, `)}) select ${join(values, sql`, `)} from ${numbered} where ${setRowNumber(sql`${outside}."n"`)}`;
}

function numbersOf(numbers: readonly number[]): Value {
  return { kind: 'literal', json: numbers };
}

function uniformSql(context: Context, columns: readonly InsertColumn[], fills: Fills, { values }: UniformRows): Sql {
  const source = new ArraySource(context);
  const names = [...fills.keys()].map(identifier);
  const cells = [...fills.values()].map((fill) => filledSql(keysSql(fill.slot), fill, integer(fill.row)));
  for (const { name } of columns) {
    if (fills.has(name)) continue;
    const operand = values.get(name);
    if (operand === undefined) throw new Error('invariant: a column of rows that are alike has values');
    names.push(identifier(name));
    cells.push(operand.value.kind === 'members' ? source.add(operand.type, operand.value) : operandSql(operand));
  }
  return sql`(${join(names, sql`, `)}) select ${join(cells, sql`, `)} from ${source.from()}`;
}

/** Rows whose columns are lists. */
class ArraySource {
  readonly #arrays: Sql[] = [];
  readonly #names: Sql[] = [];
  readonly #alias: Sql;

  constructor(context: Context) {
    this.#alias = context.alias();
  }

  /** @returns the value of the current row */
  add(type: CatalogType, values: Value): Sql {
    const index = this.#arrays.length;
    const inside = identifier(`c${index}`);
    this.#names.push(inside);
    this.#arrays.push(columnArray(`${index}`, type, values));
    const cell = sql`${this.#alias}.${inside}`;
    return isListable(type) ? cell : fromTextSql(cell, type);
  }

  from(): Sql {
    return sql`unnest(${join(this.#arrays, sql`, `)}) as ${this.#alias} (${join(this.#names, sql`, `)})`;
  }
}

/**
 * Returns whether values of a type are sent as an array of that type. Then its input function reads them, as it reads single values: a cast
 * from text is another function for some types. There are no arrays of arrays, `unnest` expands composite values, and PostgreSQL takes
 * three times as long to parse JSON in arrays.
 */
function isListable(type: CatalogType): boolean {
  return !type.array && type.kind !== 'composite' && !isJsonType(type) && !isSpatial(type);
}

function columnArray(key: string, type: CatalogType, value: Value): Sql {
  const operand: Operand = { value, type, list: true };
  const array = parameter({ operand, key: `column ${key}`, encode: encoder(operand) });
  return sql`(${array})::${typeNameSql(isListable(type) ? type : TEXT, true)}`;
}
