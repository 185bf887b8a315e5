/** The comparison operators of SQLite. A new operator is one entry here. */
import { commonComparisons, ilike, LIKE, type Operator } from '../../../src/databases/shared/operators.ts';
import { sql } from '../../../src/sql/fragment.ts';

/** Operators of every type. */
export const COMMON_COMPARISONS = commonComparisons(
  (column, { list }) => sql`(${column} in (${list()}))`,
  (column, { list }) => sql`(${column} not in (${list()}))`,
);

/** `like` has no escape character unless the statement names one. */
export const TEXT_COMPARISONS: readonly Operator[] = [
  ...LIKE.map(
    (like): Operator => ({
      ...like,
      compile: (column, argument) => like.compile(column, { ...argument, value: () => sql`${argument.value()} escape '\\'` }),
    }),
  ),
  ...ilike((column, value, not) => sql`(lower(${column}) ${not}like lower(${value}) escape '\\')`),
];
