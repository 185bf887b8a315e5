import type { CatalogType } from '../../catalog/catalog.ts';

/** Where SQL calls a built-in type by another name than the catalog. */
const SQL_NAMES: Readonly<Record<string, string>> = {
  bool: 'boolean',
  int2: 'smallint',
  int4: 'integer',
  int8: 'bigint',
  float4: 'real',
  float8: 'double precision',
};

/** The name of a type in messages: that of SQL, which users know it by. */
export function sqlName({ schema, name, array }: Pick<CatalogType, 'schema' | 'name' | 'array'>): string {
  const known = schema === 'pg_catalog' && Object.hasOwn(SQL_NAMES, name) ? SQL_NAMES[name] : name;
  return array ? `${known}[]` : (known as string);
}
