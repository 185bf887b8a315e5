/** The rows of a query without their select list: from, where, distinct on, order by, limit and offset. */
import { type Read, someLeaf } from '../../../ir/bool-exp.ts';
import type { Join, Relation } from '../../../ir/relation.ts';
import type { OrderBy, RowSet } from '../../../ir/select.ts';
import { joinConditions, whereSql } from '../../shared/condition.ts';
import { EMPTY, integer, isEmpty, join, type Sql, sql } from '../../../sql/fragment.ts';
import { filterOf, readSql } from './bool-exp.ts';
import type { Context } from './context.ts';
import { ownScope, type Row } from '../../shared/row.ts';
import { bigintSql } from './operand.ts';
import { orderBySql, orderingOf, type OrderKey } from './order-by.ts';
import { relationSql } from './relation.ts';

export interface CompiledRows {
  readonly row: Row;
  readonly keys: readonly OrderKey[];
  /**
   * Compiles the select.
   * @param columns select list; if it is empty, the rows have a dummy column where the syntax requires one
   * @param joins additional from items, after those of the rows
   * @param keys sort keys in place of `keys`
   */
  select(columns: Sql, joins: readonly Sql[], keys?: readonly OrderKey[]): Sql;
  /** Compiles those of the rows that meet further conditions, in the order of `keys`. @param limit `null` for no limit */
  part(columns: Sql, conditions: readonly Sql[], keys: readonly OrderKey[], limit: number | null): Sql;
  /**
   * Compiles the rows as a subquery to which others are joined, with an order only if it decides which rows are on the page.
   * @param isFenced prevents joins from being evaluated for rows that the filter excludes
   */
  base(columns: Sql, isFenced?: boolean): Sql;
}

/** The database does not flatten a subquery with an offset: its conditions are applied before its rows are used. */
export const FENCE: Sql = sql` offset 0`;

export interface RowsOf {
  readonly from: Relation;
  readonly rows: RowSet;
}

/** Returns whether the rows are a page, outside of which no work should be done. */
export function isPaged(rows: RowSet): boolean {
  return rows.limit !== null || rows.offset !== null || rows.distinctOn.length > 0;
}

/**
 * Returns whether rows have to be found in a subquery before related ones are joined: for a page, because related rows are not needed
 * outside of it; and for a filter on other tables, because the database might otherwise join before it filters.
 */
export function isBaseNeeded(rows: RowSet): boolean {
  return isPaged(rows) || someLeaf(rows.where, ({ kind }) => kind === 'exists');
}

/**
 * @param parent row to which the rows are related, by `on` or as the argument of a function
 * @param among returns further conditions
 */
export function rowSetOf(
  context: Context,
  { from, rows }: RowsOf,
  parent: Row | null,
  on: Join | null,
  among: (row: Row) => readonly Sql[] = () => [],
): CompiledRows {
  const { item, row } = relationSql(context, from, parent);
  const filter = filterOf(context, rows.where, ownScope(row));
  const related = [...among(row), ...(parent === null || on === null ? [] : joinConditions(on.columns, parent, row))];
  const ordering = orderingOf(context, rows.orderBy, row);
  // The same expression as the sort key: a mask that is compiled twice differs in its aliases.
  const distinct = rows.distinctOn.map((read) => keyOf(read, rows.orderBy, ordering.keys) ?? readSql(context, read, row));
  const conditions = [...related, ...filter.conditions];
  const source = (joins: readonly Sql[], more: readonly Sql[] = []): Sql =>
    sql`${item}${join([...filter.joins, ...ordering.joins, ...joins], EMPTY)}${whereSql([...conditions, ...more])}`;
  const select = (columns: Sql, joins: readonly Sql[], keys: readonly OrderKey[] = ordering.keys): Sql => {
    const list = distinct.length === 0 ? columns : distinctColumns(distinct, columns);
    const limit = rows.limit === null ? EMPTY : rows.ties === true ? withTies(rows.limit) : sql` limit ${integer(rows.limit)}`;
    const offset = rows.offset === null ? EMPTY : sql` offset ${bigintSql(rows.offset)}`;
    return sql`select ${list} from ${source(joins)}${orderBySql(keys)}${limit}${offset}`;
  };
  return {
    row,
    keys: ordering.keys,
    select,
    part: (columns, more, keys, limit) =>
      sql`select ${columns} from ${source([], more)}${orderBySql(keys)}${limit === null ? EMPTY : sql` limit ${integer(limit)}`}`,
    base: (columns, isFenced = false) =>
      isPaged(rows) ? select(columns, []) : sql`select ${columns} from ${source([])}${isFenced ? FENCE : EMPTY}`,
  };
}

function withTies(limit: number): Sql {
  return sql` fetch first ${integer(limit)} rows with ties`;
}

function keyOf(read: Read, orderBy: readonly OrderBy[], keys: readonly OrderKey[]): Sql | undefined {
  const index = orderBy.findIndex(
    ({ term }) => term.kind === 'read' && term.read.kind === 'column' && read.kind === 'column' && term.read.column === read.column,
  );
  return keys[index]?.value;
}

function distinctColumns(distinct: readonly Sql[], columns: Sql): Sql {
  return sql`distinct on (${join(distinct, sql`, `)}) ${isEmpty(columns) ? sql`true as ":any"` : columns}`;
}
