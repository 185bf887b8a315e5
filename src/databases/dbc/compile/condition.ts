/**
 * Conditions about other tables. A distributed table can hardly be asked row by row: relationships are lists of keys, sub-selects
 * that do not look out and that the database may plan, move and compute by themselves.
 */
import { type AggregatePredicate, type BoolExp, type Exists, looksOut } from '../../../ir/bool-exp.ts';
import type { Join, Relation } from '../../../ir/relation.ts';
import { EMPTY, join, type Sql, sql } from '../../../sql/fragment.ts';
import type { Row, Scope } from '../../../sql/row.ts';
import { aggregateCall } from '../../pg/compile/aggregate-call.ts';
import { aggregateHolds, conditionSql, readSql } from '../../pg/compile/bool-exp.ts';
import type { Context, Elsewhere } from '../../pg/compile/context.ts';
import { mayFail } from '../../pg/compile/may-fail.ts';
import { relationSql } from '../../pg/compile/relation.ts';
import { typeName } from '../../pg/compile/type-name.ts';

const AND = sql` and `;

/** In any expression: never null where it is about rows that are there or not. */
export function elsewhereIn(context: Context): Elsewhere {
  return {
    conditions: (exp, scope) => conditionsOf(context, exp, scope),
    exists: (exp, scope) => existsSql(context, exp, scope, false),
    aggregate: (exp, scope) => aggregateSql(context, exp, scope),
  };
}

/** The parts of a `where`. */
export function conditionsOf(context: Context, exp: BoolExp, scope: Scope): readonly Sql[] {
  const before = context.elsewhere;
  context.elsewhere = elsewhereIn(context);
  const conditions: Sql[] = [];
  const visit = (item: BoolExp): void => {
    if (item.kind === 'and') item.items.forEach(visit);
    else if (item.kind === 'guarded' && !mayFail(item.item)) {
      visit(item.guard);
      visit(item.item);
    } else if (item.kind === 'exists') conditions.push(existsSql(context, item, scope, true));
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

function targetOf(context: Context, { from, where }: { readonly from: Relation; readonly where: BoolExp }, scope: Scope): Target {
  const { item, row } = relationSql(context, from, null);
  return { item, row, conditions: conditionsOf(context, where, { row, outer: scope }) };
}

function whereAll(conditions: readonly Sql[]): Sql {
  return conditions.length === 0 ? EMPTY : sql` where ${join(conditions, AND)}`;
}

/** `a`, or `(a, b)` */
export function tuple(values: readonly Sql[]): Sql {
  return values.length === 1 ? (values[0] as Sql) : sql`(${join(values, sql`, `)})`;
}

/** @param isPart whether null stands for false */
function existsSql(context: Context, exp: Exists, scope: Scope, isPart: boolean): Sql {
  const { item, row, conditions } = targetOf(context, exp, scope);
  const columns = exp.join?.columns ?? [];
  if (looksOut(exp.where, 1)) {
    // The only way to compare columns of the two; the database takes it where both are together.
    const equal = columns.map(({ local, remote }) => sql`${row.column(remote)} = ${scope.row.column(local)}`);
    return sql`exists (select 1 from ${item}${whereAll([...equal, ...conditions])})`;
  }
  if (columns.length === 0) return sql`(true in (select true from ${item}${whereAll(conditions)} limit 1))`;
  const keys = columns.map(({ remote }) => row.column(remote));
  const found = amongSql(columns, scope.row, sql`select ${join(keys, sql`, `)} from ${item}${whereAll([...conditions, ...notNull(keys)])}`);
  return isPart ? found : sql`coalesce(${found}, false)`;
}

function amongSql(columns: Join['columns'], row: Row, keys: Sql): Sql {
  return sql`(${tuple(columns.map(({ local }) => row.column(local)))} in (${keys}))`;
}

function notNull(keys: readonly Sql[]): readonly Sql[] {
  return keys.map((key) => sql`${key} is not null`);
}

/** Keys for which the predicate holds, is not known, and which there are at all: there are three values. */
function aggregateSql(context: Context, exp: AggregatePredicate, scope: Scope): Sql {
  if (exp.predicate.length === 0) return sql`true`;
  const { columns } = exp.join;
  const holdsIn = (row: Row): Sql => {
    const values = exp.arguments.map((read) => ({ value: readSql(context, read, row), type: read.type }));
    return aggregateHolds(exp.predicate, aggregateCall(exp.function, values, exp.distinct));
  };
  if (looksOut(exp.where, 1)) {
    const { item, row, conditions } = targetOf(context, exp, scope);
    const equal = columns.map(({ local, remote }) => sql`${row.column(remote)} = ${scope.row.column(local)}`);
    return sql`(select ${holdsIn(row)} from ${item}${whereAll([...equal, ...conditions])})`;
  }
  const among = (having: ((row: Row) => Sql) | null): Sql => {
    const { item, row, conditions } = targetOf(context, exp, scope);
    const keys = columns.map(({ remote }) => row.column(remote));
    const list = join(keys, sql`, `);
    const groups = having === null ? EMPTY : sql` group by ${list} having ${having(row)}`;
    return sql`coalesce(${amongSql(columns, scope.row, sql`select ${list} from ${item}${whereAll([...conditions, ...notNull(keys)])}${groups}`)}, false)`;
  };
  const nothing = aggregateHolds(exp.predicate, aggregateOfNothing(exp));
  const unknown = exp.function === 'count' ? EMPTY : sql` when ${among((row) => sql`(${holdsIn(row)}) is null`)} then null`;
  return sql`(case when ${among(holdsIn)} then true${unknown} when ${among(null)} then false else ${nothing} end)`;
}

/** What an aggregate is where there are no rows. */
export function aggregateOfNothing(exp: AggregatePredicate): Sql {
  if (exp.function === 'count') return sql`0::int8`;
  const compared = exp.predicate.find((comparison) => comparison.kind === 'compare');
  return compared === undefined ? sql`null::text` : sql`null::${typeName(compared.operand.type)}`;
}
