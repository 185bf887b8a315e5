import { type JsonFacts, scanJson, UNLIMITED } from './json-scan.ts';
import { parseExactJson } from './parse-exact-json.ts';

/** JSON number whose text would change in a conversion to an IEEE double. */
export class JsonNumber {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  toString(): string {
    return this.text;
  }
  /** Aborts `printPlainJson`, because `JSON.stringify` cannot print the number unchanged. */
  toJSON(): string {
    if (printing) throw EXACT_NUMBER;
    return this.text;
  }
}

const EXACT_NUMBER = new Error('JSON.stringify cannot print an exact number');
/**
 * True during the synchronous call of `printPlainJson`. `JSON.stringify` passes nothing else to `toJSON`, and a replacer in its place would
 * double the time.
 */
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

/** Returns an object as it is; `{}` for anything else. */
export function objectOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** Returns the objects of a list; empty for anything else. */
export function objectsIn(value: Json | undefined): readonly JsonObject[] {
  return isJsonArray(value) ? value.filter(isJsonObject) : [];
}

/** Returns the texts of a list; empty for anything else. */
export function textsIn(value: Json | undefined): readonly string[] {
  return isJsonArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

/** Original text of a number. */
export function numberText(value: number | JsonNumber): string {
  return value instanceof JsonNumber ? value.text : String(value);
}

/**
 * Parses JSON text without changing any number: a number that a double prints unchanged becomes a number, any other a `JsonNumber`. Of
 * duplicate keys, the last one counts.
 * @throws SyntaxError
 */
export function parseJson(text: string): Json {
  return parseScannedJson(text, scanJson(text, UNLIMITED));
}

/** `parseJson` for text that was already scanned. */
export function parseScannedJson(text: string, { lossless }: Pick<JsonFacts, 'lossless'>): Json {
  return (lossless ? JSON.parse(text) : parseExactJson(text, exactNumber)) as Json;
}

function exactNumber(text: string): JsonNumber {
  return new JsonNumber(text);
}

/** Prints JSON text by `JSON.stringify`; `undefined` if the value contains a `JsonNumber`. */
export function printPlainJson(value: Json): string | undefined {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  printing = true;
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error !== EXACT_NUMBER) throw error;
    return undefined;
  } finally {
    printing = false;
  }
}

/** Compares JSON values deeply: the order of keys does not matter, the text of numbers does. */
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
