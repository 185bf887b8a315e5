/** Coerces values of requests to the form of the IR, once per value when a plan is bound. */
import type { Json } from '../../util/json.ts';
import { isJsonArray } from '../../util/json.ts';
import { at, type Path } from '../../util/path.ts';
import { invariant, SvcError } from '../../errors/svc-error.ts';
import { suggest } from '../suggestions.ts';
import type { EnumSchemaType, EnumSchemaValue, InputTypeRef } from '../types.ts';
import { describeValue, expected, expectedList, unexpectedNull } from './input-errors.ts';

export type Coercion = (json: Json, at: Path) => Json;

/** Recognises an array in the database's own notation, `{1,2}`: accepted where a whole array is one value. */
export function isArrayText(json: Json): json is string {
  if (typeof json !== 'string') return false;
  const text = json.trim();
  return text.startsWith('{') && text.endsWith('}');
}

const known = new WeakMap<InputTypeRef, Coercion>();

/** Coerces a scalar, an enum value or a whole array. Null is rejected only if the type is non-null. */
export function valueCoercion(type: InputTypeRef): Coercion {
  let coercion = known.get(type);
  if (coercion === undefined) {
    coercion = makeCoercion(type);
    known.set(type, coercion);
  }
  return coercion;
}

function makeCoercion(type: InputTypeRef): Coercion {
  if (type.kind === 'list') {
    const list = listCoercion(type);
    return (json, path) => {
      if (json === null && !type.nonNull) return null;
      return isArrayText(json) ? json : list(json, path);
    };
  }
  const named = type.type();
  invariant(named.kind !== 'input-object', `${type.name} is no value`);
  const { nonNull } = type;
  if (named.kind === 'scalar') {
    return (json, path) => {
      if (json !== null) return named.check(json, path);
      if (nonNull) throw unexpectedNull(type, path);
      return null;
    };
  }
  return (json, path) => {
    if (json !== null) return enumValueOfJson(named, json, path).value;
    if (nonNull) throw unexpectedNull(type, path);
    return null;
  };
}

/** Coerces a list of values. A single value counts as a list of one; null items are rejected. */
export function listCoercion(type: InputTypeRef): Coercion {
  invariant(type.kind === 'list', 'a list position');
  const item = valueCoercion(type.item);
  const coerceItem = (json: Json, path: Path): Json => {
    if (json === null) throw unexpectedNull(type.item, path);
    return item(json, path);
  };
  return (json, path) => {
    if (json === null) throw expectedList('null', path);
    if (!isJsonArray(json)) return [coerceItem(json, at(path, 0))];
    // One path object for all items: only an error keeps it, and then there is no next item.
    const place = { parent: path, key: 0 };
    // Most lists do not change.
    let changed: Json[] | undefined;
    for (; place.key < json.length; place.key++) {
      const original = json[place.key] as Json;
      const coerced = coerceItem(original, place);
      if (changed === undefined && coerced !== original) changed = json.slice(0, place.key);
      changed?.push(coerced);
    }
    return changed ?? json;
  };
}

/** Enum values are strings in variables. */
export function enumValueOfJson(type: EnumSchemaType, json: Json, path: Path): EnumSchemaValue {
  if (typeof json !== 'string') throw expected('an enum value', type.name, describeValue(json), path);
  return enumValueOfName(type, json, path);
}

/** @throws SvcError validation-failed for a name that is not a value of the enum */
export function enumValueOfName(type: EnumSchemaType, name: string, path: Path): EnumSchemaValue {
  const value = type.values().get(name);
  if (value !== undefined) return value;
  const names = [...type.values().keys()].sort().map((known) => `'${known}'`);
  throw new SvcError('validation-failed', `expected one of the values [${names.join(', ')}] for type '${type.name}', but found '${name}'`, {
    path,
    ...suggest(name, () => type.values().keys()),
    redactedMessage: `'${name}' is not one of the values that may be given here`,
  });
}
