import type { QualifiedName } from '../../catalog/catalog.ts';
import type { Codec } from '../../metadata/codec.ts';
import { parseFailed } from '../../metadata/codec.ts';
import { qualifiedName } from '../../metadata/table-name.ts';

const qualified = qualifiedName('', 'dataset');

/** `{dataset, name}`: there is no default dataset. */
export const tableName: Codec<QualifiedName> = {
  ...qualified,
  decode(json, path) {
    const name = qualified.decode(json, path);
    if (name.schema === '') throw parseFailed("the key 'dataset' was not present: a table is {dataset, name}", path);
    return name;
  },
};
