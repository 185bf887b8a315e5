/**
 * Tables of events, in a database `svc_catalog` next to those of the sources, created with the first event trigger. Released migrations
 * are never changed; a change is a new migration. Each can run again, because DDL cannot be rolled back.
 */
import { readTableVersion, type TableVersion } from '../../../backend/table-version.ts';
import { SvcError } from '../../../errors/svc-error.ts';
import { unlessMissing } from '../../shared/capture/event-log.ts';
import { isEventMigrationDue } from '../../shared/capture/install.ts';
import { type EventDatabase, isMissing, type SourceQuery } from './work.ts';
import type { RunSqlResult } from '../../../backend/connection.ts';

const TABLE = 'engine = innodb default character set utf8mb4 collate utf8mb4_bin';

const TABLES: readonly string[] = [
  `create table if not exists svc_catalog.event_log (
    -- in the order in which the events of a row were created
    place bigint unsigned not null auto_increment primary key,
    id char(36) not null default uuid(),
    -- connected database of the source
    source_database varchar(64) not null,
    schema_name varchar(64) not null,
    table_name varchar(64) not null,
    trigger_name varchar(64) not null,
    payload longtext not null,
    delivered boolean not null default false,
    error boolean not null default false,
    tries int not null default 0,
    created_at datetime(6) not null default utc_timestamp(6),
    -- start of the current delivery
    locked datetime(6),
    next_retry_at datetime(6),
    archived boolean not null default false,
    -- events with the same key are delivered in order; null for any order
    order_key bigint,
    -- instance that delivers it, and until when. An event with an end but no holder waits for an earlier one.
    lease_holder varchar(64),
    lease_until datetime(6),
    -- next delivery or end of the lease; null if delivered or failed
    due datetime(6) as (if(delivered or error or archived, null,
      greatest(coalesce(lease_until, created_at), coalesce(next_retry_at, created_at)))) persistent,
    -- key of an undelivered event, for which later ones wait
    open_key bigint as (if(delivered or error or archived, null, order_key)) persistent,
    size int unsigned as (octet_length(payload)) persistent,
    unique key by_id (id),
    key queue (source_database, trigger_name, due),
    key ordered (source_database, trigger_name, open_key, place),
    key leased (source_database, trigger_name, lease_until),
    key told (source_database, trigger_name, created_at)
  ) ${TABLE}`,
  `create table if not exists svc_catalog.event_invocation_logs (
    place bigint unsigned not null auto_increment primary key,
    id char(36) not null default uuid(),
    source_database varchar(64) not null,
    trigger_name varchar(64),
    event_id char(36),
    status int,
    request longtext,
    response longtext,
    created_at datetime(6) not null default utc_timestamp(6),
    unique key by_id (id),
    key of_event (event_id, created_at),
    key told (source_database, trigger_name, created_at)
  ) ${TABLE}`,
  `create table if not exists svc_catalog.svc_event_log_cleanups (
    id char(36) not null default uuid() primary key,
    source_database varchar(64) not null,
    trigger_name varchar(64) not null,
    scheduled_at datetime not null,
    started_at datetime(6),
    deleted_event_logs int,
    deleted_event_invocation_logs int,
    status varchar(10) not null default 'scheduled' check (status in ('scheduled', 'running', 'paused', 'completed', 'dead')),
    unique key planned (source_database, trigger_name, scheduled_at),
    key due (source_database, status, scheduled_at)
  ) ${TABLE}`,
  // Rows are locked while events are taken from a trigger queue with a limit for all instances.
  `create table if not exists svc_catalog.event_lanes (
    source_database varchar(64) not null, trigger_name varchar(64) not null, primary key (source_database, trigger_name)
  ) ${TABLE}`,
  // Owners of triggers; users may not see each other's triggers.
  `create table if not exists svc_catalog.event_owners (
    owner_key binary(32) not null primary key,
    owner text not null,
    since datetime not null default utc_timestamp()
  ) ${TABLE}`,
];

/** Migration n leads to version n + 1. */
const MIGRATIONS: readonly (readonly string[])[] = [TABLES];

/** Version of the oldest service that can use these tables: raised by a migration that removes or changes something. */
const OLDEST_READER = 1;

const VERSION_TABLE = `create table if not exists svc_catalog.svc_source_catalog_version (
  id int not null default 1 primary key check (id = 1), version int not null, upgraded_on datetime not null default utc_timestamp()
) ${TABLE}`;

