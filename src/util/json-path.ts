import { isJsonArray, isJsonObject, type Json } from './json.ts';

/** Keys and indexes from the root; empty for the root itself. */
export type JsonPath = readonly (string | number)[];

const STEP = /\.?\['((?:[^'\\]|\\.)*)'\]|\.?\["((?:[^"\\]|\\.)*)"\]|\.?\[(\d{1,9})\]|\.([^.[\]'"\s]+)/y;

/**
 * Parses `$`, `$.a.b`, `$.a[0]` and `$['a b']`.
 * @throws Error whose message is the reason
 */
export function parseJsonPath(text: string): JsonPath {
  if (!text.startsWith('$')) throw new Error(`a JSON path starts with $, but found ${JSON.stringify(text)}`);
  const steps: (string | number)[] = [];
  let at = 1;
  while (at < text.length) {
    STEP.lastIndex = at;
    const found = STEP.exec(text);
    if (found === null) throw new Error(`the JSON path ${JSON.stringify(text)} cannot be read at ${JSON.stringify(text.slice(at))}`);
    const [whole, single, double, index, name] = found;
    steps.push(index === undefined ? (name ?? (single ?? double ?? '').replaceAll(/\\(.)/g, '$1')) : Number(index));
    at += whole.length;
  }
  return steps;
}

/** @returns `undefined` if there is no value at the path */
export function valueAt(root: Json | undefined, path: JsonPath): Json | undefined {
  let value = root;
  for (const step of path) {
    if (typeof step === 'number') value = isJsonArray(value) ? value[step] : undefined;
    else value = isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  }
  return value;
}
