/**
 * What an insert inserts. Few rows are a list of values, which may say `default`. Many rows with
 * the same columns come as one array per column, so that neither the statement's text nor
 * the number of its parameters grows with them.
 */
import type { CatalogType } from '../../../../catalog/catalog.ts';
import type { InsertColumn, InsertRow, InsertRows, UniformRows } from '../../../../ir/mutation.ts';
import type { Operand, Value } from '../../../../ir/value.ts';
import { identifier, join, parameter, type Sql, sql } from '../../../../sql/fragment.ts';
import { encoder, isJsonType } from '../../coerce/encode.ts';
import { baseType } from '../../operators.ts';
import type { Context } from '../context.ts';
import { fromTextSql, isSpatial, operandSql } from '../operand.ts';
import { typeName } from '../type-name.ts';

/** Columns whose values come from rows written before. */
export type Filled = ReadonlyMap<string, (context: Context) => Sql>;

/** Rows from here on go through arrays. */
const MANY_ROWS = 50;
/** Values in one statement; the protocol's bound on parameters is 65,535. */
const MAX_VALUES = 20_000;

const TEXT = baseType('text');

/** Rows that one statement inserts. */
export type Batch =
  | { readonly kind: 'values'; readonly rows: readonly InsertRow[] }
  | { readonly kind: 'arrays'; readonly rows: readonly InsertRow[] }
  /** Any number of rows, known by their columns. */
  | { readonly kind: 'uniform'; readonly rows: UniformRows };

/** Splits rows into statements; their order stays. */
export function batches({ columns, uniform }: InsertRows, filled: Filled, rows: readonly InsertRow[]): readonly Batch[] {
  if (uniform !== undefined) return [{ kind: 'uniform', rows: uniform }];
  const found: Batch[] = [];
  const width = Math.max(1, columns.length + filled.size);
  let waiting: InsertRow[] = [];
  const flush = (): void => {
    if (waiting.length > 0) found.push({ kind: 'values', rows: waiting });
    waiting = [];
  };
  for (let start = 0; start < rows.length; ) {
    const alike = alikeRows(columns, rows, start);
    if (alike.length >= MANY_ROWS && isArrayable(columns, alike)) {
      flush();
      found.push({ kind: 'arrays', rows: alike });
    } else {
      for (const row of alike) {
        // `default values` is about one row.
        if (columns.length + filled.size === 0 || (waiting.length + 1) * width > MAX_VALUES) flush();
        waiting.push(row);
      }
    }
    start += alike.length;
  }
  flush();
  return found;
}

/** The rows from `start` on that have the same columns. */
function alikeRows(columns: readonly InsertColumn[], rows: readonly InsertRow[], start: number): readonly InsertRow[] {
  const first = rows[start] as InsertRow;
  let end = start + 1;
  while (end < rows.length && columns.every(({ name }) => (rows[end] as InsertRow).values.has(name) === first.values.has(name))) end++;
  return start === 0 && end === rows.length ? rows : rows.slice(start, end);
}

/** `("a", "b") values (…), (…)` and its like. */
export function sourceSql(context: Context, columns: readonly InsertColumn[], filled: Filled, batch: Batch): Sql {
  if (batch.kind === 'uniform') return uniformSql(context, columns, filled, batch.rows);
  const { kind, rows } = batch;
  const given = columns.filter(({ name }) => !filled.has(name) && rows.some((row) => row.values.has(name)));
  const names = [...filled.keys(), ...given.map((column) => column.name)];
  if (names.length === 0) return defaultRows(columns, rows.length);
  const list = sql`(${join(names.map(identifier), sql`, `)})`;
  const fills = [...filled.values()].map((value) => value(context));
  if (kind === 'arrays') return sql`${list} ${arraysSelect(context, fills, given, rows)}`;
  const items = rows.map((row) => {
    const cells = given.map(({ name }) => {
      const operand = row.values.get(name);
      return operand === undefined ? sql`default` : operandSql(operand);
    });
    return sql`(${join([...fills, ...cells], sql`, `)})`;
  });
  return sql`${list} values ${join(items, sql`, `)}`;
}

