/** Families of types, and the types of MariaDB that belong to them. */
import type { CatalogType } from '../../catalog/catalog.ts';

export type Family =
  | { readonly kind: 'integer'; readonly least: bigint; readonly greatest: bigint }
  | { readonly kind: 'bits' }
  | { readonly kind: 'decimal' | 'float' | 'double' }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'text' | 'bytes' | 'json' | 'uuid' | 'inet' }
  | { readonly kind: 'date' | 'time' | 'datetime' | 'timestamp' }
  | { readonly kind: 'geometry' }
  | { readonly kind: 'other' };

function integers(bits: number): readonly [signed: Family, unsigned: Family] {
  const half = 2n ** BigInt(bits - 1);
  return [
    { kind: 'integer', least: -half, greatest: half - 1n },
    { kind: 'integer', least: 0n, greatest: 2n * half - 1n },
  ];
}

const FAMILIES = new Map<string, Family>();
const BITS = { tinyint: 8, smallint: 16, mediumint: 24, int: 32, bigint: 64 };
for (const [name, bits] of Object.entries(BITS)) {
  const [signed, unsigned] = integers(bits);
  FAMILIES.set(name, signed).set(`${name} unsigned`, unsigned);
}
for (const kind of ['decimal', 'float', 'double'] as const) FAMILIES.set(kind, { kind }).set(`${kind} unsigned`, { kind });
FAMILIES.set('year', { kind: 'integer', least: 0n, greatest: 2155n });
FAMILIES.set('bit', { kind: 'bits' });
for (const kind of ['boolean', 'json', 'uuid', 'date', 'time', 'datetime', 'timestamp'] as const) FAMILIES.set(kind, { kind });
for (const name of ['char', 'varchar', 'tinytext', 'text', 'mediumtext', 'longtext', 'enum', 'set']) FAMILIES.set(name, { kind: 'text' });
for (const name of ['binary', 'varbinary', 'tinyblob', 'blob', 'mediumblob', 'longblob']) FAMILIES.set(name, { kind: 'bytes' });
for (const name of ['inet4', 'inet6']) FAMILIES.set(name, { kind: 'inet' });
const GEOMETRIES = ['geometry', 'point', 'linestring', 'polygon', 'multipoint', 'multilinestring', 'multipolygon', 'geometrycollection'];
for (const name of GEOMETRIES) FAMILIES.set(name, { kind: 'geometry' });

const OTHER: Family = { kind: 'other' };

/** Returns `other` for unknown types. */
export function familyOf(type: CatalogType): Family {
  return FAMILIES.get(type.name) ?? OTHER;
}

/** Returns whether both types compare without conversion: compared with a number, only a text's leading digits would count. */
export function areComparable(one: CatalogType, other: CatalogType): boolean {
  const [a, b] = [comparedAs(one), comparedAs(other)];
  return a === b || a === 'other' || b === 'other';
}

function comparedAs(type: CatalogType): 'number' | 'text' | 'moment' | 'time' | 'other' {
  const { kind } = familyOf(type);
  switch (kind) {
    case 'integer':
    case 'bits':
    case 'decimal':
    case 'float':
    case 'double':
    case 'boolean':
      return 'number';
    case 'date':
    case 'datetime':
    case 'timestamp':
      return 'moment';
    case 'time':
    case 'other':
      return kind;
    default:
      return 'text';
  }
}

/** Numbers beyond the precision of a double, which clients may request as strings. */
export function isStringified(type: CatalogType): boolean {
  const family = familyOf(type);
  switch (family.kind) {
    case 'integer':
      return family.greatest > 2_147_483_647n;
    case 'bits':
    case 'decimal':
    case 'double':
      return true;
    default:
      return false;
  }
}

export const TYPE_NAMES: readonly string[] = [...FAMILIES.keys()];
