import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import { nestedDeeperThan } from '../../util/json-depth.ts';
import type { GraphqlPayload } from '../credentials.ts';

const KEYS = ['query', 'operationName', 'variables'] as const;
const MAX_DEPTH = 512;

/** Returns the GraphQL request for the webhook, a list for a batch; `null` if there is none or it cannot be read. */
export async function describedRequest(graphql: GraphqlPayload | null): Promise<Json> {
  if (graphql === null) return null;
  let json: Json;
  try {
    json = await graphql();
  } catch {
    return null; // Authentication comes first; the request is rejected later.
  }
  if (nestedDeeperThan(json, MAX_DEPTH)) return null;
  if (isJsonObject(json)) return knownKeys(json);
  return isJsonArray(json) && json.every(isJsonObject) ? json.map(knownKeys) : null;
}

function knownKeys(request: JsonObject): JsonObject {
  const known: Record<string, Json> = {};
  for (const key of KEYS) {
    const value = request[key];
    if (value !== undefined) known[key] = value;
  }
  return known;
}
