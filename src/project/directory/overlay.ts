/** What one stage has another way than the files say: a part of the document, laid over it. */
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import { identityOf } from './sections.ts';

/**
 * @param made is told of each object that is put together, with the one of the document that it takes the place of
 * @returns the document with the members of the overlay: objects are merged, and so are items of lists that have the same name; other
 *   lists and values take the place of what was there; null takes a member away
 */
export function overlaid(base: JsonObject, over: JsonObject, made: (result: object, from: object) => void): JsonObject {
  const result: Record<string, Json> = { ...base };
  for (const [key, value] of Object.entries(over)) {
    if (value === null) delete result[key];
    else result[key] = laid(base[key], value, made);
  }
  made(result, base);
  return result;
}

function laid(base: Json | undefined, over: Json, made: (result: object, from: object) => void): Json {
  if (isJsonObject(base) && isJsonObject(over)) return overlaid(base, over, made);
  if (!isJsonArray(base) || !isJsonArray(over)) return over;
  const isNamed = (item: Json): boolean => isJsonObject(item) && identityOf(item) !== undefined;
  if (!base.every(isNamed) || !over.every(isNamed)) return over;
  const changes = new Map(over.map((item) => [identityOf(item), item as JsonObject]));
  const result: Json[] = base.map((item) => {
    const change = changes.get(identityOf(item));
    changes.delete(identityOf(item));
    return change === undefined ? item : overlaid(item as JsonObject, change, made);
  });
  result.push(...changes.values());
  made(result, base);
  return result;
}
