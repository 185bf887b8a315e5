import { isJsonArray, isJsonObject, type Json } from '../util/json.ts';

/** Returns how many members of a value, at any depth, have the key. Members of such a member are not counted. */
export function keysNamed(value: Json | undefined, key: string): number {
  if (isJsonArray(value)) return value.reduce<number>((sum, item) => sum + keysNamed(item, key), 0);
  if (!isJsonObject(value)) return 0;
  return Object.entries(value).reduce((sum, [name, item]) => sum + (name === key ? 1 : keysNamed(item, key)), 0);
}
