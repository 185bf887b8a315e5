/** Groups of rows: random requests, their text, and their groups by a naive evaluator. */
import { aggregate } from './aggregate.ts';
import type { Choices } from './choices.ts';
import { refsOf } from './make-condition.ts';
import type { AggregateField, Printer } from './query.ts';
import { refName } from './query.ts';
import { type Access, offeredAccess, type Place, read, relatedRows } from './seen.ts';
import { isInts, order } from './values.ts';
import { COMPARABLE, kindOf, NUMERIC, ORDERED, type Ref, type Value, type World } from './world.ts';

export interface Groups {
  readonly k: 'groups';
  readonly alias: string;
  /** Null if no key is selected. */
  readonly key: readonly KeyField[] | null;
  readonly figures: readonly Figure[];
  readonly orderBy: readonly GroupOrder[];
  readonly limit: number | null;
  readonly offset: number | null;
}

export type Figure = Extract<AggregateField, { readonly k: 'count' | 'function' }>;

export type KeyField =
  | { readonly k: 'part'; readonly alias: string; readonly ref: Ref }
  | { readonly k: 'row'; readonly alias: string; readonly name: string; readonly fields: readonly KeyField[] };

type GroupOrder = { readonly direction: string } & (
  | { readonly k: 'key'; readonly path: readonly string[]; readonly ref: Ref }
  | { readonly k: 'aggregate'; readonly function: string; readonly ref: Ref | null }
);

const DIRECTIONS = ['asc', 'desc', 'asc_nulls_first', 'desc_nulls_last', 'asc_nulls_last', 'desc_nulls_first'];

/** Returns null if the role has nothing to group by. */
export function makeGroups(
  choices: Choices,
  scope: { readonly world: World; readonly role: string; readonly failing: boolean },
  access: Access,
  alias: string,
  figures: readonly Figure[],
): Groups | null {
  if (keysOf(access, scope.failing).length === 0) return null;
  const key = choices.chance(8) ? null : makeKey(choices, scope, access, 2);
  const named = key === null ? [] : pathsOf(key, []);
  const orderBy = Array.from({ length: choices.int(3) }, (): GroupOrder => {
    const direction = choices.pick(DIRECTIONS);
    if (named.length > 0 && choices.chance(50)) return { k: 'key', direction, ...choices.pick(named) };
    const name = choices.pick(['count', 'sum', 'min', 'max']);
    const refs = refsOf(access.table, access, scope.failing).filter((ref) =>
      (name === 'sum' ? NUMERIC : COMPARABLE).has(kindOf(access.table, ref)),
    );
    if (name === 'count' || refs.length === 0) return { k: 'aggregate', direction, function: 'count', ref: null };
    return { k: 'aggregate', direction, function: name, ref: choices.pick(refs) };
  });
  const limit = choices.chance(25) ? choices.int(4) : null;
  return { k: 'groups', alias, key, figures, orderBy, limit, offset: choices.chance(20) ? choices.int(3) : null };
}

function keysOf(access: Access, failing: boolean): readonly Ref[] {
  return refsOf(access.table, access, failing).filter((ref) => ORDERED.has(kindOf(access.table, ref)));
}

function makeKey(
  choices: Choices,
  scope: { readonly world: World; readonly role: string; readonly failing: boolean },
  access: Access,
  depth: number,
): readonly KeyField[] {
  const refs = keysOf(access, scope.failing);
  const rows = access.table.relationships.flatMap(({ name, kind, target }) => {
    const found = kind === 'object' ? offeredAccess(scope.world, scope.role, target) : null;
    return found !== null && keysOf(found, scope.failing).length > 0 ? [{ name, access: found }] : [];
  });
  return Array.from({ length: 1 + choices.int(3) }, (_, i): KeyField => {
    const alias = `k${i}`;
    if (depth > 0 && rows.length > 0 && choices.chance(35)) {
      const row = choices.pick(rows);
      return { k: 'row', alias, name: row.name, fields: makeKey(choices, scope, row.access, depth - 1) };
    }
    return { k: 'part', alias, ref: choices.pick(refs) };
  });
}

function pathsOf(fields: readonly KeyField[], path: readonly string[]): readonly { readonly path: readonly string[]; readonly ref: Ref }[] {
  return fields.flatMap((field) => (field.k === 'part' ? [{ path, ref: field.ref }] : pathsOf(field.fields, [...path, field.name])));
}

