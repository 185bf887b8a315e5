/** Overlays: parts of the document that differ in one environment. */
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import { identityOf } from './sections.ts';

/**
 * Applies an overlay: merges objects and items of lists with the same identity, replaces other lists and values, and removes keys whose
 * value is null.
 * @param onMerged called for each merged object, with the one of the document
 */
export function overlaid(base: JsonObject, over: JsonObject, onMerged: (result: object, from: object) => void): JsonObject {
  const result: Record<string, Json> = { ...base };
  for (const [key, value] of Object.entries(over)) {
    if (value === null) delete result[key];
    else result[key] = merged(base[key], value, onMerged);
  }
  onMerged(result, base);
  return result;
}

function merged(base: Json | undefined, over: Json, onMerged: (result: object, from: object) => void): Json {
  if (isJsonObject(base) && isJsonObject(over)) return overlaid(base, over, onMerged);
  if (!isJsonArray(base) || !isJsonArray(over)) return over;
  const isNamed = (item: Json): boolean => isJsonObject(item) && identityOf(item) !== undefined;
  if (!base.every(isNamed) || !over.every(isNamed)) return over;
  const changes = new Map(over.map((item) => [identityOf(item), item as JsonObject]));
  const result: Json[] = base.map((item) => {
    const change = changes.get(identityOf(item));
    changes.delete(identityOf(item));
    return change === undefined ? item : overlaid(item as JsonObject, change, onMerged);
  });
  result.push(...changes.values());
  onMerged(result, base);
  return result;
}
