/** Values of the types, and the semantics of the database's operators. */
import type { Json, JsonObject } from '../../src/util/json.ts';
import type { Choices } from './choices.ts';
import { ENUM_VALUES, type IntsValue, type JsonbValue, type Kind, type Value } from './world.ts';

const TEXTS = ['a', 'b', 'ab', 'Ab', 'a%', 'a_b', 'B', ''];
const JSONS: readonly Json[] = [{ a: 1 }, {}, { a: 1, b: [1, 2] }, [1, 2], ['a', 'b'], 'a', 1, { b: null }, { a: { b: 1 }, c: 'x' }, null];

export function someValue(choices: Choices, kind: Kind): Value {
  switch (kind) {
    case 'int':
    case 'bigint':
      return choices.int(5);
    case 'numeric':
      return choices.int(12) / 4 - 1;
    case 'float8':
      return choices.int(16) / 4 - 2;
    case 'text':
      return choices.pick(TEXTS);
    case 'bool':
      return choices.chance(50);
    case 'jsonb':
      return { json: choices.pick(JSONS) };
    case 'ints':
      return { ints: Array.from({ length: choices.int(4) }, () => choices.int(3)) };
    case 'enum':
      return choices.pick(ENUM_VALUES);
  }
}

/** A value to compare with: requests cannot express a JSON null. */
export function someOperand(choices: Choices, kind: Kind): Value {
  const value = someValue(choices, kind);
  return isJsonb(value) && value.json === null ? { json: {} } : value;
}

/** Patterns by operator, with their meaning in JavaScript. */
export const PATTERNS: Readonly<Record<string, readonly (readonly [string, RegExp])[]>> = {
  _like: [
    ['a%', /^a.*$/],
    ['%b', /^.*b$/],
    ['a\\%', /^a%$/],
    ['_', /^.$/],
    ['', /^$/],
  ],
  _ilike: [
    ['A%', /^a.*$/i],
    ['%B', /^.*b$/i],
    ['aB', /^ab$/i],
  ],
  _similar: [
    ['(a|b)%', /^(?:a|b).*$/],
    ['_b', /^.b$/],
    ['[ab]+', /^[ab]+$/],
  ],
  _regex: [
    ['^a', /^a/],
    ['b$', /b$/],
    ['^.?$', /^.?$/],
  ],
  _iregex: [
    ['^A', /^a/i],
    ['B$', /b$/i],
  ],
};

const NEGATED: Readonly<Record<string, string>> = {
  _nlike: '_like',
  _nilike: '_ilike',
  _nsimilar: '_similar',
  _nregex: '_regex',
  _niregex: '_iregex',
};
export const TEXT_OPERATORS: readonly string[] = [...Object.keys(PATTERNS), ...Object.keys(NEGATED)];

export function patternsOf(operator: string): readonly string[] {
  return (PATTERNS[NEGATED[operator] ?? operator] ?? []).map(([pattern]) => pattern);
}

export function isJsonb(value: Value): value is JsonbValue {
  return typeof value === 'object' && value !== null && 'json' in value;
}

export function isInts(value: Value): value is IntsValue {
  return typeof value === 'object' && value !== null && 'ints' in value;
}

