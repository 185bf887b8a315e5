import type { CatalogType } from '../../catalog/catalog.ts';

const base = (schema: string, names: string): readonly CatalogType[] =>
  names.split(' ').map((name) => ({ schema, name, kind: name.endsWith('range') ? 'range' : 'base', array: false }));

/** Types on the reference page of operators. */
export const documentedTypes: readonly CatalogType[] = [
  ...base('pg_catalog', 'bool int2 int4 int8 numeric float4 float8 money text varchar bpchar name'),
  ...base('public', 'citext'),
  ...base('pg_catalog', 'uuid date time timetz timestamp timestamptz interval json jsonb bytea inet cidr'),
  ...base('public', 'ltree lquery ltxtquery'),
  ...base('pg_catalog', 'tsvector xml bit int4range int8range numrange daterange tsrange tstzrange'),
  ...base('public', 'geometry geography raster any_other'),
];
