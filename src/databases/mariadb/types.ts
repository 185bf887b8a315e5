/** MariaDB's types as GraphQL scalars: names, operators, traits and input checks. */
import { COMMON_AGGREGATES, commonAggregatePredicates } from '../shared/aggregates.ts';
import type { ComparedScalar } from '../shared/operators.ts';
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
import { JSON_COMPARISONS, TEXT_COMPARISONS } from './operators.ts';
import { BOOL, DOUBLE, TEXT, baseType } from './base-type.ts';

function graphqlName(type: CatalogType, family: Family): string {
  switch (family.kind) {
    case 'integer':
      return family.greatest > 2_147_483_647n ? 'bigint' : 'Int';
    case 'bits':
      return 'bigint';
    case 'decimal':
      return 'numeric';
    case 'float':
      return 'Float';
    case 'double':
      return 'float8';
    case 'boolean':
      return 'Boolean';
    case 'text':
      return 'String';
    case 'bytes':
      return 'bytes';
    case 'datetime':
      return 'timestamp';
    case 'timestamp':
      return 'timestamptz';
    case 'other':
      return type.name;
    default:
      return family.kind;
  }
}

function checkOf(type: CatalogType, family: Family): Check {
  switch (family.kind) {
    case 'integer':
      return integerCheck(type.name, family.least, family.greatest);
    case 'bits':
      return integerCheck(type.name, 0n, 2n ** 64n - 1n);
    case 'decimal':
      return numericCheck;
    case 'float':
    case 'double':
      return floatCheck(type.name);
    case 'boolean':
      return booleanCheck;
    case 'text':
      return textCheck;
    case 'json':
      return anyJsonCheck;
    case 'geometry':
      return geoJsonCheck;
    default:
      return stringCheck(type.name);
  }
}

function describe(type: CatalogType): ComparedScalar {
  const family = familyOf(type);
  const graphql = graphqlName(type, family);
  const isOpaque = family.kind === 'json' || family.kind === 'geometry' || family.kind === 'other';
  return {
    graphql,
    graphqlArray: `_${graphql}`,
    comparisons: family.kind === 'text' ? TEXT_COMPARISONS : family.kind === 'json' ? JSON_COMPARISONS : [],
    numeric: ['integer', 'decimal', 'float', 'double'].includes(family.kind),
    comparable: !isOpaque && family.kind !== 'boolean' && family.kind !== 'bytes',
    arraysComparable: false,
    ordered: !isOpaque,
    json: family.kind === 'json',
    jsonOperators: family.kind === 'json',
    hasEquality: !isOpaque,
    check: presentCheck(graphql, checkOf(type, family)),
  };
}

const scalars = scalarTable(describe, ['int', 'bigint', 'varchar', 'blob', ...TYPE_NAMES].map(baseType));
export const mariadbScalar = scalars.scalar;

/** Types on the reference page of operators. */
const DOCUMENTED = [
  'boolean tinyint smallint mediumint int bigint year bit decimal float double',
  'char varchar text enum set binary blob uuid inet6 date time datetime timestamp json geometry',
].flatMap((names) => names.split(' '));

export const types: TypeSystem = {
  scalar: mariadbScalar,
  named: scalars.named,
  print: (type) => type.name,
  joins: areComparable,
  comparisonInfix: 'dbb',
  documented: DOCUMENTED.map(baseType),
  arrayComparisons: [],
  basic: { text: TEXT, integer: baseType('int') },
  aggregates: COMMON_AGGREGATES,
  aggregatePredicates: commonAggregatePredicates(BOOL, DOUBLE),
};
