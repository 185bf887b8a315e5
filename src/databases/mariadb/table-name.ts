import type { QualifiedName } from '../../catalog/catalog.ts';
import type { Codec } from '../../metadata/codec.ts';
import { qualifiedName } from '../../metadata/table-name.ts';

const qualified = qualifiedName('');

/** A schema is a database of the server. Tables of the connected database have none. */
export const tableName: Codec<QualifiedName> = {
  ...qualified,
  encode: (value) => (value.schema === '' ? { name: value.name } : qualified.encode(value)),
};

/** Omits the name of the connected database. */
export function tableNameWithin(database: string): Codec<QualifiedName> {
  return {
    ...tableName,
    decode(json, path) {
      const decoded = tableName.decode(json, path);
      return decoded.schema === database ? { schema: '', name: decoded.name } : decoded;
    },
  };
}
