/** Families of types, which decide how values are checked, sent, compared and printed. */
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

/** Returns the family of a type; for an array, that of its elements. */
export function familyOf({ name }: CatalogType): Family {
  return FAMILIES[name] ?? 'other';
}

/** Returns whether numbers of the type are printed as strings if numeric types are stringified. */
export function isStringified({ name }: CatalogType): boolean {
  return name === 'INT64' || name === 'NUMERIC' || name === 'BIGNUMERIC' || name === 'FLOAT64';
}

const UNCOMPARED: ReadonlySet<Family> = new Set(['geography', 'json', 'struct', 'other']);

/** Returns whether values of the type can be compared and ordered. */
export function isOrdered(type: CatalogType): boolean {
  return !type.array && !UNCOMPARED.has(familyOf(type));
}

/** Returns whether rows can be grouped and joined by the type: BigQuery cannot partition by floating-point numbers. */
export function isKeyType(type: CatalogType): boolean {
  return isOrdered(type) && familyOf(type) !== 'float';
}

/** Returns whether values of both types can be compared without a cast. */
export function areComparable(one: CatalogType, other: CatalogType): boolean {
  if (!isKeyType(one) || !isKeyType(other)) return false;
  const [first, second] = [familyOf(one), familyOf(other)];
  const isNumber = (family: Family): boolean => family === 'integer' || family === 'decimal';
  return first === 'range' ? one.name === other.name : first === second || (isNumber(first) && isNumber(second));
}
