/** Operations of templates on JSON values. */
import { isJsonArray, isJsonNumber, isJsonObject, type Json, type JsonObject } from '../../../util/json.ts';
import type { Budget } from './budget.ts';
import { compareNumbers } from './number.ts';

export type TypeName = 'Null' | 'Boolean' | 'Number' | 'String' | 'Array' | 'Object';

/** Returns the name of a value's type in error messages. */
export function jsonTypeName(value: Json): TypeName {
  if (value === null) return 'Null';
  if (typeof value === 'boolean') return 'Boolean';
  if (isJsonNumber(value)) return 'Number';
  if (typeof value === 'string') return 'String';
  return isJsonArray(value) ? 'Array' : 'Object';
}

/** Returns the value of an own key. */
export function member(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Builds an object from entries; the last one of a key wins, and `__proto__` is an ordinary key. */
export function objectFromEntries(entries: Iterable<readonly [string, Json]>): JsonObject {
  const object: Record<string, Json> = {};
  for (const [key, value] of entries) {
    if (key === '__proto__') Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
    else object[key] = value;
  }
  return object;
}

/** A comparison of two values of different types. */
export interface Mismatch {
  readonly expected: TypeName;
  readonly actual: TypeName;
}

/** Compares by value: keys in any order, numbers in any notation. */
export function equal(left: Json, right: Json, budget: Budget): boolean {
  budget.steps(1);
  if (typeof left === 'string' || typeof right === 'string') {
    if (typeof left !== 'string' || typeof right !== 'string' || left.length !== right.length) return false;
    // Counted before the result is known: equal strings are compared to their end.
    budget.reading(left.length);
    return left === right;
  }
  if (left === right) return true;
  if (isJsonNumber(left) && isJsonNumber(right)) {
    budget.number(left);
    budget.number(right);
    return compareNumbers(left, right) === 0;
  }
  if (isJsonArray(left) && isJsonArray(right)) {
    return left.length === right.length && left.every((item, i) => equal(item, right[i] as Json, budget));
  }
  if (isJsonObject(left) && isJsonObject(right)) {
    const keys = budget.keys(left);
    if (keys.length !== budget.keys(right).length) return false;
    return keys.every((key) => {
      const other = member(right, key);
      return other !== undefined && equal(left[key] as Json, other, budget);
    });
  }
  return false;
}

/** Orders two values of one type: negative, 0 or positive. Arrays by their first difference, objects by their sorted keys. */
export function compare(left: Json, right: Json, budget: Budget): number | Mismatch {
  budget.steps(1);
  const expected = jsonTypeName(left);
  const actual = jsonTypeName(right);
  if (expected !== actual) return { expected, actual };
  if (typeof left === 'string' && typeof right === 'string') {
    budget.reading(Math.min(left.length, right.length));
    return left < right ? -1 : left > right ? 1 : 0;
  }
  if (isJsonNumber(left) && isJsonNumber(right)) {
    budget.number(left);
    budget.number(right);
    return compareNumbers(left, right);
  }
  if (isJsonArray(left) && isJsonArray(right)) return compareArrays(left, right, budget);
  if (isJsonObject(left) && isJsonObject(right)) return compareArrays(sortedEntries(left, budget), sortedEntries(right, budget), budget);
  return Number(left) - Number(right);
}

function compareArrays(left: readonly Json[], right: readonly Json[], budget: Budget): number | Mismatch {
  for (let i = 0; i < Math.min(left.length, right.length); i += 1) {
    const order = compare(left[i] as Json, right[i] as Json, budget);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

function sortedEntries(object: JsonObject, budget: Budget): readonly Json[] {
  // Sorting compares each key several times.
  budget.steps(budget.keys(object).length * 4);
  const entries = Object.entries(object);
  return entries.sort(([a], [b]) => (a < b ? -1 : 1));
}