/** Neither value is null, and both have the same ordered type. */
export function order(a: Value, b: Value): number {
  if (isInts(a) && isInts(b)) return orderInts(a.ints, b.ints);
  if (typeof a === 'object' || typeof b === 'object') throw new Error('not ordered');
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Item by item, then the shorter one first. */
function orderInts(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const difference = (a[i] as number) - (b[i] as number);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

export function same(a: Value, b: Value): boolean {
  if (isInts(a) && isInts(b)) return orderInts(a.ints, b.ints) === 0;
  if (isJsonb(a) && isJsonb(b)) return sameJson(a.json, b.json);
  return a === b;
}

/** SQL's three truth values: null is unknown. */
export type Truth = boolean | null;

export function not(truth: Truth): Truth {
  return truth === null ? null : !truth;
}

export function all(truths: readonly Truth[]): Truth {
  if (truths.includes(false)) return false;
  return truths.includes(null) ? null : true;
}

export function any(truths: readonly Truth[]): Truth {
  return not(all(truths.map(not)));
}

/** @param right a value, or values for `_in` and similar operators */
export function compare(left: Value, operator: string, right: Value | readonly Value[]): Truth {
  if (Array.isArray(right)) {
    const list = right as readonly Value[];
    switch (operator) {
      case '_in':
        return any(list.map((each) => compare(left, '_eq', each)));
      case '_nin':
        return all(list.map((each) => compare(left, '_neq', each)));
    }
    if (left === null) return null;
    const has = list.map((key) => hasKey((left as JsonbValue).json, key as string));
    return operator === '_has_keys_any' ? has.includes(true) : !has.includes(false);
  }
  const single = right as Value;
  if (left === null || single === null) return null;
  const negated = NEGATED[operator];
  if (negated !== undefined) return not(compare(left, negated, single));
  const patterns = PATTERNS[operator];
  if (patterns !== undefined) {
    const known = patterns.find(([pattern]) => pattern === single);
    if (known === undefined) throw new Error(`unknown pattern ${String(single)}`);
    return known[1].test(left as string);
  }
  switch (operator) {
    case '_eq':
      return same(left, single);
    case '_neq':
      return !same(left, single);
    case '_gt':
      return order(left, single) > 0;
    case '_lt':
      return order(left, single) < 0;
    case '_gte':
      return order(left, single) >= 0;
    case '_lte':
      return order(left, single) <= 0;
    case '_contains':
      if (isInts(left) && isInts(single)) return single.ints.every((item) => left.ints.includes(item));
      return contains((left as JsonbValue).json, (single as JsonbValue).json);
    case '_contained_in':
      if (isInts(left) && isInts(single)) return left.ints.every((item) => single.ints.includes(item));
      return contains((single as JsonbValue).json, (left as JsonbValue).json);
    case '_has_key':
      return hasKey((left as JsonbValue).json, single as string);
  }
  throw new Error(`unknown operator ${operator}`);
}

function isObject(json: Json): json is JsonObject {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}

function sameJson(a: Json, b: Json): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, i) => sameJson(item, b[i] as Json));
  if (isObject(a) && isObject(b)) {
    const keys = Object.keys(a);
    return keys.length === Object.keys(b).length && keys.every((key) => key in b && sameJson(a[key] as Json, b[key] as Json));
  }
  return a === b;
}

/** An array contains a value that equals one of its items, at the top level only. */
function contains(a: Json, b: Json): boolean {
  if (Array.isArray(a) && !Array.isArray(b) && !isObject(b)) return a.some((item) => item === b);
  return deeplyContains(a, b);
}

function deeplyContains(a: Json, b: Json): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return b.every((item) => a.some((other) => deeplyContains(other, item)));
  if (isObject(a) && isObject(b)) return Object.keys(b).every((key) => key in a && deeplyContains(a[key] as Json, b[key] as Json));
  return a === b;
}

function hasKey(json: Json, key: string): boolean {
  if (Array.isArray(json)) return json.includes(key);
  return isObject(json) ? key in json : json === key;
}

/** The value as the database prints a jsonb value. */
export function jsonbText(json: Json): string {
  if (Array.isArray(json)) return `[${json.map(jsonbText).join(', ')}]`;
  if (!isObject(json)) return JSON.stringify(json);
  const keys = Object.keys(json).sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
  return `{${keys.map((key) => `${JSON.stringify(key)}: ${jsonbText(json[key] as Json)}`).join(', ')}}`;
}

/** Condition that it is NULL, for the JSON path `$.key`. */
export function member(json: Json, key: string): Json {
  return isObject(json) && key in json ? (json[key] as Json) : null;
}
