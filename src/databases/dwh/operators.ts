/** The comparison operators of BigQuery. A new operator is one entry here. */
import type { Comparison } from '../../backend/type-system.ts';
import { COMPARISON_SYMBOLS } from '../../sql/condition.ts';
import { type Sql, sql } from '../../sql/fragment.ts';
import { DOUBLE, typeOf } from './type-of.ts';

/** The compiled right side of a comparison. */
export interface CompiledArgument {
  /** The value; of a list an array. */
  readonly value: Sql;
  /** A field of an input object. */
  field(name: string): Sql;
}

export interface DwhComparison extends Comparison {
  /** The value is a pattern: the database refuses some texts when it meets a row, so that they are refused before. */
  readonly pattern?: true;
  compile(column: Sql, argument: CompiledArgument): Sql;
}

const SAME = { kind: 'same' } as const;

function operator(name: string, symbol: Sql): DwhComparison {
  return { name, description: null, argument: SAME, compile: (column, { value }) => sql`(${column} ${symbol} ${value})` };
}

/** Operators of every type, in the order of the schema; `_is_null` is a node of its own. */
export const COMMON_COMPARISONS: readonly DwhComparison[] = [
  ...COMPARISON_SYMBOLS.map(([name, symbol]) => operator(name, symbol)),
  { name: '_in', description: null, argument: { kind: 'list' }, compile: (column, { value }) => sql`(${column} in unnest(${value}))` },
  { name: '_nin', description: null, argument: { kind: 'list' }, compile: (column, { value }) => sql`(${column} not in unnest(${value}))` },
];

function like(name: string, description: string, compile: (column: Sql, value: Sql) => Sql): DwhComparison {
  return { name, description, argument: SAME, pattern: true, compile: (column, { value }) => compile(column, value) };
}

export const BYTES_COMPARISONS: readonly DwhComparison[] = [
  like('_like', 'does the column match the given pattern', (column, value) => sql`(${column} like ${value})`),
  like('_nlike', 'does the column NOT match the given pattern', (column, value) => sql`(${column} not like ${value})`),
];

export const TEXT_COMPARISONS: readonly DwhComparison[] = [
  ...BYTES_COMPARISONS,
  like(
    '_ilike',
    'does the column match the given case-insensitive pattern',
    (column, value) => sql`(lower(${column}) like lower(${value}))`,
  ),
  like(
    '_nilike',
    'does the column NOT match the given case-insensitive pattern',
    (column, value) => sql`(lower(${column}) not like lower(${value}))`,
  ),
];

function spatial(name: string, description: string, call: Sql): DwhComparison {
  return { name, description, argument: SAME, compile: (column, { value }) => sql`${call}(${column}, ${value})` };
}

export const GEOGRAPHY_COMPARISONS: readonly DwhComparison[] = [
  spatial('_st_contains', 'does the column contain the given geography value', sql`st_contains`),
  spatial('_st_equals', 'is the column equal to given geography value (directionality is ignored)', sql`st_equals`),
  spatial('_st_intersects', 'does the column spatially intersect the given geography value', sql`st_intersects`),
  spatial('_st_touches', 'does the column have at least one point in common with the given geography value', sql`st_touches`),
  spatial('_st_within', 'is the column contained in the given geography value', sql`st_within`),
  {
    name: '_st_d_within',
    description: 'is the column within a given distance from the given geography value',
    argument: {
      kind: 'input',
      name: 'st_dwithin_input',
      description: null,
      fields: [
        { name: 'distance', type: DOUBLE, required: true },
        { name: 'from', type: typeOf('GEOGRAPHY'), required: true },
      ],
    },
    compile: (column, argument) => sql`st_dwithin(${column}, ${argument.field('from')}, ${argument.field('distance')})`,
  },
];
