/**
 * The rows of a query: from, where, distinct on, order by, limit and offset. The caller brings the
 * select list.
 */
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
   * The whole select.
   * @param columns its select list; where it is empty the rows have a column of no meaning if the syntax asks for one
   * @param joins more from items, after those of the rows
   * @param keys what it is ordered by, where that is not `keys`
   */
  select(columns: Sql, joins: readonly Sql[], keys?: readonly OrderKey[]): Sql;
  /**
   * The rows as a sub-select that others are joined to; in order only where that decides which rows are left.
   * @param isFenced what is joined to them must not be looked up for rows that the filter leaves out
   */
  base(columns: Sql, isFenced?: boolean): Sql;
}

/** The database does not take a sub-select with an offset apart: its conditions hold before anything is made of its rows. */
export const FENCE: Sql = sql` offset 0`;

export interface RowsOf {
  readonly from: Relation;
  readonly rows: RowSet;
}

/** Whether rows are left out by number, so that no work should be done for them. */
export function isPaged(rows: RowSet): boolean {
  return rows.limit !== null || rows.offset !== null || rows.distinctOn.length > 0;
}

/**
 * Whether rows have to be found in a sub-select before related ones are joined to them: on a page,
 * because nothing should be looked up for rows outside of it; and with a filter over other tables,
 * because the database would else consider to look up first and to filter then.
 */
export function isBaseNeeded(rows: RowSet): boolean {
  return isPaged(rows) || someLeaf(rows.where, ({ kind }) => kind === 'exists');
}

/**
 * @param parent the row that the rows are related to, over `on` or as a function of it
 * @param among more conditions
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
  // The very expression of the sort key: a mask compiled twice is not equal to itself, because its aliases differ.
  const distinct = rows.distinctOn.map((read) => keyOf(read, rows.orderBy, ordering.keys) ?? readSql(context, read, row));
  const where = whereSql([...related, ...filter.conditions]);
  const source = (joins: readonly Sql[]): Sql => sql`${item}${join([...filter.joins, ...ordering.joins, ...joins], EMPTY)}${where}`;
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
