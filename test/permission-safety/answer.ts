/** Computes the answer to a request row by row from the rows that the role sees. */
import type { Json } from '../../src/util/json.ts';
import { aggregate } from './aggregate.ts';
import { type AnsweredGroup, compareValues, type Figure, type Groups, groupsOf, type KeyField, relatedPlace } from './groups.ts';
import { type AggregateField, type Args, type Field, jsonOf, type OrderTerm, refName, type Root, targetOf } from './query.ts';
import { accessOf, evaluate, type Place, read, relatedRows, type Scene, visibleRows } from './seen.ts';
import { isJsonb, member } from './values.ts';
import { foundBy, type Ref, tableOf, type Value } from './world.ts';

/** JSON, or a placeholder for several valid JSON values. */
export type Expected =
  | { readonly k: 'json'; readonly json: Json }
  | { readonly k: 'about'; readonly number: number }
  | { readonly k: 'object'; readonly fields: readonly (readonly [string, Expected])[] }
  /** Items of one group have any order. */
  | { readonly k: 'list'; readonly groups: readonly (readonly Expected[])[] };

/** The request does not determine which rows are cut off. */
export class Undetermined extends Error {}

export function answer(scene: Scene, role: string, roots: readonly Root[]): Expected {
  return { k: 'object', fields: roots.map((root) => [root.alias, answerRoot(scene, role, root)]) };
}

function answerRoot(scene: Scene, role: string, root: Root): Expected {
  const table = tableOf(scene.world, root.table);
  const places = visibleRows(scene, role, root.table).map((row): Place => ({ scene, table, row, role, root: row }));
  const found = (low: number | null): Place[] => {
    const rows = new Set(
      foundBy(
        table,
        places.map(({ row }) => row),
        low ?? 0,
      ),
    );
    return places.filter(({ row }) => rows.has(row));
  };
  switch (root.k) {
    case 'found':
      return rowsOfPage(page(found(root.low), root.args, accessOf(scene.world, role, root.table)?.limit ?? null), root.fields);
    case 'found-aggregate':
      return aggregated(found(root.low), root.args, root.fields, accessOf(scene.world, role, root.table)?.limit ?? null);
    case 'rows':
      return rowsOfPage(page(places, root.args, accessOf(scene.world, role, root.table)?.limit ?? null), root.fields);
    case 'aggregate':
      return aggregated(places, root.args, root.fields, accessOf(scene.world, role, root.table)?.limit ?? null);
    case 'key': {
      const found = places.find((place) => Object.entries(root.key).every(([column, value]) => read(place, { column }) === value));
      return found === undefined ? json(null) : object(found, root.fields);
    }
  }
}

function json(value: Json): Expected {
  return { k: 'json', json: value };
}

function object(place: Place, fields: readonly Field[]): Expected {
  return { k: 'object', fields: fields.map((field) => [field.alias, fieldOf(place, field)]) };
}

function fieldOf(place: Place, field: Field): Expected {
  switch (field.k) {
    case 'typename':
      return json(place.table.name);
    case 'read': {
      const value = read(place, field.ref, field.more ?? 0);
      if (field.path === null || !isJsonb(value)) return json(jsonOf(value));
      return json(field.path === '$' ? value.json : member(value.json, field.path.replace('$.', '')));
    }
    case 'rows': {
      const places = related(place, field.name);
      if (!field.single) return rowsOfPage(page(places, field.args, limitOf(place, field.name)), field.fields);
      const [first] = places;
      return first === undefined ? json(null) : object(first, field.fields);
    }
    case 'aggregate':
      return aggregated(related(place, field.name), field.args, field.fields, limitOf(place, field.name));
  }
}

function related(place: Place, name: string): Place[] {
  const { target, rows } = relatedRows(place, name);
  return rows.map((row) => ({ ...place, table: target, row, root: row }));
}

function limitOf(place: Place, name: string): number | null {
  return accessOf(place.scene.world, place.role as string, targetOf(place.scene.world, place.table, name).name)?.limit ?? null;
}

