/** JSON whose numbers survive: what a double cannot hold is kept as its text. */

/** A number that a double would change, as its text. */
export class NumberText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  toString(): string {
    return this.text;
  }
}

export type Json = null | boolean | number | string | NumberText | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them in strings
const TOKEN = /\s*(?:([{}[\],:])|"((?:[^"\\\u0000-\u001f]|\\.)*)"|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)|(true|false|null))/y;
const DEEPEST = 500;

/** Where a value begins that is, or might be, a number that a double would change. What is found in a string only costs time. */
const LOSSY = /(?:^|[\s:,[])(?:-0|-?\d+[.eE]|-?\d{16})/;

/** Whether the browser's own reader, which is many times faster, reads it as `parseJson` does. */
function isReadByTheBrowser(text: string): boolean {
  if (LOSSY.test(text)) return false;
  let depth = 0;
  let isString = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') isString = !isString;
    else if (isString) at += character === '\\' ? 1 : 0;
    else if (character === '[' || character === '{') {
      depth++;
      if (depth > DEEPEST) return false;
    } else if (character === ']' || character === '}') depth--;
  }
  return true;
}

/**
 * Reads JSON.
 * @throws SyntaxError with the line where the text is no JSON
 */
export function parseJson(text: string): Json {
  if (isReadByTheBrowser(text)) {
    try {
      return JSON.parse(text) as Json;
    } catch {
      // read below, which tells where it is no JSON
    }
  }
  TOKEN.lastIndex = 0;
  const fail = (at: number): never => {
    const line = text.slice(0, at).split('\n').length;
    throw new SyntaxError(`this is no JSON: line ${line}, at ${JSON.stringify(text.slice(at, at + 12) || 'the end')}`);
  };
  const next = (): RegExpExecArray => {
    const at = TOKEN.lastIndex;
    const found = TOKEN.exec(text);
    return found ?? fail(at);
  };
  const value = (token: RegExpExecArray, depth: number): Json => {
    const [, mark, string, number, word] = token;
    if (string !== undefined) return string.includes('\\') ? (JSON.parse(`"${string}"`) as string) : string;
    if (number !== undefined) return numberOf(number);
    if (word !== undefined) return word === 'null' ? null : word === 'true';
    if (depth > DEEPEST) return fail(token.index);
    if (mark === '[') return list(depth);
    if (mark === '{') return object(depth);
    return fail(token.index);
  };
  const list = (depth: number): Json => {
    const items: Json[] = [];
    let token = next();
    if (token[1] === ']') return items;
    for (;;) {
      items.push(value(token, depth + 1));
      token = next();
      if (token[1] === ']') return items;
      if (token[1] !== ',') fail(token.index);
      token = next();
    }
  };
  const object = (depth: number): Json => {
    const entries: [string, Json][] = [];
    let token = next();
    if (token[1] === '}') return {};
    for (;;) {
      if (token[2] === undefined) fail(token.index);
      const key = JSON.parse(`"${token[2]}"`) as string;
      token = next();
      if (token[1] !== ':') fail(token.index);
      entries.push([key, value(next(), depth + 1)]);
      token = next();
      if (token[1] === '}') return Object.fromEntries(entries);
      if (token[1] !== ',') fail(token.index);
      token = next();
    }
  };
  const result = value(next(), 0);
  const end = TOKEN.lastIndex;
  if (text.slice(end).trim() !== '') fail(end);
  return result;
}

/** The number, or its text where a double is another number. */
export function numberOf(text: string): number | NumberText {
  const number = Number(text);
  if (String(number) === text) return number;
  // 1.50 and 1e3 are shown as they were written; equal doubles may still be other decimals.
  return new NumberText(text);
}

/** JSON text; with `indent` on several lines. */
export function printJson(json: Json, indent = 0): string {
  const print = (value: Json, margin: string): string => {
    if (value === null || typeof value !== 'object') return JSON.stringify(value);
    if (value instanceof NumberText) return value.text;
    const inner = margin + ' '.repeat(indent);
    const [open, close, parts] = Array.isArray(value)
      ? ['[', ']', (value as readonly Json[]).map((item) => print(item, inner))]
      : ['{', '}', Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}:${indent > 0 ? ' ' : ''}${print(item, inner)}`)];
    if (parts.length === 0) return open + close;
    if (indent === 0) return open + parts.join(',') + close;
    const flat = `${open}${open === '{' ? ' ' : ''}${parts.join(', ')}${open === '{' ? ' ' : ''}${close}`;
    if (flat.length + margin.length <= 72 && !flat.includes('\n')) return flat;
    return `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${margin}${close}`;
  };
  return print(json, '');
}

export function isObject(json: Json | undefined): json is JsonObject {
  return typeof json === 'object' && json !== null && !Array.isArray(json) && !(json instanceof NumberText);
}

export function isList(json: Json | undefined): json is readonly Json[] {
  return Array.isArray(json);
}

export function asText(json: Json | undefined): string {
  return typeof json === 'string' ? json : '';
}

/** Whether both are the same JSON; keys in any order. */
export function equalJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined) return false;
  if (a instanceof NumberText || b instanceof NumberText) return String(a) === String(b);
  if (isList(a)) return isList(b) && a.length === b.length && a.every((item, index) => equalJson(item, b[index]));
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && equalJson(a[key], b[key]));
}
