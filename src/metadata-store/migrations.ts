/**
 * Creates and upgrades the tables of the service in the metadata database, schema `svc_catalog`, by numbered SQL files. A released
 * migration never changes: add another one. It may only add something that older services can ignore, because services of the release
 * before use the same tables during an upgrade; what is no longer needed is removed one release later.
 */
import { readFileSync } from 'node:fs';
import type { Source } from '../backend/backend.ts';
import { isMigrationDue, readTableVersion, type TableVersion } from '../backend/table-version.ts';
import { statementDeadline } from './statement-deadline.ts';
import type { Connection } from '../backend/connection.ts';

/** Migration n leads to catalog version n. */
const MIGRATIONS: readonly string[] = [
  '1-metadata',
  '2-catalog-state',
  '3-remote-schemas',
  '4-actions',
  '5-scheduled-events',
  '6-action-log',
  '7-cron-occurrences',
  '8-metadata-history',
].map((name) => readFileSync(new URL(`./migrations/${name}.sql`, import.meta.url), 'utf8'));

export const CATALOG_VERSION = MIGRATIONS.length;

/** Migrations of a service, and the version of the oldest service that can use the tables that they lead to. */
interface Catalog {
  readonly migrations: readonly string[];
  readonly oldestReader: number;
}

/** Raise `oldestReader` with a migration that removes or changes something, to the first version that does not need it. */
const CATALOG: Catalog = { migrations: MIGRATIONS, oldestReader: 7 };

/** Timeout for all migrations, including the wait for another instance that runs them, in ms. Large tables take long. */
const MIGRATION_TIMEOUT_MS = 10 * 60_000;

/** Key of the advisory lock: any number, the same in every instance. */
export const MIGRATION_LOCK = '7310868735423029113';

async function single(connection: Connection, text: string, values: readonly (string | null)[] = []): Promise<string | null> {
  const { rows } = await connection.query(text, values);
  return rows[0]?.[0] ?? null;
}

/** Returns the version of the catalog. Before migrations that know the column, it has no oldest reader. */
async function storedCatalog(connection: Connection): Promise<TableVersion> {
  if ((await single(connection, `select to_regclass('svc_catalog.catalog_version')::text`)) === null) return readTableVersion(null, null);
  const { rows } = await connection.query(`select version, to_jsonb(v) ->> 'oldest_reader' from svc_catalog.catalog_version v`, []);
  return readTableVersion(rows[0]?.[0], rows[0]?.[1]);
}

const TABLES = 'the metadata database has catalog version';

/**
 * Returns whether the database has a catalog.
 * @throws SvcError `not-supported` if the catalog requires a newer service
 */
export async function hasCatalog(connection: Connection): Promise<boolean> {
  const stored = await storedCatalog(connection);
  isMigrationDue(TABLES, stored, CATALOG_VERSION);
  return stored.version > 0;
}

async function prepare(connection: Connection): Promise<void> {
  // "if not exists" would need the privilege to create schemas even if the schema exists.
  if ((await single(connection, `select to_regnamespace('svc_catalog')::text`)) === null)
    await connection.query('create schema svc_catalog', []);
  await connection.query(
    'create table svc_catalog.catalog_version (id int primary key default 1 check (id = 1), version int not null, upgraded_at timestamptz not null default now())',
    [],
  );
}

/**
 * Upgrades the catalog to this service's version. Instances that start at the same time wait for the first. A catalog of a newer version
 * that this service can use stays as it is.
 * @throws SvcError `not-supported` if the catalog requires a newer service
 */
export async function migrate(database: Source, { migrations, oldestReader }: Catalog = CATALOG): Promise<void> {
  await database.transaction({ isolation: 'read-committed', ...statementDeadline(MIGRATION_TIMEOUT_MS) }, async (connection) => {
    await connection.query(`select pg_advisory_xact_lock(${MIGRATION_LOCK})`, []);
    const stored = await storedCatalog(connection);
    if (!isMigrationDue(TABLES, stored, migrations.length)) return;
    if (stored.version === 0) await prepare(connection);
    for (const migration of migrations.slice(stored.version)) await connection.runSql(migration, {});
    await connection.query('alter table svc_catalog.catalog_version add column if not exists oldest_reader int', []);
    await connection.query(
      `insert into svc_catalog.catalog_version (version, oldest_reader) values ($1::int, $2::int)
       on conflict (id) do update set version = excluded.version, oldest_reader = excluded.oldest_reader, upgraded_at = now()`,
      [String(migrations.length), String(oldestReader)],
    );
  });
}
