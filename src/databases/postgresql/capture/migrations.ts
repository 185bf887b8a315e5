/**
 * The tables of events in the schema `svc_catalog` of a source, created with the first event trigger. Released migrations never change: a
 * change is a new migration. They require only the privilege to create a schema.
 */
import { readTableVersion, type TableVersion } from '../../../backend/table-version.ts';
import { identifier, print, type Sql, sql, string } from '../../../sql/fragment.ts';
import { isEventMigrationDue } from '../../shared/capture/install.ts';
import { dialect } from '../compile/dialect.ts';
import { DUE, PENDING } from './names.ts';
import type { Statements } from './time-limits.ts';

/** First version with a function for UUIDs that begin with the time. */
const UUIDS_OF_TIMES = 180000;
/** First version with a function for random UUIDs; earlier ones need an extension. */
const CORE_UUIDS = 130000;

const TABLES = `
  create table if not exists svc_catalog.event_log (
    id text primary key default svc_catalog.gen_svc_uuid(),
    schema_name text not null,
    table_name text not null,
    trigger_name text not null,
    payload jsonb not null,
    delivered boolean not null default false,
    error boolean not null default false,
    tries integer not null default 0,
    created_at timestamp not null default (now() at time zone 'utc'),
    -- time at which the lease began
    locked timestamptz,
    next_retry_at timestamp,
    archived boolean not null default false,
    -- grows in the order in which events of one row were created
    place bigint generated always as identity,
    -- events with the same key are delivered one after another; null if the order does not matter
    order_key bigint,
    -- instance that delivers it, and end of the lease. An event with an end but no holder waits for an earlier one.
    lease_holder text,
    lease_until timestamp
  );
  -- Pending events by trigger and time. Ordered and other events have separate indexes, because they are searched differently.
  create index if not exists event_log_queue on svc_catalog.event_log (trigger_name, (${DUE})) where ${PENDING} and order_key is null;
  create index if not exists event_log_ordered_queue on svc_catalog.event_log (trigger_name, (${DUE})) where ${PENDING} and order_key is not null;
  create index if not exists event_log_order on svc_catalog.event_log (trigger_name, order_key, place) where ${PENDING} and order_key is not null;
  create index if not exists event_log_leased on svc_catalog.event_log (trigger_name) where lease_holder is not null;
  create index if not exists event_log_trigger_name_created_at on svc_catalog.event_log (trigger_name, created_at);

  create table if not exists svc_catalog.event_invocation_logs (
    id text primary key default svc_catalog.gen_svc_uuid(),
    trigger_name text,
    event_id text,
    status integer,
    request json,
    response json,
    created_at timestamp not null default (now() at time zone 'utc')
  );
  create index if not exists event_invocation_logs_event_id on svc_catalog.event_invocation_logs (event_id);
  create index if not exists event_invocation_logs_trigger_name_created_at on svc_catalog.event_invocation_logs (trigger_name, created_at);

  create table if not exists svc_catalog.svc_event_log_cleanups (
    id text primary key default svc_catalog.gen_svc_uuid(),
    trigger_name text not null,
    scheduled_at timestamp not null,
    deleted_event_logs integer,
    deleted_event_invocation_logs integer,
    status text not null default 'scheduled' check (status in ('scheduled', 'running', 'paused', 'completed', 'dead')),
    unique (trigger_name, scheduled_at)
  );

  -- 2 while an instance waits for notifications of new events. A sequence, because its value is visible to all transactions at once.
  create sequence if not exists svc_catalog.event_waiting minvalue 1 maxvalue 2;

  -- Creates an event without a change of a row.
  create or replace function svc_catalog.insert_event_log(schema_name text, table_name text, trigger_name text, op text, row_data json,
    session_variables jsonb default null, trace_context jsonb default null)
  returns text language plpgsql as $$
  declare
    event_id text;
  begin
    insert into svc_catalog.event_log (schema_name, table_name, trigger_name, payload)
      values (schema_name, table_name, trigger_name, jsonb_build_object(
        'op', op, 'data', row_data, 'session_variables', session_variables, 'trace_context', trace_context))
      returning id into event_id;
    if pg_sequence_last_value('svc_catalog.event_waiting'::regclass) = 2 then
      perform pg_notify('svc_event_log', '');
    end if;
    return event_id;
  end
  $$;
  revoke all on function svc_catalog.insert_event_log(text, text, text, text, json, jsonb, jsonb) from public;
`;

const STARTS_OF_CLEANUPS = `
  -- When a run was taken: one that takes longer than any may was left by an instance that is gone.
  alter table svc_catalog.svc_event_log_cleanups add column if not exists started_at timestamp;
`;

/**
 * Migration n leads to version n. Each may run again if some of its objects have been dropped. Objects that depend on the server precede
 * them.
 */
const MIGRATIONS: readonly string[] = [TABLES, STARTS_OF_CLEANUPS];

/** Version of the oldest service that can use these tables: raised by a migration that removes or changes something. */
const OLDEST_READER = 2;

/** Advisory lock, the same as for the tables of the metadata: in one database they share the schema. */
export const EVENT_CATALOG_LOCK = '7310868735423029113';

async function single(connection: Statements, text: string): Promise<string | null> {
  const { rows } = await connection.query(text, []);
  return rows[0]?.[0] ?? null;
}

// These read the catalog: within a transaction, a lookup by name may cache that the object does not exist.
const FIND_SCHEMA = `select nspname from pg_namespace where nspname = 'svc_catalog'`;
const FIND_VERSION = `select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = 'svc_catalog' and c.relname = 'svc_source_catalog_version'`;

