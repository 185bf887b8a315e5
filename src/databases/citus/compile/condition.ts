/**
 * Conditions about other tables. A distributed table can hardly be asked row by row: relationships are lists of keys, sub-selects
 * that do not look out and that the database may plan, move and compute by themselves. Lists of keys of tables that may be on other servers
 * are relations of the statement: no plan of the database reads both tables.
 */
import { type AggregatePredicate, type BoolExp, type Exists, looksOut } from '../../../ir/bool-exp.ts';
import type { Join, Relation } from '../../../ir/relation.ts';
import { EMPTY, join, type Sql, sql } from '../../../sql/fragment.ts';
import { joinConditions, nullTest, whereSql } from '../../shared/condition.ts';
import type { Row, Scope } from '../../shared/row.ts';
import { keyName } from '../../shared/set-plan/place.ts';
import { aggregateHolds, conditionSql, predicateHolds } from '../../postgresql/compile/bool-exp.ts';
import type { Elsewhere } from '../../postgresql/compile/context.ts';
import { mayFail } from '../../postgresql/compile/may-fail.ts';
import { relationSql } from '../../postgresql/compile/relation.ts';
import { typeName } from '../../postgresql/compile/type-name.ts';
import { addRelation, type Draft } from './context.ts';

const COMMA = sql`, `;

/** In any expression: never null where it is about rows that are there or not. */
export function elsewhereIn(draft: Draft): Elsewhere {
  return {
    conditions: (exp, scope) => conditionsOf(draft, exp, scope),
    exists: (exp, scope) => existsSql(draft, exp, scope, false),
    aggregate: (exp, scope) => aggregateSql(draft, exp, scope, false),
  };
}

/** The parts of a `where`. */
export function conditionsOf(draft: Draft, exp: BoolExp, scope: Scope): readonly Sql[] {
  const { context } = draft;
  const before = context.elsewhere;
  context.elsewhere = elsewhereIn(draft);
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
  context.elsewhere = before;
  return conditions;
}

interface Target {
  readonly item: Sql;
  readonly row: Row;
  readonly conditions: readonly Sql[];
}

function targetOf(draft: Draft, { from, where }: { readonly from: Relation; readonly where: BoolExp }, scope: Scope): Target {
  const { item, row } = relationSql(draft.context, from, null);
  return { item, row, conditions: conditionsOf(draft, where, { row, outer: scope }) };
}

/** `a`, or `(a, b)` */
export function tuple(values: readonly Sql[]): Sql {
  return values.length === 1 ? (values[0] as Sql) : sql`(${join(values, COMMA)})`;
}

/** @param isPart whether null stands for false */
function existsSql(draft: Draft, exp: Exists, scope: Scope, isPart: boolean): Sql {
  const { item, row, conditions } = targetOf(draft, exp, scope);
  if (looksOut(exp.where, 1)) {
    // The only way to compare columns of the two; the database takes it where both are together.
    return sql`exists (select 1 from ${item}${whereSql([...joinConditions(exp.join?.columns ?? [], scope.row, row), ...conditions])})`;
  }
  if (exp.join === null || exp.join.columns.length === 0) return sql`(true in (select true from ${item}${whereSql(conditions)} limit 1))`;
  const found = amongSql(draft, exp.join, scope.row, row, sql`from ${item}${whereSql([...conditions, ...notNull(exp.join, row)])}`);
  return isPart ? found : sql`(${found} is true)`;
}

/** Whether a row has one of the keys. @param of the rows that have them: everything from `from` on */
function amongSql(draft: Draft, { columns, apart }: Join, row: Row, remote: Row, of: Sql): Sql {
  const keys = columns.map((pair) => remote.column(pair.remote));
  let list = sql`select ${join(keys, COMMA)} ${of}`;
  if (apart === true) {
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
 * Keys for which the predicate holds, is not known, and which there are at all: there are three values. Citus takes no `case` around
 * sub-selects in the conditions of updates and deletes.
 * @param isPart whether null stands for false
 */
function aggregateSql(draft: Draft, exp: AggregatePredicate, scope: Scope, isPart: boolean): Sql {
  if (exp.predicate.length === 0) return sql`true`;
  const { context } = draft;
  const { columns } = exp.join;
  const holdsIn = (row: Row): Sql => predicateHolds(context, exp, row);
  if (looksOut(exp.where, 1)) {
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

/** What an aggregate is where there are no rows. */
export function aggregateOfNothing(exp: AggregatePredicate): Sql {
  if (exp.function === 'count') return sql`0::int8`;
  const compared = exp.predicate.find((comparison) => comparison.kind === 'compare');
  return compared === undefined ? sql`null::text` : sql`null::${typeName(compared.operand.type)}`;
}
