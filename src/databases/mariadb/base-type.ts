import type { CatalogType } from '../../catalog/catalog.ts';

/** A type of MariaDB by the name that this room has for it: `int`, `bigint unsigned`, `boolean`. */
export function baseType(name: string): CatalogType {
  return { schema: '', name, kind: 'base', array: false };
}

export const TEXT = baseType('varchar');
export const BIGINT = baseType('bigint');
export const DOUBLE = baseType('double');
export const BOOL = baseType('boolean');