/** Rows of nothing but defaults: one at a time, or with a column to name. */
function defaultRows(columns: readonly InsertColumn[], count: number): Sql {
  const [column] = columns;
  if (count === 1 || column === undefined) return sql`default values`;
  const items = Array.from({ length: count }, () => sql`(default)`);
  return sql`(${identifier(column.name)}) values ${join(items, sql`, `)}`;
}

/** Whether each column is the same value everywhere, or values that can stand in one array. */
function isArrayable(columns: readonly InsertColumn[], rows: readonly InsertRow[]): boolean {
  let varies = false;
  for (const { name } of columns) {
    const operands = rows.map((row) => row.values.get(name));
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

/** A value that is JSON when it is bound; session variables are texts and stand alone. */
function isData(value: Value): boolean {
  return value.kind === 'literal' || value.kind === 'variable' || (value.kind === 'list' && value.items.every(isData));
}

function arraysSelect(context: Context, fills: readonly Sql[], columns: readonly InsertColumn[], rows: readonly InsertRow[]): Sql {
  return columnsSelect(context, fills, columns, ({ name }): Column => {
    const operands = rows.map((row) => row.values.get(name));
    const [first] = operands;
    if (first === undefined) throw new Error('invariant: rows that are alike have the same columns');
    if (isSame(operands)) return { kind: 'constant', operand: first };
    return {
      kind: 'varying',
      type: first.type,
      values: { kind: 'list', items: (operands as readonly Operand[]).map(({ value }) => value) },
    };
  });
}

function uniformSql(context: Context, columns: readonly InsertColumn[], filled: Filled, { values }: UniformRows): Sql {
  const given = columns.filter(({ name }) => !filled.has(name));
  const names = [...filled.keys(), ...given.map(({ name }) => name)].map(identifier);
  const fills = [...filled.values()].map((value) => value(context));
  const select = columnsSelect(context, fills, given, ({ name }): Column => {
    const operand = values.get(name);
    if (operand === undefined) throw new Error('invariant: a column of rows that are alike has values');
    const { value, type } = operand;
    return value.kind === 'members' ? { kind: 'varying', type, values: value } : { kind: 'constant', operand };
  });
  return sql`(${join(names, sql`, `)}) ${select}`;
}

/** A column of many rows: one value for all, or a reference to a list of them. */
type Column =
  | { readonly kind: 'constant'; readonly operand: Operand }
  | { readonly kind: 'varying'; readonly type: CatalogType; readonly values: Value };

function columnsSelect(
  context: Context,
  fills: readonly Sql[],
  columns: readonly InsertColumn[],
  columnOf: (column: InsertColumn) => Column,
): Sql {
  const alias = context.alias();
  const arrays: Sql[] = [];
  const names: Sql[] = [];
  const cells = columns.map((given, index) => {
    const column = columnOf(given);
    if (column.kind === 'constant') return operandSql(column.operand);
    const inside = identifier(`c${index}`);
    names.push(inside);
    arrays.push(columnArray(`${index}`, column.type, column.values));
    const cell = sql`${alias}.${inside}`;
    return isListable(column.type) ? cell : fromTextSql(cell, column.type);
  });
  const from = sql`unnest(${join(arrays, sql`, `)}) as ${alias} (${join(names, sql`, `)})`;
  return sql`select ${join([...fills, ...cells], sql`, `)} from ${from}`;
}

/**
 * Whether values of a type come as an array of that type. Its own input function reads them then, as it does single values:
 * a cast from text is another function for some types. There are no arrays of arrays, `unnest` takes composite values apart,
 * and PostgreSQL needs three times as long to read JSON in arrays.
 */
function isListable(type: CatalogType): boolean {
  return !type.array && type.kind !== 'composite' && !isJsonType(type) && !isSpatial(type);
}

function columnArray(key: string, type: CatalogType, value: Value): Sql {
  const operand: Operand = { value, type, list: true };
  const array = parameter({ operand, key: `column ${key}`, encode: encoder(operand) });
  return sql`(${array})::${typeName(isListable(type) ? type : TEXT, true)}`;
}