function aggregated(places: readonly Place[], args: Args, fields: readonly AggregateField[], permissionLimit: number | null): Expected {
  const paged = page(places, args, null);
  const rows = paged.flat();
  const answerOf = (field: AggregateField): Expected => {
    switch (field.k) {
      case 'nodes':
        return rowsOfPage(cut(paged, 0, permissionLimit), field.fields);
      case 'groups':
        return { k: 'list', groups: groupsOf(rows, field, permissionLimit).map((group) => [groupObject(field, group)]) };
      case 'count':
      case 'function':
        return figureOf(field, rows);
    }
  };
  return { k: 'object', fields: fields.map((field) => [field.alias, answerOf(field)]) };
}

function groupObject({ key, figures }: Groups, { places }: AnsweredGroup): Expected {
  const [first] = places;
  const keyOf = (place: Place, fields: readonly KeyField[]): Expected => ({
    k: 'object',
    fields: fields.map((field): [string, Expected] => {
      if (field.k === 'part') return [field.alias, json(jsonOf(read(place, field.ref)))];
      const row = relatedPlace(place, field.name);
      return [field.alias, row === null ? json(null) : keyOf(row, field.fields)];
    }),
  });
  return {
    k: 'object',
    fields: [
      ...(key === null || first === undefined ? [] : [['key', keyOf(first, key)] as const]),
      ...figures.map((figure): [string, Expected] => [figure.alias, figureOf(figure, places)]),
    ],
  };
}

function figureOf(field: Figure, rows: readonly Place[]): Expected {
  if (field.k === 'count') {
    const values = rows.map((row) => field.columns.map((column) => read(row, { column })));
    return {
      k: 'object',
      fields: [['count', json(aggregate('count', values, field.distinct && field.columns.length > 0).value as number)]],
    };
  }
  const of = (ref: Ref): Expected =>
    functionOf(
      field.function,
      rows.map((row) => [read(row, ref)]),
    );
  return { k: 'object', fields: [[field.function, { k: 'object', fields: field.refs.map((ref) => [refName(ref), of(ref)]) }]] };
}

function functionOf(name: string, values: readonly (readonly Value[])[]): Expected {
  const { value, approximate } = aggregate(name, values, false);
  return approximate && typeof value === 'number' ? { k: 'about', number: value } : json(jsonOf(value));
}

function rowsOfPage(groups: readonly (readonly Place[])[], fields: readonly Field[]): Expected {
  return { k: 'list', groups: groups.map((group) => group.map((place) => object(place, fields))) };
}

/** Filter, distinct on, order, offset, limit. Rows that the order does not separate form one group. */
function page(places: readonly Place[], args: Args, permissionLimit: number | null): Place[][] {
  const { where } = args;
  const matching = where === null ? [...places] : places.filter((place) => evaluate(where, place) === true);
  let groups = ordered(matching, args.orderBy);
  if (args.distinctOn.length > 0) groups = distinct(groups, args.distinctOn);
  const limits = [args.limit, permissionLimit].filter((limit) => limit !== null);
  return cut(groups, args.offset ?? 0, limits.length === 0 ? null : Math.min(...limits));
}

function ordered(places: readonly Place[], orderBy: readonly OrderTerm[]): Place[][] {
  const keyed = places.map((place) => ({ place, keys: orderBy.map((term) => termOf(place, term)) }));
  const byKeys = (a: { keys: readonly Value[] }, b: { keys: readonly Value[] }): number => {
    for (const [i, { direction }] of orderBy.entries()) {
      const compared = compareValues(a.keys[i] ?? null, b.keys[i] ?? null, direction);
      if (compared !== 0) return compared;
    }
    return 0;
  };
  keyed.sort(byKeys);
  const groups: (typeof keyed)[] = [];
  for (const item of keyed) {
    const last = groups.at(-1);
    if (last?.[0] !== undefined && byKeys(last[0], item) === 0) last.push(item);
    else groups.push([item]);
  }
  return groups.map((group) => group.map(({ place }) => place));
}

