/** Conditions on a row, and reads of its columns: together because a masked read holds a condition. */
import type { CatalogType } from '../../../catalog/catalog.ts';
import { SvcError } from '../../../errors/svc-error.ts';
import {
  type AggregateComparison,
  type AggregatePredicate,
  type BoolExp,
  type Compare,
  type CompareColumns,
  type Exists,
  looksOut,
} from '../../../ir/bool-exp.ts';
import type { Read } from '../../../ir/read.ts';
import type { Join } from '../../../ir/relation.ts';
import { comparisonNamed, compareValueSql, joinConditions, logicSql, nullSafeSql, nullTest, whereSql } from '../../../sql/condition.ts';
import { EMPTY, join, type Sql, sql } from '../../../sql/fragment.ts';
import { ownScope, type Row, rowOutside, type Scope } from '../../../sql/row.ts';
import { isOrdered } from '../families.ts';
import { type CompiledArgument, COMMON_COMPARISONS, type DwhComparison } from '../operators.ts';
import { dwhScalar, types } from '../types.ts';
import { aggregateCall } from './aggregate-call.ts';
import { asking, type Context } from './context.ts';
import { nullSql, operandSql, patternSql } from './operand.ts';
import { calledSql, relationSql } from './relation.ts';

/** The value of a read in a row, masked where the role may not see it. */
export function readSql(context: Context, read: Read, row: Row): Sql {
  if (read.kind !== 'column')
    throw new SvcError('not-supported', 'BigQuery has neither computed fields that are values nor casts of columns');
  const column = row.column(read.column);
  return read.mask === undefined ? column : sql`if(${conditionSql(context, read.mask, ownScope(row))}, ${column}, null)`;
}

/** A condition as one boolean expression. */
export function conditionSql(context: Context, exp: BoolExp, scope: Scope): Sql {
  switch (exp.kind) {
    case 'constant':
    case 'and':
    case 'or':
    case 'not':
      return logicSql(exp, (item) => conditionSql(context, item, scope));
    // Nothing that a request can ask fails when a row is met: values and patterns are looked at before.
    case 'guarded':
      return sql`(${conditionSql(context, exp.guard, scope)} and ${conditionSql(context, exp.item, scope)})`;
    case 'compare':
      return compareSql(context, exp, scope);
    case 'is-null':
      return sql`(${nullTest(readSql(context, exp.left, scope.row), exp.isNull)})`;
    case 'compare-columns':
      return compareColumnsSql(context, exp, scope);
    case 'exists':
      // What is found by no keys is joined by none.
      if (context.asks === null || exp.join === null || looksOut(exp.where, 1)) return existsSql(context, exp, scope, false);
      return context.asks.exists(exp);
    case 'aggregate-predicate':
      return context.asks !== null && !looksOut(exp.where, 1) ? context.asks.aggregate(exp) : aggregateSql(context, exp, scope);
  }
}

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
  if (exp.predicate.length === 0) return sql`true`;
  if (looksOut(exp.where, 1)) {
    throw new SvcError('not-supported', 'BigQuery compares no columns of related rows with others in conditions on their aggregates');
  }
  const { columns } = exp.join;
  const holdsIn = (row: Row): Sql => {
    const operands = exp.arguments.map((read) => ({ value: readSql(context, read, row), type: read.type }));
    return aggregateHolds(exp.predicate, aggregateCall(exp.function, operands, exp.distinct));
  };
  const among = (having: ((row: Row) => Sql) | null): Sql => {
    const { item, row, conditions } = targetOf(context, exp, scope);
    const keys = columns.map(({ remote }) => row.column(remote));
    const list = join(keys, sql`, `);
    const known = keys.map((key) => nullTest(key, false));
    const groups = having === null ? EMPTY : sql` group by ${list} having ${having(row)}`;
    return sql`ifnull(${tuple(localKeys(columns, scope.row))} in (select ${tuple(keys)} from ${item}${whereSql([...conditions, ...known])}${groups}), false)`;
  };
  const nothing = aggregateHolds(exp.predicate, aggregateOfNothing(exp));
  const unknown = exp.function === 'count' ? EMPTY : sql` when ${among((row) => sql`(${holdsIn(row)}) is null`)} then null`;
  return sql`(case when ${among(holdsIn)} then true${unknown} when ${among(null)} then false else ${nothing} end)`;
}

function localKeys(columns: Join['columns'], row: Row): readonly Sql[] {
  return columns.map(({ local }) => row.column(local));
}

/** `a`, or a structure of several. */
function tuple(values: readonly Sql[]): Sql {
  return values.length === 1 ? (values[0] as Sql) : sql`struct(${join(values, sql`, `)})`;
}

/** The comparisons of a predicate hold for an aggregate. */
export function aggregateHolds(comparisons: readonly AggregateComparison[], aggregate: Sql): Sql {
  const parts = comparisons.map((comparison) =>
    comparison.kind === 'is-null'
      ? nullTest(aggregate, comparison.isNull)
      : comparisonNamed(comparison.operator, COMMON_COMPARISONS).compile(aggregate, {
          value: operandSql(comparison.operand),
          field: noField,
        }),
  );
  return join(parts, sql` and `);
}

/** What an aggregate is where there are no rows. */
export function aggregateOfNothing(exp: AggregatePredicate): Sql {
  if (exp.function === 'count') return sql`0`;
  const compared = exp.predicate.find((comparison) => comparison.kind === 'compare');
  return compared === undefined ? sql`cast(null as string)` : nullSql(compared.operand.type);
}

function noField(name: string): never {
  throw new Error(`invariant: the value has no field ${name}`);
}

function compareSql(context: Context, exp: Compare, scope: Scope): Sql {
  const left = readSql(context, exp.left, scope.row);
  const { argument } = exp;
  const comparison = comparisonOf(exp.operator, exp.left.type);
  if (argument.kind === 'fields') {
    const { fields } = argument;
    const field = (name: string): Sql => {
      const operand = fields[name];
      return operand === undefined ? noField(name) : operandSql(operand);
    };
    return comparison.compile(left, { value: EMPTY, field });
  }
  const { operand } = argument;
  const plain = (): Sql => comparison.compile(left, argumentOf(comparison, operand));
  return compareValueSql(exp, left, operand.value, plain, () => operandSql(operand));
}

/** @throws not-supported for what BigQuery does not compare: a statement with it would fail */
function comparisonOf(operator: string, type: CatalogType): DwhComparison {
  const own = type.array ? [] : dwhScalar(type).comparisons;
  const comparison = comparisonNamed(operator, own, COMMON_COMPARISONS);
  if (own.includes(comparison) || isOrdered(type)) return comparison;
  throw new SvcError('not-supported', `BigQuery does not compare values of type ${types.print(type)}: ${operator} cannot be asked of them`);
}

function argumentOf(comparison: DwhComparison, operand: Extract<Compare['argument'], { kind: 'operand' }>['operand']): CompiledArgument {
  return {
    get value() {
      return comparison.pattern === true ? patternSql(operand) : operandSql(operand);
    },
    field: noField,
  };
}

function compareColumnsSql(context: Context, exp: CompareColumns, scope: Scope): Sql {
  const left = readSql(context, exp.left, scope.row);
  const right = readSql(context, exp.right, exp.rightRow === 'root' ? rowOutside(scope, exp.levels) : scope.row);
  const plain = comparisonOf(exp.operator, exp.left.type).compile(left, { value: right, field: noField });
  return exp.nullSafe ? nullSafeSql(plain, exp.operator, left, right) : plain;
}
