/** Random requests within the schema of a role. */
import type { Choices } from './choices.ts';
import { type ConditionScope, makeExp, refsOf, uniqueOf } from './make-condition.ts';
import { makeGroups } from './groups.ts';
import type { AggregateField, Args, Field, OrderTerm, Root } from './query.ts';
import { NO_ARGS } from './query.ts';
import { type Access, offeredAccess, offersRows, relationshipOf } from './seen.ts';
import {
  aggregatesOf,
  COMPARABLE,
  type Database,
  kindOf,
  NUMERIC,
  ORDERED,
  type Ref,
  type Table,
  type Value,
  type World,
} from './world.ts';

export interface QueryScope {
  readonly world: World;
  readonly role: string;
  /** Every list has exactly one order: tables without a total order for the role return no lists. */
  readonly total: boolean;
  /** Includes requests that fail, for all rows or for some. */
  readonly failing: boolean;
}

const DIRECTIONS = ['asc', 'desc', 'asc_nulls_first', 'desc_nulls_last', 'asc_nulls_last', 'desc_nulls_first'];

/** Null if the role sees nothing. */
export function makeRoots(choices: Choices, scope: QueryScope): readonly Root[] | null {
  const seen = scope.world.tables.map(({ name }) => offeredAccess(scope.world, scope.role, name)).filter((access) => access !== null);
  const usable = seen.filter((access) => isUsable(access, scope));
  if (usable.length === 0) return null;
  return Array.from({ length: 1 + choices.int(2) }, (_, i) => makeRoot(choices, scope, choices.pick(usable), `q${i}`));
}

function isUsable(access: Access, scope: QueryScope): boolean {
  return !scope.total || hasOrder(access);
}

/** The role sees the unique column of every visible row. */
function hasOrder(access: Access): boolean {
  return access.isPlain('id');
}

function makeRoot(choices: Choices, scope: QueryScope, access: Access, alias: string): Root {
  const { table } = access;
  const depth = 2;
  const keyed = table.primaryKey?.every((name) => access.columns.includes(name)) === true;
  const rowless = !offersRows(scope.world, scope.role, access);
  if (table.search !== null && choices.chance(20)) {
    const found = { alias, table: table.name, low: choices.chance(70) ? choices.int(4) : null, args: makeArgs(choices, scope, access) };
    return access.aggregations && (rowless || choices.chance(30))
      ? { ...found, k: 'found-aggregate', fields: makeAggregateFields(choices, scope, access, depth) }
      : { ...found, k: 'found', fields: makeFields(choices, scope, access, depth) };
  }
  switch (rowless ? 9 : choices.int(10)) {
    case 6:
      if (keyed) {
        const entries = (table.primaryKey ?? []).map((name): [string, Value] => [name, choices.int(6)]);
        return { k: 'key', alias, table: table.name, key: Object.fromEntries(entries), fields: makeFields(choices, scope, access, depth) };
      }
      break;
    case 7:
    case 8:
    case 9:
      if (access.aggregations) {
        const args = makeArgs(choices, scope, access);
        return { k: 'aggregate', alias, table: table.name, args, fields: makeAggregateFields(choices, scope, access, depth) };
      }
  }
  return { k: 'rows', alias, table: table.name, args: makeArgs(choices, scope, access), fields: makeFields(choices, scope, access, depth) };
}

function makeFields(choices: Choices, scope: QueryScope, access: Access, depth: number): readonly Field[] {
  const fields = Array.from({ length: 1 + choices.int(4) }, (_, i) => makeField(choices, scope, access, depth, `a${i}`));
  return fields;
}

