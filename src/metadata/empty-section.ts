import { isJsonArray, isJsonObject, type Json } from '../util/json.ts';

/** Returns true for null, `[]`, `{}`, and objects of such values, which documents omit. */
export function isEmptySection(json: Json): boolean {
  if (json === null) return true;
  if (isJsonArray(json)) return json.length === 0;
  return isJsonObject(json) && Object.values(json).every(isEmptySection);
}
