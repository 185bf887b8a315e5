import { type Json, JsonNumber, printPlainJson } from '../model/json.ts';
import { printExactJson } from './print-exact-json.ts';

export * from '../model/json.ts';

/** Prints JSON text, with the original text of each `JsonNumber`. */
export function printJson(value: Json): string {
  if (value instanceof JsonNumber) return value.text;
  return printPlainJson(value) ?? printExactJson(value);
}
