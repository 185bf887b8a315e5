import type { CatalogType } from '../../catalog/catalog.ts';
import { baseType } from './operators.ts';

const builtIn = (names: string): readonly CatalogType[] => names.split(' ').map(baseType);
const ofExtensions = (names: string): readonly CatalogType[] => builtIn(names).map((type) => ({ ...type, schema: 'public' }));

/** Types on the reference page of operators. */
export const documentedTypes: readonly CatalogType[] = [
  ...builtIn('bool int2 int4 int8 numeric float4 float8 money text varchar bpchar name'),
  ...ofExtensions('citext'),
  ...builtIn('uuid date time timetz timestamp timestamptz interval json jsonb bytea inet cidr'),
  ...ofExtensions('ltree lquery ltxtquery'),
  ...builtIn('tsvector xml bit'),
  ...builtIn('int4range int8range numrange daterange tsrange tstzrange').map((type): CatalogType => ({ ...type, kind: 'range' })),
  ...ofExtensions('geometry geography raster any_other'),
];
