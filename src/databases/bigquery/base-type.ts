import type { CatalogType } from '../../catalog/catalog.ts';

/** Returns the BigQuery type with a name such as `INT64` or `RANGE<DATE>`. */
export function baseType(name: string): CatalogType {
  return { schema: '', name, kind: 'base', array: false };
}

export const TEXT = baseType('STRING');
export const INTEGER = baseType('INT64');
export const DOUBLE = baseType('FLOAT64');
export const BOOL = baseType('BOOL');
/** Type of counts and other GraphQL `Int` values; not a type of columns. */
export const SMALL_INTEGER = baseType('INT');
/** Limit of rows, which the source lowers to its own limit. */
export const ROW_LIMIT = baseType('row limit');
/** Number of rows to skip; `null` skips none. */
export const ROW_OFFSET = baseType('row offset');

const ALIASES: Readonly<Record<string, string>> = {
  INT: 'INT64',
  SMALLINT: 'INT64',
  INTEGER: 'INT64',
  BIGINT: 'INT64',
  TINYINT: 'INT64',
  BYTEINT: 'INT64',
  DECIMAL: 'NUMERIC',
  BIGDECIMAL: 'BIGNUMERIC',
  BOOLEAN: 'BOOL',
};

/** Parses a type as `INFORMATION_SCHEMA` and DDL write it: `ARRAY<STRUCT<a INT64>>`, `STRING(10)`. */
export function parseType(text: string): CatalogType {
  const trimmed = text.trim();
  const array = /^array\s*<(.*)>$/is.exec(trimmed);
  if (array !== null) return { ...parseType(array[1] as string), array: true };
  if (/^struct\s*</i.test(trimmed)) return { ...baseType('STRUCT'), kind: 'composite' };
  const range = /^range\s*<\s*(\w+)\s*>$/i.exec(trimmed);
  if (range !== null) return { ...baseType(`RANGE<${(range[1] as string).toUpperCase()}>`), kind: 'range' };
  // Lengths, scales and collations do not affect values.
  const name = (/^\w+/.exec(trimmed)?.[0] ?? trimmed).toUpperCase();
  return baseType(ALIASES[name] ?? name);
}
