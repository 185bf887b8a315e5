/**
 * Types whose comparisons never fail for any value, which a test proves with extreme values of each. Comparisons of other types count as
 * fallible: those of boxes and circles overflow, and those of `json[]` do not exist, which the database reports when it reads a row.
 */
import type { CatalogType } from '../../../catalog/catalog.ts';

/** Types of `pg_catalog` with total equality and order, also of their arrays; `jsonb` also with total containment and key tests. */
export const TOTAL_TYPES: ReadonlySet<string> = new Set([
  'bool',
  'int2',
  'int4',
  'int8',
  'float4',
  'float8',
  'numeric',
  'money',
  'oid',
  'text',
  'varchar',
  'bpchar',
  'char',
  'name',
  'bytea',
  'uuid',
  'date',
  'time',
  'timetz',
  'timestamp',
  'timestamptz',
  'interval',
  'jsonb',
  'inet',
  'cidr',
  'macaddr',
  'macaddr8',
  'bit',
  'varbit',
  'pg_lsn',
  'tsvector',
  'tsquery',
  'int4range',
  'int8range',
  'numrange',
  'daterange',
  'tsrange',
  'tstzrange',
  'int4multirange',
  'int8multirange',
  'nummultirange',
  'datemultirange',
  'tsmultirange',
  'tstzmultirange',
]);

/** Types of extensions in any schema, with their own operators. */
export const TOTAL_EXTENSION_TYPES: ReadonlySet<string> = new Set(['citext', 'ltree']);

/** Groups of types that are compared without a fallible conversion; between others a conversion may overflow. */
const TOGETHER: readonly ReadonlySet<string>[] = [
  new Set(['int2', 'int4', 'int8', 'oid']),
  new Set(['float4', 'float8']),
  new Set(['int2', 'int4', 'int8', 'numeric']),
  new Set(['text', 'varchar', 'bpchar', 'name']),
];

/** Returns whether comparisons of the type, and of arrays of it, never fail. */
export function isTotal({ kind, schema, name }: CatalogType): boolean {
  if (kind === 'enum') return true;
  if (kind === 'composite' || kind === 'pseudo') return false;
  return schema === 'pg_catalog' ? TOTAL_TYPES.has(name) : kind === 'base' && TOTAL_EXTENSION_TYPES.has(name);
}

/** Returns whether values of the two types can be compared without a conversion that may fail. */
export function areTotalTogether(left: CatalogType, right: CatalogType): boolean {
  if (!isTotal(left) || !isTotal(right) || left.array !== right.array) return false;
  // The database does not choose between two collations, which it reports when it reads a row.
  if (left.collation !== undefined && right.collation !== undefined && left.collation.id !== right.collation.id) return false;
  if (left.schema === right.schema && left.name === right.name) return true;
  return !left.array && isBuiltIn(left) && isBuiltIn(right) && TOGETHER.some((group) => group.has(left.name) && group.has(right.name));
}

/** Returns whether a cast never fails: from `jsonb` to `text`. */
export function isTotalCast(from: CatalogType, to: CatalogType): boolean {
  return isBuiltIn(from) && isBuiltIn(to) && !from.array && !to.array && from.name === 'jsonb' && to.name === 'text';
}

function isBuiltIn(type: CatalogType): boolean {
  return type.schema === 'pg_catalog';
}
