import type { Json } from '../../../util/json.ts';

/** Builds a JSON path. Numbers are array indexes; negative ones count from the end. */
export function jsonPathText(keys: readonly Json[]): string {
  return `$${keys.map((key) => (/^-?\d{1,9}$/.test(String(key)) ? `[${String(key)}]` : jsonKeyText(String(key)))).join('')}`;
}

/** Builds the path of an object key. */
export function jsonKeyText(key: string): string {
  return `.${JSON.stringify(key)}`;
}
