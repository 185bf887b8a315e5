/**
 * Facts about a request's variables that shaped a plan. A cached plan may serve a request only if
 * all of them hold for it. Values that do not shape the plan are never looked into.
 */
import { isJsonArray, isJsonObject, type Json, jsonEqual } from '../util/json.ts';
import { type JsonPath, valueAt } from '../util/json-path.ts';

/** Variables of a request after defaults; a nullable one that was not sent is missing, or null if the service is set so. */
export type Variables = Readonly<Record<string, Json>>;

/** A list of at least `least` objects: each has all `required` keys and no others than these and the `optional` ones. */
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
  readonly fact: /** what is missing counts as null: where it does not, its presence is a fact of its own */
    | { readonly kind: 'null'; readonly isNull: boolean }
    | { readonly kind: 'present'; readonly present: boolean }
    /** an object with exactly these keys, in this order */
    | { readonly kind: 'keys'; readonly keys: readonly string[] }
    /** a list of this length; null: not a list */
    | { readonly kind: 'length'; readonly length: number | null }
    | { readonly kind: 'equals'; readonly json: Json }
    | ObjectsFact;
}

/** The part of a variable's value at a path; undefined where there is none. */
export function variablePart(variables: Variables, name: string, path: JsonPath): Json | undefined {
  return valueAt(variables[name], path);
}

/** Whether the fact is true of these variables: then the plan that it shaped is theirs too. */
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
