/** What is wrong with custom types as they are written, in words. Relationships are another matter: they need what they lead to. */
import type { CustomField, CustomInputObject, CustomTypes } from '../../metadata/custom-types.ts';
import { namedTypeIn } from '../../metadata/graphql-type.ts';
import type { CustomTypesInfo } from '../action-info.ts';
import { PLAIN_SCALARS } from '../action-info.ts';
import type { ScalarFinder } from './database-scalar.ts';

type Place = 'input object' | 'object';

/** Names of types that the service makes for every scalar, for introspection or for graphs of several servers. */
const RESERVED = /^__|_(?:comparison_exp|cast_exp)$|^st_d_within(?:_geography)?_input$|^st_intersects_\w+_input$|^_(?:Any|Entity|Service)$/;

/** @param scalarOf scalars of databases */
export function problemsOf(types: CustomTypes, info: CustomTypesInfo, scalarOf: ScalarFinder): readonly string[] {
  const { inputObjects, objects, scalars, enums } = types;
  const reasons: string[] = [];
  const others = [...inputObjects, ...objects, ...enums].map(({ name }) => name);
  const names = [...scalars.map(({ name }) => name), ...others];
  const twice = new Set([
    ...duplicates(names),
    ...names.filter((name) => PLAIN_SCALARS.has(name)),
    // A custom scalar of such a name is the database's.
    ...others.filter((name) => scalarOf(name) !== null),
  ]);
  if (twice.size > 0) reasons.push(`duplicate type names: ${quoted(twice)}`);
  for (const name of new Set(names)) if (RESERVED.test(name)) reasons.push(`the type name "${name}" is reserved`);
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
  for (const name of endless(inputObjects)) reasons.push(`the input object "${name}" requires itself, so that no value of it can be given`);
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
  return new Set(names.filter((name, i) => names.indexOf(name) !== i));
}

/** Input objects that are required within themselves. A list may be empty and so ends the chain. */
function endless(inputObjects: readonly CustomInputObject[]): readonly string[] {
  const required = new Map(
    inputObjects.map(({ name, fields }) => [
      name,
      fields.flatMap(({ type }) => (type.kind === 'named' && type.nonNull ? [type.name] : [])),
    ]),
  );
  return [...required.keys()].filter((name) => {
    const reached = new Set(required.get(name));
    for (const each of reached) {
      if (each === name) return true;
      for (const next of required.get(each) ?? []) reached.add(next);
    }
    return false;
  });
}
