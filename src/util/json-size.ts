import { isJsonArray, isJsonNumber, isJsonObject, type Json, numberText } from './json.ts';

/** Of a value that is written in a few characters: its place in a list, and what stands between it and the next. */
const PLACE = 8;

/**
 * About the characters of a value's text, and never much less.
 * @param most where counting ends
 * @returns more than `most` when the value is larger than that
 */
export function jsonSizeWithin(json: Json, most: number): number {
  if (typeof json === 'string') return PLACE + json.length;
  if (isJsonNumber(json)) return PLACE + numberText(json).length;
  let size = PLACE;
  if (isJsonArray(json)) {
    for (const item of json) {
      size += jsonSizeWithin(item, most - size);
      if (size > most) return size;
    }
  } else if (isJsonObject(json)) {
    for (const key in json) {
      size += key.length + jsonSizeWithin(json[key] ?? null, most - size);
      if (size > most) return size;
    }
  }
  return size;
}
