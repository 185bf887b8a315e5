/**
 * Rows as JSON: `json_agg` over a select whose columns are the response's keys, related rows through
 * lateral joins. Pages are cut, and filters over other tables applied, in a select of their own.
 */
import type { Join } from '../../../ir/relation.ts';
import type { RowsQuery } from '../../../ir/select.ts';
import { EMPTY, join, type Sql, sql } from '../../../sql/fragment.ts';
import type { Context } from './context.ts';
import type { Row } from '../../../sql/row.ts';
import { fieldsOf, hasRelated } from './fields.ts';
import { type ObjectShape, objectShape } from './json-object.ts';
import { keysOutside, orderBySql } from './order-by.ts';
import { projection } from './projection.ts';
import { isBaseNeeded, rowSetOf } from './row-set.ts';

/** A select with the column `json`; for a single row that is not there it has no row. */
export function rowsSql(context: Context, query: RowsQuery, parent: Row | null, on: Join | null): Sql {
  const { select, shape } = rowSelect(context, query, parent, on);
  const alias = context.alias();
  if (query.shape === 'list') {
    return sql`select coalesce(json_agg(${shape.item(alias)}), '[]') as "json" from (${select}) as ${alias}`;
  }
  // Not for a unique target: a limit would forbid the database to join the other way round.
  const one = on?.unique === true ? EMPTY : sql` limit 1`;
  return sql`select ${shape.json(alias)} as "json" from (${select}) as ${alias}${one}`;
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
  const base = rows.base(page.columns());
  return { select: sql`select ${shape.columns} from (${base}) as ${alias}${join(fields.joins, EMPTY)}${orderBySql(keys)}`, shape };
}
