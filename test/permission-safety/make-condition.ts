/** Random conditions: of permissions on any column, of requests on the role's schema. */
import type { Choices } from './choices.ts';
import { type Access, accessOf, offeredAccess } from './seen.ts';
import { patternsOf, someOperand, TEXT_OPERATORS } from './values.ts';
import {
  aggregatesOf,
  type Exp,
  type Kind,
  kindOf,
  ORDERED,
  type Operand,
  type Ref,
  type Table,
  TRUE,
  tableOf,
  type World,
} from './world.ts';

export interface ConditionScope {
  readonly world: World;
  readonly table: Table;
  /** Null in permissions. */
  readonly access: { readonly role: string; readonly of: Access } | null;
  /** The table of the permission. */
  readonly root: Table;
  /** Its row is no longer available for comparison. */
  readonly isAlone?: boolean;
  readonly depth: number;
  /** Includes conditions that fail, for all rows or for some. */
  readonly failing?: boolean;
}

export function makeExp(choices: Choices, scope: ConditionScope): Exp {
  const deeper = { ...scope, depth: scope.depth - 1 };
  if (scope.depth > 0) {
    switch (choices.int(10)) {
      case 5:
        return { k: 'not', item: makeExp(choices, deeper) };
      case 6:
        return { k: 'or', items: list(choices, () => makeExp(choices, deeper)) };
      case 7:
        return { k: 'and', items: list(choices, () => makeExp(choices, deeper)) };
      case 8:
      case 9:
        return makeRelated(choices, deeper);
    }
  }
  return makeSimple(choices, scope);
}

function list<T>(choices: Choices, make: () => T): T[] {
  return Array.from({ length: choices.chance(8) ? 0 : 1 + choices.int(3) }, make);
}

/** Columns and scalar computed fields without arguments. @param failing includes those that fail for some rows */
export function refsOf(table: Table, access: Access | null, failing = false): readonly Ref[] {
  const columns = table.columns
    .filter(({ name }) => access === null || access.columns.includes(name))
    .map(({ name }) => ({ column: name }));
  const computed = table.computed
    .filter(
      (each) =>
        each.result === 'scalar' &&
        !each.argument &&
        (failing || !each.divides) &&
        (access === null || access.computed.includes(each.name)),
    )
    .map(({ name }) => ({ computed: name }));
  return [...columns, ...computed];
}

function makeSimple(choices: Choices, scope: ConditionScope): Exp {
  const { table, access } = scope;
  if (access === null && choices.chance(15)) {
    const compared = makeColumns(choices, scope);
    if (compared !== null) return compared;
  }
  const refs = refsOf(table, access?.of ?? null, scope.failing);
  if (refs.length === 0) return TRUE;
  const ref = choices.pick(refs);
  const kind = kindOf(table, ref);
  if (scope.failing && choices.chance(40)) return makeFailing(choices, scope.world, table, refs);
  if (choices.chance(12)) return { k: 'null', ref, isNull: choices.chance(50) };
  if (access === null && choices.chance(35)) {
    const session = makeSession(choices, ref, kind);
    if (session !== null) return session;
  }
  return makeCompare(choices, scope.world, ref, kind);
}

function makeSession(choices: Choices, ref: Ref, kind: Kind): Exp | null {
  if (kind === 'text') return { k: 'compare', ref, operator: '_eq', operand: { session: 'name' }, cast: false };
  if (kind !== 'int' && kind !== 'bigint') return null;
  if (choices.chance(30)) return { k: 'compare', ref, operator: choices.pick(['_in', '_nin']), operand: { session: 'list' }, cast: false };
  return { k: 'compare', ref, operator: choices.pick(['_eq', '_neq', '_gte']), operand: { session: 'user-id' }, cast: false };
}

