/**
 * Equal values of some types print differently: `1.0` and `1.00`, `NZ` and `nz` if the collation ignores case. A group prints the smallest
 * of them. Any other choice would depend on the order of the rows on disk, which changes with rows that the role does not see.
 */
import type { CatalogType } from '../../../catalog/catalog.ts';
import { type Sql, sql } from '../../../sql/fragment.ts';
import { typeNameSql } from './type-name.ts';

/** Types of `pg_catalog` whose equal values print equally, if their collation is deterministic. */
const EQUALLY_PRINTED: ReadonlySet<string> = new Set([
  ...['bool', 'int2', 'int4', 'int8', 'money', 'oid', 'text', 'varchar', 'char', 'name', 'bytea', 'uuid'],
  ...['date', 'time', 'timestamp', 'timestamptz', 'inet', 'cidr', 'macaddr', 'macaddr8', 'pg_lsn'],
]);

/** Compiles the printed value of a group, in the select that groups by the value. */
export function printedKey(value: Sql, type: CatalogType): Sql {
  if (printsEqually(type)) return value;
  // The text of a `bpchar` is without its padding.
  if (type.schema === 'pg_catalog' && type.name === 'bpchar' && !type.array)
    return sql`(array_agg(${value} order by ${value}::text collate "C", octet_length(${value})))[1]`;
  return sql`min(${value}::text collate "C")::${typeNameSql(type)}`;
}

function printsEqually({ schema, name, kind, array, collation }: CatalogType): boolean {
  if (array || collation?.deterministic === false) return false;
  return kind === 'enum' || (schema === 'pg_catalog' && EQUALLY_PRINTED.has(name));
}