function makeField(choices: Choices, scope: QueryScope, access: Access, depth: number, alias: string): Field {
  const { table } = access;
  if (depth > 0 && choices.chance(40)) {
    const related = makeRelatedField(choices, scope, access, depth - 1, alias);
    if (related !== null) return related;
  }
  const refs: readonly Ref[] = [
    ...access.columns.map((column) => ({ column })),
    ...access.computed.filter((name) => scope.failing || name !== 'ratio').map((computed) => ({ computed })),
  ];
  if (refs.length === 0 || choices.chance(3)) return { k: 'typename', alias };
  const ref = choices.pick(refs);
  const path = kindOf(table, ref) === 'jsonb' && choices.chance(40) ? choices.pick(['$.a', 'b', '$']) : null;
  const takes = 'computed' in ref && table.computed.some((each) => each.result === 'scalar' && each.name === ref.computed && each.argument);
  return { k: 'read', alias, ref, path, more: takes && choices.chance(60) ? choices.int(3) : null };
}

function makeRelatedField(choices: Choices, scope: QueryScope, access: Access, depth: number, alias: string): Field | null {
  const { world, role } = scope;
  const names = [
    ...access.table.relationships.map(({ name, target, kind }) => ({
      name,
      target,
      single: kind === 'object',
      aggregates: kind === 'array',
    })),
    ...access.table.computed.flatMap((each) =>
      each.result === 'table' ? [{ name: each.name, target: each.target, single: false, aggregates: false }] : [],
    ),
  ].flatMap((each) => {
    const target = offeredAccess(world, role, each.target);
    if (target === null || (!each.single && !isUsable(target, scope))) return [];
    return offersRows(scope.world, scope.role, target) || (each.aggregates && target.aggregations) ? [{ ...each, access: target }] : [];
  });
  if (names.length === 0) return null;
  const chosen = choices.pick(names);
  const args = chosen.single ? NO_ARGS : makeArgs(choices, scope, chosen.access);
  if (chosen.aggregates && chosen.access.aggregations && (!offersRows(scope.world, scope.role, chosen.access) || choices.chance(35))) {
    return { k: 'aggregate', alias, name: chosen.name, args, fields: makeAggregateFields(choices, scope, chosen.access, depth) };
  }
  const fields = makeFields(choices, scope, chosen.access, depth);
  return { k: 'rows', alias, name: chosen.name, single: chosen.single, args, fields };
}

/** Kinds with groups. */
const GROUPS: ReadonlySet<Database> = new Set(['pg']);
/** Kinds that compute variances in floating point, also for integers. */
const ROUNDS_VARIANCES: ReadonlySet<Database> = new Set(['dbb', 'dwh']);
const NUMERIC_FUNCTIONS = ['sum', 'avg', 'stddev', 'stddev_pop', 'stddev_samp', 'variance', 'var_pop', 'var_samp'];

function makeAggregateFields(choices: Choices, scope: QueryScope, access: Access, depth: number): readonly AggregateField[] {
  const fields = makeFigures(choices, scope, access, depth);
  if (!GROUPS.has(scope.world.database) || !choices.chance(40)) return fields;
  const figures = makeFigures(choices, scope, access, depth).filter((field) => field.k === 'count' || field.k === 'function');
  const counted = figures.length === 0 ? [{ k: 'count' as const, alias: 'g0', columns: [], distinct: false }] : figures;
  const groups = makeGroups(choices, scope, access, 'groups', counted);
  return groups === null ? fields : [...fields.slice(choices.int(fields.length)), groups];
}

function makeFigures(choices: Choices, scope: QueryScope, access: Access, depth: number): readonly AggregateField[] {
  const refs = refsOf(access.table, access, scope.failing);
  const ofKind = (kinds: ReadonlySet<string>) => refs.filter((ref) => kinds.has(kindOf(access.table, ref)));
  return Array.from({ length: 1 + choices.int(3) }, (_, i): AggregateField => {
    const alias = `g${i}`;
    const kind = choices.int(4);
    if (kind === 1 && offersRows(scope.world, scope.role, access))
      return { k: 'nodes', alias, fields: makeFields(choices, scope, access, depth) };
    if (kind === 2 || kind === 3) {
      const name = kind === 2 ? choices.pick(['min', 'max']) : choices.pick(aggregatesOf(scope.world, NUMERIC_FUNCTIONS));
      const operands = ofKind(kind === 2 ? COMPARABLE : NUMERIC);
      const chosen = choices.some(operands, 50);
      if (operands.length > 0)
        return { k: 'function', alias, function: name, refs: chosen.length === 0 ? [choices.pick(operands)] : chosen };
    }
    const columns = choices.chance(50) ? choices.some(access.columns, 40) : [];
    return { k: 'count', alias, columns, distinct: choices.chance(40) };
  });
}

