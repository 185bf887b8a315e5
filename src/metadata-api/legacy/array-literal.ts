import { isJsonArray, isJsonNumber, type Json, numberText, printJson } from '../../util/json.ts';

/** `{1,2,NULL}`: the text form of an array; `ofJson` when the elements are JSON values, which stay whole. */
export function arrayLiteral(items: readonly Json[], ofJson: boolean): string {
  return `{${items.map((item) => element(item, ofJson)).join(',')}}`;
}

function element(item: Json, ofJson: boolean): string {
  if (item === null) return 'NULL';
  if (ofJson) return quoted(printJson(item));
  if (isJsonArray(item)) return arrayLiteral(item, false);
  if (typeof item === 'string') return quoted(item);
  return quoted(isJsonNumber(item) ? numberText(item) : printJson(item));
}

function quoted(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
