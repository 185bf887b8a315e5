import { parseExactJson } from './parse-exact-json.ts';

/** A JSON number whose text does not survive a trip through an IEEE double. */
export class JsonNumber {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  toString(): string {
    return this.text;
  }
}

export type Json = null | boolean | number | string | JsonNumber | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber);
}

export function isJsonArray(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

export function isJsonNumber(value: Json | undefined): value is number | JsonNumber {
  return typeof value === 'number' || value instanceof JsonNumber;
}

/** The decimal text of a number as it was written. */
export function numberText(value: number | JsonNumber): string {
  return value instanceof JsonNumber ? value.text : String(value);
}

// A digit run of 16 or more, a fraction or an exponent: the only texts that a double may change.
const MAY_LOSE = /\d(?:\d{15}|\.\d|[eE])|-0/;

/**
 * Parses JSON text without changing any number: integers up to 15 digits become numbers, all
 * others `JsonNumber`. For a key written twice the last one counts, as in ECMA-404 parsers.
 * @throws SyntaxError
 */
export function parseJson(text: string): Json {
  return (MAY_LOSE.test(text) ? parseExactJson(text, keepNumber) : JSON.parse(text)) as Json;
}

function keepNumber(text: string): JsonNumber {
  return new JsonNumber(text);
}

/** Prints JSON text; a `JsonNumber` is printed as it was written. */
export function printJson(value: Json): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (value === null || typeof value !== 'object') return String(value);
  if (value instanceof JsonNumber) return value.text;
  let text = '';
  let separator = '';
  if (isJsonArray(value)) {
    for (const item of value) {
      text += separator + printJson(item);
      separator = ',';
    }
    return `[${text}]`;
  }
  for (const key of Object.keys(value)) {
    const item = value[key];
    if (item === undefined) continue;
    text += `${separator}${JSON.stringify(key)}:${printJson(item)}`;
    separator = ',';
  }
  return `{${text}}`;
}

/** Deep equality of JSON values; the order of keys does not count, the text of numbers does. */
export function jsonEqual(a: Json, b: Json): boolean {
  if (a === b) return true;
  if (isJsonNumber(a) && isJsonNumber(b)) return numberText(a) === numberText(b);
  if (isJsonArray(a) && isJsonArray(b)) return a.length === b.length && a.every((x, i) => jsonEqual(x, b[i] as Json));
  if (isJsonObject(a) && isJsonObject(b)) {
    const keys = Object.keys(a);
    return keys.length === Object.keys(b).length && keys.every((k) => Object.hasOwn(b, k) && jsonEqual(a[k] as Json, b[k] as Json));
  }
  return false;
}
