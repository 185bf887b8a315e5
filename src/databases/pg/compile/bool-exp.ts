/**
 * Conditions on a row, and reads of its columns: together because a masked read holds a condition.
 */
import type { CatalogType } from '../../../catalog/catalog.ts';
import type { AggregatePredicate, BoolExp, Compare, CompareColumns, Exists, Guarded } from '../../../ir/bool-exp.ts';
import type { Read } from '../../../ir/read.ts';
import type { Operand } from '../../../ir/value.ts';
import { comparisonNamed, compareValueSql, joinConditions, logicSql, nullSafeSql, nullTest, whereSql } from '../../../sql/condition.ts';
import { EMPTY, join, type Sql, sql } from '../../../sql/fragment.ts';
import { ARRAY_COMPARISONS, COMMON_COMPARISONS, type CompiledArgument, NEGATED_COMPARISONS, type PgComparison } from '../operators.ts';
import { pgScalar } from '../types.ts';
import { aggregateCall } from './aggregate-call.ts';
import type { Context } from './context.ts';
import { ownScope, type Row, rowOutside, type Scope } from '../../../sql/row.ts';
import { mayFail } from './may-fail.ts';
import { isPostgis, operandSql } from './operand.ts';
import { patternRefusal, validitySql } from './pattern.ts';
import { callSql, relationSql } from './relation.ts';
import { typeName } from './type-name.ts';

/** The value of a read in a row, masked where the role may not see it. */
export function readSql(context: Context, read: Read, row: Row): Sql {
  if (read.kind === 'cast') return sql`(${readSql(context, read.read, row)})::${typeName(read.type)}`;
  const value = read.kind === 'column' ? row.column(read.column) : callSql(context, read.call, row);
  if (read.mask === undefined) return value;
  return sql`case when ${conditionSql(context, read.mask, ownScope(row))} then ${value} end`;
}

/** A condition as one boolean expression. */
export function conditionSql(context: Context, exp: BoolExp, scope: Scope): Sql {
  switch (exp.kind) {
    case 'constant':
    case 'and':
    case 'or':
    case 'not':
      return logicSql(exp, (item) => conditionSql(context, item, scope));
    case 'guarded': {
      const guard = conditionSql(context, exp.guard, scope);
      return sql`(${guard} and ${mayFail(exp.item) ? guardedSql(context, exp, scope) : conditionSql(context, exp.item, scope)})`;
    }
    case 'compare':
      return compareSql(context, exp, scope);
    case 'is-null':
      return sql`(${nullTest(readSql(context, exp.left, scope.row), exp.isNull)})`;
    case 'compare-columns':
      return compareColumnsSql(context, exp, scope);
    case 'exists':
      return context.elsewhere?.exists(exp, scope) ?? context.question((fenced) => existsSql(context, exp, scope, fenced));
    case 'aggregate-predicate':
      if (context.elsewhere !== null) return context.elsewhere.aggregate(exp, scope);
      return context.apart(() => aggregatePredicateSql(context, exp, scope));
  }
}

/** The database evaluates the parts of a conjunction in any order, but nothing in a `case` that is not called for. */
function guardedSql(context: Context, exp: Guarded, scope: Scope): Sql {
  const item = conditionSql(context, exp.item, { ...scope, fenced: true });
  return sql`case when ${conditionSql(context, exp.guard, scope)} then ${item} else false end`;
}

/** A condition taken apart for a select: joins that cannot multiply rows, and what is left. */
export interface Filter {
  readonly joins: readonly Sql[];
  readonly conditions: readonly Sql[];
}

/**
 * The condition of a select's `where`. A to-one relationship with a unique target becomes a join:
 * under a small limit that takes half the time of `exists`.
 */
export function filterOf(context: Context, exp: BoolExp, scope: Scope): Filter {
  const joins: Sql[] = [];
  return { joins, conditions: partsOf(context, exp, scope, joins) };
}

/** The condition of an update's or delete's `where`, which nothing can be joined to. */
export function filterSql(context: Context, exp: BoolExp, scope: Scope): Sql {
  return allOf(context.elsewhere?.conditions(exp, scope) ?? partsOf(context, exp, scope, null));
}

/** The parts of a conjunction. @param joins takes what can be joined; null: nothing can */
function partsOf(context: Context, exp: BoolExp, scope: Scope, joins: Sql[] | null): readonly Sql[] {
  const conditions: Sql[] = [];
  const joined: Joined[] = [];
  const visit = (item: BoolExp, at: Scope): void => {
    if (item.kind === 'and') {
      for (const part of item.items) visit(part, at);
    } else if (item.kind === 'guarded') {
      const guards = joined.find(({ row }) => row === at.row)?.guards;
      if (guards?.has(item.guard) !== true) visit(item.guard, at);
      guards?.add(item.guard);
      if (mayFail(item.item)) conditions.push(guardedSql(context, item, at));
      else visit(item.item, at);
    } else if (item.kind === 'not' && item.item.kind === 'exists') {
      conditions.push(sql`(not ${joinedSql(context, item.item, at)})`);
    } else if (item.kind !== 'exists') {
      if (item.kind !== 'constant' || !item.value) conditions.push(conditionSql(context, item, at));
    } else if (joins === null || item.join?.unique !== true || item.from.kind !== 'table') {
      conditions.push(joinedSql(context, item, at));
    } else {
      const { join: on, from } = item;
      const known = joined.find((other) => other.from === from && other.on === on && other.local === at.row);
      if (known !== undefined) visit(item.where, { row: known.row, outer: at });
      else if (!context.takeCondition()) conditions.push(apartSql(context, item, at));
      else {
        const { item: target, row } = relationSql(context, from, at.row);
        joins.push(sql` join ${target} on ${allOf(joinConditions(on.columns, at.row, row))}`);
        joined.push({ from, on, local: at.row, row, guards: new Set() });
        visit(item.where, { row, outer: at });
      }
    }
  };
  visit(exp, scope);
  return conditions;
}

