import type { AggregateOperand } from '../../shared/aggregates.ts';
import { join, type Sql, sql } from '../../../sql/fragment.ts';

/** An aggregate over values; `count` of several values counts rows of them, of none all rows. */
export function aggregateCall(name: string, operands: readonly Pick<AggregateOperand, 'value'>[], distinct: boolean): Sql {
  const values = operands.map(({ value }) => value);
  const [value] = values;
  if (name === 'count') {
    if (value === undefined) return sql`count(*)`;
    if (values.length === 1) return distinct ? sql`count(distinct ${value})` : sql`count(${value})`;
    if (!distinct) return sql`count(*)`;
    // The database leaves out rows with a null.
    const parts = values.flatMap((each) => [sql`${each} is null`, sql`ifnull(${each}, '')`]);
    return sql`count(distinct ${join(parts, sql`, `)})`;
  }
  if (value === undefined) throw new Error(`invariant: ${name} of nothing`);
  switch (name) {
    case 'sum':
      return sql`sum(${value})`;
    case 'max':
      return sql`max(${value})`;
    case 'min':
      return sql`min(${value})`;
    // Of integers and decimals these would be decimals with four digits more than the values have.
    case 'avg':
      return sql`avg(${value} + 0e0)`;
    // What the database calls so is that of the population.
    case 'stddev':
    case 'stddev_samp':
      return sql`stddev_samp(${value} + 0e0)`;
    case 'stddev_pop':
      return sql`stddev_pop(${value} + 0e0)`;
    case 'variance':
    case 'var_samp':
      return sql`var_samp(${value} + 0e0)`;
    case 'var_pop':
      return sql`var_pop(${value} + 0e0)`;
    case 'bool_and':
      return sql`min(${value})`;
    case 'bool_or':
      return sql`max(${value})`;
    default:
      throw new Error(`invariant: unknown aggregate ${name}`);
  }
}
