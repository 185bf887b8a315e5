/**
 * Opaque texts that clients get from the service and send back: node ids and cursors of Relay, base64 of a JSON list or object. They are
 * untrusted input.
 */
import { Buffer } from 'node:buffer';
import { isJsonArray, isJsonObject, type Json, parseJson, printJson } from '../util/json.ts';
import { nestedDeeperThan } from '../util/json-depth.ts';

/** Maximum characters of an opaque text. */
export const MAX_OPAQUE_TEXT = 16_384;
/** Maximum nesting of the JSON inside: that of an `order_by`. */
const MAX_DEPTH = 200;
/** Number of items of a list that are part of its shape: all that can name a table, but no value. */
const NAMED: Readonly<Record<string, number>> = { '1': 3, '3': 4 };

/** Returns the JSON inside of an opaque text; undefined if there is none. */
export function decodeOpaque(text: Json): Json | undefined {
  if (typeof text !== 'string' || text.length > MAX_OPAQUE_TEXT) return undefined;
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined;
  try {
    const json = parseJson(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(text, 'base64')));
    return nestedDeeperThan(json, MAX_DEPTH) ? undefined : json;
  } catch {
    return undefined;
  }
}

/** Returns the JSON inside of a text of the request. @param request an object that lives as long as the request */
export type OpaqueDecoder = (text: Json, request: object | undefined) => Json | undefined;

/** Returns a decoder for one place of requests, which decodes its text once for each of them. */
export function createOpaqueDecoder(): OpaqueDecoder {
  const decoded = new WeakMap<object, { readonly json: Json | undefined }>();
  return (text, request) => {
    if (request === undefined) return decodeOpaque(text);
    const known = decoded.get(request) ?? { json: decodeOpaque(text) };
    decoded.set(request, known);
    return known.json;
  };
}

/**
 * Returns the part of an opaque text that decides about the plan: of a list the version and the names of a table and the number of values,
 * of an object its keys and which values are null. Never fails.
 * @param json inside of the text
 */
export function opaqueShape(text: Json, json: Json | undefined): string {
  if (text === '') return '';
  if (json === undefined) return '?';
  if (!isJsonArray(json)) return shapeOfObject(json);
  return printJson([...json.slice(0, NAMED[String(json[0])] ?? 0), json.length]);
}

function shapeOfObject(json: Json): string {
  if (!isJsonObject(json)) return json === null ? '0' : '1';
  return `{${Object.keys(json)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${shapeOfObject(json[key] as Json)}`)
    .join(',')}}`;
}
