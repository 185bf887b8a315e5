/** BigQuery's types as GraphQL scalars: names, operators, traits and input checks. */
import { COMMON_AGGREGATES, commonAggregatePredicates } from '../shared/aggregates.ts';
import type { ComparedScalar, Operator } from '../shared/operators.ts';
import { scalarTable } from '../shared/scalar-table.ts';
import type { TypeSystem } from '../../backend/type-system.ts';
import type { CatalogType } from '../../catalog/catalog.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { checkGeoJson } from '../shared/geojson.ts';
import {
  anyJson,
  booleanCheck,
  type Check,
  floatCheck,
  integerCheck,
  numericCheck,
  stringCheck,
  textCheck,
} from '../shared/scalar-check.ts';
import { areComparable, type Family, familyOf, TYPE_NAMES } from './families.ts';
import { BYTES_COMPARISONS, GEOGRAPHY_COMPARISONS, TEXT_COMPARISONS } from './operators.ts';
import { BOOLEAN, DOUBLE, SMALL_INTEGER, TEXT, typeOf } from './type-of.ts';

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

const geographyCheck: Check = (json, at) => {
  checkGeoJson(json, at);
  return json;
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
      return anyJson;
    case 'geography':
      return geographyCheck;
    default:
      return stringCheck(name);
  }
}

function comparisonsOf(family: Family): readonly Operator[] {
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
  const check = checkOf(type, family);
  const isOpaque = family === 'json' || family === 'geography' || family === 'struct' || family === 'other';
  return {
    graphql,
    graphqlArray: `_${graphql}`,
    comparisons: comparisonsOf(family),
    numeric: family === 'integer' || family === 'decimal' || family === 'float',
    comparable: !isOpaque && family !== 'boolean' && family !== 'interval' && family !== 'range',
    arraysComparable: false,
    ordered: !isOpaque,
    // Whatever value it takes; but none has a `path`.
    json: false,
    jsonOperators: false,
    hasEquality: !isOpaque,
    check(json, at) {
      if (json === null) throw new SvcError('validation-failed', `unexpected null value for type '${graphql}'`, { path: at });
      return check(json, at);
    },
  };
}

const scalars = scalarTable(describe, TYPE_NAMES.map(typeOf));
export const bigQueryScalar = scalars.scalar;

export const types: TypeSystem = {
  scalar: bigQueryScalar,
  named: scalars.named,
  print: (type) => (type.array ? `ARRAY<${type.name}>` : type.name),
  joins: areComparable,
  comparisonInfix: 'dwh',
  arrayComparisons: [],
  basic: { text: TEXT, integer: SMALL_INTEGER },
  aggregates: COMMON_AGGREGATES,
  aggregatePredicates: commonAggregatePredicates(BOOLEAN, DOUBLE),
};
