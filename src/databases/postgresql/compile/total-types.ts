/**
 * Types whose comparisons never fail, whatever values a row has: proven by a test that compares extreme
 * values of each. A type that is not listed counts as one whose comparisons may fail (those of boxes and
 * circles overflow, those of `json[]` do not exist, which is found out when there is a row).
 */
import type { CatalogType } from '../../../catalog/catalog.ts';

/** Types of `pg_catalog`: equality and order, of arrays of them too; for `jsonb` also containment and keys. */
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

/** Types of extensions, wherever these are installed; with their own operators. */
export const TOTAL_EXTENSION_TYPES: ReadonlySet<string> = new Set(['citext', 'ltree']);

/** Values of different types are compared as one of these; between others a conversion may overflow. */
const TOGETHER: readonly ReadonlySet<string>[] = [
  new Set(['int2', 'int4', 'int8', 'oid']),
  new Set(['float4', 'float8']),
  new Set(['int2', 'int4', 'int8', 'numeric']),
  new Set(['text', 'varchar', 'bpchar', 'name']),
];

/** Whether comparisons of the type, and of arrays of it, never fail. */
export function isTotal({ kind, schema, name }: CatalogType): boolean {
  if (kind === 'enum') return true;
  if (kind === 'composite' || kind === 'pseudo') return false;
  return schema === 'pg_catalog' ? TOTAL_TYPES.has(name) : kind === 'base' && TOTAL_EXTENSION_TYPES.has(name);
}

/** Whether values of the two types can be compared without a conversion that may fail. */
export function areTotalTogether(left: CatalogType, right: CatalogType): boolean {
  if (!isTotal(left) || !isTotal(right) || left.array !== right.array) return false;
  // The database does not choose between two collations, and says so when it meets a row.
  if (left.collation !== undefined && right.collation !== undefined && left.collation.id !== right.collation.id) return false;
  if (left.schema === right.schema && left.name === right.name) return true;
  return !left.array && isBuiltIn(left) && isBuiltIn(right) && TOGETHER.some((group) => group.has(left.name) && group.has(right.name));
}

/** Whether a value of one type is always one of the other: the text of a JSON value. */
export function isTotalCast(from: CatalogType, to: CatalogType): boolean {
  return isBuiltIn(from) && isBuiltIn(to) && !from.array && !to.array && from.name === 'jsonb' && to.name === 'text';
}

function isBuiltIn(type: CatalogType): boolean {
  return type.schema === 'pg_catalog';
}
