/** Distribution of tables, read from the extension's own tables: schema and columns of its view `citus_tables` depend on the version. */
import { type CatalogDistribution, type CatalogTable, nameKey, type QualifiedName } from '../../catalog/catalog.ts';
import type { Connection, RunSqlResult } from '../../backend/connection.ts';

type Query = Pick<Connection, 'query'>['query'];

/** Version 12 introduced schema-based sharding. */
const THERE = `select to_regclass('pg_catalog.pg_dist_partition') is not null, to_regclass('pg_catalog.pg_dist_schema') is not null`;

/** $1: names as a JSON array of {schema, name}, or null for all. */
const DISTRIBUTIONS = (bySchema: boolean): string => `
select n.nspname, r.relname, p.colocationid::int4,
  case
    when ${bySchema ? 'exists (select from pg_catalog.pg_dist_schema s where s.colocationid = p.colocationid)' : 'false'} then 'schema'
    when p.partmethod <> 'n' then 'distributed'
    when p.repmodel = 't' then 'reference'
    when p.colocationid = 0 then 'local'
    else 'distributed'
  end,
  case when p.partmethod <> 'n' then pg_catalog.column_to_column_name(p.logicalrelid, p.partkey) end
from pg_catalog.pg_dist_partition p
join pg_catalog.pg_class r on r.oid = p.logicalrelid
join pg_catalog.pg_namespace n on n.oid = r.relnamespace
where $1::json is null or (n.nspname, r.relname) in (select x.schema, x.name from json_to_recordset($1::json) x (schema name, name name))`;

/** Views and tables of the extension outside of the catalog: in `public` and other schemas, depending on the version. */
const OWN = `
select n.nspname, r.relname
from pg_catalog.pg_extension e
join pg_catalog.pg_depend d on d.refobjid = e.oid and d.refclassid = 'pg_catalog.pg_extension'::regclass and d.deptype = 'e'
join pg_catalog.pg_class r on r.oid = d.objid and d.classid = 'pg_catalog.pg_class'::regclass
join pg_catalog.pg_namespace n on n.oid = r.relnamespace
where e.extname in ('citus', 'citus_columnar') and n.nspname !~ '^pg_'`;

const LOCAL: CatalogDistribution = { kind: 'local' };

/** Distributions by `nameKey`, without tables that are only on the coordinator; empty without the extension. */
export type Distributions = ReadonlyMap<string, CatalogDistribution>;

export async function readDistributions(query: Query, tables: readonly QualifiedName[] | undefined): Promise<Distributions> {
  if (tables?.length === 0) return new Map();
  const [[isThere, bySchema] = []] = (await query(THERE, [])).rows;
  if (isThere !== 't') return new Map();
  const { rows } = await query(DISTRIBUTIONS(bySchema === 't'), [tables === undefined ? null : JSON.stringify(tables)]);
  return new Map(rows.map((row) => [nameKey({ schema: row[0] ?? '', name: row[1] ?? '' }), distributionOf(row)]));
}

/** Returns objects of the extension by `nameKey`, which are not listed among tables. */
export async function readOwn(query: Query): Promise<ReadonlySet<string>> {
  const { rows } = await query(OWN, []);
  return new Set(rows.map(([schema, name]) => nameKey({ schema: schema ?? '', name: name ?? '' })));
}

/** Returns whether a shard has this number; false without the extension, or without an answer in time. */
export async function knowsShard(query: Query, shard: string, deadline: number): Promise<boolean> {
  try {
    const { rows } = await query('select from pg_catalog.pg_dist_shard where shardid = $1::int8', [shard], { deadline });
    return rows.length > 0;
  } catch {
    return false;
  }
}

function distributionOf([, , group, kind, column]: RunSqlResult['rows'][number]): CatalogDistribution {
  switch (kind) {
    case 'reference':
    case 'local':
      return { kind };
    case 'schema':
      return { kind, group: Number(group) };
    default:
      return { kind: 'distributed', column: column ?? null, group: Number(group) };
  }
}

/** Returns the distribution of a table; views have none. */
export function distributionIn(found: Distributions, { name, kind }: Pick<CatalogTable, 'name' | 'kind'>): CatalogDistribution | undefined {
  return kind === 'view' ? undefined : (found.get(nameKey(name)) ?? LOCAL);
}

/** Adds the distribution to a table, whose distribution column is never null. */
export function distributed(table: CatalogTable, found: Distributions): CatalogTable {
  const distribution = distributionIn(found, table);
  if (distribution === undefined) return table;
  if (distribution.kind !== 'distributed' || distribution.column === null) return { ...table, distribution };
  const { column: name } = distribution;
  return {
    ...table,
    distribution,
    columns: table.columns.map((column) => (column.name === name && column.nullable ? { ...column, nullable: false } : column)),
  };
}