function makeCompare(choices: Choices, { database }: World, ref: Ref, kind: Kind): Exp {
  const made = (operator: string, operand: Operand, cast = false): Exp => ({ k: 'compare', ref, operator, operand, cast });
  const value = (): Operand => ({ value: someOperand(choices, kind) });
  const values = (): Operand => ({ values: list(choices, () => someOperand(choices, kind)) });
  if (kind === 'jsonb') {
    switch (choices.int(7)) {
      case 0:
        return made('_contains', value());
      case 1:
        return made('_contained_in', value());
      case 2:
        return made('_has_key', { value: choices.pick(['a', 'b']) });
      case 3:
        return made(choices.pick(['_has_keys_any', '_has_keys_all']), { values: choices.some(['a', 'b', 'c'], 50) });
      case 4:
        return made('_eq', { value: choices.pick(['{}', '{"a": 1}', '"a"', '[1, 2]']) }, true);
      case 5:
        return made('_neq', value());
      default:
        return made(choices.pick(['_in', '_nin']), values());
    }
  }
  if (kind === 'ints' && choices.chance(40)) return made(choices.pick(['_contains', '_contained_in']), value());
  if (kind === 'enum')
    return choices.chance(30) ? made(choices.pick(['_in', '_nin']), values()) : made(choices.pick(['_eq', '_neq']), value());
  if (kind === 'text' && choices.chance(40)) {
    const operator = choices.pick(textOperators(database, TEXT_OPERATORS));
    return made(operator, { value: choices.pick(patternsOf(operator)) });
  }
  if (choices.chance(25)) return made(choices.pick(['_in', '_nin']), values());
  return made(choices.pick(ORDERED.has(kind) ? ['_eq', '_gte', '_lt', '_neq', '_gt', '_lte'] : ['_eq', '_neq']), value());
}

const BROKEN: Readonly<Record<string, readonly string[]>> = {
  _like: ['a\\', 'ab\\', '%b\\'],
  _nilike: ['a\\', '_\\'],
  _similar: ['(', 'a{2,1}', 'a\\"b\\"c\\"d'],
  _nsimilar: ['[', '(a'],
  _regex: ['(', 'a**', 'a{1000}', '[[:none:]]'],
  _niregex: [')', '\\'],
};

/** MariaDB has no `similar to`; BigQuery and SQLite have only patterns. */
function textOperators(database: World['database'], operators: readonly string[]): readonly string[] {
  if (database === 'dwh' || database === 'sqlite') return operators.filter((name) => name.endsWith('like'));
  return database !== 'dbb' ? operators : operators.filter((name) => !name.endsWith('similar'));
}

/** Fails for some rows, for all rows that are evaluated, or always. */
function makeFailing(choices: Choices, world: World, table: Table, refs: readonly Ref[]): Exp {
  const made = (ref: Ref, operator: string, value: string, cast = false): Exp => ({
    k: 'compare',
    ref,
    operator,
    operand: { value },
    cast,
  });
  const dividing = refs.filter(
    (ref) => 'computed' in ref && table.computed.some((each) => each.name === ref.computed && 'divides' in each && each.divides),
  );
  if (dividing.length > 0 && choices.chance(60)) return makeCompare(choices, world, choices.pick(dividing), 'int');
  const textual = refs.filter((ref) => ['text', 'jsonb'].includes(kindOf(table, ref)));
  if (textual.length > 0 && choices.chance(90)) {
    const ref = choices.pick(textual);
    const operator = choices.pick(textOperators(world.database, ['_similar', ...Object.keys(BROKEN)]));
    return made(ref, operator, choices.pick(BROKEN[operator] ?? []), kindOf(table, ref) === 'jsonb');
  }
  const ref = choices.pick(refs);
  return kindOf(table, ref) === 'int' && choices.chance(20)
    ? made(ref, '_eq', choices.pick(['x', '', '1e999']))
    : makeCompare(choices, world, ref, kindOf(table, ref));
}

