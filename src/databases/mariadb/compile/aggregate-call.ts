import { aggregateCallOf } from '../../shared/aggregates.ts';
import { join, type Sql, sql } from '../../../sql/fragment.ts';

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
  distinctDeviation,
});

/** MariaDB has no `distinct` in deviations and variances, so they are computed from the number, the sum and the squares of the values. */
function distinctDeviation(name: string, value: Sql): Sql {
  const count = sql`count(distinct ${value})`;
  const sum = sql`sum(distinct ${value})`;
  // Values of the same sign are distinct if and only if their squares are.
  const squaresOf = (sign: Sql): Sql => sql`ifnull(sum(distinct case when ${value} ${sign} 0 then (${value}) * (${value}) end), 0)`;
  const divisor = name.endsWith('_pop') ? sql`nullif(${count}, 0)` : sql`nullif(${count} - 1, 0)`;
  const squares = sql`(${squaresOf(sql`<`)} + ${squaresOf(sql`>=`)})`;
  // Rounding may lead below zero.
  const variance = sql`greatest((${squares} - ${sum} * ${sum} / ${count}) / ${divisor}, 0)`;
  return name.startsWith('var') ? variance : sql`sqrt(${variance})`;
}
