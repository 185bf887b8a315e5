import type { CatalogType } from '../../catalog/catalog.ts';

/** Returns the MariaDB type with a name such as `int`, `bigint unsigned` or `boolean`. */
export function baseType(name: string): CatalogType {
  return { schema: '', name, kind: 'base', array: false };
}

export const TEXT = baseType('varchar');
export const BIGINT = baseType('bigint');
export const DOUBLE = baseType('double');
export const BOOL = baseType('boolean');
