/**
 * The tables of events, in a database `svc_catalog` beside those of the sources, made with the first event trigger. A migration that has been
 * released is never changed: a change is a further one. Each may run again, because definitions cannot be taken back.
 */
import { SvcError } from '../../../errors/svc-error.ts';
import { orNothing, type EventDatabase, type Query } from './work.ts';
import type { RunSqlResult } from '../../../backend/connection.ts';

const TABLE = 'engine = innodb default character set utf8mb4 collate utf8mb4_bin';

const TABLES: readonly string[] = [
  `create table if not exists svc_catalog.event_log (
    -- in the order in which events of one row were made
    place bigint unsigned not null auto_increment primary key,
    id char(36) not null default uuid(),
    -- the one that the source is connected to
    source_database varchar(64) not null,
    schema_name varchar(64) not null,
    table_name varchar(64) not null,
    trigger_name varchar(64) not null,
    payload longtext not null,
    delivered boolean not null default false,
    error boolean not null default false,
    tries int not null default 0,
    created_at datetime(6) not null default utc_timestamp(6),
    -- since when somebody is at it
    locked datetime(6),
    next_retry_at datetime(6),
    archived boolean not null default false,
    -- events with the same key are delivered one after another; null: in any order
    order_key bigint,
    -- who is at it, and until when. An event with an end and nobody at it waits for an earlier one.
    lease_holder varchar(64),
    lease_until datetime(6),
    -- when it is to be delivered, or its lease ends; null: it is delivered or given up
    due datetime(6) as (if(delivered or error or archived, null,
      greatest(coalesce(lease_until, created_at), coalesce(next_retry_at, created_at)))) persistent,
    -- what others wait for: null where nothing does
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
  // Locked while events are taken from a lane that is bounded over all instances.
  `create table if not exists svc_catalog.event_lanes (
    source_database varchar(64) not null, trigger_name varchar(64) not null, primary key (source_database, trigger_name)
  ) ${TABLE}`,
  // Who has triggers: not all of them need be seen by everybody.
  `create table if not exists svc_catalog.event_owners (
    owner_key binary(32) not null primary key,
    owner text not null,
    since datetime not null default utc_timestamp()
  ) ${TABLE}`,
];

/** Migration n leads to version n + 1. */
const MIGRATIONS: readonly (readonly string[])[] = [TABLES];

const VERSION_TABLE = `create table if not exists svc_catalog.svc_source_catalog_version (
  id int not null default 1 primary key check (id = 1), version int not null, upgraded_on datetime not null default utc_timestamp()
) ${TABLE}`;

/** All that is here, in the order in which it may go. */
export const EVENT_TABLES = [
  'event_log',
  'event_invocation_logs',
  'svc_event_log_cleanups',
  'event_lanes',
  'event_owners',
  'svc_source_catalog_version',
] as const;

/** Maximum wait for other instances that make the tables. seconds */
const MIGRATION_LOCK_S = 30;

/**
 * Maximum pause between statements of a session that has the lock: its statements follow one another at once, and the server ends the
 * session of an instance that stands still in it. seconds
 */
const IDLE_S = 20;

/**
 * For all that define something in `svc_catalog`, or triggers, of all instances; held until the session ends.
 * @param seconds maximum wait for the lock
 * @throws SvcError busy, when others have it for longer
 */
export async function lock(define: (text: string) => Promise<RunSqlResult>, seconds = MIGRATION_LOCK_S): Promise<void> {
  await define(`set session wait_timeout = ${IDLE_S}, idle_transaction_timeout = ${IDLE_S}`);
  const { rows } = await define(`select get_lock('svc_catalog', ${seconds})`);
  if (rows[0]?.[0] !== '1') throw new SvcError('busy', 'another service is changing what event triggers have in the database');
}

/** The version of the tables of events, 0 when there are none. */
export async function eventCatalogVersion(query: Query): Promise<number> {
  return orNothing(0, async () => {
    const { rows } = await query('select version from svc_catalog.svc_source_catalog_version', []);
    return Number(rows[0]?.[0] ?? 0);
  });
}

/** Whether nobody has taken away anything of the tables. */
async function isWhole(query: Query): Promise<boolean> {
  const names = EVENT_TABLES.map((name) => `'${name}'`).join(', ');
  const { rows } = await query(
    `select count(*) from information_schema.tables where table_schema = 'svc_catalog' and table_name in (${names})`,
    [],
  );
  return Number(rows[0]?.[0]) === EVENT_TABLES.length;
}

/**
 * Brings the tables to this service's version and puts back what others have taken away. Instances that start together wait for the first.
 * @throws SvcError `not-supported` when they are of a newer service
 */
export async function migrateEvents(database: EventDatabase): Promise<void> {
  if (isCurrent(await eventCatalogVersion(database.query)) && (await isWhole(database.query))) return;
  await database.define(async (define) => {
    await lock(define);
    const known = await eventCatalogVersion(database.query);
    const whole = await isWhole(database.query);
    if (isCurrent(known) && whole) return;
    const { rows } = await define(`select 1 from information_schema.schemata where schema_name = 'svc_catalog'`);
    // "if not exists" would need the privilege to create it even when it exists.
    if (rows.length === 0) await define('create database svc_catalog character set utf8mb4 collate utf8mb4_bin');
    await define(VERSION_TABLE);
    for (const migration of MIGRATIONS.slice(whole ? known : 0)) for (const text of migration) await define(text);
    await define(`replace into svc_catalog.svc_source_catalog_version (id, version) values (1, ${MIGRATIONS.length})`);
  });
}

function isCurrent(version: number): boolean {
  if (version <= MIGRATIONS.length) return version === MIGRATIONS.length;
  throw new SvcError(
    'not-supported',
    `the tables of events have version ${version}; this service knows versions up to ${MIGRATIONS.length}: start a newer one`,
  );
}
