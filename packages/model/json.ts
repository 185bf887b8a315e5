import { type JsonFacts, scanJson, UNLIMITED } from './json-scan.ts';
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
  /** Ends `JSON.stringify`, which has no way to print the number as it is, within `printPlainJson`. */
  toJSON(): string {
    if (printing) throw HOLDS_EXACT_NUMBER;
    return this.text;
  }
}

const HOLDS_EXACT_NUMBER = new Error('a number that JSON.stringify cannot print');
let printing = false;

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

/**
 * Parses JSON text without changing any number: those that a double keeps as they are written become
 * numbers, all others `JsonNumber`. For a key written twice the last one counts, as in ECMA-404 parsers.
 * @throws SyntaxError
 */
export function parseJson(text: string): Json {
  return parseScannedJson(text, scanJson(text, UNLIMITED));
}

/** `parseJson` for text of which more was to be known. */
export function parseScannedJson(text: string, { lossless }: Pick<JsonFacts, 'lossless'>): Json {
  return (lossless ? JSON.parse(text) : parseExactJson(text, keepNumber)) as Json;
}

function keepNumber(text: string): JsonNumber {
  return new JsonNumber(text);
}

/** Prints JSON text by `JSON.stringify`; undefined when the value holds a `JsonNumber`. */
export function printPlainJson(value: Json): string | undefined {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  printing = true;
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error !== HOLDS_EXACT_NUMBER) throw error;
    return undefined;
  } finally {
    printing = false;
  }
}

/** Deep equality of JSON values; the order of keys does not count, the text of numbers does. */
export function jsonEqual(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (isJsonNumber(a) && isJsonNumber(b)) return numberText(a) === numberText(b);
  if (isJsonArray(a) && isJsonArray(b)) return a.length === b.length && a.every((x, i) => jsonEqual(x, b[i]));
  if (isJsonObject(a) && isJsonObject(b)) {
    const keys = Object.keys(a);
    return keys.length === Object.keys(b).length && keys.every((k) => Object.hasOwn(b, k) && jsonEqual(a[k], b[k]));
  }
  return false;
}
