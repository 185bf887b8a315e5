/** Breaks JSON that is written on one line, as in the examples of generated pages, which would be cut off. */
import { isJsonArray, isJsonObject, type Json, JsonNumber, parseJson } from '../packages/model/json.ts';

const WIDTH = 88;

/** Returns the text with line breaks, or as it is if it is no JSON, has line breaks, or is short. */
export function brokenJson(text: string): string {
  if (text.length <= WIDTH || text.includes('\n')) return text;
  try {
    return printed(parseJson(text), '');
  } catch {
    return text;
  }
}

function printed(json: Json, indent: string): string {
  const short = onOneLine(json);
  if (indent.length + short.length <= WIDTH) return short;
  const inner = `${indent}  `;
  const lines = (parts: readonly string[]): string => `\n${parts.map((each) => inner + each).join(',\n')}\n${indent}`;
  if (isJsonArray(json)) return `[${lines(json.map((each) => printed(each, inner)))}]`;
  if (isJsonObject(json)) return `{${lines(Object.entries(json).map(([key, each]) => `${JSON.stringify(key)}: ${printed(each, inner)}`))}}`;
  return short;
}

function onOneLine(json: Json): string {
  if (isJsonArray(json)) return `[${json.map(onOneLine).join(', ')}]`;
  if (isJsonObject(json)) {
    const members = Object.entries(json).map(([key, each]) => `${JSON.stringify(key)}: ${onOneLine(each)}`);
    return `{${members.join(', ')}}`;
  }
  return json instanceof JsonNumber ? json.text : JSON.stringify(json);
}
