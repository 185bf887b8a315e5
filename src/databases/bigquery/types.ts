/** BigQuery's types as GraphQL scalars: names, operators, traits and input checks. */
import { COMMON_AGGREGATES, commonAggregatePredicates } from '../shared/aggregates.ts';
import type { ComparedScalar, ComparisonOperator } from '../shared/operators.ts';
import { scalarTable } from '../shared/scalar-table.ts';
import type { TypeSystem } from '../../backend/type-system.ts';
import type { CatalogType } from '../../catalog/catalog.ts';
import {
  anyJsonCheck,
  booleanCheck,
  type Check,
  floatCheck,
  geoJsonCheck,
  integerCheck,
  numericCheck,
  presentCheck,
  stringCheck,
  textCheck,
} from '../shared/scalar-check.ts';
import { areComparable, type Family, familyOf, TYPE_NAMES } from './families.ts';
import { BYTES_COMPARISONS, GEOGRAPHY_COMPARISONS, TEXT_COMPARISONS } from './operators.ts';
import { BOOL, DOUBLE, SMALL_INTEGER, TEXT, baseType } from './base-type.ts';

const NAMES: Readonly<Record<string, string>> = {
  BOOL: 'Boolean',
  STRING: 'String',
  INT: 'Int',
  INT64: 'bigint',
  NUMERIC: 'numeric',
  BIGNUMERIC: 'numeric',
  FLOAT64: 'float8',
  DATETIME: 'timestamp',
  TIMESTAMP: 'timestamptz',
  'RANGE<DATE>': 'daterange',
  'RANGE<DATETIME>': 'tsrange',
  'RANGE<TIMESTAMP>': 'tstzrange',
};

function checkOf({ name }: CatalogType, family: Family): Check {
  switch (family) {
    case 'integer':
      return name === 'INT' ? integerCheck('Int', -(2n ** 31n), 2n ** 31n - 1n) : integerCheck(name, -(2n ** 63n), 2n ** 63n - 1n);
    case 'decimal':
      return numericCheck;
    case 'float':
      return floatCheck(name);
    case 'boolean':
      return booleanCheck;
    case 'text':
      return textCheck;
    case 'json':
    case 'struct':
    case 'other':
      return anyJsonCheck;
    case 'geography':
      return geoJsonCheck;
    default:
      return stringCheck(name);
  }
}

function comparisonsOf(family: Family): readonly ComparisonOperator[] {
  switch (family) {
    case 'text':
      return TEXT_COMPARISONS;
    case 'bytes':
      return BYTES_COMPARISONS;
    case 'geography':
      return GEOGRAPHY_COMPARISONS;
    default:
      return [];
  }
}

function describe(type: CatalogType): ComparedScalar {
  const family = familyOf(type);
  const graphql = NAMES[type.name] ?? type.name.toLowerCase();
  const isOpaque = family === 'json' || family === 'geography' || family === 'struct' || family === 'other';
  return {
    graphql,
    graphqlArray: `_${graphql}`,
    comparisons: comparisonsOf(family),
    numeric: family === 'integer' || family === 'decimal' || family === 'float',
    comparable: !isOpaque && family !== 'boolean' && family !== 'interval' && family !== 'range',
    arraysComparable: false,
    ordered: !isOpaque,
    // JSON values are accepted, but have no `path` argument.
    json: false,
    jsonOperators: false,
    hasEquality: !isOpaque,
    check: presentCheck(graphql, checkOf(type, family)),
  };
}

const scalars = scalarTable(describe, TYPE_NAMES.map(baseType));
export const bigQueryScalar = scalars.scalar;

/** Types on the reference page of operators. */
const DOCUMENTED =
  'BOOL INT64 NUMERIC BIGNUMERIC FLOAT64 STRING BYTES DATE TIME DATETIME TIMESTAMP INTERVAL JSON STRUCT GEOGRAPHY RANGE<DATE>'.split(' ');

export const types: TypeSystem = {
  scalar: bigQueryScalar,
  named: scalars.named,
  print: (type) => (type.array ? `ARRAY<${type.name}>` : type.name),
  joins: areComparable,
  comparisonInfix: 'dwh',
  documented: DOCUMENTED.map(baseType),
  arrayComparisons: [],
  basic: { text: TEXT, integer: SMALL_INTEGER },
  aggregates: COMMON_AGGREGATES,
  aggregatePredicates: commonAggregatePredicates(BOOL, DOUBLE),
};
