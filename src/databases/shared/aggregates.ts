/** Aggregates of every kind of database. */
import type { CatalogType } from '../../catalog/catalog.ts';
import type { AggregateFunction, AggregatePredicateFunction } from '../../backend/type-system.ts';
import { type Sql, sql } from '../../sql/fragment.ts';

/** Argument of an aggregate. */
export interface AggregateArgument {
  readonly value: Sql;
  readonly type: CatalogType;
}

/** In the order of the schema. */
export const COMMON_AGGREGATES: readonly AggregateFunction[] = [
  { name: 'sum', takes: 'numeric', sameType: true },
  ...['avg', 'stddev', 'stddev_pop', 'stddev_samp', 'variance', 'var_pop', 'var_samp'].map(
    (name): AggregateFunction => ({ name, takes: 'numeric', sameType: false }),
  ),
  { name: 'max', takes: 'comparable', sameType: true },
  { name: 'min', takes: 'comparable', sameType: true },
];

/** Aggregates in conditions, in the order of the schema. @param double type of floating point numbers */
export function commonAggregatePredicates(boolean: CatalogType, double: CatalogType): readonly AggregatePredicateFunction[] {
  return [
    ...['bool_and', 'bool_or'].map((name) => aggregatePredicate(name, boolean)),
    ...['avg', 'max', 'min', 'sum', 'stddev_samp', 'var_samp'].map((name) => aggregatePredicate(name, double)),
  ];
}

/** An aggregate whose result has the type of its arguments. @param argumentNames `null` for one column */
export function aggregatePredicate(
  name: string,
  type: CatalogType,
  argumentNames: readonly string[] | null = null,
): AggregatePredicateFunction {
  return { name, argumentType: type, argumentNames, resultType: type };
}

type AggregateCall = (name: string, operands: readonly AggregateArgument[], distinct: boolean) => Sql;

interface AggregateWords {
  count(operands: readonly AggregateArgument[], distinct: boolean): Sql;
  readonly boolAnd: Sql;
  readonly boolOr: Sql;
  /** The argument of averages, deviations and variances. */
  argument?(value: Sql): Sql;
  /** A deviation or variance of distinct values, if the database has no `distinct` in them. */
  distinctDeviation?(name: string, value: Sql): Sql;
}

/** Aggregates whose result does not depend on repeated values. */
const WITHOUT_REPETITION: ReadonlySet<string> = new Set(['max', 'min', 'bool_and', 'bool_or']);

const PLAIN: Readonly<Record<string, Sql>> = { sum: sql`sum`, max: sql`max`, min: sql`min` };

/** In some databases `stddev` and `variance` are those of the population. */
const STATISTICS: Readonly<Record<string, Sql>> = {
  avg: sql`avg`,
  stddev: sql`stddev_samp`,
  stddev_samp: sql`stddev_samp`,
  stddev_pop: sql`stddev_pop`,
  variance: sql`var_samp`,
  var_samp: sql`var_samp`,
  var_pop: sql`var_pop`,
};

/** Returns a function that compiles aggregates over values. `count` counts combinations of several values, and all rows without values. */
export function aggregateCallOf({ count, boolAnd, boolOr, argument = (value) => value, distinctDeviation }: AggregateWords): AggregateCall {
  const plain = new Map(Object.entries({ ...PLAIN, bool_and: boolAnd, bool_or: boolOr }));
  const statistics = new Map(Object.entries(STATISTICS));
  return (name, operands, distinct) => {
    if (name === 'count') return count(operands, distinct);
    const call = plain.get(name) ?? statistics.get(name);
    const [operand] = operands;
    if (call === undefined || operand === undefined) throw new Error(`invariant: unknown aggregate ${name}`);
    const value = plain.has(name) ? operand.value : argument(operand.value);
    if (!distinct || WITHOUT_REPETITION.has(name)) return sql`${call}(${value})`;
    if (distinctDeviation !== undefined && name !== 'sum' && name !== 'avg') return distinctDeviation(name, value);
    return sql`${call}(distinct ${value})`;
  };
}
