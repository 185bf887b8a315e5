import { aggregateCallOf } from '../../shared/aggregates.ts';
import { join, sql } from '../../../sql/fragment.ts';

export const aggregateCall = aggregateCallOf({
  count(operands, distinct) {
    const values = operands.map(({ value }) => value);
    const [value] = values;
    if (value === undefined) return sql`count(*)`;
    if (values.length === 1) return distinct ? sql`count(distinct ${value})` : sql`count(${value})`;
    if (!distinct) return sql`count(*)`;
    // `count(distinct a, b)` omits rows with a null.
    const parts = values.flatMap((each) => [sql`${each} is null`, sql`ifnull(${each}, '')`]);
    return sql`count(distinct ${join(parts, sql`, `)})`;
  },
  boolAnd: sql`min`,
  boolOr: sql`max`,
  // Averages of integers and decimals would be decimals with only four more digits than the values.
  argument: (value) => sql`${value} + 0e0`,
});
