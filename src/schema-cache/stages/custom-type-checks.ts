/** Checks custom types without the targets of their relationships, which are resolved later. */
import type { CustomField, CustomInputObject, CustomTypes } from '../../metadata/custom-types.ts';
import { namedTypeIn } from '../../metadata/graphql-type.ts';
import type { CustomTypesInfo } from '../action-info.ts';
import { PLAIN_SCALARS } from '../action-info.ts';
import type { ScalarFinder } from './database-scalar.ts';

type Place = 'input object' | 'object';

/** Names of types that the service generates for every scalar, for introspection or for federation. */
const RESERVED = /^__|_(?:comparison_exp|cast_exp)$|^st_d_within(?:_geography)?_input$|^st_intersects_\w+_input$|^_(?:Any|Entity|Service)$/;

export function isReservedType(name: string): boolean {
  return RESERVED.test(name);
}

/** Returns messages about problems with the types. @param scalarOf finds scalars of databases */
export function customTypeProblems(types: CustomTypes, info: CustomTypesInfo, scalarOf: ScalarFinder): readonly string[] {
  const { inputObjects, objects, scalars, enums } = types;
  const reasons: string[] = [];
  const others = [...inputObjects, ...objects, ...enums].map(({ name }) => name);
  const names = [...scalars.map(({ name }) => name), ...others];
  const duplicated = new Set([
    ...duplicates(names),
    ...names.filter((name) => PLAIN_SCALARS.has(name)),
    // Only a custom scalar may have the name of a database scalar: it stands for that scalar.
    ...others.filter((name) => scalarOf(name) !== null),
  ]);
  if (duplicated.size > 0) reasons.push(`duplicate type names: ${quoted(duplicated)}`);
  for (const name of new Set(names)) if (isReservedType(name)) reasons.push(`the type name "${name}" is reserved`);
  for (const { name, values } of enums) {
    const repeated = duplicates(values.map(({ value }) => value));
    if (repeated.size > 0) reasons.push(`the enum type "${name}" has duplicate values: ${quoted(repeated)}`);
  }
  const typeExists = (name: string, place: Place): boolean => {
    if (PLAIN_SCALARS.has(name)) return true;
    const found = info.get(name) ?? scalarOf(name);
    return found !== null && (place === 'object' ? found.kind !== 'input-object' : found.kind !== 'object');
  };
  const fields = (of: string, list: readonly CustomField[], place: Place): void => {
    const repeated = duplicates(list.map(({ name }) => name));
    if (repeated.size > 0) reasons.push(`the ${place} "${of}" has duplicate fields: ${quoted(repeated)}`);
    for (const { name, type } of list) {
      const inner = namedTypeIn(type);
      if (!typeExists(inner, place)) reasons.push(`the type "${inner}" for field "${name}" in  ${place} type "${of}" does not exist`);
      if (name.startsWith('__')) reasons.push(`the field name "${name}" in ${place} type "${of}" is reserved`);
    }
  };
  for (const { name, fields: list } of inputObjects) fields(name, list, 'input object');
  for (const name of selfRequiring(inputObjects)) reasons.push(`the input object "${name}" requires itself, so it can have no value`);
  for (const { name, fields: list, relationships } of objects) {
    fields(name, list, 'object');
    if (list.some((field) => field.arguments !== undefined && field.arguments !== null)) {
      reasons.push(`the object "${name}" can't have arguments`);
    }
    const repeated = duplicates([...new Set(list.map((field) => field.name)), ...relationships.map((each) => each.name)]);
    if (repeated.size > 0) reasons.push(`the object "${name}" has duplicate fields: ${quoted(repeated)}`);
    for (const each of relationships) {
      if (each.name.startsWith('__')) reasons.push(`the field name "${each.name}" in object type "${name}" is reserved`);
    }
    const plain = relationships.flatMap((each) => (each.plain && each.definition.kind === 'source' ? [each.definition.source] : []));
    if (new Set(plain).size > 1) reasons.push(`the object "${name}" has relationships refers to tables in multiple sources`);
  }
  return reasons;
}

function quoted(names: Iterable<string>): string {
  return [...names].map((name) => `"${name}"`).join(', ');
}

function duplicates(names: readonly string[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const name of names) (seen.has(name) ? repeated : seen).add(name);
  return repeated;
}

type Edges = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * Returns input objects that require themselves, and those between two such objects. A list may be empty, so it ends the chain. Runs in
 * linear time: there may be tens of thousands of types.
 */
function selfRequiring(inputObjects: readonly CustomInputObject[]): Iterable<string> {
  const required = new Map(inputObjects.map(({ name, fields }) => [name, requiredBy(fields)]));
  const circular = withoutEnds(required);
  return withoutEnds(reversed(circular)).keys();
}

function requiredBy(fields: readonly CustomField[]): ReadonlySet<string> {
  return new Set(fields.flatMap(({ type }) => (type.kind === 'named' && type.nonNull ? [type.name] : [])));
}

/** Repeatedly removes nodes without outgoing edges and returns the rest. */
function withoutEnds(edges: Edges): Edges {
  const backwards = reversed(edges);
  const remaining = new Map([...edges].map(([name, targets]) => [name, new Set([...targets].filter((target) => edges.has(target)))]));
  const ends = [...remaining].flatMap(([name, targets]) => (targets.size === 0 ? [name] : []));
  for (let end = ends.pop(); end !== undefined; end = ends.pop()) {
    remaining.delete(end);
    for (const from of backwards.get(end) ?? []) {
      const targets = remaining.get(from);
      if (targets?.delete(end) === true && targets.size === 0) ends.push(from);
    }
  }
  return remaining;
}

function reversed(edges: Edges): Edges {
  const backwards = new Map([...edges.keys()].map((name) => [name, new Set<string>()]));
  for (const [name, targets] of edges) for (const target of targets) backwards.get(target)?.add(name);
  return backwards;
}
