import { isJsonArray, isJsonObject, type Json } from '../util/json.ts';

/** Nothing inside: null, `[]`, `{}`, or an object of such values. Left out of documents. */
export function isEmptySection(json: Json): boolean {
  if (json === null) return true;
  if (isJsonArray(json)) return json.length === 0;
  return isJsonObject(json) && Object.values(json).every(isEmptySection);
}
