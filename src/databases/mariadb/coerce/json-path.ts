import type { Json } from '../../../util/json.ts';

/** Keys one after another as a path of the database; a number is a place in an array, from its end where it is negative. */
export function jsonPathText(keys: readonly Json[]): string {
  return `$${keys.map((key) => (/^-?\d{1,9}$/.test(String(key)) ? `[${String(key)}]` : jsonKeyText(String(key)))).join('')}`;
}

/** A key of an object as a part of a path. */
export function jsonKeyText(key: string): string {
  return `.${JSON.stringify(key)}`;
}
