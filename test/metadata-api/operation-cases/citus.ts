/** The cases of PostgreSQL for a source of Citus, which is on the same database. */
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../../src/util/json.ts';
import { BASE } from './base.ts';
import type { Case } from './case.ts';

/** Of documents; sources of Citus have none of these. */
const ABSENT: ReadonlySet<string> = new Set(['computed_fields', 'event_triggers', 'is_enum']);
const documents = new Map<Json, JsonObject>();

/** What a case starts from: the same document whatever case asks for it. */
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

/** A case of an operation of PostgreSQL, for that of Citus. */
export function ofCitus(each: Case): Case {
  return { ...each, from: documentOf(each.from ?? BASE) };
}