/** @param figure prints one of the figures */
export function printGroups({ key, figures, orderBy, limit, offset }: Groups, printer: Printer, figure: (of: Figure) => string): string {
  const args = [
    ...(orderBy.length === 0 ? [] : [`order_by: [${orderBy.map(printOrder).join(', ')}]`]),
    ...(limit === null ? [] : [`limit: ${printer.value(limit, 'int')}`]),
    ...(offset === null ? [] : [`offset: ${printer.value(offset, 'int')}`]),
  ];
  const selected = [...(key === null ? [] : [`key { ${key.map(printKey).join(' ')} }`]), ...figures.map(figure)];
  return `groups${args.length === 0 ? '' : `(${args.join(', ')})`} { ${selected.join(' ')} }`;
}

function printKey(field: KeyField): string {
  if (field.k === 'part') return `${field.alias}: ${refName(field.ref)}`;
  return `${field.alias}: ${field.name} { ${field.fields.map(printKey).join(' ')} }`;
}

function printOrder(of: GroupOrder): string {
  if (of.k === 'key') {
    const inner = of.path.reduceRight((text, name) => `{${name}: ${text}}`, `{${refName(of.ref)}: ${of.direction}}`);
    return `{key: ${inner}}`;
  }
  return `{aggregate: ${of.ref === null ? `{count: ${of.direction}}` : `{${of.function}: {${refName(of.ref)}: ${of.direction}}}`}}`;
}

export interface AnsweredGroup {
  /** One value for each part; `true` for a row that exists. */
  readonly parts: readonly Value[];
  readonly places: readonly Place[];
}

/** Returns the groups in their order. */
export function groupsOf(
  places: readonly Place[],
  { key, orderBy, limit, offset }: Groups,
  permissionLimit: number | null,
): AnsweredGroup[] {
  const byParts = new Map<string, { parts: readonly Value[]; places: Place[] }>();
  if (key === null) byParts.set('', { parts: [], places: [...places] });
  else {
    for (const place of places) {
      const parts = partsOf(place, key);
      const text = JSON.stringify(parts);
      const group = byParts.get(text);
      if (group === undefined) byParts.set(text, { parts, places: [place] });
      else group.places.push(place);
    }
  }
  const keyed = [...byParts.values()].map((group) => ({ group, sorted: orderBy.map((of) => orderValue(of, group.places)) }));
  keyed.sort((a, b) => {
    for (const [i, { direction }] of orderBy.entries()) {
      const compared = compareValues(a.sorted[i] ?? null, b.sorted[i] ?? null, direction);
      if (compared !== 0) return compared;
    }
    for (const [i, value] of a.group.parts.entries()) {
      const compared = compareValues(value, b.group.parts[i] ?? null, 'asc');
      if (compared !== 0) return compared;
    }
    return 0;
  });
  const limits = [limit, permissionLimit].filter((each) => each !== null);
  const start = offset ?? 0;
  return keyed.map(({ group }) => group).slice(start, limits.length === 0 ? undefined : start + Math.min(...limits));
}

function partsOf(place: Place | null, fields: readonly KeyField[]): Value[] {
  return fields.flatMap((field): Value[] => {
    if (field.k === 'part') return [place === null ? null : read(place, field.ref)];
    const row = place === null ? null : relatedPlace(place, field.name);
    return [row === null ? null : true, ...partsOf(row, field.fields)];
  });
}

export function relatedPlace(place: Place, name: string): Place | null {
  const { target, rows } = relatedRows(place, name);
  const [row] = rows;
  return row === undefined ? null : { ...place, table: target, row, root: row };
}

function orderValue(of: GroupOrder, places: readonly Place[]): Value {
  if (of.k === 'aggregate') {
    return aggregate(
      of.function,
      places.map((place) => (of.ref === null ? [] : [read(place, of.ref)])),
      false,
    ).value;
  }
  const [first] = places;
  const row = of.path.reduce((place: Place | null, name) => (place === null ? null : relatedPlace(place, name)), first ?? null);
  return row === null ? null : read(row, of.ref);
}

export function compareValues(a: Value, b: Value, direction: string): number {
  const descending = direction.startsWith('desc');
  const nullsFirst = direction.endsWith('first') || (descending && !direction.endsWith('last'));
  if (a === null || b === null) return a === b ? 0 : (a === null) === nullsFirst ? -1 : 1;
  if (isInts(a) !== isInts(b)) throw new Error('different types');
  return descending ? order(b, a) : order(a, b);
}
