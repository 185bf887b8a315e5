/** Places in JSON text that is being written. Nothing here throws. */
import type { Span } from './document-place.ts';
import { parseJsonText } from './json.ts';

const TOKENS = /"(?:[^"\\\n]|\\.)*"?|[{}[\]:,]|[^\s{}[\]:,"]+/g;
const STEPS = /\.([A-Za-z_][\w-]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/g;

/** A member of an object, or an element of a list. */
interface JsonPlace extends Span {
  /** Start of the value; `from` is the start of its key. */
  readonly valueFrom: number;
}

type Token = RegExpExecArray;

/** Finds the deepest member on the path of an error of the service: up to the first token of its value. Undefined for the root. */
export function placeOfJsonPath(text: string, path: string): JsonPlace | undefined {
  const tokens = [...text.matchAll(TOKENS)];
  let place: JsonPlace | undefined;
  let at = 0;
  for (const [, plain, index, quoted] of path.matchAll(STEPS)) {
    const key = index === undefined ? (plain ?? unquoted(quoted ?? '') ?? '') : Number(index);
    const found = memberAt(tokens, at, key);
    const value = found === undefined ? undefined : tokens[found.value];
    if (found === undefined || value === undefined) break;
    place = { from: tokens[found.start]?.index ?? value.index, valueFrom: value.index, to: value.index + value[0].length };
    at = found.value;
  }
  return place;
}

/** Returns the indices of the first token of a member and of that of its value. */
function memberAt(
  tokens: readonly Token[],
  open: number,
  key: string | number,
): { readonly start: number; readonly value: number } | undefined {
  if (tokens[open]?.[0] !== (typeof key === 'string' ? '{' : '[')) return undefined;
  let elements = 0;
  let depth = 1;
  for (let at = open + 1; at < tokens.length && depth > 0; at++) {
    const text = tokens[at]?.[0] ?? '';
    if (depth === 1 && key === elements && text !== ']') return { start: at, value: at };
    if (depth === 1 && typeof key === 'string' && tokens[at + 1]?.[0] === ':' && unquoted(text) === key)
      return { start: at, value: at + 2 };
    if (text === '{' || text === '[') depth++;
    else if (text === '}' || text === ']') depth--;
    else if (text === ',' && depth === 1) elements++;
  }
  return undefined;
}

/** Returns the keys from the root to the text at a position, with `[]` for lists; undefined if it is not the value of a key. */
export function keysAt(text: string, at: number): readonly string[] | undefined {
  const tokens = [...text.slice(0, at).matchAll(TOKENS)];
  const typed = tokens.at(-1)?.[0];
  if (typed?.startsWith('"') !== true || unquoted(typed) !== undefined) return undefined;
  const keys: string[] = [];
  for (const [index, [token]] of tokens.entries()) {
    if (token === '{') keys.push('');
    else if (token === '[') keys.push('[]');
    else if (token === '}' || token === ']') keys.pop();
    else if (token === ':') keys.splice(-1, 1, unquoted(tokens[index - 1]?.[0] ?? '') ?? '');
  }
  return tokens.at(-2)?.[0] === ':' ? keys : undefined;
}

/** Returns the text of a complete string token. */
function unquoted(token: string): string | undefined {
  try {
    const json = parseJsonText(token);
    return typeof json === 'string' ? json : undefined;
  } catch {
    return undefined;
  }
}
