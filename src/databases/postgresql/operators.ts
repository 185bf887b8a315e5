/**
 * The comparison operators of PostgreSQL and its extensions. A new operator is one entry here.
 * Functions and operators of extensions are written without a schema: the source's search path
 * holds the schema that the extensions live in.
 */
import type { Comparison } from '../../backend/type-system.ts';
import type { CatalogType } from '../../catalog/catalog.ts';
import {
  call,
  commonComparisons,
  ilike,
  infix,
  keyComparisons,
  LIKE,
  type Operator,
  operator,
  regularExpressions,
  spatialComparisons,
  type TextTest,
} from '../shared/operators.ts';
import { EMPTY, join, type Sql, sql } from '../../sql/fragment.ts';

/** A type of `pg_catalog`. */
export function baseType(name: string): CatalogType {
  return { schema: 'pg_catalog', name, kind: 'base', array: false };
}

const TEXT = baseType('text');
const FLOAT8 = baseType('float8');
const LIST = { kind: 'list' } as const;

export const COMMON_COMPARISONS = commonComparisons(
  (column, { value }) => sql`(${column} = any (${value()}))`,
  (column, { value }) => sql`(${column} <> all (${value()}))`,
);

/** For PostGIS types, which have no `<>`. */
export const NEGATED_COMPARISONS: readonly Operator[] = [
  operator('_neq', null, (column, value) => sql`(not ${column} = ${value})`),
  operator('_nin', null, (column, list) => sql`(not ${column} = any (${list}))`, LIST),
];

function posix(matches: Sql, differs: Sql): TextTest {
  return (column, value, not) => infix(not === EMPTY ? matches : differs)(column, value);
}

export const TEXT_COMPARISONS: readonly Operator[] = [
  ...LIKE,
  ...ilike((column, value, not) => sql`(${column} ${not}ilike ${value})`),
  // The translation of such a pattern is the database's own: it may be wrong, and is seen to be when it meets a row.
  ...regularExpressions('similar', 'SQL regular expression', (column, value, not) => sql`(${column} ${not}similar to ${value})`, {
    mayFail: true,
  }),
  ...regularExpressions('regex', 'POSIX regular expression, case sensitive', posix(sql`~`, sql`!~`), { pattern: 'regex' }),
  ...regularExpressions('iregex', 'POSIX regular expression, case insensitive', posix(sql`~*`, sql`!~*`), { pattern: 'iregex' }),
];

function cast(input: string, targets: Extract<Comparison['argument'], { kind: 'cast' }>['targets']): Operator {
  return {
    name: '_cast',
    description: null,
    argument: { kind: 'cast', name: input, description: null, targets },
    compile: () => {
      throw new Error('invariant: a cast is a read, not a comparison');
    },
  };
}

export const JSONB_COMPARISONS: readonly Operator[] = [
  operator('_contains', 'does the column contain the given json value at the top level', infix(sql`@>`)),
  operator('_contained_in', 'is the column contained in the given json value', infix(sql`<@`)),
  ...keyComparisons(TEXT, infix(sql`?`), (column, { value }) => infix(sql`?|`)(column, value()), infix(sql`?&`)),
  cast('jsonb_cast_exp', [{ key: 'String', type: TEXT }]),
];

/** Operators of whole arrays. */
export const ARRAY_COMPARISONS: readonly Operator[] = [
  operator('_contains', 'does the array contain the given value', infix(sql`@>`)),
  operator('_contained_in', 'is the array contained in the given array value', infix(sql`<@`)),
];

