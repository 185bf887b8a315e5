import type { CatalogType } from '../../../catalog/catalog.ts';
import type { AggregateArgument } from '../../shared/aggregates.ts';
import { EMPTY, join, type Sql, sql } from '../../../sql/fragment.ts';

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

/** Aggregates whose result never depends on the order of the values. */
export const ORDERLESS: ReadonlySet<string> = new Set(['count', 'min', 'max', 'bool_and', 'bool_or']);

/** Compiles an aggregate. `count` counts combinations of several values, and all rows without values. */
export function aggregateCall(name: string, operands: readonly AggregateArgument[], distinct: boolean): Sql {
  const call = Object.hasOwn(AGGREGATES, name) ? AGGREGATES[name] : undefined;
  if (call === undefined) throw new Error(`invariant: unknown aggregate ${name}`);
  if (operands.length === 0) return sql`${call}(*)`;
  const list = join(
    operands.map(({ value }) => value),
    sql`, `,
  );
  const argument = name === 'count' && operands.length > 1 ? sql`(${list})` : list;
  if (distinct) return sql`${call}(distinct ${argument})`;
  const types = operands.map(({ type }) => type);
  return sql`${call}(${argument}${isRounded(name, types) ? sql` order by ${list}` : EMPTY})`;
}

/** Returns whether the database sorts the rows for an aggregate, and thereby also those of other aggregates in the same select. */
export function isSorted(name: string, types: readonly CatalogType[], distinct: boolean): boolean {
  return types.length > 0 && (distinct || isRounded(name, types));
}

/**
 * Sums of floating point numbers depend on the order of the additions. Without an explicit order that is the order of the rows on disk,
 * which changes with rows and columns that the query does not read.
 */
function isRounded(name: string, types: readonly CatalogType[]): boolean {
  return (
    !ORDERLESS.has(name) && types.some(({ schema, name: type }) => schema === 'pg_catalog' && (type === 'float8' || type === 'float4'))
  );
}
