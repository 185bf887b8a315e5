/** Conditions on rows in PostgreSQL, with joins for relationships where they are faster. */
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
import { typeNameSql } from './type-name.ts';

const conditions: Conditions<Context> = conditionsOver({
  value(context, read, row) {
    if (read.kind === 'cast') return sql`(${conditions.readSql(context, read.read, row)})::${typeNameSql(read.type)}`;
    return read.kind === 'column' ? row.column(read.column) : callSql(context, read.call, row);
  },
  common: COMMON_COMPARISONS,
  operator(type, name) {
    if (type.array) return comparisonNamed(name, COMMON_COMPARISONS, ARRAY_COMPARISONS);
    return comparisonNamed(name, isPostgis(type) ? NEGATED_COMPARISONS : [], COMMON_COMPARISONS, postgresqlScalar(type).comparisons);
  },
  argument: (_context, operand, operator, perRow) => ({
    value: () => operandSql(operand, operator && patternRefusal(operator, operand), perRow),
    list: noList,
  }),
  validity: validitySql,
  mayFail,
  exists: (context, exp, scope) =>
    context.relatedConditions?.exists(exp, scope) ?? context.subquery((fenced) => existsSql(context, exp, scope, fenced)),
  aggregate(context, exp, scope) {
    if (context.relatedConditions !== null) return context.relatedConditions.aggregate(exp, scope);
    return context.planSeparately(() => {
      const { body, row } = relatedRows(context, exp, scope);
      return sql`(select ${conditions.predicateHolds(context, exp, row)} from ${body})`;
    });
  },
  aggregateCall,
});
export const { readSql, conditionSql, aggregateHolds, aggregateOf, predicateHolds, guardedSql } = conditions;

/** A condition split for a select into joins that cannot multiply rows, and the other conditions. */
export interface Filter {
  readonly joins: readonly Sql[];
  readonly conditions: readonly Sql[];
}

/**
 * Compiles the `where` of a select. A to-one relationship with a unique target becomes a join: with a small limit that takes half the time
 * of `exists`.
 */
export function filterOf(context: Context, exp: BoolExp, scope: Scope): Filter {
  const joins: Sql[] = [];
  return { joins, conditions: partsOf(context, exp, scope, joins) };
}

/** Compiles the `where` of an update or delete, to which nothing can be joined. */
export function filterSql(context: Context, exp: BoolExp, scope: Scope): Sql {
  return allOf(context.relatedConditions?.conditions(exp, scope) ?? partsOf(context, exp, scope, null));
}

/** Compiles the parts of a conjunction. @param joins receives the joins; `null` if there can be none */
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
      else if (!context.allowsCondition()) conditions.push(separateSql(context, item, at));
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

/** A joined unique row, which all conditions on it share. */
interface Joined {
  readonly from: Exists['from'];
  readonly on: NonNullable<Exists['join']>;
  readonly local: Row;
  readonly row: Row;
  /** Rules that are already conditions on the row. */
  readonly guards: Set<BoolExp>;
}

/** Compiles a part of a conjunction that the database plans as a semijoin or antijoin, unless there are too many of them. */
function joinedSql(context: Context, exp: Exists, scope: Scope): Sql {
  return context.allowsCondition() ? existsSql(context, exp, scope) : separateSql(context, exp, scope);
}

/**
 * Hides an `exists` in a disjunction, so that the database plans it separately: per row, or for all rows by a hash table, whichever is
 * cheaper.
 */
function separateSql(context: Context, exp: Exists, scope: Scope): Sql {
  return sql`(${context.subquery((fenced) => existsSql(context, exp, scope, fenced))} or false)`;
}

function allOf(conditions: readonly Sql[]): Sql {
  return conditions.length === 0 ? sql`true` : join(conditions, sql` and `);
}

/** `<from> <joins> <where>` of the rows of an `exists` or an aggregate. */
function relatedRows(context: Context, exp: Exists | AggregatePredicate, scope: Scope): { readonly body: Sql; readonly row: Row } {
  const { item, row } = relationSql(context, exp.from, scope.row);
  const filter = filterOf(context, exp.where, { ...scope, row, outer: scope });
  const conditions = [...(exp.join === null ? [] : joinConditions(exp.join.columns, scope.row, row)), ...filter.conditions];
  return { body: sql`${item}${join(filter.joins, EMPTY)}${whereSql(conditions)}`, row };
}

/** @param fenced adds an offset, with which the subquery is evaluated per row and not for all rows at once */
function existsSql(context: Context, exp: Exists, scope: Scope, fenced = false): Sql {
  const fence = fenced || (scope.fenced === true && mayFail(exp)) ? sql` offset 0` : EMPTY;
  return sql`exists (select 1 from ${relatedRows(context, exp, scope).body}${fence})`;
}
