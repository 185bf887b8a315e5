import type { QualifiedName } from '../../catalog/catalog.ts';
import type { Codec } from '../../metadata/codec.ts';
import { qualifiedName } from '../../metadata/table-name.ts';

const qualified = qualifiedName('');

/** A schema is a database of the server; tables of the database that the source is connected to have none. */
export const tableName: Codec<QualifiedName> = {
  ...qualified,
  encode: (value) => (value.schema === '' ? { name: value.name } : qualified.encode(value)),
};

/** Names in a source that is connected to `database`, which may be named and is left out. */
export function tableNameWithin(database: string): Codec<QualifiedName> {
  return {
    ...tableName,
    decode(json, path) {
      const decoded = tableName.decode(json, path);
      return decoded.schema === database ? { schema: '', name: decoded.name } : decoded;
    },
  };
}
