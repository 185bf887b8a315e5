/** JSON as the console shows it: faults with their line, text laid out for readers. */
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
} from '../../../packages/model/json.ts';

const LIMITS = { depth: 500, size: Number.POSITIVE_INFINITY };

/**
 * Reads JSON.
 * @throws SyntaxError with the line where the text is no JSON
 */
export function parseJson(text: string): Json {
  const facts = scanJson(text, LIMITS);
  if (facts.depth > LIMITS.depth) throw new SyntaxError(`this JSON has more than ${LIMITS.depth} levels`);
  try {
    return parseScannedJson(text, facts);
  } catch (error) {
    throw withLine(error, text);
  }
}

/** The fault of the exact parser, which knows its place, in place of one of JSON.parse. */
function withLine(error: unknown, text: string): unknown {
  if (error instanceof JsonFault) {
    const line = text.slice(0, error.at).split('\n').length;
    return new SyntaxError(`this is no JSON: line ${line}, at ${JSON.stringify(text.slice(error.at, error.at + 12) || 'the end')}`);
  }
  try {
    parseExactJson(text, String);
  } catch (again) {
    if (again instanceof JsonFault) return withLine(again, text);
  }
  return error;
}

/** The number, or its text where a double is another number. */
export function numberOf(text: string): number | JsonNumber {
  const number = Number(text);
  return String(number) === text ? number : new JsonNumber(text);
}

/** JSON text; with `indent` on several lines. */
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
