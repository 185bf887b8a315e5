import type { OrderBy, OrderTerm } from '../../../ir/select.ts';
import { joinConditions, whereSql } from '../../shared/condition.ts';
import { EMPTY, join, type Sql, sql } from '../../../sql/fragment.ts';
import { aggregateOf, filterOf, readSql } from './bool-exp.ts';
import { termMayFail } from './fields-may-fail.ts';
import type { Context } from './context.ts';
import { ownScope, type Row } from '../../shared/row.ts';
import type { Projection } from './projection.ts';
import { relationSql } from './relation.ts';
import type { ColumnRead } from '../../../ir/bool-exp.ts';

export interface OrderKey {
  readonly value: Sql;
  /** Name of the column, if the value is a column of the row. */
  readonly column?: string;
  /** ` desc nulls last`; empty for the database's default. */
  readonly direction: Sql;
}

export interface Ordering {
  readonly joins: readonly Sql[];
  readonly keys: readonly OrderKey[];
}

/** Compiles the sort keys of a row; those of related rows are lateral joins that never multiply it. */
export function orderingOf(context: Context, orderBy: readonly OrderBy[], row: Row): Ordering {
  const joins: Sql[] = [];
  const keys = orderBy.map((item) => {
    const { term } = item;
    const key = { value: termSql(context, term, row, joins), direction: directionSql(item) };
    const isColumn = term.kind === 'read' && term.read.kind === 'column' && term.read.mask === undefined;
    return isColumn ? { ...key, column: (term.read as ColumnRead).column } : key;
  });
  return { joins, keys };
}

/** Returns the sort keys of the rows of a subquery as columns of its alias. */
export function keysOutside(keys: readonly OrderKey[], page: Projection): readonly OrderKey[] {
  return keys.map((key) => ({
    value: key.column === undefined ? page.add(key.value) : page.row.column(key.column),
    direction: key.direction,
  }));
}

/** ` order by …`; empty without keys. */
export function orderBySql(keys: readonly OrderKey[]): Sql {
  if (keys.length === 0) return EMPTY;
  return sql` order by ${join(
    keys.map((key) => sql`${key.value}${key.direction}`),
    sql`, `,
  )}`;
}

/** ` desc nulls last`; empty for the default of the database. */
export function directionSql(item: Pick<OrderBy, 'direction' | 'nulls'>): Sql {
  if (item.direction === 'asc') return item.nulls === 'last' ? EMPTY : sql` nulls first`;
  return item.nulls === 'first' ? sql` desc` : sql` desc nulls last`;
}

function termSql(context: Context, term: OrderTerm, row: Row, joins: Sql[]): Sql {
  if (term.kind === 'read') return readSql(context, term.read, row);
  if (!context.allowsJoin()) return sql`(${context.planSeparately(() => keySelect(context, term, row))})`;
  const select = keySelect(context, term, row);
  const alias = context.alias();
  joins.push(sql` left join lateral (${select}) as ${alias} on true`);
  return sql`${alias}."key"`;
}

/** Compiles a select with the column `key`, of one row or none. */
function keySelect(context: Context, term: Exclude<OrderTerm, { readonly kind: 'read' }>, row: Row): Sql {
  const { item, row: target } = relationSql(context, term.from, row);
  const filter = filterOf(context, term.where, ownScope(target));
  const conditions = [...(term.join === null ? [] : joinConditions(term.join.columns, row, target)), ...filter.conditions];
  const inner: Sql[] = [...filter.joins];
  const value =
    term.kind === 'related' ? termSql(context, term.term, target, inner) : aggregateOf(context, term.function, term.arguments, target);
  // As for a single row in a field: an expression that may fail must not be evaluated for rows that the filter excludes.
  const one = term.kind === 'related' && (!term.join.unique || termMayFail(term.term)) ? sql` limit 1` : EMPTY;
  return sql`select ${value} as "key" from ${item}${join(inner, EMPTY)}${whereSql(conditions)}${one}`;
}
