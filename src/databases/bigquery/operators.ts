/** The comparison operators of BigQuery. A new operator is one entry here. */
import { commonComparisons, ilike, LIKE, type Operator, spatialComparisons } from '../shared/operators.ts';
import { sql } from '../../sql/fragment.ts';
import { DOUBLE, typeOf } from './type-of.ts';

export const COMMON_COMPARISONS = commonComparisons(
  (column, { value }) => sql`(${column} in unnest(${value()}))`,
  (column, { value }) => sql`(${column} not in unnest(${value()}))`,
);

export const BYTES_COMPARISONS = LIKE;

export const TEXT_COMPARISONS: readonly Operator[] = [
  ...LIKE,
  ...ilike((column, value, not) => sql`(lower(${column}) ${not}like lower(${value}))`),
];

export const GEOGRAPHY_COMPARISONS: readonly Operator[] = [
  ...spatialComparisons('geography', ['_st_contains', '_st_equals', '_st_intersects', '_st_touches', '_st_within']),
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
    compile: (column, { field }) => sql`st_dwithin(${column}, ${field('from')}, ${field('distance')})`,
  },
];
