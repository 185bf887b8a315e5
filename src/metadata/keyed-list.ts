import { isJsonArray, type Json } from '../util/json.ts';
import { at } from '../util/path.ts';
import { type Codec, parseFailed, wrongType } from './codec.ts';

export interface KeyedListOptions<T> {
  /** Plural, for the message about duplicates: `tables`. */
  readonly what: string;
  readonly item: Codec<T>;
  readonly key: (item: T) => string;
  /** Returns the name of an item in messages; the key by default. */
  readonly print?: (item: T) => string;
}

/** Sorts entries of maps by their keys. */
export function byKey(a: readonly [string, unknown], b: readonly [string, unknown]): number {
  return a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0;
}

/**
 * A list whose items have a key, represented as a map. Encoded in the order of the keys, so that equal documents have equal texts.
 * @throws SvcError `parse-failed` also for duplicate keys
 */
export function keyedList<T>(options: KeyedListOptions<T>): Codec<ReadonlyMap<string, T>> {
  const { what, item, key, print = key } = options;
  return {
    name: `[${item.name}]`,
    about: { of: [item] },
    decode(json, path) {
      if (!isJsonArray(json)) throw wrongType('[]', 'Array', json, path);
      const map = new Map<string, T>();
      const duplicates = new Set<string>();
      json.forEach((element, index) => {
        const value = item.decode(element, at(path, index));
        const name = key(value);
        if (map.has(name)) duplicates.add(print(value));
        map.set(name, value);
      });
      if (duplicates.size > 0)
        throw parseFailed(`multiple declarations exist for the following ${what}: ${[...duplicates].join(', ')}`, path);
      return map;
    },
    encode(map): Json {
      return [...map].sort(byKey).map(([, value]) => item.encode(value));
    },
  };
}
