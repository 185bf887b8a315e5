/** Conditions on a row as BigQuery reads them: relationships as lists of keys. */
import { SvcError } from '../../../errors/svc-error.ts';
import { type AggregatePredicate, type BoolExp, type Exists, looksOut } from '../../../ir/bool-exp.ts';
import type { Join } from '../../../ir/relation.ts';
import { comparisonNamed, joinConditions, nullTest, whereSql } from '../../shared/condition.ts';
import { type Conditions, conditionsOver, noList } from '../../shared/conditions.ts';
import { EMPTY, join, type Sql, sql } from '../../../sql/fragment.ts';
import type { Row, Scope } from '../../shared/row.ts';
import { isOrdered } from '../families.ts';
import { COMMON_COMPARISONS } from '../operators.ts';
import { bigQueryScalar, types } from '../types.ts';
import { aggregateCall } from './aggregate-call.ts';
import { asking, type Context } from './context.ts';
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
    // A statement with it would fail.
    throw new SvcError('not-supported', `BigQuery does not compare values of type ${types.print(type)}: ${name} cannot be asked of them`);
  },
  argument: (_context, operand, operator) => ({
    value: () => (operator?.pattern === undefined ? operandSql(operand) : patternSql(operand)),
    list: noList,
  }),
  // Nothing that a request can ask fails when a row is met: values and patterns are looked at before.
  mayFail: () => false,
  exists(context, exp, scope) {
    // What is found by no keys is joined by none.
    if (context.asks === null || exp.join === null || looksOut(exp.where, 1)) return existsSql(context, exp, scope, false);
    return context.asks.exists(exp);
  },
  aggregate: (context, exp, scope) =>
    context.asks !== null && !looksOut(exp.where, 1) ? context.asks.aggregate(exp) : aggregateSql(context, exp, scope),
  aggregateCall,
});
export const { readSql, conditionSql, aggregateHolds, predicateHolds } = conditions;

/** The conditions of a select's `where`. */
export function conditionsOf(context: Context, exp: BoolExp, scope: Scope): readonly Sql[] {
  return asking(context, null, () => partsOf(context, exp, scope));
}

function partsOf(context: Context, exp: BoolExp, scope: Scope): readonly Sql[] {
  if (exp.kind === 'and') return exp.items.flatMap((item) => partsOf(context, item, scope));
  if (exp.kind === 'guarded') return [...partsOf(context, exp.guard, scope), ...partsOf(context, exp.item, scope)];
  if (exp.kind === 'exists') return [existsSql(context, exp, scope, true)];
  return exp.kind === 'constant' && exp.value ? [] : [conditionSql(context, exp, scope)];
}

interface Target {
  readonly item: Sql;
  readonly row: Row;
  readonly conditions: readonly Sql[];
}

function targetOf(context: Context, { from, where }: Pick<Exists, 'from' | 'where'>, scope: Scope): Target {
  const { item, row } = from.kind === 'function' ? calledSql(context, from.call, scope.row) : relationSql(context, from);
  return { item, row, conditions: conditionsOf(context, where, { row, outer: scope }) };
}

/**
 * Rows that have one of the keys: a list that looks nowhere. Only where columns of both rows are compared the sub-select looks out, and
 * the database makes a join of it by the equality of keys.
 * @param isPart whether null stands for false
 */
function existsSql(context: Context, exp: Exists, scope: Scope, isPart: boolean): Sql {
  const columns = exp.join?.columns ?? [];
  if (columns.length === 0 && looksOut(exp.where, 1)) {
    throw new SvcError(
      'not-supported',
      'BigQuery compares no columns of a row with those of a table that is not related to it by equal columns',
    );
  }
  const { item, row, conditions } = targetOf(context, exp, scope);
  if (columns.length === 0 || looksOut(exp.where, 1)) {
    return sql`exists (select 1 from ${item}${whereSql([...joinConditions(columns, scope.row, row), ...conditions])})`;
  }
  const keys = columns.map(({ remote }) => row.column(remote));
  const known = keys.map((key) => nullTest(key, false));
  const found = sql`(${tuple(localKeys(columns, scope.row))} in (select ${tuple(keys)} from ${item}${whereSql([...conditions, ...known])}))`;
  return isPart ? found : sql`ifnull(${found}, false)`;
}

/** Keys for which the predicate holds, is not known, and which there are at all: there are three values. No aggregate may look out. */
function aggregateSql(context: Context, exp: AggregatePredicate, scope: Scope): Sql {
  if (looksOut(exp.where, 1)) {
    throw new SvcError('not-supported', 'BigQuery compares no columns of related rows with others in conditions on their aggregates');
  }
  const { columns } = exp.join;
  const holdsIn = (row: Row): Sql => predicateHolds(context, exp, row);
  const among = (having: ((row: Row) => Sql) | null): Sql => {
    const { item, row, conditions } = targetOf(context, exp, scope);
    const keys = columns.map(({ remote }) => row.column(remote));
    const list = join(keys, sql`, `);
    const known = keys.map((key) => nullTest(key, false));
    const groups = having === null ? EMPTY : sql` group by ${list} having ${having(row)}`;
    return sql`ifnull(${tuple(localKeys(columns, scope.row))} in (select ${tuple(keys)} from ${item}${whereSql([...conditions, ...known])}${groups}), false)`;
  };
  const nothing = aggregateHolds(context, exp.predicate, aggregateOfNothing(exp));
  const unknown = exp.function === 'count' ? EMPTY : sql` when ${among((row) => sql`(${holdsIn(row)}) is null`)} then null`;
  return sql`(case when ${among(holdsIn)} then true${unknown} when ${among(null)} then false else ${nothing} end)`;
}

function localKeys(columns: Join['columns'], row: Row): readonly Sql[] {
  return columns.map(({ local }) => row.column(local));
}

/** `a`, or a structure of several. */
export function tuple(values: readonly Sql[]): Sql {
  return values.length === 1 ? (values[0] as Sql) : sql`struct(${join(values, sql`, `)})`;
}

/** What an aggregate is where there are no rows. */
export function aggregateOfNothing(exp: AggregatePredicate): Sql {
  if (exp.function === 'count') return sql`0`;
  const compared = exp.predicate.find((comparison) => comparison.kind === 'compare');
  return compared === undefined ? sql`cast(null as string)` : nullSql(compared.operand.type);
}
