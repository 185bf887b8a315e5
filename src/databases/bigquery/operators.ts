/** Comparison operators of BigQuery. A new operator is one entry here. */
import {
  commonComparisons,
  LIKE,
  type ComparisonOperator,
  spatialComparisons,
  textComparisons,
  withinDistance,
} from '../shared/operators.ts';
import { sql } from '../../sql/fragment.ts';
import { DOUBLE, baseType } from './base-type.ts';

export const COMMON_COMPARISONS = commonComparisons(
  (column, { value }) => sql`(${column} in unnest(${value()}))`,
  (column, { value }) => sql`(${column} not in unnest(${value()}))`,
);

export const BYTES_COMPARISONS = LIKE;

export const TEXT_COMPARISONS = textComparisons((column, value, not) => sql`(lower(${column}) ${not}like lower(${value}))`);

export const GEOGRAPHY_COMPARISONS: readonly ComparisonOperator[] = [
  ...spatialComparisons('geography', ['_st_contains', '_st_equals', '_st_intersects', '_st_touches', '_st_within']),
  withinDistance(
    '_st_d_within',
    'geography',
    { name: 'st_dwithin_input', distance: DOUBLE, from: baseType('GEOGRAPHY') },
    (column, { field }) => sql`st_dwithin(${column}, ${field('from')}, ${field('distance')})`,
  ),
];
