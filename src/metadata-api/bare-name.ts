import type { QualifiedName } from '../catalog/catalog.ts';
import { type Codec, leaf, like } from '../metadata/codec.ts';
import { isJsonObject } from '../util/json.ts';

/** Codec of arguments that may be a bare name. An object without the key `name` is the long form, with the name under `key`. */
export function orBareName<A>(long: Codec<A>, key: string, name: Codec<QualifiedName>, fromName: (name: QualifiedName) => A): Codec<A> {
  return leaf(
    long.name,
    (json, path) => {
      const isLong = isJsonObject(json) && (Object.hasOwn(json, key) || !Object.hasOwn(json, 'name'));
      return isLong ? long.decode(json, path) : fromName(name.decode(json, path));
    },
    (value) => long.encode(value),
    like(long),
  );
}
