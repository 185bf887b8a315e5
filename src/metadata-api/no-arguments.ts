import { type Codec, leaf, wrongType } from '../metadata/codec.ts';
import { refuseUnknownKeys } from '../metadata/unknown-keys.ts';
import { isJsonArray, isJsonObject } from '../util/json.ts';

/** `{}`; also accepts null and `[]`. */
export const noArguments: Codec<unknown> = leaf(
  'Object',
  (json, path) => {
    if (isJsonObject(json)) refuseUnknownKeys(json, path, { keys: [] });
    else if (json !== null && !(isJsonArray(json) && json.length === 0)) throw wrongType('Object', 'Object', json, path);
    return {};
  },
  () => ({}),
  { fields: [] },
);
