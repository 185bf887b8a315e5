/**
 * Texts of parameters from checked JSON. The statement casts them to the type of the operand, so that the input function of the type reads
 * them. No number passes through an IEEE double.
 */
import type { CatalogType } from '../../../catalog/catalog.ts';
import type { Operand } from '../../../ir/value.ts';
import { isJsonArray, isJsonNumber, type Json, numberText, parseJson, printJson } from '../../../util/json.ts';
import { type ArrayElement, arrayLiteral, plainArrayLiteral } from './array-literal.ts';

export type ValueEncoding = (json: Json) => string | null;

const ofType = new WeakMap<CatalogType, { one?: ValueEncoding; list?: ValueEncoding }>();

/** Returns the encoder of an operand's values; it returns `null` for SQL NULL. */
export function encoder({ type, list, value }: Operand): ValueEncoding {
  if (value.kind === 'session') return sessionText;
  let known = ofType.get(type);
  if (known === undefined) {
    known = {};
    ofType.set(type, known);
  }
  if (list) {
    known.list ??= typeEncoding(type, true);
    return known.list;
  }
  known.one ??= typeEncoding(type, false);
  return known.one;
}

function sessionText(json: Json): string | null {
  return json === null ? null : scalarText(json);
}

function typeEncoding(type: CatalogType, list: boolean): ValueEncoding {
  const delimiter = type.schema === 'pg_catalog' && type.name === 'box' ? ';' : ',';
  const plain = (items: readonly Json[]): string | null => (delimiter === ',' && !isJsonType(type) ? plainArrayLiteral(items) : null);
  const array = (json: Json): string =>
    typeof json === 'string'
      ? json
      : (plain(asList(json)) ??
        arrayLiteral(
          asList(json).map((item) => arrayItem(item, type)),
          delimiter,
        ));
  const scalar = (json: Json): string => (isJsonType(type) ? printJson(json) : scalarText(json));
  if (list) {
    const item = type.array ? array : scalar;
    // An array of arrays is sent as an array of texts: PostgreSQL has no arrays of arrays.
    const outer = type.array ? ',' : delimiter;
    return (json) =>
      json === null
        ? null
        : ((type.array ? null : plain(asList(json))) ??
          arrayLiteral(
            asList(json).map((x) => (x === null ? null : item(x))),
            outer,
          ));
  }
  const encode = type.array ? array : scalar;
  return (json) => (json === null ? null : encode(json));
}

export function isJsonType(type: CatalogType): boolean {
  return type.schema === 'pg_catalog' && (type.name === 'json' || type.name === 'jsonb');
}

function asList(json: Json): readonly Json[] {
  return isJsonArray(json) ? json : [json];
}

function arrayItem(json: Json, type: CatalogType): ArrayElement {
  if (json === null) return null;
  if (isJsonType(type)) return typeof json === 'string' ? jsonText(json) : printJson(json);
  return isJsonArray(json) ? json.map((item) => arrayItem(item, type)) : scalarText(json);
}

/** Returns the JSON of a string in a json array: the string itself if it is valid JSON, otherwise a JSON string. */
function jsonText(text: string): string {
  try {
    parseJson(text);
    return text;
  } catch {
    return JSON.stringify(text);
  }
}

function scalarText(json: Json): string {
  if (typeof json === 'string') return json;
  if (isJsonNumber(json)) return numberText(json);
  return printJson(json);
}
