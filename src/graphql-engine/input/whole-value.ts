/** Values of any input type, including input objects, as JSON for handlers and remote schemas. */
import { isJsonArray, isJsonObject, type Json } from '../../util/json.ts';
import { at, type Path } from '../../util/path.ts';
import type { InputField, InputObjectType, InputTypeRef } from '../types.ts';
import { enumValueOfJson } from './coerce.ts';
import { describeValue, expected, unexpectedNull } from './input-errors.ts';
import { fieldOf, requireFields } from './input-object.ts';

/** A single value counts as a list of one, and defaults are filled in. @throws SvcError validation-failed */
export function wholeValue(type: InputTypeRef, json: Json, path: Path): Json {
  if (json === null) {
    if (type.nonNull) throw unexpectedNull(type, path);
    return null;
  }
  if (type.kind === 'list') {
    if (!isJsonArray(json)) return [wholeValue(type.item, json, at(path, 0))];
    return json.map((item, index) => wholeValue(type.item, item, at(path, index)));
  }
  const named = type.type();
  switch (named.kind) {
    case 'scalar':
      return named.check(json, path);
    case 'enum':
      return enumValueOfJson(named, json, path).name;
    case 'input-object':
      return wholeObject(named, json, path);
  }
}

function wholeObject(type: InputObjectType, json: Json, path: Path): Json {
  if (!isJsonObject(json)) throw expected('an object', type.name, describeValue(json), path);
  for (const key of Object.keys(json)) fieldOf(type, key, path);
  requireFields(type, (name) => Object.hasOwn(json, name), path);
  // Entries instead of assignment: `__proto__` is a valid GraphQL name.
  const entries = [...type.fields().values()].flatMap((field): readonly (readonly [string, Json])[] => {
    const value = valueOrDefault(field, json);
    return value === undefined ? [] : [[field.name, wholeValue(field.type, value, at(path, field.name))]];
  });
  return Object.fromEntries(entries);
}

function valueOrDefault({ name, default: byDefault }: InputField, json: { readonly [key: string]: Json }): Json | undefined {
  return Object.hasOwn(json, name) ? json[name] : byDefault;
}
