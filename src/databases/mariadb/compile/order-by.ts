import type { OrderBy, OrderTerm } from '../../../ir/select.ts';
import { joinConditions, whereSql } from '../../shared/condition.ts';
import { EMPTY, join, type Sql, sql } from '../../../sql/fragment.ts';
import { ownScope, type Row } from '../../shared/row.ts';
import { familyOf } from '../families.ts';
import { aggregateOf, conditionsOf, readSql } from './bool-exp.ts';
import type { Context } from './context.ts';
import { relationSql } from './relation.ts';
import type { Read } from '../../../ir/bool-exp.ts';

export interface OrderKey {
  readonly value: Sql;
  readonly direction: OrderBy['direction'];
  /** `null` if the value is never null. */
  readonly nulls: OrderBy['nulls'] | null;
  /** Set if the value is a column without conversion. */
  readonly column?: string;
}

/** Compiles sort keys; those of related rows are scalar subqueries. */
export function orderKeys(context: Context, orderBy: readonly OrderBy[], row: Row): readonly OrderKey[] {
  return orderBy.map(({ term, direction, nulls }) => ({
    value: termSql(context, term, row),
    direction,
    nulls: isNeverNull(term) ? null : nulls,
    ...(isColumn(term) ? { column: term.read.column } : {}),
  }));
}

function isColumn(term: OrderTerm): term is ColumnTerm {
  const { read } = term as ColumnTerm;
  return term.kind === 'read' && read.kind === 'column' && read.mask === undefined && familyOf(read.type).kind !== 'boolean';
}

interface ColumnTerm {
  readonly kind: 'read';
  readonly read: Extract<Read, { kind: 'column' }>;
}

function isNeverNull(term: OrderTerm): boolean {
  return term.kind === 'read' && term.read.kind === 'column' && term.read.notNull === true && term.read.mask === undefined;
}

/** Compiles ` order by …`, or nothing. By default, nulls sort first. */
export function orderBySql(keys: readonly OrderKey[]): Sql {
  if (keys.length === 0) return EMPTY;
  const items = keys.flatMap(({ value, direction, nulls }) => {
    const key = direction === 'asc' ? value : sql`${value} desc`;
    // Another key would prevent the database from reading rows in the order of an index.
    if (nulls === null || (direction === 'asc') === (nulls === 'first')) return [key];
    return [nulls === 'last' ? sql`${value} is null` : sql`${value} is not null`, key];
  });
  return sql` order by ${join(items, sql`, `)}`;
}

function termSql(context: Context, term: OrderTerm, row: Row): Sql {
  if (term.kind === 'read') return readSql(context, term.read, row);
  const { item, row: target } = relationSql(context, term.from);
  const conditions = [
    ...(term.join === null ? [] : joinConditions(term.join.columns, row, target)),
    ...conditionsOf(context, term.where, ownScope(target)),
  ];
  if (term.kind === 'related') {
    return sql`(select ${termSql(context, term.term, target)} from ${item}${whereSql(conditions)} limit 1)`;
  }
  return sql`(select ${aggregateOf(context, term.function, term.arguments, target)} from ${item}${whereSql(conditions)})`;
}
