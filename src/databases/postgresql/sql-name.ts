import type { CatalogType } from '../../catalog/catalog.ts';

/** SQL names of built-in types with another name in the catalog. */
const SQL_NAMES: Readonly<Record<string, string>> = {
  bool: 'boolean',
  int2: 'smallint',
  int4: 'integer',
  int8: 'bigint',
  float4: 'real',
  float8: 'double precision',
};

/** Returns the SQL name of a type for messages. */
export function sqlName({ schema, name, array }: Pick<CatalogType, 'schema' | 'name' | 'array'>): string {
  const known = schema === 'pg_catalog' && Object.hasOwn(SQL_NAMES, name) ? SQL_NAMES[name] : name;
  return array ? `${known}[]` : (known as string);
}
