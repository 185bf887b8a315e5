/**
 * The comparison operators of PostgreSQL and its extensions. A new operator is one entry here.
 * Functions and operators of extensions are written without a schema: the source's search path
 * holds the schema that the extensions live in.
 */
import type { Comparison } from '../../backend/type-system.ts';
import type { CatalogType } from '../../catalog/catalog.ts';
import { COMPARISON_SYMBOLS } from '../../sql/condition.ts';
import { join, type Sql, sql } from '../../sql/fragment.ts';

/** The compiled right side of a comparison. */
export interface CompiledArgument {
  /** The operand, or one field of an input object; `type` overrides the type that it is cast to. */
  (field?: string, type?: CatalogType): Sql;
  /** Whether a field of an input object was given; absent: it is none. */
  readonly has?: (field: string) => boolean;
}

export interface PgComparison extends Comparison {
  /** Fails for some values of the column. */
  readonly mayFail?: true;
  /** The operand is a pattern of this language, and is found wrong whatever rows there are. */
  readonly pattern?: 'like' | 'regex' | 'iregex';
  compile(column: Sql, argument: CompiledArgument): Sql;
}

/** A type of `pg_catalog`. */
export function baseType(name: string): CatalogType {
  return { schema: 'pg_catalog', name, kind: 'base', array: false };
}

const TEXT = baseType('text');
const FLOAT8 = baseType('float8');
const SAME = { kind: 'same' } as const;
const LIST = { kind: 'list' } as const;

function operator(name: string, symbol: Sql, description: string | null = null, argument: Comparison['argument'] = SAME): PgComparison {
  return { name, description, argument, compile: (column, operand) => sql`(${column} ${symbol} ${operand()})` };
}

/**
 * A session keeps 32 regular expressions that it has compiled, and compiles what is more again for every row: each
 * takes more than 1/32 of the default limit.
 */
const REGEX_COST = 160;

function pattern(language: PgComparison['pattern'] & string, comparison: PgComparison): PgComparison {
  return { ...comparison, pattern: language, ...(language === 'like' ? {} : { cost: REGEX_COST }) };
}

/** The translation of such a pattern is the database's own: it may be wrong, and is seen to be when it meets a row. */
function similar(comparison: PgComparison): PgComparison {
  return { ...comparison, mayFail: true, cost: REGEX_COST };
}

function call(name: string, functionName: Sql, description: string): PgComparison {
  return { name, description, argument: SAME, compile: (column, operand) => sql`${functionName}(${column}, ${operand()})` };
}

/** Operators of every type, in the order of the schema; `_is_null` is a node of its own. */
export const COMMON_COMPARISONS: readonly PgComparison[] = [
  ...COMPARISON_SYMBOLS.map(([name, symbol]) => operator(name, symbol)),
  { name: '_in', description: null, argument: LIST, compile: (column, list) => sql`(${column} = any (${list()}))` },
  { name: '_nin', description: null, argument: LIST, compile: (column, list) => sql`(${column} <> all (${list()}))` },
];

/** For PostGIS types, which have no `<>`. */
export const NEGATED_COMPARISONS: readonly PgComparison[] = [
  { name: '_neq', description: null, argument: SAME, compile: (column, operand) => sql`(not ${column} = ${operand()})` },
  { name: '_nin', description: null, argument: LIST, compile: (column, list) => sql`(not ${column} = any (${list()}))` },
];

export const TEXT_COMPARISONS: readonly PgComparison[] = [
  pattern('like', operator('_like', sql`like`, 'does the column match the given pattern')),
  pattern('like', operator('_nlike', sql`not like`, 'does the column NOT match the given pattern')),
  pattern('like', operator('_ilike', sql`ilike`, 'does the column match the given case-insensitive pattern')),
  pattern('like', operator('_nilike', sql`not ilike`, 'does the column NOT match the given case-insensitive pattern')),
  similar(operator('_similar', sql`similar to`, 'does the column match the given SQL regular expression')),
  similar(operator('_nsimilar', sql`not similar to`, 'does the column NOT match the given SQL regular expression')),
  pattern('regex', operator('_regex', sql`~`, 'does the column match the given POSIX regular expression, case sensitive')),
  pattern('regex', operator('_nregex', sql`!~`, 'does the column NOT match the given POSIX regular expression, case sensitive')),
  pattern('iregex', operator('_iregex', sql`~*`, 'does the column match the given POSIX regular expression, case insensitive')),
  pattern('iregex', operator('_niregex', sql`!~*`, 'does the column NOT match the given POSIX regular expression, case insensitive')),
];

function cast(input: string, targets: Extract<Comparison['argument'], { kind: 'cast' }>['targets']): PgComparison {
  return {
    name: '_cast',
    description: null,
    argument: { kind: 'cast', name: input, description: null, targets },
    compile: () => {
      throw new Error('invariant: a cast is a read, not a comparison');
    },
  };
}

