/**
 * Facts about a request's variables that shaped a plan. A cached plan serves a request only if all of them hold for it. Values that do not
 * shape the plan are never examined.
 */
import { isJsonArray, isJsonObject, type Json, jsonEqual } from '../util/json.ts';
import { type JsonPath, valueAt } from '../util/json-path.ts';
import { type OpaqueDecoder, opaqueShape } from './opaque-text.ts';

/** Variables of a request after defaults. A nullable variable that was not sent is missing, or null if the service is configured so. */
export type Variables = Readonly<Record<string, Json>>;

/** A list of at least `least` objects: each has all `required` keys and no others but the `optional` ones. */
export interface ObjectsFact {
  readonly kind: 'objects';
  readonly least: number;
  readonly required: ReadonlySet<string>;
  readonly optional: ReadonlySet<string>;
}

export interface Constraint {
  readonly variable: string;
  /** Keys and indexes inside the value. */
  readonly path: readonly (string | number)[];
  /** Missing values count as null; if the difference matters, presence is a fact of its own. */
  readonly fact:
    | { readonly kind: 'null'; readonly isNull: boolean }
    | { readonly kind: 'present'; readonly present: boolean }
    /** An object with exactly these keys, in this order. */
    | { readonly kind: 'keys'; readonly keys: readonly string[] }
    /** A list of this length; null if the value is not a list. */
    | { readonly kind: 'length'; readonly length: number | null }
    | { readonly kind: 'equals'; readonly json: Json }
    /** An opaque text of this shape: see `opaqueShape`. */
    | { readonly kind: 'opaque'; readonly shape: string; readonly decode: OpaqueDecoder }
    | ObjectsFact;
}

/** Returns the part of a variable's value at a path, or undefined. */
export function variablePart(variables: Variables, name: string, path: JsonPath): Json | undefined {
  return valueAt(variables[name], path);
}

/** Returns true if the fact holds for these variables: they can then use the plan that it shaped. */
export function holds(constraint: Constraint, variables: Variables): boolean {
  const value = variablePart(variables, constraint.variable, constraint.path);
  const fact = constraint.fact;
  switch (fact.kind) {
    case 'present':
      return (value !== undefined) === fact.present;
    case 'null':
      return (value === undefined || value === null) === fact.isNull;
    case 'length':
      return fact.length === null ? !isJsonArray(value) : isJsonArray(value) && value.length === fact.length;
    case 'keys': {
      if (!isJsonObject(value)) return false;
      const keys = Object.keys(value);
      return keys.length === fact.keys.length && keys.every((key, i) => key === fact.keys[i]);
    }
    case 'objects':
      return value !== undefined && areObjects(value, fact);
    case 'opaque':
      return value !== undefined && opaqueShape(value, fact.decode(value, variables)) === fact.shape;
    case 'equals':
      return value !== undefined && jsonEqual(value, fact.json);
  }
}

function areObjects(value: Json, { least, required, optional }: ObjectsFact): boolean {
  if (!isJsonArray(value) || value.length < least) return false;
  for (const item of value) {
    if (!isJsonObject(item)) return false;
    let found = 0;
    for (const key in item) {
      if (required.has(key)) found += 1;
      else if (!optional.has(key)) return false;
    }
    if (found < required.size) return false;
  }
  return true;
}
