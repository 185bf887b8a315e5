import { isJsonArray, isJsonNumber, isJsonObject, type Json, numberText } from './json.ts';

/** Size of a short value, with its slot in a list and the separator. */
const SLOT = 8;

/**
 * Estimates the length of a value's text; never much too low.
 * @param limit counting stops above it
 * @returns more than `limit` for a larger value
 */
export function jsonSizeWithin(json: Json, limit: number): number {
  if (typeof json === 'string') return SLOT + json.length;
  if (isJsonNumber(json)) return SLOT + numberText(json).length;
  let size = SLOT;
  if (isJsonArray(json)) {
    for (const item of json) {
      size += jsonSizeWithin(item, limit - size);
      if (size > limit) return size;
    }
  } else if (isJsonObject(json)) {
    for (const key in json) {
      size += key.length + jsonSizeWithin(json[key] ?? null, limit - size);
      if (size > limit) return size;
    }
  }
  return size;
}
