import { isJsonObject, type Json, type JsonObject } from '../util/json.ts';
import type { Kinds } from './kinds.ts';
import { DEFAULT_SOURCE_KIND, describeUnknownKind } from './source.ts';

/** A source of a kind that the service does not have: preserved verbatim, listed as inconsistent and exported, but without effect. */
export interface UnknownSource {
  readonly name: string;
  readonly json: JsonObject;
  /** Description of the problem. */
  readonly problem: string;
}

/** Reads an entry of `sources` whose kind is unknown; undefined for others. */
export function unknownSourceOf(json: Json, kinds: Kinds): UnknownSource | undefined {
  if (!isJsonObject(json)) return undefined;
  const { name, kind = DEFAULT_SOURCE_KIND } = json;
  if (typeof name !== 'string' || name === '' || typeof kind !== 'string' || kinds.get(kind) !== undefined) return undefined;
  return { name, json, problem: describeUnknownKind(kind, kinds) };
}

/** Returns a stored source. If its kind has become known since, it has to be loaded again. */
export function storedUnknownSource(name: string, json: JsonObject, kinds: Kinds): UnknownSource {
  const problem = 'it was loaded before its kind was supported: export the metadata and import them again';
  return unknownSourceOf(json, kinds) ?? { name, json, problem };
}
