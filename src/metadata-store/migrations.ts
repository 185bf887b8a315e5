/**
 * Creates and upgrades the tables of the service in the metadata database, schema `svc_catalog`, by numbered SQL files. A released
 * migration never changes: add another one.
 */
import { readFileSync } from 'node:fs';
import type { Source } from '../backend/backend.ts';
import { SvcError } from '../errors/svc-error.ts';
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
].map((name) => readFileSync(new URL(`./migrations/${name}.sql`, import.meta.url), 'utf8'));

export const CATALOG_VERSION = MIGRATIONS.length;

/** Timeout for all migrations, including the wait for another instance that runs them, in ms. Large tables take long. */
const MIGRATION_TIMEOUT_MS = 10 * 60_000;

/** Key of the advisory lock: any number, the same in every instance. */
export const MIGRATION_LOCK = '7310868735423029113';

async function single(connection: Connection, text: string, values: readonly (string | null)[] = []): Promise<string | null> {
  const { rows } = await connection.query(text, values);
  return rows[0]?.[0] ?? null;
}

/** Returns the version of the catalog; 0 if there is none. */
export async function storedVersion(connection: Connection): Promise<number> {
  if ((await single(connection, `select to_regclass('svc_catalog.catalog_version')::text`)) === null) return 0;
  return Number((await single(connection, 'select version from svc_catalog.catalog_version')) ?? 0);
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
 * Upgrades the catalog to this service's version. Instances that start at the same time wait for the first.
 * @throws SvcError `not-supported` if the catalog has a newer version
 */
export async function migrate(database: Source, migrations: readonly string[] = MIGRATIONS): Promise<void> {
  await database.transaction({ isolation: 'read-committed', ...statementDeadline(MIGRATION_TIMEOUT_MS) }, async (connection) => {
    await connection.query(`select pg_advisory_xact_lock(${MIGRATION_LOCK})`, []);
    const version = await storedVersion(connection);
    if (version > migrations.length) {
      throw new SvcError(
        'not-supported',
        `the metadata database has catalog version ${version}, and this service supports versions up to ${migrations.length}: start a newer version of the service`,
      );
    }
    if (version === migrations.length) return;
    if (version === 0) await prepare(connection);
    for (const migration of migrations.slice(version)) await connection.runSql(migration, {});
    await connection.query(
      'insert into svc_catalog.catalog_version (version) values ($1::int) on conflict (id) do update set version = excluded.version, upgraded_at = now()',
      [String(migrations.length)],
    );
  });
}
