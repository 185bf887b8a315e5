/** The aggregates that every kind of database has. */
import type { CatalogType } from '../../catalog/catalog.ts';
import type { AggregateFunction, AggregatePredicateFunction } from '../../backend/type-system.ts';
import type { Sql } from '../../sql/fragment.ts';

/** A value that an aggregate takes. */
export interface AggregateOperand {
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

/** What can be asked of aggregates in conditions, in the order of the schema. @param double the kind's floating point numbers */
export function commonAggregatePredicates(boolean: CatalogType, double: CatalogType): readonly AggregatePredicateFunction[] {
  return [
    ...['bool_and', 'bool_or'].map((name) => aggregatePredicate(name, boolean)),
    ...['avg', 'max', 'min', 'sum', 'stddev_samp', 'var_samp'].map((name) => aggregatePredicate(name, double)),
  ];
}

/** An aggregate whose result is of the type of its arguments. @param argumentNames null: it takes one column */
export function aggregatePredicate(
  name: string,
  type: CatalogType,
  argumentNames: readonly string[] | null = null,
): AggregatePredicateFunction {
  return { name, argumentType: type, argumentNames, resultType: type };
}
