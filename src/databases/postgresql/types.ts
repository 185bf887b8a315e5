/** PostgreSQL's types as GraphQL scalars by catalog name. Any other type is a scalar with its catalog name that accepts strings. */
import { aggregatePredicate, COMMON_AGGREGATES, commonAggregatePredicates } from '../shared/aggregates.ts';
import { documentedTypes } from './documented-types.ts';
import { grouping } from './grouping.ts';
import type { ComparedScalar, ComparisonOperator } from '../shared/operators.ts';
import { scalarTable } from '../shared/scalar-table.ts';
import type { TypeSystem } from '../../backend/type-system.ts';
import type { CatalogType } from '../../catalog/catalog.ts';
import { scalarCheck } from './coerce/check-scalar.ts';
import {
  ARRAY_COMPARISONS,
  baseType,
  geographyComparisons,
  geometryComparisons,
  JSONB_COMPARISONS,
  ltreeComparisons,
  rasterComparisons,
  TEXT_COMPARISONS,
} from './operators.ts';
import { sqlName } from './sql-name.ts';

interface Traits {
  readonly graphql: string;
  readonly numeric?: boolean;
  /** Aggregates have this type, which no number is compared with. */
  readonly sumsAsItself?: boolean;
  readonly incomparable?: boolean;
  /** Arrays have no `max`: they have no order, or their output is converted. */
  readonly arraysIncomparable?: boolean;
  readonly unordered?: boolean;
  readonly json?: 'json' | 'jsonb';
  readonly comparisons?: (type: CatalogType) => readonly ComparisonOperator[];
}

const textual = (graphql: string): Traits => ({ graphql, comparisons: () => TEXT_COMPARISONS });
const numeric = (graphql: string): Traits => ({ graphql, numeric: true });
const plain = (graphql: string): Traits => ({ graphql });

const BUILT_IN: Readonly<Record<string, Traits>> = {
  int2: numeric('smallint'),
  int4: numeric('Int'),
  int8: numeric('bigint'),
  float4: numeric('Float'),
  float8: numeric('float8'),
  numeric: numeric('numeric'),
  money: { ...numeric('money'), sumsAsItself: true },
  bool: { graphql: 'Boolean', incomparable: true },
  text: textual('String'),
  varchar: textual('String'),
  bpchar: textual('bpchar'),
  uuid: plain('uuid'),
  date: plain('date'),
  timestamp: plain('timestamp'),
  timestamptz: plain('timestamptz'),
  time: plain('time'),
  timetz: plain('timetz'),
  json: { graphql: 'json', incomparable: true, arraysIncomparable: true, json: 'json' },
  jsonb: { graphql: 'jsonb', incomparable: true, json: 'jsonb', comparisons: () => JSONB_COMPARISONS },
};

/** Types of extensions in any schema. */
const EXTENSIONS: Readonly<Record<string, Traits>> = {
  citext: textual('citext'),
  geometry: { graphql: 'geometry', incomparable: true, arraysIncomparable: true, comparisons: geometryComparisons },
  geography: { graphql: 'geography', incomparable: true, arraysIncomparable: true, comparisons: geographyComparisons },
  raster: { graphql: 'raster', unordered: true, arraysIncomparable: true, comparisons: rasterComparisons },
  ltree: { graphql: 'ltree', comparisons: ltreeComparisons },
  lquery: plain('lquery'),
  ltxtquery: plain('ltxtquery'),
};

function traitsOf(type: CatalogType): Traits | undefined {
  if (type.kind !== 'base') return undefined;
  const table = type.schema === 'pg_catalog' ? BUILT_IN : EXTENSIONS;
  return Object.hasOwn(table, type.name) ? table[type.name] : undefined;
}

function describe(type: CatalogType): ComparedScalar {
  const traits = traitsOf(type);
  const graphql = traits?.graphql ?? (type.kind === 'composite' ? `${type.name}_scalar` : type.name);
  return {
    graphql,
    graphqlArray: `_${type.name}`,
    comparisons: traits?.comparisons?.({ schema: type.schema, name: type.name, kind: type.kind, array: false }) ?? [],
    numeric: traits?.numeric ?? false,
    sumsAsItself: traits?.sumsAsItself ?? false,
    comparable: type.kind === 'enum' || (traits !== undefined && traits.incomparable !== true),
    arraysComparable: traits?.arraysIncomparable !== true,
    ordered: traits?.unordered !== true,
    json: traits?.json !== undefined,
    jsonOperators: traits?.json === 'jsonb',
    hasEquality: traits?.json !== 'json',
    check: scalarCheck(type.name, graphql, traits !== undefined),
  };
}

const FLOAT8 = baseType('float8');

/** Built-in types that are scalars with their own names. */
const OTHERS = [
  ...['inet', 'cidr', 'macaddr', 'macaddr8', 'interval', 'bytea', 'xml', 'oid', 'bit', 'varbit', 'tsvector', 'tsquery', 'pg_lsn'],
  ...['point', 'line', 'lseg', 'box', 'path', 'polygon', 'circle', 'name', 'jsonpath'],
];

const scalars = scalarTable(describe, [
  ...[...Object.keys(BUILT_IN), ...OTHERS].map(baseType),
  ...Object.keys(EXTENSIONS).map((name) => ({ ...baseType(name), schema: 'public' })),
]);
export const postgresqlScalar = scalars.scalar;

export const types: TypeSystem = {
  scalar: postgresqlScalar,
  named: scalars.named,
  print: sqlName,
  comparisonInfix: null,
  documented: documentedTypes,
  arrayComparisons: ARRAY_COMPARISONS,
  basic: { text: baseType('text'), integer: baseType('int4') },
  aggregates: COMMON_AGGREGATES,
  grouping,
  aggregatePredicates: [
    ...commonAggregatePredicates(baseType('bool'), FLOAT8),
    aggregatePredicate('corr', FLOAT8, ['X', 'Y']),
    aggregatePredicate('covar_samp', FLOAT8, ['X', 'Y']),
  ],
};
