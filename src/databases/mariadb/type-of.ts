import type { CatalogType } from '../../catalog/catalog.ts';

/** A type of MariaDB by the name that this room has for it: `int`, `bigint unsigned`, `boolean`. */
export function typeOf(name: string): CatalogType {
  return { schema: '', name, kind: 'base', array: false };
}

export const TEXT = typeOf('varchar');
export const BIGINT = typeOf('bigint');
export const DOUBLE = typeOf('double');
export const BOOLEAN = typeOf('boolean');
