import { type Json, JsonNumber, printJson } from '../../../util/json.ts';

/** PostgreSQL array input syntax: `{"a","b \"c\""}`; null is an element that is NULL. */
export type ArrayElement = string | null | readonly ArrayElement[];

/** @param delimiter `,` for every built-in type but `box`, which has `;` */
export function arrayLiteral(elements: readonly ArrayElement[], delimiter: ',' | ';' = ','): string {
  return `{${elements.map((element) => elementLiteral(element, delimiter)).join(delimiter)}}`;
}

/**
 * The same of a list of texts and numbers, made as JSON text, in a fraction of the time: where nothing is
 * escaped, the two syntaxes differ in their brackets only. Null where that is not so.
 */
export function plainArrayLiteral(items: readonly Json[]): string | null {
  let exact = false;
  for (const item of items) {
    if (item instanceof JsonNumber) exact = true;
    else if (typeof item === 'object') return null;
  }
  const text = exact ? printJson(items) : JSON.stringify(items);
  return text.includes('\\') ? null : `{${text.slice(1, -1)}}`;
}

const SPECIAL = /["\\]/;

function elementLiteral(element: ArrayElement, delimiter: ',' | ';'): string {
  if (element === null) return 'NULL';
  if (typeof element === 'string') return SPECIAL.test(element) ? `"${element.replace(/["\\]/g, '\\$&')}"` : `"${element}"`;
  return arrayLiteral(element, delimiter);
}
