import type { CatalogFingerprint } from '../../backend/backend.ts';
import { SNAPSHOT_SQL } from './snapshot.ts';
import type { RunSqlResult } from '../../backend/connection.ts';

/**
 * System catalogs with definitions, among them those that the statements of `catalog` read, with a condition for rows that are not of the
 * system.
 */
const READ = [
  ['pg_namespace', 'true'],
  ['pg_class', 'oid >= 16384'],
  ['pg_attribute', 'attrelid >= 16384 and attnum > 0'],
  ['pg_constraint', 'oid >= 16384'],
  ['pg_inherits', 'true'],
  ['pg_type', 'oid >= 16384'],
  ['pg_proc', 'oid >= 16384'],
  ['pg_trigger', 'true'],
  ['pg_rewrite', 'oid >= 16384'],
  ['pg_description', 'objoid >= 16384'],
  ['pg_attrdef', 'adrelid >= 16384'],
  ['pg_collation', 'oid >= 16384'],
  ['pg_foreign_data_wrapper', 'true'],
  ['pg_foreign_server', 'true'],
  ['pg_foreign_table', 'true'],
  ['pg_depend', 'objid >= 16384'],
  ['pg_extension', 'true'],
  ['pg_index', 'indexrelid >= 16384'],
  ['pg_statistic_ext', 'true'],
  ['pg_policy', 'true'],
  ['pg_sequence', 'true'],
  ['pg_aggregate', 'aggfnoid::oid >= 16384'],
  ['pg_enum', 'true'],
  ['pg_range', 'rngtypid >= 16384'],
  ['pg_operator', 'oid >= 16384'],
  ['pg_opclass', 'oid >= 16384'],
  ['pg_cast', 'oid >= 16384'],
] as const;

/**
 * For each catalog the number of rows and the sum of the IDs of the transactions that wrote them: later IDs are larger, so added,
 * deleted and updated rows change one of the two. They are not computed while the snapshot is the same ($1).
 */
const FINGERPRINT = `select s.seen, case when s.seen = $1::text then null else (select string_agg(concat_ws(' ', n, x), ',' order by i) from (${READ.map(
  ([catalog, own], i) => `select ${i}, count(*), sum(xmin::text::int8) from pg_catalog.${catalog} where ${own}`,
).join(' union all ')}) c (i, n, x)) end from (select ${SNAPSHOT_SQL}) s (seen)`;

export async function readCatalogFingerprint(
  query: (text: string, values: readonly (string | null)[]) => Promise<RunSqlResult>,
  before: CatalogFingerprint | null,
): Promise<CatalogFingerprint> {
  const { rows } = await query(FINGERPRINT, [before?.seen ?? null]);
  const [seen = null, definitions] = rows[0] ?? [];
  return { seen, definitions: definitions ?? before?.definitions ?? '' };
}
