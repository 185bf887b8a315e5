/** Types of columns that may relate tables. */
import type { CatalogType } from '../../catalog/catalog.ts';

/**
 * Returns whether keys of the two types are equal if and only if their values are the same. Related rows are grouped by the key of one side
 * and found by that of the other, maybe on another server. Types that PostgreSQL rounds (`bigint` and `float8`), compares by a setting of
 * the session (`date` and `timestamptz`) or by other rules (`text` and `citext`) would repeat or lose rows.
 */
export function areJoined(one: CatalogType, other: CatalogType): boolean {
  if (!areCollatedAlike(one, other)) return false;
  if (one.schema === other.schema && one.name === other.name) return one.array === other.array && !isWithoutKeys(one);
  if (one.array || other.array || !isBuiltIn(one) || !isBuiltIn(other)) return false;
  return FAMILIES.some((family) => family.has(one.name) && family.has(other.name));
}

/** Groups of types in which each value is equal only to itself. */
const FAMILIES: readonly ReadonlySet<string>[] = [
  new Set(['int2', 'int4', 'int8', 'numeric']),
  new Set(['int2', 'int4', 'float4', 'float8']),
  new Set(['text', 'varchar', 'name']),
  new Set(['date', 'timestamp']),
  new Set(['inet', 'cidr']),
];

/** Types that have no equality for grouping. */
const WITHOUT_KEYS: ReadonlySet<string> = new Set(['json', 'xml', 'point', 'line', 'lseg', 'box', 'path', 'polygon', 'circle', 'jsonpath']);

function isWithoutKeys(type: CatalogType): boolean {
  return isBuiltIn(type) && WITHOUT_KEYS.has(type.name);
}

function isBuiltIn({ schema }: CatalogType): boolean {
  return schema === 'pg_catalog';
}

/** Returns whether collations are compatible: the default one with any, others only with themselves. */
function areCollatedAlike({ collation: one }: CatalogType, { collation: other }: CatalogType): boolean {
  if (one !== undefined && other !== undefined) return one.id === other.id;
  // If different bytes may be equal, both sides have to agree on which.
  return one?.deterministic !== false && other?.deterministic !== false;
}