export function ltreeComparisons(ltree: CatalogType): readonly Operator[] {
  const sibling = (name: string): CatalogType => ({ ...ltree, name });
  return [
    operator('_ancestor', 'is the left argument an ancestor of right (or equal)?', infix(sql`@>`)),
    operator('_ancestor_any', 'does array contain an ancestor of `ltree`?', infix(sql`@>`), LIST),
    operator('_descendant', 'is the left argument a descendant of right (or equal)?', infix(sql`<@`)),
    operator('_descendant_any', 'does array contain a descendant of `ltree`?', infix(sql`<@`), LIST),
    operator('_matches', 'does `ltree` match `lquery`?', infix(sql`~`), { kind: 'type', type: sibling('lquery'), list: false }),
    operator('_matches_any', 'does `ltree` match any `lquery` in array?', infix(sql`?`), {
      kind: 'type',
      type: sibling('lquery'),
      list: true,
    }),
    operator('_matches_fulltext', 'does `ltree` match `ltxtquery`?', infix(sql`@`), {
      kind: 'type',
      type: sibling('ltxtquery'),
      list: false,
    }),
  ];
}

/** The GraphQL type of a distance is `Float`, the SQL value a double: `real` would round it. */
const DISTANCE = { name: 'distance', type: baseType('float4'), required: true };

function withinDistance(name: string, functionName: Sql, geometry: CatalogType, description: string): Operator {
  return {
    name,
    description,
    argument: {
      kind: 'input',
      name: 'st_d_within_input',
      description: null,
      fields: [DISTANCE, { name: 'from', type: geometry, required: true }],
    },
    compile: (column, { field }) => sql`${functionName}(${column}, ${field('from')}, ${field('distance', FLOAT8)})`,
  };
}

export function geometryComparisons(geometry: CatalogType): readonly Operator[] {
  return [
    ...spatialComparisons('geometry'),
    withinDistance('_st_d_within', sql`st_dwithin`, geometry, 'is the column within a given distance from the given geometry value'),
    withinDistance(
      '_st_3d_d_within',
      sql`st_3ddwithin`,
      geometry,
      'is the column within a given 3D distance from the given geometry value',
    ),
    cast('geometry_cast_exp', [{ key: 'geography', type: { ...geometry, name: 'geography' } }]),
  ];
}

export function geographyComparisons(geography: CatalogType): readonly Operator[] {
  return [
    ...spatialComparisons('geography', ['_st_intersects']),
    {
      name: '_st_d_within',
      description: 'is the column within a given distance from the given geography value',
      argument: {
        kind: 'input',
        name: 'st_d_within_geography_input',
        description: null,
        fields: [
          DISTANCE,
          { name: 'from', type: geography, required: true },
          { name: 'use_spheroid', type: baseType('bool'), required: false, default: true },
        ],
      },
      compile: (column, { field, has }) =>
        sql`st_dwithin(${column}, ${field('from')}, ${field('distance', FLOAT8)}, ${has('use_spheroid') ? field('use_spheroid') : sql`true`})`,
    },
    cast('geography_cast_exp', [{ key: 'geometry', type: { ...geography, name: 'geometry' } }]),
  ];
}

export function rasterComparisons(raster: CatalogType): readonly Operator[] {
  const nband = (required: boolean) => ({ name: 'nband', type: baseType('int4'), required });
  const geommin = { name: 'geommin', type: { ...raster, name: 'geometry' }, required: true };
  return [
    operator('_st_intersects_rast', 'does the raster spatially intersect the given raster', call(sql`st_intersects`)),
    {
      name: '_st_intersects_nband_geom',
      description: 'does the given band of the raster spatially intersect the given geometry value',
      argument: { kind: 'input', name: 'st_intersects_nband_geom_input', description: null, fields: [geommin, nband(true)] },
      compile: (column, { field }) => sql`st_intersects(${column}, ${field('nband')}, ${field('geommin')})`,
    },
    {
      name: '_st_intersects_geom_nband',
      description: 'does the raster, or one band of it, spatially intersect the given geometry value',
      argument: { kind: 'input', name: 'st_intersects_geom_nband_input', description: null, fields: [geommin, nband(false)] },
      compile: (column, { field, has }) =>
        sql`st_intersects(${join([column, field('geommin'), ...(has('nband') ? [field('nband')] : [])], sql`, `)})`,
    },
  ];
}
