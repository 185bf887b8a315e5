/** Converts an export of the service to the spelling of the project's files, so that equal values do not change. */
import type { Kinds } from '../metadata/kinds.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../util/json.ts';
import { identityOf, sameMeaning } from './directory/sections.ts';
import { normalised } from './document.ts';

/**
 * @param written document of the files
 * @param exported document of the service
 * @returns a document equivalent to `exported`, with the spelling of `written` for equal parts
 */
export function withSpellingOf(written: JsonObject, exported: JsonObject, kinds: Kinds): JsonObject {
  const plain = normalised(written, kinds);
  if (plain === undefined) return exported;
  const made = respelled(written, plain, exported, undefined);
  const again = isJsonObject(made) ? normalised(made, kinds) : undefined;
  return again !== undefined && sameMeaning(again, normalised(exported, kinds) ?? exported) ? (made as JsonObject) : exported;
}

/** @param plain `written` in the form of the service */
function respelled(written: Json, plain: Json, exported: Json, member: string | undefined): Json {
  if (sameMeaning(plain, exported, member)) return written;
  if (isJsonObject(written) && isJsonObject(plain) && isJsonObject(exported)) return respelledObject(written, plain, exported);
  if (isJsonArray(written) && isJsonArray(plain) && isJsonArray(exported)) return respelledList(written, plain, exported);
  return exported;
}

function respelledObject(written: JsonObject, plain: JsonObject, exported: JsonObject): JsonObject {
  const made: Record<string, Json> = {};
  for (const [key, value] of Object.entries(written)) {
    const [before, now] = [plain[key], exported[key]];
    // The service omits the key, or uses another name.
    if (before === undefined && now === undefined) made[key] = value;
    else if (now !== undefined) made[key] = before === undefined ? now : respelled(value, before, now, key);
  }
  for (const [key, now] of Object.entries(exported)) {
    const before = plain[key];
    // Defaults that the service adds are not in the files.
    if (written[key] === undefined && (before === undefined || !sameMeaning(before, now, key))) made[key] = now;
  }
  return made;
}

function respelledList(written: readonly Json[], plain: readonly Json[], exported: readonly Json[]): Json {
  const own = byIdentity(written);
  const before = byIdentity(plain);
  if (own === undefined || before === undefined) return exported;
  return exported.map((item) => {
    const identity = identityOf(item) ?? '';
    const [writtenItem, plainItem] = [own.get(identity), before.get(identity)];
    return writtenItem === undefined || plainItem === undefined ? item : respelled(writtenItem, plainItem, item, undefined);
  });
}

/** Returns the items by identity; `undefined` if these are not unique. */
function byIdentity(list: readonly Json[]): ReadonlyMap<string, Json> | undefined {
  const named = new Map(list.map((item) => [identityOf(item), item]));
  return named.size === list.length && !named.has(undefined) ? (named as Map<string, Json>) : undefined;
}
