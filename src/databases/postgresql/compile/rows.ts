/**
 * Rows as JSON: `json_agg` over a select whose columns are the keys of the response, with lateral joins for related rows. Pages and
 * filters on other tables are a separate subquery.
 */
import type { Join } from '../../../ir/relation.ts';
import type { RowsQuery } from '../../../ir/select.ts';
import { EMPTY, join, type Sql, sql } from '../../../sql/fragment.ts';
import type { Context } from './context.ts';
import type { Row } from '../../shared/row.ts';
import { fieldsOf, hasRelated } from './fields.ts';
import { fieldsMayFail, relatedMayFail } from './fields-may-fail.ts';
import { type ObjectShape, objectShape } from './json-object.ts';
import { keysOutside, type OrderKey, orderBySql } from './order-by.ts';
import { projection } from './projection.ts';
import { isBaseNeeded, rowSetOf } from './row-set.ts';

/** Compiles a select with the column `json`; for a single row that does not exist it has no row. */
export function rowsSql(context: Context, query: RowsQuery, parent: Row | null, on: Join | null): Sql {
  const { select, shape } = rowSelect(context, query, parent, on);
  const alias = context.alias();
  if (query.shape === 'list') {
    return sql`select coalesce(json_agg(${shape.item(alias)}), '[]') as "json" from (${select}) as ${alias}`;
  }
  // A unique target needs no limit, which would prevent the database from joining in the other direction. Without a limit it computes the
  // fields of rows that the filter excludes.
  const one = on?.unique === true && !fieldsMayFail(query.fields) ? EMPTY : sql` limit 1`;
  return sql`select ${shape.json(alias)} as "json" from (${select}) as ${alias}${one}`;
}

/**
 * Compiles the lists of several keys to one select with the columns `key` and `json`, and a row for each key with rows. The rows are read
 * and sorted once, instead of once per key.
 * @param query with fields and without a page, which would be one per list
 * @param keys an array
 */
export function listsSql(context: Context, query: RowsQuery, column: string, keys: Sql): Sql {
  const rows = rowSetOf(context, query, null, null, (row) => [sql`${row.column(column)} = any (${keys})`]);
  const item = context.alias();
  // As in other queries, lists without an order keep the order in which the rows are found; sorting by the key alone would shuffle them.
  const place = sql`row_number() over ()`;
  const ordered = (key: Sql, own: readonly OrderKey[]): readonly OrderKey[] => [
    { value: key, direction: EMPTY },
    ...(own.length === 0 ? [{ value: sql`"place"`, direction: EMPTY }] : own),
  ];
  const columns = (key: Sql, shape: ObjectShape): Sql =>
    sql`${key} as "key", ${shape.record(item)} as "item"${rows.keys.length === 0 ? sql`, ${place} as "place"` : EMPTY}`;
  const objects = (shape: ObjectShape): Sql => sql` cross join lateral (select ${shape.columns}) as ${item}`;
  let select: Sql;
  if (hasRelated(query.fields) && isBaseNeeded(query.rows)) {
    const alias = context.alias();
    const page = projection(rows.row, alias);
    const fields = fieldsOf(context, query.fields, page.row);
    const shape = objectShape(fields.entries);
    const key = page.row.column(column);
    const keys = ordered(key, keysOutside(rows.keys, page));
    const base = rows.base(page.columns(), relatedMayFail(query.fields));
    select = sql`select ${columns(key, shape)} from (${base}) as ${alias}${join([...fields.joins, objects(shape)], EMPTY)}${orderBySql(keys)}`;
  } else {
    const fields = fieldsOf(context, query.fields, rows.row);
    const shape = objectShape(fields.entries);
    const key = rows.row.column(column);
    select = rows.select(columns(key, shape), [...fields.joins, objects(shape)], ordered(key, rows.keys));
  }
  const alias = context.alias();
  return sql`select ${alias}."key", json_agg(${alias}."item") as "json" from (${select}) as ${alias} group by ${alias}."key"`;
}

function rowSelect(context: Context, query: RowsQuery, parent: Row | null, on: Join | null): { select: Sql; shape: ObjectShape } {
  const rows = rowSetOf(context, query, parent, on);
  const isOneLevel = hasRelated(query.fields) ? !isBaseNeeded(query.rows) : query.fields.length > 0 || query.rows.distinctOn.length === 0;
  if (isOneLevel) {
    const fields = fieldsOf(context, query.fields, rows.row);
    const shape = objectShape(fields.entries);
    return { select: rows.select(shape.columns, fields.joins), shape };
  }
  const alias = context.alias();
  const page = projection(rows.row, alias);
  const fields = fieldsOf(context, query.fields, page.row);
  const shape = objectShape(fields.entries);
  // Joins may shuffle the rows of a page, so they are sorted again.
  const keys = keysOutside(rows.keys, page);
  const base = rows.base(page.columns(), relatedMayFail(query.fields));
  return { select: sql`select ${shape.columns} from (${base}) as ${alias}${join(fields.joins, EMPTY)}${orderBySql(keys)}`, shape };
}
