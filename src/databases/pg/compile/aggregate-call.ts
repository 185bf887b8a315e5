import { join, type Sql, sql } from '../../../sql/fragment.ts';

const AGGREGATES: Readonly<Record<string, Sql>> = {
  count: sql`count`,
  sum: sql`sum`,
  avg: sql`avg`,
  min: sql`min`,
  max: sql`max`,
  stddev: sql`stddev`,
  stddev_pop: sql`stddev_pop`,
  stddev_samp: sql`stddev_samp`,
  variance: sql`variance`,
  var_pop: sql`var_pop`,
  var_samp: sql`var_samp`,
  bool_and: sql`bool_and`,
  bool_or: sql`bool_or`,
  corr: sql`corr`,
  covar_samp: sql`covar_samp`,
};

/** An aggregate over values; `count` of several values counts rows of them, of none all rows. */
export function aggregateCall(name: string, values: readonly Sql[], distinct: boolean): Sql {
  const call = Object.hasOwn(AGGREGATES, name) ? AGGREGATES[name] : undefined;
  if (call === undefined) throw new Error(`invariant: unknown aggregate ${name}`);
  if (values.length === 0) return sql`${call}(*)`;
  const list = join(values, sql`, `);
  const argument = name === 'count' && values.length > 1 ? sql`(${list})` : list;
  return distinct ? sql`${call}(distinct ${argument})` : sql`${call}(${argument})`;
}