function termOf(place: Place, term: OrderTerm): Value {
  let at = place;
  for (const name of term.path) {
    const [next] = related(at, name);
    if (next === undefined) return null;
    at = next;
  }
  if (term.last.kind === 'read') return read(at, term.last.ref);
  const { ref, function: name } = term.last;
  const values = related(at, term.last.name).map((each) => (ref === null ? [] : [read(each, ref)]));
  return aggregate(name, values, false).value;
}

/** The first row of each group: if there is an order, these columns lead it, so equal rows are neighbours. */
function distinct(groups: readonly (readonly Place[])[], columns: readonly string[]): Place[][] {
  const seen = new Set<string>();
  const result: Place[][] = [];
  for (const group of groups) {
    const byValue = new Map<string, Place[]>();
    for (const place of group) {
      const key = JSON.stringify(columns.map((column) => jsonOf(read(place, { column }))));
      byValue.set(key, [...(byValue.get(key) ?? []), place]);
    }
    const firsts: Place[] = [];
    for (const [key, places] of byValue) {
      if (seen.has(key)) continue;
      seen.add(key);
      if (places.length > 1) throw new Undetermined('any row of several');
      firsts.push(...places);
    }
    if (firsts.length > 0) result.push(firsts);
  }
  return result;
}

function cut(groups: readonly (readonly Place[])[], offset: number, limit: number | null): Place[][] {
  const end = limit === null ? Number.POSITIVE_INFINITY : offset + limit;
  const result: Place[][] = [];
  let start = 0;
  for (const group of groups) {
    const after = start + group.length;
    const from = Math.max(offset, start);
    const to = Math.min(end, after);
    if (from < to) {
      if (to - from < group.length) throw new Undetermined('a cut between rows that the order leaves undecided');
      result.push([...group]);
    }
    start = after;
  }
  return result;
}

/** Describes the first difference between an answer and the expected one; null if there is none. */
export function difference(expected: Expected, actual: unknown, path = '$'): string | null {
  const text = (): string => `${path}: expected ${show(expected)}, got ${JSON.stringify(actual)}`;
  switch (expected.k) {
    case 'json':
      return canonical(expected.json) === canonical(actual) ? null : text();
    case 'about':
      return typeof actual === 'number' && Math.abs(actual - expected.number) <= 1e-9 * Math.max(1, Math.abs(actual)) ? null : text();
    case 'object': {
      if (typeof actual !== 'object' || actual === null || Array.isArray(actual)) return text();
      if (Object.keys(actual).join() !== expected.fields.map(([key]) => key).join()) return text();
      for (const [key, value] of expected.fields) {
        const found = difference(value, (actual as Record<string, unknown>)[key], `${path}.${key}`);
        if (found !== null) return found;
      }
      return null;
    }
    case 'list': {
      if (!Array.isArray(actual) || actual.length !== expected.groups.flat().length) return text();
      let at = 0;
      for (const group of expected.groups) {
        const items = actual.slice(at, at + group.length) as unknown[];
        const [only] = group;
        if (group.length === 1 && only !== undefined) {
          const found = difference(only, items[0], `${path}[${at}]`);
          if (found !== null) return found;
        } else {
          for (const item of group) {
            const match = items.findIndex((candidate) => difference(item, candidate) === null);
            if (match < 0) return text();
            items.splice(match, 1);
          }
        }
        at += group.length;
      }
      return null;
    }
  }
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'undefined';
  return `{${Object.entries(value)
    .map(([key, each]) => `${key}:${canonical(each)}`)
    .sort()
    .join()}}`;
}

export function show(expected: Expected): string {
  switch (expected.k) {
    case 'json':
      return JSON.stringify(expected.json);
    case 'about':
      return `about ${expected.number}`;
    case 'object':
      return `{${expected.fields.map(([key, value]) => `${key}: ${show(value)}`).join(', ')}}`;
    case 'list':
      return `[${expected.groups.map((group) => (group.length === 1 ? group.map(show).join() : `(${group.map(show).join(', ')})`)).join(', ')}]`;
  }
}
