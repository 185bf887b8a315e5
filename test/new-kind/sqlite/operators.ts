/** Comparison operators of SQLite. A new operator is one entry here. */
import { commonComparisons, ilike, LIKE, type ComparisonOperator } from '../../../src/databases/shared/operators.ts';
import { sql } from '../../../src/sql/fragment.ts';

/** Operators of all types. */
export const COMMON_COMPARISONS = commonComparisons(
  (column, { list }) => sql`(${column} in (${list()}))`,
  (column, { list }) => sql`(${column} not in (${list()}))`,
);

/** `like` has no escape character by default. */
export const TEXT_COMPARISONS: readonly ComparisonOperator[] = [
  ...LIKE.map(
    (like): ComparisonOperator => ({
      ...like,
      compile: (column, argument) => like.compile(column, { ...argument, value: () => sql`${argument.value()} escape '\\'` }),
    }),
  ),
  ...ilike((column, value, not) => sql`(lower(${column}) ${not}like lower(${value}) escape '\\')`),
];
