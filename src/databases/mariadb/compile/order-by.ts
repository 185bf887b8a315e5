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
  /** Null: there are none. */
  readonly nulls: OrderBy['nulls'] | null;
  /** The value is this column, as it is. */
  readonly column?: string;
}

/** Sort keys of a row; those of related rows are scalar sub-selects. */
export function orderKeys(context: Context, orderBy: readonly OrderBy[], row: Row): readonly OrderKey[] {
  return orderBy.map(({ term, direction, nulls }) => ({
    value: termSql(context, term, row),
    direction,
    nulls: isNeverNull(term) ? null : nulls,
    ...(isPlain(term) ? { column: term.read.column } : {}),
  }));
}

function isPlain(term: OrderTerm): term is PlainTerm {
  const { read } = term as PlainTerm;
  return term.kind === 'read' && read.kind === 'column' && read.mask === undefined && familyOf(read.type).kind !== 'boolean';
}

interface PlainTerm {
  readonly kind: 'read';
  readonly read: Extract<Read, { kind: 'column' }>;
}

function isNeverNull(term: OrderTerm): boolean {
  return term.kind === 'read' && term.read.kind === 'column' && term.read.notNull === true && term.read.mask === undefined;
}

/** ` order by …`, or nothing. Nulls are less than everything by themselves. */
export function orderBySql(keys: readonly OrderKey[]): Sql {
  if (keys.length === 0) return EMPTY;
  const items = keys.flatMap(({ value, direction, nulls }) => {
    const key = direction === 'asc' ? value : sql`${value} desc`;
    // A further key would keep the database from reading the rows in the order of an index.
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
