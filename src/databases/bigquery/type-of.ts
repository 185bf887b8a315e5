import type { CatalogType } from '../../catalog/catalog.ts';

/** A type of BigQuery by its name: `INT64`, `RANGE<DATE>`. */
export function typeOf(name: string): CatalogType {
  return { schema: '', name, kind: 'base', array: false };
}

export const TEXT = typeOf('STRING');
export const INTEGER = typeOf('INT64');
export const DOUBLE = typeOf('FLOAT64');
export const BOOLEAN = typeOf('BOOL');
/** Counts, and whatever else GraphQL calls `Int`; no column has it. */
export const SMALL_INTEGER = typeOf('INT');
/** Rows that a statement may give: the source puts its own limit in its place where that is less. */
export const ROW_LIMIT = typeOf('row limit');
/** Rows that are skipped; nothing for null. */
export const ROW_OFFSET = typeOf('row offset');

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

/** A type as `INFORMATION_SCHEMA` and definitions write it: `ARRAY<STRUCT<a INT64>>`, `STRING(10)`. */
export function parseType(text: string): CatalogType {
  const trimmed = text.trim();
  const array = /^array\s*<(.*)>$/is.exec(trimmed);
  if (array !== null) return { ...parseType(array[1] as string), array: true };
  if (/^struct\s*</i.test(trimmed)) return { ...typeOf('STRUCT'), kind: 'composite' };
  const range = /^range\s*<\s*(\w+)\s*>$/i.exec(trimmed);
  if (range !== null) return { ...typeOf(`RANGE<${(range[1] as string).toUpperCase()}>`), kind: 'range' };
  // Lengths, scales and collations are not part of what a value is.
  const name = (/^\w+/.exec(trimmed)?.[0] ?? trimmed).toUpperCase();
  return typeOf(ALIASES[name] ?? name);
}