/** All tables, in the order in which they can be dropped. */
export const EVENT_TABLES = [
  'event_log',
  'event_invocation_logs',
  'svc_event_log_cleanups',
  'event_lanes',
  'event_owners',
  'svc_source_catalog_version',
] as const;

/** Maximum wait for other instances that create the tables, in seconds. */
const MIGRATION_LOCK_S = 30;

/**
 * Idle timeout of the session that holds the lock, in seconds. Its statements follow each other at once, so the server ends only the
 * session of a frozen instance.
 */
const IDLE_S = 20;

/**
 * Locks DDL on `svc_catalog` and triggers against other instances, until the session ends.
 * @param seconds maximum wait for the lock
 * @throws SvcError busy if another instance holds it for longer
 */
export async function lockEventCatalog(define: (text: string) => Promise<RunSqlResult>, seconds = MIGRATION_LOCK_S): Promise<void> {
  await define(`set session wait_timeout = ${IDLE_S}, idle_transaction_timeout = ${IDLE_S}`);
  const { rows } = await define(`select get_lock('svc_catalog', ${seconds})`);
  if (rows[0]?.[0] !== '1') throw new SvcError('busy', 'another service is changing the event tables or triggers in the database');
}

/** Returns the version of the tables of events, or 0 if there are none. */
export async function eventCatalogVersion(query: SourceQuery): Promise<number> {
  return unlessMissing({ isMissing }, 0, async () => {
    const { rows } = await query('select version from svc_catalog.svc_source_catalog_version', []);
    return Number(rows[0]?.[0] ?? 0);
  });
}

/** Returns the version of the tables of events. Those of services without oldest readers lack the column. */
async function eventTables(query: SourceQuery): Promise<TableVersion> {
  const version = await eventCatalogVersion(query);
  if (version <= MIGRATIONS.length) return { version, oldestReader: version };
  const { rows } = await query(
    `select count(*) from information_schema.columns
     where table_schema = 'svc_catalog' and table_name = 'svc_source_catalog_version' and column_name = 'oldest_reader'`,
    [],
  );
  if (rows[0]?.[0] === '0') return readTableVersion(String(version), null);
  const stored = await query('select version, oldest_reader from svc_catalog.svc_source_catalog_version', []);
  return readTableVersion(stored.rows[0]?.[0], stored.rows[0]?.[1]);
}

/** Returns whether all tables exist. */
async function isComplete(query: SourceQuery): Promise<boolean> {
  const names = EVENT_TABLES.map((name) => `'${name}'`).join(', ');
  const { rows } = await query(
    `select count(*) from information_schema.tables where table_schema = 'svc_catalog' and table_name in (${names})`,
    [],
  );
  return Number(rows[0]?.[0]) === EVENT_TABLES.length;
}

/** Returns the version from which the tables have to be migrated; `null` if they are up to date, or of a newer service. */
async function dueVersion(query: SourceQuery): Promise<number | null> {
  const stored = await eventTables(query);
  if (isEventMigrationDue(stored, MIGRATIONS.length)) return (await isComplete(query)) ? stored.version : 0;
  // A newer service recreates its own tables.
  return stored.version > MIGRATIONS.length || (await isComplete(query)) ? null : 0;
}

/**
 * Migrates the tables to this version and restores dropped ones. Instances that start together wait for the first.
 * @throws SvcError `not-supported` if the tables require a newer service
 */
export async function migrateEvents(database: EventDatabase): Promise<void> {
  if ((await dueVersion(database.query)) === null) return;
  await database.define(async (define) => {
    await lockEventCatalog(define);
    const version = await dueVersion(database.query);
    if (version === null) return;
    const { rows } = await define(`select 1 from information_schema.schemata where schema_name = 'svc_catalog'`);
    // "if not exists" would need the privilege to create the database even if it exists.
    if (rows.length === 0) await define('create database svc_catalog character set utf8mb4 collate utf8mb4_bin');
    await define(VERSION_TABLE);
    for (const migration of MIGRATIONS.slice(version)) for (const text of migration) await define(text);
    await define('alter table svc_catalog.svc_source_catalog_version add column if not exists oldest_reader int');
    await define(
      `replace into svc_catalog.svc_source_catalog_version (id, version, oldest_reader) values (1, ${MIGRATIONS.length}, ${OLDEST_READER})`,
    );
  });
}
