import { type Codec, leaf, wrongType } from '../metadata/codec.ts';
import { isJsonArray, isJsonObject } from '../util/json.ts';

/** An object whose keys do not matter. */
export const noArguments: Codec<unknown> = leaf(
  'Object',
  (json, path) => {
    if (json !== null && !isJsonObject(json) && !(isJsonArray(json) && json.length === 0)) throw wrongType('Object', 'Object', json, path);
    return {};
  },
  () => ({}),
  [],
);
