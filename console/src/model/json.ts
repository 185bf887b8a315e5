/** JSON for the console: errors with their line, and text laid out for reading. */
import { type Json, JsonNumber, parseScannedJson } from '../../../packages/model/json.ts';
import { scanJson } from '../../../packages/model/json-scan.ts';
import { JsonFault, parseExactJson } from '../../../packages/model/parse-exact-json.ts';

export {
  isJsonArray as isList,
  isJsonObject as isObject,
  type Json,
  JsonNumber,
  type JsonObject,
  jsonEqual as equalJson,
  objectOf,
  objectsIn,
  textsIn,
} from '../../../packages/model/json.ts';

const LIMITS = { depth: 500, size: Number.POSITIVE_INFINITY };

/** @throws SyntaxError with the line of the error */
export function parseJsonText(text: string): Json {
  const facts = scanJson(text, LIMITS);
  if (facts.depth > LIMITS.depth) throw new SyntaxError(`this JSON has more than ${LIMITS.depth} levels`);
  try {
    return parseScannedJson(text, facts);
  } catch (error) {
    throw withLine(error, text);
  }
}

/** Replaces an error of `JSON.parse` by that of the exact parser, which has the position. */
function withLine(error: unknown, text: string): unknown {
  if (error instanceof JsonFault) {
    const line = text.slice(0, error.at).split('\n').length;
    return new SyntaxError(`invalid JSON in line ${line}, at ${JSON.stringify(text.slice(error.at, error.at + 12) || 'the end')}`);
  }
  try {
    parseExactJson(text, String);
  } catch (again) {
    if (again instanceof JsonFault) return withLine(again, text);
  }
  return error;
}

/** Returns the number, or a `JsonNumber` with its text if a double would change it. */
export function numberOf(text: string): number | JsonNumber {
  const number = Number(text);
  return String(number) === text ? number : new JsonNumber(text);
}

/** Prints JSON, with `indent` over several lines. */
export function printJson(json: Json, indent = 0): string {
  const print = (value: Json, margin: string): string => {
    if (value === null || typeof value !== 'object') return JSON.stringify(value);
    if (value instanceof JsonNumber) return value.text;
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
