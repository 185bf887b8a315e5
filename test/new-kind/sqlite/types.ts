/** Types of strict tables as GraphQL scalars. */
import type { AggregateFunction, TypeSystem } from '../../../src/backend/type-system.ts';
import type { CatalogType } from '../../../src/catalog/catalog.ts';
import { aggregatePredicate } from '../../../src/databases/shared/aggregates.ts';
import type { ComparedScalar } from '../../../src/databases/shared/operators.ts';
import { type Check, floatCheck, integerCheck, textCheck } from '../../../src/databases/shared/scalar-check.ts';
import { scalarTable } from '../../../src/databases/shared/scalar-table.ts';
import { SvcError } from '../../../src/errors/svc-error.ts';
import { TEXT_COMPARISONS } from './operators.ts';

export function typeOf(name: string): CatalogType {
  return { schema: '', name, kind: 'base', array: false };
}

export const TEXT = typeOf('TEXT');
export const INTEGER = typeOf('INTEGER');
export const REAL = typeOf('REAL');
/** Type of counts; not a type of columns. */
const COUNT = typeOf('COUNT');

const SCALARS: Readonly<Record<string, readonly [graphql: string, check: Check]>> = {
  TEXT: ['String', textCheck],
  INTEGER: ['bigint', integerCheck('INTEGER', -(2n ** 63n), 2n ** 63n - 1n)],
  REAL: ['float8', floatCheck('REAL')],
  COUNT: ['Int', integerCheck('Int', -(2n ** 31n), 2n ** 31n - 1n)],
};

/** Returns whether columns of the type are offered. */
export function isOffered(name: string): boolean {
  return name === TEXT.name || name === INTEGER.name || name === REAL.name;
}

function describe({ name }: CatalogType): ComparedScalar {
  const [graphql, check] = SCALARS[name] ?? [name, textCheck];
  return {
    graphql,
    graphqlArray: `_${graphql}`,
    comparisons: name === TEXT.name ? TEXT_COMPARISONS : [],
    numeric: name !== TEXT.name,
    comparable: true,
    arraysComparable: false,
    ordered: true,
    json: false,
    jsonOperators: false,
    hasEquality: true,
    check(json, at) {
      if (json === null) throw new SvcError('validation-failed', `unexpected null value for type '${graphql}'`, { path: at });
      return check(json, at);
    },
  };
}

export const scalars = scalarTable(describe, [TEXT, INTEGER, REAL, COUNT]);

function aggregate(name: string, takes: AggregateFunction['takes'], sameType = true): AggregateFunction {
  return { name, takes, sameType };
}

export const types: TypeSystem = {
  scalar: scalars.scalar,
  named: scalars.named,
  print: ({ name }) => name,
  joins: (one, other) => one.name === other.name && one.name !== REAL.name,
  comparisonInfix: 'sqlite',
  documented: [TEXT, INTEGER, REAL],
  arrayComparisons: [],
  basic: { text: TEXT, integer: COUNT },
  aggregates: [
    aggregate('sum', 'numeric'),
    aggregate('avg', 'numeric', false),
    aggregate('max', 'comparable'),
    aggregate('min', 'comparable'),
  ],
  aggregatePredicates: ['avg', 'max', 'min', 'sum'].map((name) => aggregatePredicate(name, REAL)),
};