export const JSONB_COMPARISONS: readonly PgComparison[] = [
  operator('_contains', sql`@>`, 'does the column contain the given json value at the top level'),
  operator('_contained_in', sql`<@`, 'is the column contained in the given json value'),
  operator('_has_key', sql`?`, 'does the string exist as a top-level key in the column', { kind: 'type', type: TEXT, list: false }),
  operator('_has_keys_any', sql`?|`, 'do any of these strings exist as top-level keys in the column', {
    kind: 'type',
    type: TEXT,
    list: true,
  }),
  operator('_has_keys_all', sql`?&`, 'do all of these strings exist as top-level keys in the column', {
    kind: 'type',
    type: TEXT,
    list: true,
  }),
  cast('jsonb_cast_exp', [{ key: 'String', type: TEXT }]),
];

/** Operators of whole arrays. */
export const ARRAY_COMPARISONS: readonly PgComparison[] = [
  operator('_contains', sql`@>`, 'does the array contain the given value'),
  operator('_contained_in', sql`<@`, 'is the array contained in the given array value'),
];

export function ltreeComparisons(ltree: CatalogType): readonly PgComparison[] {
  const sibling = (name: string): CatalogType => ({ ...ltree, name });
  return [
    operator('_ancestor', sql`@>`, 'is the left argument an ancestor of right (or equal)?'),
    operator('_ancestor_any', sql`@>`, 'does array contain an ancestor of `ltree`?', LIST),
    operator('_descendant', sql`<@`, 'is the left argument a descendant of right (or equal)?'),
    operator('_descendant_any', sql`<@`, 'does array contain a descendant of `ltree`?', LIST),
    operator('_matches', sql`~`, 'does `ltree` match `lquery`?', { kind: 'type', type: sibling('lquery'), list: false }),
    operator('_matches_any', sql`?`, 'does `ltree` match any `lquery` in array?', { kind: 'type', type: sibling('lquery'), list: true }),
    operator('_matches_fulltext', sql`@`, 'does `ltree` match `ltxtquery`?', { kind: 'type', type: sibling('ltxtquery'), list: false }),
  ];
}

/** The GraphQL type of a distance is `Float`, the SQL value a double: `real` would round it. */
const DISTANCE = { name: 'distance', type: baseType('float4'), required: true };

function withinDistance(name: string, functionName: Sql, geometry: CatalogType, description: string): PgComparison {
  return {
    name,
    description,
    argument: {
      kind: 'input',
      name: 'st_d_within_input',
      description: null,
      fields: [DISTANCE, { name: 'from', type: geometry, required: true }],
    },
    compile: (column, field) => sql`${functionName}(${column}, ${field('from')}, ${field('distance', FLOAT8)})`,
  };
}

export function geometryComparisons(geometry: CatalogType): readonly PgComparison[] {
  return [
    call('_st_contains', sql`st_contains`, 'does the column contain the given geometry value'),
    call('_st_crosses', sql`st_crosses`, 'does the column cross the given geometry value'),
    call('_st_equals', sql`st_equals`, 'is the column equal to given geometry value (directionality is ignored)'),
    call('_st_intersects', sql`st_intersects`, 'does the column spatially intersect the given geometry value'),
    call('_st_3d_intersects', sql`st_3dintersects`, 'does the column spatially intersect the given geometry value in 3D'),
    call(
      '_st_overlaps',
      sql`st_overlaps`,
      "does the column 'spatially overlap' (intersect but not completely contain) the given geometry value",
    ),
    call('_st_touches', sql`st_touches`, 'does the column have at least one point in common with the given geometry value'),
    call('_st_within', sql`st_within`, 'is the column contained in the given geometry value'),
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

export function geographyComparisons(geography: CatalogType): readonly PgComparison[] {
  return [
    call('_st_intersects', sql`st_intersects`, 'does the column spatially intersect the given geography value'),
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
      compile: (column, field) =>
        sql`st_dwithin(${column}, ${field('from')}, ${field('distance', FLOAT8)}, ${field.has?.('use_spheroid') === true ? field('use_spheroid') : sql`true`})`,
    },
    cast('geography_cast_exp', [{ key: 'geometry', type: { ...geography, name: 'geometry' } }]),
  ];
}

export function rasterComparisons(raster: CatalogType): readonly PgComparison[] {
  const nband = (required: boolean) => ({ name: 'nband', type: baseType('int4'), required });
  const geommin = { name: 'geommin', type: { ...raster, name: 'geometry' }, required: true };
  return [
    call('_st_intersects_rast', sql`st_intersects`, 'does the raster spatially intersect the given raster'),
    {
      name: '_st_intersects_nband_geom',
      description: 'does the given band of the raster spatially intersect the given geometry value',
      argument: { kind: 'input', name: 'st_intersects_nband_geom_input', description: null, fields: [geommin, nband(true)] },
      compile: (column, field) => sql`st_intersects(${column}, ${field('nband')}, ${field('geommin')})`,
    },
    {
      name: '_st_intersects_geom_nband',
      description: 'does the raster, or one band of it, spatially intersect the given geometry value',
      argument: { kind: 'input', name: 'st_intersects_geom_nband_input', description: null, fields: [geommin, nband(false)] },
      compile: (column, field) =>
        sql`st_intersects(${join([column, field('geommin'), ...(field.has?.('nband') === true ? [field('nband')] : [])], sql`, `)})`,
    },
  ];
}
