import { isJsonArray, isJsonObject, type Json, printJson } from '../../util/json.ts';
import type { TypeRef } from '../types.ts';

/** Prints a default as a GraphQL literal, for introspection and SDL. */
export function printDefault(json: Json, type: TypeRef): string {
  if (json === null) return 'null';
  if (isJsonArray(json)) return `[${json.map((item) => printDefault(item, type.kind === 'list' ? type.item : type)).join(', ')}]`;
  if (type.kind === 'list') return printDefault(json, type.item);
  const named = type.type();
  if (named.kind === 'enum' && typeof json === 'string') return json;
  if (!isJsonObject(json)) return printJson(json);
  const fields = named.kind === 'input-object' ? named.fields() : undefined;
  return `{${Object.entries(json)
    .map(([key, value]) => `${key}: ${printDefault(value, fields?.get(key)?.type ?? type)}`)
    .join(', ')}}`;
}
