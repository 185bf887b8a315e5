/**
 * The rows of a query: from, where, distinct on, order by, limit and offset. The caller brings the
 * select list.
 */
import type { Join, Relation } from '../../../ir/relation.ts';
import type { RowSet } from '../../../ir/select.ts';
import { EMPTY, integer, join, type Sql, sql } from '../../../sql/fragment.ts';
import { filterOf, readSql, whereSql } from './bool-exp.ts';
import { type Context, ownScope, type Row } from './context.ts';
import { bigintSql } from './operand.ts';
import { orderBySql, orderingOf, type OrderKey } from './order-by.ts';
import { joinConditions, relationSql } from './relation.ts';

export interface CompiledRows {
  readonly row: Row;
  readonly keys: readonly OrderKey[];
  /**
   * The whole select.
   * @param columns its select list; where it is empty the rows have a column of no meaning if the syntax asks for one
   * @param joins more from items, after those of the rows
   */
  select(columns: Sql, joins: readonly Sql[]): Sql;
  /** The same without its order, for aggregates over all rows. */
  selectUnordered(columns: Sql, joins: readonly Sql[]): Sql;
}

export interface RowsOf {
  readonly from: Relation;
  readonly rows: RowSet;
}

/** Whether rows are left out by number, so that no work should be done for them. */
export function isPaged(rows: RowSet): boolean {
  return rows.limit !== null || rows.offset !== null || rows.distinctOn.length > 0;
}

/** @param parent the row that the rows are related to, over `on` or as a function of it */
export function rowSetOf(context: Context, { from, rows }: RowsOf, parent: Row | null, on: Join | null): CompiledRows {
  const { item, row } = relationSql(context, from, parent);
  const filter = filterOf(context, rows.where, ownScope(row));
  const related = parent === null || on === null ? [] : joinConditions(on.columns, parent, row);
  const ordering = orderingOf(context, rows.orderBy, row);
  const distinct = rows.distinctOn.map((read) => readSql(context, read, row));
  const where = whereSql([...related, ...filter.conditions]);
  return {
    row,
    keys: ordering.keys,
    selectUnordered: (columns, joins) => sql`select ${columns} from ${item}${join([...filter.joins, ...joins], EMPTY)}${where}`,
    select(columns, joins) {
      const list = distinct.length === 0 ? columns : distinctColumns(distinct, columns);
      const source = sql`${item}${join([...filter.joins, ...ordering.joins, ...joins], EMPTY)}`;
      const limit = rows.limit === null ? EMPTY : sql` limit ${integer(rows.limit)}`;
      const offset = rows.offset === null ? EMPTY : sql` offset ${bigintSql(rows.offset)}`;
      const paging = sql`${orderBySql(ordering.keys)}${limit}${offset}`;
      return sql`select ${list} from ${source}${where}${paging}`;
    },
  };
}

function distinctColumns(distinct: readonly Sql[], columns: Sql): Sql {
  const isEmpty = columns.kind === 'sequence' && columns.items.length === 0;
  return sql`distinct on (${join(distinct, sql`, `)}) ${isEmpty ? sql`true as ":any"` : columns}`;
}
