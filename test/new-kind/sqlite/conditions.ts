/** Conditions on a row: the shared traversal, with relationships as correlated subqueries. */
import { SvcError } from '../../../src/errors/svc-error.ts';
import type { AggregatePredicate, BoolExp, Exists } from '../../../src/ir/bool-exp.ts';
import type { Relation } from '../../../src/ir/relation.ts';
import { identifier, join, type Sql, sql } from '../../../src/sql/fragment.ts';
import type { AggregateArgument } from '../../../src/databases/shared/aggregates.ts';
import { comparisonNamed, joinConditions, whereSql } from '../../../src/databases/shared/condition.ts';
import { type Conditions, conditionsOver } from '../../../src/databases/shared/conditions.ts';
import { aliasRow, type Row, type Scope } from '../../../src/databases/shared/row.ts';
import { COMMON_COMPARISONS } from './operators.ts';
import { listSql, valueSql } from './operand.ts';
import { scalars } from './types.ts';

/** Returns an unused table alias. */
export type Aliases = () => Sql;

const conditions: Conditions<Aliases> = conditionsOver({
  value(_aliases, read, row) {
    if (read.kind === 'column') return row.column(read.column);
    throw new SvcError('not-supported', 'SQLite has neither computed fields nor casts of columns');
  },
  common: COMMON_COMPARISONS,
  operator: (type, name) => comparisonNamed(name, scalars.scalar(type).comparisons, COMMON_COMPARISONS),
  argument: (aliases, operand, operator) => ({
    value: () => valueSql(operand, operator?.pattern !== undefined),
    list: () => listSql(operand, aliases()),
  }),
  // Values and patterns are checked before a row is read.
  mayFail: () => false,
  exists: (aliases, exp, scope) => sql`exists (select 1 ${relatedRows(aliases, exp, scope).body})`,
  aggregate(aliases, exp, scope) {
    const { row, body } = relatedRows(aliases, exp, scope);
    return sql`(select ${predicateHolds(aliases, exp, row)} ${body})`;
  },
  aggregateCall,
});
export const { readSql, conditionSql, aggregateHolds, aggregateOf, predicateHolds } = conditions;

export function relationSql(aliases: Aliases, relation: Relation): { readonly item: Sql; readonly row: Row } {
  if (relation.kind === 'function') throw new SvcError('not-supported', 'SQLite has no functions that return rows');
  const alias = aliases();
  return { item: sql`${identifier(relation.name.schema)}.${identifier(relation.name.name)} as ${alias}`, row: aliasRow(alias) };
}

function relatedRows(aliases: Aliases, exp: Exists | AggregatePredicate, scope: Scope): { readonly row: Row; readonly body: Sql } {
  const { item, row } = relationSql(aliases, exp.from);
  const joined = joinConditions(exp.join?.columns ?? [], scope.row, row);
  return { row, body: sql`from ${item}${whereSql([...joined, ...conditionsOf(aliases, exp.where, { row, outer: scope })])}` };
}

/** Compiles the conditions of a `where`, combined by `and`. */
export function conditionsOf(aliases: Aliases, exp: BoolExp, scope: Scope): readonly Sql[] {
  if (exp.kind === 'and') return exp.items.flatMap((item) => conditionsOf(aliases, item, scope));
  if (exp.kind === 'guarded') return [...conditionsOf(aliases, exp.guard, scope), ...conditionsOf(aliases, exp.item, scope)];
  return exp.kind === 'constant' && exp.value ? [] : [conditionSql(aliases, exp, scope)];
}

const CALLS: Readonly<Record<string, Sql>> = { sum: sql`sum`, avg: sql`avg`, max: sql`max`, min: sql`min` };

/** `count` of several operands counts rows, and distinct ones by their JSON. */
export function aggregateCall(name: string, operands: readonly AggregateArgument[], distinct: boolean): Sql {
  const [operand, ...more] = operands;
  const values = join(
    operands.map(({ value }) => sql`json_quote(${value})`),
    sql`, ',', `,
  );
  if (name === 'count') {
    if (operand === undefined || (more.length > 0 && !distinct)) return sql`count(*)`;
    if (more.length > 0) return sql`count(distinct concat(${values}))`;
    return distinct ? sql`count(distinct ${operand.value})` : sql`count(${operand.value})`;
  }
  const call = CALLS[name];
  if (operand === undefined || call === undefined) throw new Error(`invariant: unknown aggregate ${name}`);
  return sql`${call}(${operand.value})`;
}
