/** Parts of conditions with the same SQL in every kind of database. */
import type { BoolExp, Compare } from '../../ir/bool-exp.ts';
import type { Join } from '../../ir/relation.ts';
import type { Value } from '../../ir/value.ts';
import { EMPTY, join, type Sql, sql } from '../../sql/fragment.ts';
import type { Row } from './row.ts';

/** ` where a and b`; empty without conditions. */
export function whereSql(conditions: readonly Sql[]): Sql {
  return conditions.length === 0 ? EMPTY : sql` where ${join(conditions, sql` and `)}`;
}

/** Equality of the join columns. */
export function joinConditions(columns: Join['columns'], local: Row, remote: Row): readonly Sql[] {
  return columns.map((pair) => sql`${remote.column(pair.remote)} = ${local.column(pair.local)}`);
}

/** `value is null` or `value is not null`. */
export function nullTest(value: Sql, isNull: boolean): Sql {
  return isNull ? sql`${value} is null` : sql`${value} is not null`;
}

/** Compiles a constant, conjunction, disjunction or negation. @param item compiles one of its conditions */
export function logicSql(exp: Extract<BoolExp, { readonly kind: 'constant' | 'and' | 'or' | 'not' }>, item: (exp: BoolExp) => Sql): Sql {
  if (exp.kind === 'constant') return exp.value ? sql`true` : sql`false`;
  if (exp.kind === 'not') return sql`(not ${item(exp.item)})`;
  if (exp.items.length === 0) return exp.kind === 'and' ? sql`true` : sql`false`;
  const items = exp.items.map(item);
  return items.length === 1 ? (items[0] as Sql) : sql`(${join(items, exp.kind === 'and' ? sql` and ` : sql` or `)})`;
}

/** Returns the first operator of the name in a kind's tables. */
export function comparisonNamed<C extends { readonly name: string }>(name: string, ...tables: readonly (readonly C[])[]): C {
  for (const table of tables) {
    const found = table.find((comparison) => comparison.name === name);
    if (found !== undefined) return found;
  }
  throw new Error(`invariant: unknown operator ${name}`);
}

/**
 * Compiles a comparison with a value, in which nulls may be equal.
 * @param plain compiles the comparison without regard to nulls
 * @param right compiles the value
 */
export function compareValueSql({ operator, nullSafe }: Compare, left: Sql, value: Value, plain: () => Sql, right: () => Sql): Sql {
  if (!nullSafe) return plain();
  if (value.kind === 'literal' && value.json === null) {
    if (operator === '_eq') return sql`(${nullTest(left, true)})`;
    if (operator === '_neq') return sql`(${nullTest(left, false)})`;
  }
  // Only a variable can be null here. For other values plain equality has the same result and can use an index.
  if (value.kind === 'variable') return nullSafeSql(plain(), operator, left, right());
  return operator === '_neq' ? sql`(${plain()} or ${left} is null)` : plain();
}

/** Compiles a comparison in which nulls are equal. @param plain the comparison of values that are not null */
export function nullSafeSql(plain: Sql, operator: string, left: Sql, right: Sql): Sql {
  if (operator === '_eq') return sql`(${plain} or (${left} is null and ${right} is null))`;
  if (operator === '_neq') return sql`(${plain} or (${left} is null) <> (${right} is null))`;
  return plain;
}
