import { isJsonObject, type Json } from '../util/json.ts';
import type { Codec } from './codec.ts';

/** Encodes the keys of an object in this order, followed by its other keys. */
export function inOrder<T>(keys: readonly string[], codec: Codec<T>): Codec<T> {
  return {
    ...codec,
    encode(value) {
      const json = codec.encode(value);
      if (!isJsonObject(json)) return json;
      const present = keys.filter((key) => Object.hasOwn(json, key));
      const others = Object.keys(json).filter((key) => !keys.includes(key));
      return Object.fromEntries([...present, ...others].map((key) => [key, json[key] as Json]));
    },
  };
}
