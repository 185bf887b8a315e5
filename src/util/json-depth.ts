import { isJsonArray, isJsonObject, type Json } from './json.ts';

/** True if lists and objects are nested deeper than `limit`, without recursing further than that. */
export function nestedDeeperThan(json: Json, limit: number): boolean {
  if (isJsonArray(json)) {
    if (limit === 0) return true;
    for (const item of json) if (typeof item === 'object' && item !== null && nestedDeeperThan(item, limit - 1)) return true;
  } else if (isJsonObject(json)) {
    if (limit === 0) return true;
    for (const key in json) {
      const item = json[key];
      if (typeof item === 'object' && item !== null && nestedDeeperThan(item, limit - 1)) return true;
    }
  }
  return false;
}
