/** Conditions on a row as PostgreSQL reads them: relationships as joins where that is faster. */
import type { AggregatePredicate, BoolExp, Exists } from '../../../ir/bool-exp.ts';
import { comparisonNamed, joinConditions, whereSql } from '../../shared/condition.ts';
import { type Conditions, conditionsOver, noList } from '../../shared/conditions.ts';
import { EMPTY, join, type Sql, sql } from '../../../sql/fragment.ts';
import { ARRAY_COMPARISONS, COMMON_COMPARISONS, NEGATED_COMPARISONS } from '../operators.ts';
import { postgresqlScalar } from '../types.ts';
import { aggregateCall } from './aggregate-call.ts';
import type { Context } from './context.ts';
import type { Row, Scope } from '../../shared/row.ts';
import { mayFail } from './may-fail.ts';
import { isPostgis, operandSql } from './operand.ts';
import { patternRefusal, validitySql } from './pattern.ts';
import { callSql, relationSql } from './relation.ts';
import { typeName } from './type-name.ts';

const conditions: Conditions<Context> = conditionsOver({
  value(context, read, row) {
    if (read.kind === 'cast') return sql`(${conditions.readSql(context, read.read, row)})::${typeName(read.type)}`;
    return read.kind === 'column' ? row.column(read.column) : callSql(context, read.call, row);
  },
  common: COMMON_COMPARISONS,
  operator(type, name) {
    if (type.array) return comparisonNamed(name, COMMON_COMPARISONS, ARRAY_COMPARISONS);
    return comparisonNamed(name, isPostgis(type) ? NEGATED_COMPARISONS : [], COMMON_COMPARISONS, postgresqlScalar(type).comparisons);
  },
  argument(_context, operand, operator) {
    // Lists of values are hashed, and values that differ do so early.
    const perRow = operator === undefined || COMMON_COMPARISONS.includes(operator) ? undefined : 1;
    return { value: () => operandSql(operand, operator && patternRefusal(operator, operand), perRow), list: noList };
  },
  validity: validitySql,
  mayFail,
  exists: (context, exp, scope) =>
    context.elsewhere?.exists(exp, scope) ?? context.question((fenced) => existsSql(context, exp, scope, fenced)),
  aggregate(context, exp, scope) {
    if (context.elsewhere !== null) return context.elsewhere.aggregate(exp, scope);
    return context.apart(() => {
      const { body, row } = relatedRows(context, exp, scope);
      return sql`(select ${conditions.predicateHolds(context, exp, row)} from ${body})`;
    });
  },
  aggregateCall,
});
export const { readSql, conditionSql, aggregateHolds, aggregateOf, predicateHolds, guardedSql } = conditions;

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
