/** Kinds of type: they decide how values are checked, sent, compared and printed. */
import type { CatalogType } from '../../catalog/catalog.ts';

export type Family =
  | 'boolean'
  | 'bytes'
  | 'date'
  | 'datetime'
  | 'decimal'
  | 'float'
  | 'geography'
  | 'integer'
  | 'interval'
  | 'json'
  | 'other'
  | 'range'
  | 'struct'
  | 'text'
  | 'time'
  | 'timestamp';

const FAMILIES: Readonly<Record<string, Family>> = {
  BOOL: 'boolean',
  BYTES: 'bytes',
  DATE: 'date',
  DATETIME: 'datetime',
  NUMERIC: 'decimal',
  BIGNUMERIC: 'decimal',
  FLOAT64: 'float',
  GEOGRAPHY: 'geography',
  INT64: 'integer',
  INT: 'integer',
  INTERVAL: 'interval',
  JSON: 'json',
  'RANGE<DATE>': 'range',
  'RANGE<DATETIME>': 'range',
  'RANGE<TIMESTAMP>': 'range',
  STRUCT: 'struct',
  STRING: 'text',
  TIME: 'time',
  TIMESTAMP: 'timestamp',
};

export const TYPE_NAMES: readonly string[] = Object.keys(FAMILIES);

/** Of the element where it is an array. */
export function familyOf({ name }: CatalogType): Family {
  return FAMILIES[name] ?? 'other';
}

/** Whether its numbers are printed as texts where the service is told to. */
export function isStringified({ name }: CatalogType): boolean {
  return name === 'INT64' || name === 'NUMERIC' || name === 'BIGNUMERIC' || name === 'FLOAT64';
}

const UNCOMPARED: ReadonlySet<Family> = new Set(['geography', 'json', 'struct', 'other']);

/** Whether its values are equal or not, and come one after another. */
export function isOrdered(type: CatalogType): boolean {
  return !type.array && !UNCOMPARED.has(familyOf(type));
}

/** Whether rows can be told apart by it, and found by it: partitions by floating point numbers are refused. */
export function isKey(type: CatalogType): boolean {
  return isOrdered(type) && familyOf(type) !== 'float';
}

/** Whether values of the two are compared as they are. */
export function areComparable(one: CatalogType, other: CatalogType): boolean {
  if (!isKey(one) || !isKey(other)) return false;
  const [first, second] = [familyOf(one), familyOf(other)];
  const isNumber = (family: Family): boolean => family === 'integer' || family === 'decimal';
  return first === 'range' ? one.name === other.name : first === second || (isNumber(first) && isNumber(second));
}
