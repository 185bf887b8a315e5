/** What a service exports, said as the files of a project say it: what means the same is not written anew. */
import type { Kinds } from '../metadata/kinds.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../util/json.ts';
import { identityOf, sameMeaning } from './directory/sections.ts';
import { normalised } from './document.ts';

/**
 * @param written the document that the files make
 * @param exported that of the service
 * @returns a document that means what `exported` does, in the words of `written` wherever those mean it already
 */
export function inWordsOf(written: JsonObject, exported: JsonObject, kinds: Kinds): JsonObject {
  const plain = normalised(written, kinds);
  if (plain === undefined) return exported;
  const made = kept(written, plain, exported, undefined);
  const again = isJsonObject(made) ? normalised(made, kinds) : undefined;
  return again !== undefined && sameMeaning(again, normalised(exported, kinds) ?? exported) ? (made as JsonObject) : exported;
}

/**
 * @param plain `written` as the service would write it
 */
function kept(written: Json, plain: Json, exported: Json, member: string | undefined): Json {
  if (sameMeaning(plain, exported, member)) return written;
  if (isJsonObject(written) && isJsonObject(plain) && isJsonObject(exported)) return keptObject(written, plain, exported);
  if (isJsonArray(written) && isJsonArray(plain) && isJsonArray(exported)) return keptList(written, plain, exported);
  return exported;
}

function keptObject(written: JsonObject, plain: JsonObject, exported: JsonObject): JsonObject {
  const made: Record<string, Json> = {};
  for (const [key, value] of Object.entries(written)) {
    const [before, now] = [plain[key], exported[key]];
    // Left out by the service, or under another name there.
    if (before === undefined && now === undefined) made[key] = value;
    else if (now !== undefined) made[key] = before === undefined ? now : kept(value, before, now, key);
  }
  for (const [key, now] of Object.entries(exported)) {
    const before = plain[key];
    // What the service adds by itself is not in the files.
    if (written[key] === undefined && (before === undefined || !sameMeaning(before, now, key))) made[key] = now;
  }
  return made;
}

function keptList(written: readonly Json[], plain: readonly Json[], exported: readonly Json[]): Json {
  const words = byIdentity(written);
  const before = byIdentity(plain);
  if (words === undefined || before === undefined) return exported;
  return exported.map((item) => {
    const identity = identityOf(item) ?? '';
    const [word, one] = [words.get(identity), before.get(identity)];
    return word === undefined || one === undefined ? item : kept(word, one, item, undefined);
  });
}

/** undefined: nothing tells the items apart. */
function byIdentity(list: readonly Json[]): ReadonlyMap<string, Json> | undefined {
  const named = new Map(list.map((item) => [identityOf(item), item]));
  return named.size === list.length && !named.has(undefined) ? (named as Map<string, Json>) : undefined;
}
