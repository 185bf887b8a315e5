import type { QualifiedName } from '../../catalog/catalog.ts';
import type { Codec } from '../../metadata/codec.ts';
import { qualifiedName } from '../../metadata/table-name.ts';

const qualified = qualifiedName('');

/** A schema is a database of the server; tables of the database that the source is connected to have none. */
export const tableName: Codec<QualifiedName> = {
  ...qualified,
  encode: (value) => (value.schema === '' ? { name: value.name } : qualified.encode(value)),
};
