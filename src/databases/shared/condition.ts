/** What conditions are in the SQL of every kind of database; how values are read and compared is each kind's own. */
import type { BoolExp, Compare } from '../../ir/bool-exp.ts';
import type { Join } from '../../ir/relation.ts';
import type { Value } from '../../ir/value.ts';
import { EMPTY, join, type Sql, sql } from '../../sql/fragment.ts';
import type { Row } from './row.ts';

/** ` where a and b`, or nothing. */
export function whereSql(conditions: readonly Sql[]): Sql {
  return conditions.length === 0 ? EMPTY : sql` where ${join(conditions, sql` and `)}`;
}

/** Equality of the join columns; empty without any. */
export function joinConditions(columns: Join['columns'], local: Row, remote: Row): readonly Sql[] {
  return columns.map((pair) => sql`${remote.column(pair.remote)} = ${local.column(pair.local)}`);
}

/** `value is null`, or the opposite. */
export function nullTest(value: Sql, isNull: boolean): Sql {
  return isNull ? sql`${value} is null` : sql`${value} is not null`;
}

/** What puts other conditions together. @param item compiles one of them */
export function logicSql(exp: Extract<BoolExp, { readonly kind: 'constant' | 'and' | 'or' | 'not' }>, item: (exp: BoolExp) => Sql): Sql {
  if (exp.kind === 'constant') return exp.value ? sql`true` : sql`false`;
  if (exp.kind === 'not') return sql`(not ${item(exp.item)})`;
  if (exp.items.length === 0) return exp.kind === 'and' ? sql`true` : sql`false`;
  const items = exp.items.map(item);
  return items.length === 1 ? (items[0] as Sql) : sql`(${join(items, exp.kind === 'and' ? sql` and ` : sql` or `)})`;
}

/** The first operator of the name in one of a backend's tables. */
export function comparisonNamed<C extends { readonly name: string }>(name: string, ...tables: readonly (readonly C[])[]): C {
  for (const table of tables) {
    const found = table.find((comparison) => comparison.name === name);
    if (found !== undefined) return found;
  }
  throw new Error(`invariant: unknown operator ${name}`);
}

/**
 * A comparison with a value, which may have to take nulls for equal.
 * @param plain compiles the comparison as if it had not to
 * @param right compiles the value alone
 */
export function compareValueSql({ operator, nullSafe }: Compare, left: Sql, value: Value, plain: () => Sql, right: () => Sql): Sql {
  if (!nullSafe) return plain();
  if (value.kind === 'literal' && value.json === null) {
    if (operator === '_eq') return sql`(${nullTest(left, true)})`;
    if (operator === '_neq') return sql`(${nullTest(left, false)})`;
  }
  // Only a variable can be null here; for all other values plain equality has the same answer, and an index.
  if (value.kind === 'variable') return nullSafeSql(plain(), operator, left, right());
  return operator === '_neq' ? sql`(${plain()} or ${left} is null)` : plain();
}

/** A comparison of two values that takes nulls for equal. @param plain the same where they are not null */
export function nullSafeSql(plain: Sql, operator: string, left: Sql, right: Sql): Sql {
  if (operator === '_eq') return sql`(${plain} or (${left} is null and ${right} is null))`;
  if (operator === '_neq') return sql`(${plain} or (${left} is null) <> (${right} is null))`;
  return plain;
}