export function makeArgs(choices: Choices, scope: QueryScope, access: Access): Args {
  const { world, role, total } = scope;
  const condition: ConditionScope = {
    world,
    table: access.table,
    access: { role, of: access },
    root: access.table,
    depth: 2,
    failing: scope.failing,
  };
  const where = choices.chance(60) ? makeExp(choices, condition) : null;
  const ordered = access.columns.filter((name) => ORDERED.has(kindOf(access.table, { column: name })));
  const distinctOn = choices.chance(12) ? choices.some(ordered, 30) : [];
  const first = choices.shuffle(distinctOn).map((column): OrderTerm => readTerm(choices, { column }));
  const further = choices.chance(55) ? Array.from({ length: choices.int(3) }, () => makeTerm(choices, scope, access, 2)) : [];
  const byId = hasOrder(access) && (total || choices.chance(60)) ? [readTerm(choices, { column: 'id' })] : [];
  const orderBy = [...first, ...further.filter((term) => term !== null), ...byId];
  const paged = byId.length > 0;
  return {
    where,
    distinctOn,
    orderBy,
    limit: paged && choices.chance(30) ? choices.int(5) : null,
    offset: paged && choices.chance(20) ? choices.int(4) : null,
  };
}

function readTerm(choices: Choices, ref: Ref): OrderTerm {
  return { path: [], last: { kind: 'read', ref }, direction: choices.pick(DIRECTIONS) };
}

/** Never the same column twice: the second would have no effect. */
function makeTerm(choices: Choices, scope: QueryScope, access: Access, depth: number): OrderTerm | null {
  const { world, role } = scope;
  const { table } = access;
  if (depth > 0 && choices.chance(50)) {
    const names = uniqueOf([
      ...table.relationships.map(({ name, target }) => ({ name, target })),
      ...table.computed.flatMap((each) => (each.result === 'table' ? [{ name: each.name, target: each.target }] : [])),
    ]).flatMap((each) => {
      const target = offeredAccess(world, role, each.target);
      return target === null ? [] : [{ name: each.name, access: target }];
    });
    if (names.length > 0) {
      const { name, access: target } = choices.pick(names);
      if (relationshipOf(table, name)?.kind === 'object') {
        const inner = makeTerm(choices, scope, target, depth - 1);
        return inner === null ? null : { ...inner, path: [name, ...inner.path] };
      }
      return { path: [], last: aggregateTerm(choices, scope, name, target), direction: choices.pick(DIRECTIONS) };
    }
  }
  const refs = refsOf(table, access, scope.failing).filter((ref) => ORDERED.has(kindOf(table, ref)));
  return refs.length === 0 ? null : readTerm(choices, choices.pick(refs));
}

/** Excludes values that are rounded on the way, which separate equal rows by their last digit. */
function aggregateTerm(choices: Choices, { world, failing }: QueryScope, name: string, target: Access): OrderTerm['last'] {
  const refs = refsOf(target.table, target, failing);
  const functionName = choices.pick(aggregatesOf(world, ['count', 'max', 'sum', 'min', 'avg', 'variance', 'stddev_pop']));
  const isExact = (table: Table, ref: Ref): boolean =>
    !/^(?:var|std)/.test(functionName) || (kindOf(table, ref) !== 'float8' && !ROUNDS_VARIANCES.has(world.database));
  const kinds = functionName === 'max' || functionName === 'min' ? COMPARABLE : NUMERIC;
  const operands = refs.filter((ref) => kinds.has(kindOf(target.table, ref)) && isExact(target.table, ref));
  if (functionName === 'count' || operands.length === 0) return { kind: 'aggregate', name, function: 'count', ref: null };
  return { kind: 'aggregate', name, function: functionName, ref: choices.pick(operands) };
}
