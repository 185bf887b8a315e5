/**
 * Rows as JSON: `json_agg` over a select whose columns are the response's keys, related rows through
 * lateral joins. Pages are cut, and filters over other tables applied, in a select of their own.
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

/** A select with the column `json`; for a single row that is not there it has no row. */
export function rowsSql(context: Context, query: RowsQuery, parent: Row | null, on: Join | null): Sql {
  const { select, shape } = rowSelect(context, query, parent, on);
  const alias = context.alias();
  if (query.shape === 'list') {
    return sql`select coalesce(json_agg(${shape.item(alias)}), '[]') as "json" from (${select}) as ${alias}`;
  }
  // Not for a unique target: a limit would forbid the database to join the other way round. But then it makes the fields of rows that the filter
  // leaves out too.
  const one = on?.unique === true && !fieldsMayFail(query.fields) ? EMPTY : sql` limit 1`;
  return sql`select ${shape.json(alias)} as "json" from (${select}) as ${alias}${one}`;
}

/**
 * The lists of several keys at once: a select with the columns `key` and `json`, of a row for each key that has rows. The rows are read
 * once and told apart by sorting, where a list for each key would be a search and a sort for each.
 * @param query with fields, and not a page: limits hold for each list
 * @param keys an array
 */
export function listsSql(context: Context, query: RowsQuery, column: string, keys: Sql): Sql {
  const rows = rowSetOf(context, query, null, null, (row) => [sql`${row.column(column)} = any (${keys})`]);
  const item = context.alias();
  // Lists without an order have that in which the rows are found, as they have it elsewhere; sorting by the key alone would shuffle them.
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
  // Joins may shuffle the rows of a page: the order is asked for again.
  const keys = keysOutside(rows.keys, page);
  const base = rows.base(page.columns(), relatedMayFail(query.fields));
  return { select: sql`select ${shape.columns} from (${base}) as ${alias}${join(fields.joins, EMPTY)}${orderBySql(keys)}`, shape };
}