/** A unique row that was joined: all conditions on it are about the one join, which there is one of however many these are. */
interface Joined {
  readonly from: Exists['from'];
  readonly on: NonNullable<Exists['join']>;
  readonly local: Row;
  readonly row: Row;
  /** Rules that hold for the row already. */
  readonly guards: Set<BoolExp>;
}

/** A part of a conjunction that the database takes for a join (semi or anti), unless there are too many of these. */
function joinedSql(context: Context, exp: Exists, scope: Scope): Sql {
  return context.takeCondition() ? existsSql(context, exp, scope) : apartSql(context, exp, scope);
}

/**
 * Hidden in a disjunction, so that the database answers it by itself: for each row, or for all at once
 * by a hash table, whichever is less work.
 */
function apartSql(context: Context, exp: Exists, scope: Scope): Sql {
  return sql`(${context.question((fenced) => existsSql(context, exp, scope, fenced))} or false)`;
}

function allOf(conditions: readonly Sql[]): Sql {
  return conditions.length === 0 ? sql`true` : join(conditions, sql` and `);
}

/** `<from> <joins> <where>` of the rows that an `exists` or an aggregate is about. */
function relatedRows(context: Context, exp: Exists | AggregatePredicate, scope: Scope): { readonly body: Sql; readonly row: Row } {
  const { item, row } = relationSql(context, exp.from, scope.row);
  const filter = filterOf(context, exp.where, { ...scope, row, outer: scope });
  const conditions = [...(exp.join === null ? [] : joinConditions(exp.join.columns, scope.row, row)), ...filter.conditions];
  return { body: sql`${item}${join(filter.joins, EMPTY)}${whereSql(conditions)}`, row };
}

/** @param fenced with an offset it stays a question about this row, and is not answered for all rows at once */
function existsSql(context: Context, exp: Exists, scope: Scope, fenced = false): Sql {
  const fence = fenced || (scope.fenced === true && mayFail(exp)) ? sql` offset 0` : EMPTY;
  return sql`exists (select 1 from ${relatedRows(context, exp, scope).body}${fence})`;
}

function aggregatePredicateSql(context: Context, exp: AggregatePredicate, scope: Scope): Sql {
  if (exp.predicate.length === 0) return sql`true`;
  const { body, row } = relatedRows(context, exp, scope);
  const values = exp.arguments.map((read) => ({ value: readSql(context, read, row), type: read.type }));
  return sql`(select ${aggregateHolds(exp.predicate, aggregateCall(exp.function, values, exp.distinct))} from ${body})`;
}

/** Whether an aggregate is as all of the comparisons want it. */
export function aggregateHolds(predicate: AggregatePredicate['predicate'], aggregate: Sql): Sql {
  const comparisons = predicate.map((comparison) =>
    comparison.kind === 'is-null'
      ? nullTest(aggregate, comparison.isNull)
      : comparisonNamed(comparison.operator, COMMON_COMPARISONS).compile(aggregate, operandArgument(comparison.operand)),
  );
  return join(comparisons, sql` and `);
}

function compareSql(context: Context, exp: Compare, scope: Scope): Sql {
  const left = readSql(context, exp.left, scope.row);
  const { argument } = exp;
  if (argument.kind === 'fields') return comparisonOf(exp.left.type, exp.operator).compile(left, fieldsArgument(argument.fields));
  const { operand } = argument;
  const comparison = comparisonOf(exp.left.type, exp.operator);
  // Lists of values are hashed, and values that differ do so early.
  const perRow = COMMON_COMPARISONS.includes(comparison) ? undefined : 1;
  const plain = (): Sql => {
    const holds = comparison.compile(left, operandArgument(operand, patternRefusal(comparison, operand), perRow));
    const valid = validitySql(comparison, operand);
    return valid === null ? holds : sql`(${holds} and ${valid})`;
  };
  return compareValueSql(exp, left, operand.value, plain, () => operandSql(operand));
}

function compareColumnsSql(context: Context, exp: CompareColumns, scope: Scope): Sql {
  const left = readSql(context, exp.left, scope.row);
  const right = readSql(context, exp.right, exp.rightRow === 'root' ? rowOutside(scope, exp.levels) : scope.row);
  const plain = comparisonNamed(exp.operator, COMMON_COMPARISONS).compile(left, constantArgument(right));
  return exp.nullSafe ? nullSafeSql(plain, exp.operator, left, right) : plain;
}

function comparisonOf(type: CatalogType, operator: string): PgComparison {
  if (type.array) return comparisonNamed(operator, COMMON_COMPARISONS, ARRAY_COMPARISONS);
  return comparisonNamed(operator, isPostgis(type) ? NEGATED_COMPARISONS : [], COMMON_COMPARISONS, pgScalar(type).comparisons);
}

function constantArgument(value: Sql): CompiledArgument {
  return () => value;
}

function operandArgument(operand: Operand, refuse?: (text: string) => void, perRow?: number): CompiledArgument {
  return (_field, type) => operandSql(type === undefined ? operand : { ...operand, type }, refuse, perRow);
}

function fieldsArgument(fields: Readonly<Record<string, Operand>>): CompiledArgument {
  const field = (name = '', type?: CatalogType): Sql => {
    const operand = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (operand === undefined) throw new Error(`invariant: operator without its field ${name}`);
    return operandSql(type === undefined ? operand : { ...operand, type });
  };
  return Object.assign(field, { has: (name: string) => Object.hasOwn(fields, name) });
}
