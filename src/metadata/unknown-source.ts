import { isJsonObject, type Json, type JsonObject } from '../util/json.ts';
import type { Kinds } from './kinds.ts';
import { DEFAULT_KIND, describeUnknownKind } from './source.ts';

/** A source of a kind that the service does not have: kept verbatim, listed as inconsistent and exported, of no effect. */
export interface UnknownSource {
  readonly name: string;
  readonly json: JsonObject;
  /** What is wrong with it, in words. */
  readonly complaint: string;
}

/** Reads an entry of `sources` whose kind is not known; undefined for others. */
export function unknownSourceOf(json: Json, kinds: Kinds): UnknownSource | undefined {
  if (!isJsonObject(json)) return undefined;
  const { name, kind = DEFAULT_KIND } = json;
  if (typeof name !== 'string' || name === '' || typeof kind !== 'string' || kinds.get(kind) !== undefined) return undefined;
  return { name, json, complaint: describeUnknownKind(kind, kinds) };
}

/** As it was stored. Of a kind that the service has learned since, it has to be loaded once more. */
export function storedUnknownSource(name: string, json: JsonObject, kinds: Kinds): UnknownSource {
  const complaint = 'it was loaded when its kind was not known: replace the metadata by its export';
  return unknownSourceOf(json, kinds) ?? { name, json, complaint };
}
