/** The cases of PostgreSQL for a Citus source on the same database. */
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../../src/util/json.ts';
import { BASE } from './base.ts';
import type { Case } from './case.ts';

/** Sections of documents that Citus sources do not have. */
const ABSENT: ReadonlySet<string> = new Set(['computed_fields', 'event_triggers', 'is_enum']);
const documents = new Map<Json, JsonObject>();

/** The initial document, shared so that every case receives the same object. */
function documentOf(document: JsonObject): JsonObject {
  let found = documents.get(document);
  if (found === undefined) {
    found = {
      ...document,
      sources: (document['sources'] as readonly JsonObject[]).map((source) => asCitus({ ...source, kind: 'dbc' })) as Json,
    };
    documents.set(document, found);
  }
  return found;
}

function asCitus<T extends Json>(json: T): T {
  if (isJsonArray(json)) return json.map(asCitus) as unknown as T;
  if (!isJsonObject(json)) return json;
  return Object.fromEntries(
    Object.entries(json).flatMap(([key, value]) => (ABSENT.has(key) || value === undefined ? [] : [[key, asCitus(value)]])),
  ) as T;
}

/** Converts a case of a PostgreSQL operation for Citus. */
export function ofCitus(each: Case): Case {
  return { ...each, from: documentOf(each.from ?? BASE) };
}
