/** Three-way merge of documents, object by object. */
import { isJsonArray, isJsonObject, type Json, type JsonObject, objectOf } from '../util/json.ts';
import { identityOf, nameOf, sameMeaning } from './directory/sections.ts';

export interface MergedDocument {
  readonly document: JsonObject;
  /** Objects that both sides have changed differently. The document has the version of `ours`. */
  readonly conflicts: readonly string[];
}

/**
 * Merges the changes of two documents since a common base. Objects are sources, tables, and the items of their lists and of those of the
 * document: permissions, relationships, actions. The parts of one object, such as the rule of a permission, are never mixed.
 * All three documents are in the form of the service.
 */
export function mergeDocuments(base: JsonObject, ours: JsonObject, theirs: JsonObject): MergedDocument {
  const conflicts: string[] = [];
  return { document: mergeMembers(base, ours, theirs, [], conflicts), conflicts };
}

/** Lists whose items contain objects. */
const DEEP: ReadonlySet<string> = new Set(['sources', 'tables', 'remote_schemas']);

function mergeMembers(base: JsonObject, ours: JsonObject, theirs: JsonObject, at: readonly string[], conflicts: string[]): JsonObject {
  const made: Record<string, Json> = {};
  for (const key of new Set([...Object.keys(ours), ...Object.keys(theirs)])) {
    const value = merge(base[key], ours[key], theirs[key], key, [...at, key], conflicts);
    if (value !== undefined) made[key] = value;
  }
  return made;
}

function merge(
  base: Json | undefined,
  ours: Json | undefined,
  theirs: Json | undefined,
  key: string,
  at: readonly string[],
  conflicts: string[],
): Json | undefined {
  if (isSame(base, theirs, key) || isSame(ours, theirs, key)) return ours;
  if (isSame(base, ours, key)) return theirs;
  const lists = [base ?? [], ours ?? [], theirs ?? []].map(byIdentity);
  const [before, own, other] = lists;
  if (before !== undefined && own !== undefined && other !== undefined) return mergeItems(before, own, other, key, at, conflicts);
  if (key === 'custom_types' && isJsonObject(ours) && isJsonObject(theirs))
    return mergeMembers(objectOf(base), ours, theirs, at, conflicts);
  conflicts.push(at.join(' '));
  return ours;
}

type Items = ReadonlyMap<string, JsonObject>;

function mergeItems(base: Items, ours: Items, theirs: Items, key: string, at: readonly string[], conflicts: string[]): readonly Json[] {
  const made: Json[] = [];
  for (const identity of new Set([...ours.keys(), ...theirs.keys()])) {
    const [before, own, other] = [base.get(identity), ours.get(identity), theirs.get(identity)];
    const place = [...at.slice(0, -1), key, nameOf(own ?? other ?? null)];
    const item =
      DEEP.has(key) && own !== undefined && other !== undefined
        ? mergeMembers(before ?? {}, own, other, place, conflicts)
        : mergeWhole(before, own, other, place, conflicts);
    if (item !== undefined) made.push(item);
  }
  return made;
}

function mergeWhole(
  base: Json | undefined,
  ours: Json | undefined,
  theirs: Json | undefined,
  at: readonly string[],
  conflicts: string[],
): Json | undefined {
  if (isSame(base, theirs) || isSame(ours, theirs)) return ours;
  if (isSame(base, ours)) return theirs;
  conflicts.push(at.join(' '));
  return ours;
}

function isSame(one: Json | undefined, other: Json | undefined, key?: string): boolean {
  return one === undefined || other === undefined ? one === other : sameMeaning(one, other, key);
}

/** Returns the items by identity; `undefined` unless it is a list of objects with unique identities. */
function byIdentity(list: Json): Items | undefined {
  if (!isJsonArray(list)) return undefined;
  const items = new Map<string, JsonObject>();
  for (const item of list) {
    const identity = identityOf(item);
    if (!isJsonObject(item) || identity === undefined || items.has(identity)) return undefined;
    items.set(identity, item);
  }
  return items;
}
