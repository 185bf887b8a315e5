/**
 * Comparison operators of PostgreSQL and its extensions. A new operator is one entry here. Functions and operators of extensions have no
 * schema, because the search path of the source contains it.
 */
import type { Comparison } from '../../backend/type-system.ts';
import type { CatalogType } from '../../catalog/catalog.ts';
import {
  call,
  commonComparisons,
  infix,
  keyComparisons,
  type ComparisonOperator,
  operator,
  regularExpressions,
  spatialComparisons,
  type TextTest,
  textComparisons,
  withinDistance,
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

/** Operators of PostGIS types, which have no `<>`. */
export const NEGATED_COMPARISONS: readonly ComparisonOperator[] = [
  operator('_neq', null, (column, value) => sql`(not ${column} = ${value})`),
  operator('_nin', null, (column, list) => sql`(not ${column} = any (${list}))`, LIST),
];

function posix(matches: Sql, differs: Sql): TextTest {
  return (column, value, not) => infix(not === EMPTY ? matches : differs)(column, value);
}

export const TEXT_COMPARISONS = textComparisons(
  (column, value, not) => sql`(${column} ${not}ilike ${value})`,
  [
    // The database translates such a pattern, and reports an invalid one when it reads a row.
    ...regularExpressions('similar', 'SQL regular expression', (column, value, not) => sql`(${column} ${not}similar to ${value})`, {
      mayFail: true,
    }),
    ...regularExpressions('regex', 'POSIX regular expression, case sensitive', posix(sql`~`, sql`!~`), { pattern: 'regex' }),
    ...regularExpressions('iregex', 'POSIX regular expression, case insensitive', posix(sql`~*`, sql`!~*`), { pattern: 'iregex' }),
  ],
);

function cast(input: string, targets: Extract<Comparison['argument'], { kind: 'cast' }>['targets']): ComparisonOperator {
  return {
    name: '_cast',
    description: null,
    argument: { kind: 'cast', name: input, description: null, targets },
    compile: () => {
      throw new Error('invariant: a cast is a read, not a comparison');
    },
  };
}

export const JSONB_COMPARISONS: readonly ComparisonOperator[] = [
  operator('_contains', 'does the column contain the given json value at the top level', infix(sql`@>`)),
  operator('_contained_in', 'is the column contained in the given json value', infix(sql`<@`)),
  ...keyComparisons(TEXT, infix(sql`?`), (column, { value }) => infix(sql`?|`)(column, value()), infix(sql`?&`)),
  cast('jsonb_cast_exp', [{ key: 'String', type: TEXT }]),
];

/** Operators of whole arrays. */
export const ARRAY_COMPARISONS: readonly ComparisonOperator[] = [
  operator('_contains', 'does the array contain the given value', infix(sql`@>`)),
  operator('_contained_in', 'is the array contained in the given array value', infix(sql`<@`)),
];

export function ltreeComparisons(ltree: CatalogType): readonly ComparisonOperator[] {
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

/** Makes the GraphQL type `Float`; the SQL value is a double, because `real` would round it. */
const DISTANCE = baseType('float4');

export function geometryComparisons(geometry: CatalogType): readonly ComparisonOperator[] {
  const input = { name: 'st_d_within_input', distance: DISTANCE, from: geometry };
  const within = (name: string, functionName: Sql): ComparisonOperator =>
    withinDistance(
      name,
      'geometry',
      input,
      (column, { field }) => sql`${functionName}(${column}, ${field('from')}, ${field('distance', FLOAT8)})`,
    );
  return [
    ...spatialComparisons('geometry'),
    within('_st_d_within', sql`st_dwithin`),
    within('_st_3d_d_within', sql`st_3ddwithin`),
    cast('geometry_cast_exp', [{ key: 'geography', type: { ...geometry, name: 'geography' } }]),
  ];
}

export function geographyComparisons(geography: CatalogType): readonly ComparisonOperator[] {
  return [
    ...spatialComparisons('geography', ['_st_intersects']),
    withinDistance(
      '_st_d_within',
      'geography',
      {
        name: 'st_d_within_geography_input',
        distance: DISTANCE,
        from: geography,
        more: [{ name: 'use_spheroid', type: baseType('bool'), required: false, default: true }],
      },
      (column, { field, has }) =>
        sql`st_dwithin(${column}, ${field('from')}, ${field('distance', FLOAT8)}, ${has('use_spheroid') ? field('use_spheroid') : sql`true`})`,
    ),
    cast('geography_cast_exp', [{ key: 'geometry', type: { ...geography, name: 'geometry' } }]),
  ];
}

export function rasterComparisons(raster: CatalogType): readonly ComparisonOperator[] {
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
