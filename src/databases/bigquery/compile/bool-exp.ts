/** Conditions on a row. Relationships become `in` lists of keys. */
import { SvcError } from '../../../errors/svc-error.ts';
import { type AggregatePredicate, type BoolExp, type Exists, comparesWithOuterRow } from '../../../ir/bool-exp.ts';
import type { Join } from '../../../ir/relation.ts';
import { comparisonNamed, joinConditions, nullTest, whereSql } from '../../shared/condition.ts';
import { type Conditions, conditionsOver, noList } from '../../shared/conditions.ts';
import { EMPTY, join, type Sql, sql } from '../../../sql/fragment.ts';
import type { Row, Scope } from '../../shared/row.ts';
import { withRelatedConditions } from '../../shared/set-plan/writer.ts';
import { isOrdered } from '../families.ts';
import { COMMON_COMPARISONS } from '../operators.ts';
import { bigQueryScalar, types } from '../types.ts';
import { aggregateCall } from './aggregate-call.ts';
import type { Context } from './context.ts';
import { nullSql, operandSql, patternSql } from './operand.ts';
import { calledSql, relationSql } from './relation.ts';

const conditions: Conditions<Context> = conditionsOver({
  value(_context, read, row) {
    if (read.kind === 'column') return row.column(read.column);
    throw new SvcError('not-supported', 'BigQuery has neither computed fields that are values nor casts of columns');
  },
  common: COMMON_COMPARISONS,
  operator(type, name) {
    const own = type.array ? [] : bigQueryScalar(type).comparisons;
    const operator = comparisonNamed(name, own, COMMON_COMPARISONS);
    if (own.includes(operator) || isOrdered(type)) return operator;
    // BigQuery would refuse the statement.
    throw new SvcError('not-supported', `BigQuery cannot compare values of type ${types.print(type)}: ${name} is not available for them`);
  },
  argument: (_context, operand, operator) => ({
    value: () => (operator?.pattern === undefined ? operandSql(operand) : patternSql(operand)),
    list: noList,
  }),
  // No requested condition can fail on a row: values and patterns are checked beforehand.
  mayFail: () => false,
  exists(context, exp, scope) {
    // Without a join there are no keys to find rows by.
    if (context.relatedConditions === null || exp.join === null || comparesWithOuterRow(exp.where, 1))
      return existsSql(context, exp, scope, false);
    return context.relatedConditions.exists(exp);
  },
  aggregate: (context, exp, scope) =>
    context.relatedConditions !== null && !comparesWithOuterRow(exp.where, 1)
      ? context.relatedConditions.aggregate(exp)
      : aggregateSql(context, exp, scope),
  aggregateCall,
});
export const { readSql, conditionSql, aggregateHolds, predicateHolds } = conditions;

/** Compiles the conditions of a `where`, combined by `and`. */
export function conditionsOf(context: Context, exp: BoolExp, scope: Scope): readonly Sql[] {
  return withRelatedConditions(context, null, () => partsOf(context, exp, scope));
}

function partsOf(context: Context, exp: BoolExp, scope: Scope): readonly Sql[] {
  if (exp.kind === 'and') return exp.items.flatMap((item) => partsOf(context, item, scope));
  if (exp.kind === 'guarded') return [...partsOf(context, exp.guard, scope), ...partsOf(context, exp.item, scope)];
  if (exp.kind === 'exists') return [existsSql(context, exp, scope, true)];
  return exp.kind === 'constant' && exp.value ? [] : [conditionSql(context, exp, scope)];
}

interface RelatedRows {
  readonly item: Sql;
  readonly row: Row;
  readonly conditions: readonly Sql[];
}

function relatedRows(context: Context, { from, where }: Pick<Exists, 'from' | 'where'>, scope: Scope): RelatedRows {
  const { item, row } = from.kind === 'function' ? calledSql(context, from.call, scope.row) : relationSql(context, from);
  return { item, row, conditions: conditionsOf(context, where, { row, outer: scope }) };
}

/**
 * Compares keys with an uncorrelated list. Only conditions that compare columns of both rows need a correlated subquery, which
 * BigQuery can execute as a join because it has an equality of keys.
 * @param isPart null counts as false, so no `ifnull` is needed
 */
function existsSql(context: Context, exp: Exists, scope: Scope, isPart: boolean): Sql {
  const columns = exp.join?.columns ?? [];
  if (columns.length === 0 && comparesWithOuterRow(exp.where, 1)) {
    throw new SvcError('not-supported', 'BigQuery can compare columns of two tables only if they are related by equal columns');
  }
  const { item, row, conditions } = relatedRows(context, exp, scope);
  if (columns.length === 0 || comparesWithOuterRow(exp.where, 1)) {
    return sql`exists (select 1 from ${item}${whereSql([...joinConditions(columns, scope.row, row), ...conditions])})`;
  }
  const keys = columns.map(({ remote }) => row.column(remote));
  const notNull = keys.map((key) => nullTest(key, false));
  const found = sql`(${tuple(localKeys(columns, scope.row))} in (select ${tuple(keys)} from ${item}${whereSql([...conditions, ...notNull])}))`;
  return isPart ? found : sql`ifnull(${found}, false)`;
}

/**
 * Distinguishes keys for which the predicate is true, for which it is null, and for which there are rows at all. Subqueries with
 * aggregates cannot be correlated.
 */
function aggregateSql(context: Context, exp: AggregatePredicate, scope: Scope): Sql {
  if (comparesWithOuterRow(exp.where, 1)) {
    throw new SvcError('not-supported', 'BigQuery cannot compare columns of related rows with other rows in conditions on aggregates');
  }
  const { columns } = exp.join;
  const holdsIn = (row: Row): Sql => predicateHolds(context, exp, row);
  const among = (having: ((row: Row) => Sql) | null): Sql => {
    const { item, row, conditions } = relatedRows(context, exp, scope);
    const keys = columns.map(({ remote }) => row.column(remote));
    const list = join(keys, sql`, `);
    const notNull = keys.map((key) => nullTest(key, false));
    const groups = having === null ? EMPTY : sql` group by ${list} having ${having(row)}`;
    return sql`ifnull(${tuple(localKeys(columns, scope.row))} in (select ${tuple(keys)} from ${item}${whereSql([...conditions, ...notNull])}${groups}), false)`;
  };
  const nothing = aggregateHolds(context, exp.predicate, aggregateOfNothing(exp));
  const unknown = exp.function === 'count' ? EMPTY : sql` when ${among((row) => sql`(${holdsIn(row)}) is null`)} then null`;
  return sql`(case when ${among(holdsIn)} then true${unknown} when ${among(null)} then false else ${nothing} end)`;
}

function localKeys(columns: Join['columns'], row: Row): readonly Sql[] {
  return columns.map(({ local }) => row.column(local));
}

/** `a`, or `struct(a, b)`. */
export function tuple(values: readonly Sql[]): Sql {
  return values.length === 1 ? (values[0] as Sql) : sql`struct(${join(values, sql`, `)})`;
}

/** Returns the value of an aggregate over no rows. */
export function aggregateOfNothing(exp: AggregatePredicate): Sql {
  if (exp.function === 'count') return sql`0`;
  const compared = exp.predicate.find((comparison) => comparison.kind === 'compare');
  return compared === undefined ? sql`cast(null as string)` : nullSql(compared.operand.type);
}
