/**
 * Conditions on other tables. A distributed table can hardly be read per row, so relationships are lists of keys: uncorrelated
 * subqueries, which the database may plan, move and compute separately. Lists of keys of tables that may be on other servers are relations
 * of the statement, because no plan of the database reads both tables.
 */
import { type AggregatePredicate, type BoolExp, type Exists, comparesWithOuterRow } from '../../../ir/bool-exp.ts';
import type { Join, Relation } from '../../../ir/relation.ts';
import { EMPTY, join, type Sql, sql } from '../../../sql/fragment.ts';
import { joinConditions, nullTest, whereSql } from '../../shared/condition.ts';
import type { Row, Scope } from '../../shared/row.ts';
import { keyName } from '../../shared/set-plan/join-base.ts';
import { aggregateHolds, conditionSql, predicateHolds } from '../../postgresql/compile/bool-exp.ts';
import type { RelatedConditionCompiler } from '../../postgresql/compile/context.ts';
import { mayFail } from '../../postgresql/compile/may-fail.ts';
import { relationSql } from '../../postgresql/compile/relation.ts';
import { typeNameSql } from '../../postgresql/compile/type-name.ts';
import { addRelation, type StatementDraft } from './context.ts';

const COMMA = sql`, `;

/** Compiles conditions in any expression. `exists` is never null. */
export function relatedConditionsIn(draft: StatementDraft): RelatedConditionCompiler {
  return {
    conditions: (exp, scope) => conditionsOf(draft, exp, scope),
    exists: (exp, scope) => existsSql(draft, exp, scope, false),
    aggregate: (exp, scope) => aggregateSql(draft, exp, scope, false),
  };
}

/** Compiles the parts of a `where`. */
export function conditionsOf(draft: StatementDraft, exp: BoolExp, scope: Scope): readonly Sql[] {
  const { context } = draft;
  const before = context.relatedConditions;
  context.relatedConditions = relatedConditionsIn(draft);
  const conditions: Sql[] = [];
  const visit = (item: BoolExp): void => {
    if (item.kind === 'and') item.items.forEach(visit);
    else if (item.kind === 'guarded' && !mayFail(item.item)) {
      visit(item.guard);
      visit(item.item);
    } else if (item.kind === 'exists') conditions.push(existsSql(draft, item, scope, true));
    else if (item.kind === 'aggregate-predicate') conditions.push(aggregateSql(draft, item, scope, true));
    else if (item.kind !== 'constant' || !item.value) conditions.push(conditionSql(context, item, scope));
  };
  visit(exp);
  context.relatedConditions = before;
  return conditions;
}

interface Target {
  readonly item: Sql;
  readonly row: Row;
  readonly conditions: readonly Sql[];
}

function targetOf(draft: StatementDraft, { from, where }: { readonly from: Relation; readonly where: BoolExp }, scope: Scope): Target {
  const { item, row } = relationSql(draft.context, from, null);
  return { item, row, conditions: conditionsOf(draft, where, { row, outer: scope }) };
}

/** `a`, or `(a, b)` */
export function tuple(values: readonly Sql[]): Sql {
  return values.length === 1 ? (values[0] as Sql) : sql`(${join(values, COMMA)})`;
}

/** @param isPart whether null means false */
function existsSql(draft: StatementDraft, exp: Exists, scope: Scope, isPart: boolean): Sql {
  const { item, row, conditions } = targetOf(draft, exp, scope);
  if (comparesWithOuterRow(exp.where, 1)) {
    // A correlated subquery is the only way to compare columns of both; the database accepts it for colocated tables.
    return sql`exists (select 1 from ${item}${whereSql([...joinConditions(exp.join?.columns ?? [], scope.row, row), ...conditions])})`;
  }
  if (exp.join === null || exp.join.columns.length === 0) return sql`(true in (select true from ${item}${whereSql(conditions)} limit 1))`;
  const found = amongSql(draft, exp.join, scope.row, row, sql`from ${item}${whereSql([...conditions, ...notNull(exp.join, row)])}`);
  return isPart ? found : sql`(${found} is true)`;
}

/** Compiles the condition that a row has one of the keys. @param of the rows with the keys: everything from `from` on */
function amongSql(draft: StatementDraft, { columns, crossServer }: Join, row: Row, remote: Row, of: Sql): Sql {
  const keys = columns.map((pair) => remote.column(pair.remote));
  let list = sql`select ${join(keys, COMMA)} ${of}`;
  if (crossServer === true) {
    const named = keys.map((key, i) => sql`${key} as ${keyName(i)}`);
    const relation = addRelation(draft, () => sql`select ${join(named, COMMA)} ${of}`);
    const alias = draft.context.alias();
    const names = keys.map((_, i) => sql`${alias}.${keyName(i)}`);
    list = sql`select ${join(names, COMMA)} from ${relation} as ${alias}`;
  }
  return sql`(${tuple(columns.map(({ local }) => row.column(local)))} in (${list}))`;
}

function notNull({ columns }: Join, row: Row): readonly Sql[] {
  return columns.map(({ remote }) => nullTest(row.column(remote), false));
}

/**
 * Compiles lists of the keys for which the predicate holds, for which it is unknown, and which exist: its value is true, false or null.
 * Citus accepts no `case` around subqueries in the conditions of updates and deletes.
 * @param isPart whether null means false
 */
function aggregateSql(draft: StatementDraft, exp: AggregatePredicate, scope: Scope, isPart: boolean): Sql {
  if (exp.predicate.length === 0) return sql`true`;
  const { context } = draft;
  const { columns } = exp.join;
  const holdsIn = (row: Row): Sql => predicateHolds(context, exp, row);
  if (comparesWithOuterRow(exp.where, 1)) {
    const { item, row, conditions } = targetOf(draft, exp, scope);
    return sql`(select ${holdsIn(row)} from ${item}${whereSql([...joinConditions(columns, scope.row, row), ...conditions])})`;
  }
  const among = (having: ((row: Row) => Sql) | null): Sql => {
    const { item, row, conditions } = targetOf(draft, exp, scope);
    const keys = join(
      columns.map(({ remote }) => row.column(remote)),
      COMMA,
    );
    const groups = having === null ? EMPTY : sql` group by ${keys} having ${having(row)}`;
    const of = sql`from ${item}${whereSql([...conditions, ...notNull(exp.join, row)])}${groups}`;
    return sql`(${amongSql(draft, exp.join, scope.row, row, of)} is true)`;
  };
  const nothing = aggregateHolds(context, exp.predicate, aggregateOfNothing(exp));
  const isKnown = isPart || exp.function === 'count';
  const unknown = isKnown ? EMPTY : sql` or (${among((row) => sql`(${holdsIn(row)}) is null`)} and null)`;
  return sql`(${among(holdsIn)} or (not ${among(null)} and (${nothing}))${unknown})`;
}

/** Compiles the value of an aggregate without rows. */
export function aggregateOfNothing(exp: AggregatePredicate): Sql {
  if (exp.function === 'count') return sql`0::int8`;
  const compared = exp.predicate.find((comparison) => comparison.kind === 'compare');
  return compared === undefined ? sql`null::text` : sql`null::${typeNameSql(compared.operand.type)}`;
}
