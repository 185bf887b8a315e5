/** Types in groups of rows, and of the aggregates that conditions on groups compare. */
import type { Grouping, TimeValues } from '../../backend/type-system.ts';
import type { CatalogType } from '../../catalog/catalog.ts';
import { isTotal } from './compile/total-types.ts';
import { baseType } from './operators.ts';

const TIMES: Readonly<Record<string, TimeValues>> = {
  date: { isZoned: false, hasTime: false },
  timestamp: { isZoned: false, hasTime: true },
  timestamptz: { isZoned: true, hasTime: true },
};

const SUMS: Readonly<Record<string, CatalogType>> = {
  int2: baseType('int8'),
  int4: baseType('int8'),
  int8: baseType('numeric'),
  numeric: baseType('numeric'),
  float4: baseType('float4'),
  float8: baseType('float8'),
  money: baseType('money'),
};

/** There are no averages of `money`. */
const AVERAGES: Readonly<Record<string, CatalogType>> = {
  int2: baseType('numeric'),
  int4: baseType('numeric'),
  int8: baseType('numeric'),
  numeric: baseType('numeric'),
  float4: baseType('float8'),
  float8: baseType('float8'),
};

function resultIn(table: Readonly<Record<string, CatalogType>>): (operand: CatalogType) => CatalogType | null {
  return ({ schema, name, array }) => (schema === 'pg_catalog' && !array && Object.hasOwn(table, name) ? (table[name] ?? null) : null);
}

export const grouping: Grouping = {
  isKey: isTotal,
  time: ({ schema, name }) => (schema === 'pg_catalog' && Object.hasOwn(TIMES, name) ? (TIMES[name] ?? null) : null),
  results: [
    { functions: ['sum'], result: resultIn(SUMS) },
    { functions: ['avg', 'stddev', 'stddev_pop', 'stddev_samp', 'variance', 'var_pop', 'var_samp'], result: resultIn(AVERAGES) },
    { functions: ['max', 'min'], result: (operand) => operand },
  ],
};
