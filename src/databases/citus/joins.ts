/** Columns of which types may find related rows. */
import type { CatalogType } from '../../catalog/catalog.ts';

/**
 * Whether keys of the two types are equal exactly where their values are the same. Related rows are put together by the key of one
 * side and found by that of the other, maybe on another server: types between which PostgreSQL rounds (`bigint` and `float8`), looks
 * at a setting of the session (`date` and `timestamptz`) or compares by other rules (`text` and `citext`) would repeat rows or lose them.
 */
export function areJoined(one: CatalogType, other: CatalogType): boolean {
  if (!areCollatedAlike(one, other)) return false;
  if (one.schema === other.schema && one.name === other.name) return one.array === other.array && !isWithoutKeys(one);
  if (one.array || other.array || !isBuiltIn(one) || !isBuiltIn(other)) return false;
  return FAMILIES.some((family) => family.has(one.name) && family.has(other.name));
}

/** Among these, each value is equal to itself alone. */
const FAMILIES: readonly ReadonlySet<string>[] = [
  new Set(['int2', 'int4', 'int8', 'numeric']),
  new Set(['int2', 'int4', 'float4', 'float8']),
  new Set(['text', 'varchar', 'name']),
  new Set(['date', 'timestamp']),
  new Set(['inet', 'cidr']),
];

/** Types without an equality that groups are made by. */
const WITHOUT_KEYS: ReadonlySet<string> = new Set(['json', 'xml', 'point', 'line', 'lseg', 'box', 'path', 'polygon', 'circle', 'jsonpath']);

function isWithoutKeys(type: CatalogType): boolean {
  return isBuiltIn(type) && WITHOUT_KEYS.has(type.name);
}

function isBuiltIn({ schema }: CatalogType): boolean {
  return schema === 'pg_catalog';
}

/** The default collation gives way to another one; two others cannot be brought together. */
function areCollatedAlike({ collation: one }: CatalogType, { collation: other }: CatalogType): boolean {
  if (one !== undefined && other !== undefined) return one.id === other.id;
  // Where texts that are not the same bytes may be equal, both sides have to agree on which.
  return one?.deterministic !== false && other?.deterministic !== false;
}