async function eventTables(connection: Statements): Promise<TableVersion> {
  if ((await single(connection, FIND_VERSION)) === null) return readTableVersion(null, null);
  const { rows } = await connection.query(
    `select version, to_jsonb(v) ->> 'oldest_reader' from svc_catalog.svc_source_catalog_version v`,
    [],
  );
  return readTableVersion(rows[0]?.[0], rows[0]?.[1]);
}

/** Returns the version of the tables of events; 0 if they do not exist. */
export async function eventCatalogVersion(connection: Statements): Promise<number> {
  return (await eventTables(connection)).version;
}

const RELATIONS = ['event_log', 'event_invocation_logs', 'svc_event_log_cleanups', 'event_waiting', 'svc_source_catalog_version'];
const FUNCTIONS = ['gen_svc_uuid', 'insert_event_log'];
const COUNT_PARTS = `select
  (select count(*) from pg_class where relnamespace = n.oid and relname in (${RELATIONS.map((name) => `'${name}'`).join(', ')})) +
  (select count(*) from pg_proc where pronamespace = n.oid and proname in (${FUNCTIONS.map((name) => `'${name}'`).join(', ')}))
  from pg_namespace n where n.nspname = 'svc_catalog'`;

/** Returns whether all tables and functions exist. */
async function isWhole(connection: Statements): Promise<boolean> {
  return Number(await single(connection, COUNT_PARTS)) >= RELATIONS.length + FUNCTIONS.length;
}

/** Returns the version from which the tables have to be migrated; `null` if they are up to date, or of a newer service. */
async function dueVersion(connection: Statements): Promise<number | null> {
  const stored = await eventTables(connection);
  if (isEventMigrationDue(stored, MIGRATIONS.length)) return (await isWhole(connection)) ? stored.version : 0;
  // A newer service recreates its own tables.
  return stored.version > MIGRATIONS.length || (await isWhole(connection)) ? null : 0;
}

/**
 * Returns whether `migrateEvents` has something to do.
 * @throws SvcError `not-supported` if the tables require a newer service
 */
export async function isEventMigrationPending(connection: Statements): Promise<boolean> {
  return (await dueVersion(connection)) !== null;
}

/**
 * Upgrades the tables to this service's version and recreates dropped ones, in a transaction. Concurrent instances wait for the first one,
 * before they read a table: a lock on what the first one changes would be a deadlock.
 * @throws SvcError `not-supported` if the tables require a newer service
 */
export async function migrateEvents(connection: Statements, extensionsSchema: string): Promise<void> {
  await connection.query(`select pg_advisory_xact_lock(${EVENT_CATALOG_LOCK})`, []);
  const version = await dueVersion(connection);
  if (version === null) return;
  if (version === 0) await prepare(connection);
  await makeIds(connection, extensionsSchema);
  for (const migration of MIGRATIONS.slice(version)) await connection.runSql(migration, {});
  await connection.query('alter table svc_catalog.svc_source_catalog_version add column if not exists oldest_reader int', []);
  await connection.query(
    `insert into svc_catalog.svc_source_catalog_version (version, oldest_reader) values ($1::int, $2::int)
     on conflict (id) do update set version = excluded.version, oldest_reader = excluded.oldest_reader, upgraded_on = now()`,
    [String(MIGRATIONS.length), String(OLDEST_READER)],
  );
}

async function prepare(connection: Statements): Promise<void> {
  // "if not exists" would need the privilege to create schemas even when it exists.
  if ((await single(connection, FIND_SCHEMA)) === null) await connection.query('create schema svc_catalog', []);
  await connection.query(
    'create table if not exists svc_catalog.svc_source_catalog_version (id int primary key default 1 check (id = 1), version int not null, upgraded_on timestamptz not null default now())',
    [],
  );
}

/**
 * Creates the function for the IDs of events: UUIDs that begin with the time, so that events of the same time are adjacent in indexes. It
 * is inlined into statements with any search path.
 */
async function makeIds(connection: Statements, extensionsSchema: string): Promise<void> {
  const isNew = Number(await single(connection, `select current_setting('server_version_num')`)) >= UUIDS_OF_TIMES;
  const id = isNew ? sql`pg_catalog.uuidv7()::pg_catalog.text` : timedUuid(await randomUuid(connection, extensionsSchema));
  const body = print(sql`select ${id}`, dialect).text;
  const make = sql`create or replace function svc_catalog.gen_svc_uuid() returns text language sql volatile as ${string(body)}`;
  await connection.query(print(make, dialect).text, []);
}

/** A random UUID with the milliseconds since 1970 in place of its first 48 bits. */
function timedUuid(random: Sql): Sql {
  const seconds = sql`pg_catalog.date_part('epoch', pg_catalog.clock_timestamp())`;
  const hex = sql`pg_catalog.lpad(pg_catalog.to_hex(pg_catalog.float8mul(${seconds}, 1000)::pg_catalog.int8), 12, '0')`;
  return sql`pg_catalog.overlay(${random}()::pg_catalog.text, pg_catalog.overlay(${hex}, '-', 9, 0), 1, 13)`;
}

/** Returns the function for random UUIDs. Creates an extension only if the database has no such function. */
async function randomUuid(connection: Statements, extensionsSchema: string): Promise<Sql> {
  if (Number(await single(connection, `select current_setting('server_version_num')`)) >= CORE_UUIDS)
    return sql`pg_catalog.gen_random_uuid`;
  const find = `select n.nspname from pg_proc p join pg_namespace n on n.oid = p.pronamespace where p.proname = 'gen_random_uuid' and p.pronargs = 0 limit 1`;
  let schema = await single(connection, find);
  if (schema === null) {
    await connection.query(print(sql`create extension if not exists pgcrypto schema ${identifier(extensionsSchema)}`, dialect).text, []);
    schema = await single(connection, find);
  }
  return sql`${identifier(schema ?? extensionsSchema)}.gen_random_uuid`;
}