function makeColumns(choices: Choices, { table, root, isAlone = false }: ConditionScope): Exp | null {
  const column = choices.pick(table.columns.filter(({ kind }) => ORDERED.has(kind) && kind !== 'enum'));
  const fromRoot = choices.chance(40) && !isAlone;
  const others = (fromRoot ? root : table).columns.filter(({ kind }) => kind === column.kind);
  if (others.length === 0) return null;
  const operator = choices.pick(['_eq', '_neq', '_gt', '_lt', '_gte', '_lte']);
  return { k: 'columns', column: column.name, operator, other: choices.pick(others).name, root: fromRoot };
}

function makeRelated(choices: Choices, scope: ConditionScope): Exp {
  const { world, table, access } = scope;
  if (access === null && choices.chance(25)) {
    const other = choices.pick(world.tables);
    // BigQuery compares no columns of unrelated tables.
    const isAlone = scope.isAlone === true || scope.world.database === 'dwh';
    return { k: 'exists', table: other.name, item: makeExp(choices, { ...scope, table: other, isAlone }) };
  }
  const names = [
    ...table.relationships.map(({ name, target }) => ({ name, target })),
    ...table.computed.flatMap((each) => (each.result === 'table' ? [{ name: each.name, target: each.target }] : [])),
  ].filter(({ target }) => access === null || offeredAccess(world, access.role, target) !== null);
  if (names.length === 0) return makeSimple(choices, scope);
  const { name, target } = choices.pick(names);
  const inner = insideOf(scope, target);
  const relationship = table.relationships.find((each) => each.name === name);
  if (access !== null && relationship?.kind === 'array' && inner.access?.of.aggregations === true && choices.chance(40)) {
    return makePredicate(choices, inner, name);
  }
  return { k: 'related', name, item: choices.chance(20) ? TRUE : makeExp(choices, inner) };
}

function insideOf(scope: ConditionScope, target: string): ConditionScope {
  const { world, access } = scope;
  const of = access === null ? null : accessOf(world, access.role, target);
  return { ...scope, table: tableOf(world, target), access: access === null || of === null ? null : { role: access.role, of } };
}

function makePredicate(choices: Choices, inner: ConditionScope, relationship: string): Exp {
  const columns = inner.table.columns.filter(({ name }) => inner.access?.of.columns.includes(name));
  const floats = columns.filter(({ kind }) => kind === 'float8').map(({ name }) => name);
  const bools = columns.filter(({ kind }) => kind === 'bool').map(({ name }) => name);
  const base = {
    k: 'aggregate' as const,
    relationship,
    distinct: choices.chance(25),
    filter: choices.chance(35) ? makeExp(choices, { ...inner, depth: Math.min(inner.depth, 1) }) : null,
  };
  const kind = choices.int(4);
  if (kind === 2 && bools.length > 0) {
    const name = choices.pick(['bool_and', 'bool_or']);
    return { ...base, function: name, columns: [choices.pick(bools)], operator: '_eq', value: choices.chance(50) };
  }
  if (kind === 3 && floats.length > 0) {
    const pairs = ['dbb', 'dwh'].includes(inner.world.database) ? [] : ['corr', 'covar_samp'];
    const name = choices.pick(aggregatesOf(inner.world, ['sum', 'avg', 'min', 'max', 'stddev_samp', 'var_samp', ...pairs]));
    const two = name === 'corr' || name === 'covar_samp';
    const reads = two ? [choices.pick(floats), choices.pick(floats)] : [choices.pick(floats)];
    // Never a value that rounding could reach.
    const value = choices.int(6) - 2 + 0.37;
    return { ...base, distinct: base.distinct && !two, function: name, columns: reads, operator: choices.pick(['_gt', '_lt']), value };
  }
  const counted = choices.chance(40) && columns.length > 0 ? uniqueOf([choices.pick(columns).name, choices.pick(columns).name]) : [];
  const operator = choices.pick(['_gte', '_eq', '_lt', '_neq']);
  return { ...base, function: 'count', columns: counted, distinct: base.distinct && counted.length > 0, operator, value: choices.int(4) };
}

export function uniqueOf<T>(items: readonly T[]): T[] {
  return [...new Set(items)];
}
