/**
 * The tables of the service in the metadata database, schema `svc_catalog`. A migration that has
 * been released is never changed: a change is a further one.
 */
import type { Source } from '../backend/backend.ts';
import { SvcError } from '../errors/svc-error.ts';
import { soon } from './soon.ts';
import type { Connection } from '../backend/connection.ts';

/** Migration n leads to catalog version n + 1. */
const MIGRATIONS: readonly string[] = [
  `
  create table svc_catalog.metadata_version (
    id int primary key default 1 check (id = 1),
    resource_version bigint not null,
    -- every change after this version is still known: see metadata_piece
    complete_since bigint not null
  );
  insert into svc_catalog.metadata_version (resource_version, complete_since) values (1, 1);

  -- One row per object of the metadata. A row whose definition is null says that the object was
  -- removed; such rows are kept for a while, so that other instances can follow.
  create table svc_catalog.metadata_piece (
    kind text collate "C" not null,
    source text collate "C" not null,
    key text collate "C" not null,
    -- json, not jsonb: the text of numbers stays as it was written
    definition json,
    changed_at_version bigint not null,
    primary key (kind, source, key)
  );
  create index on svc_catalog.metadata_piece (changed_at_version);

  -- Who made a version, and what the other instances must read again besides changed pieces.
  create table svc_catalog.metadata_notice (
    resource_version bigint primary key,
    instance_id text not null,
    refresh json,
    created_at timestamptz not null default now()
  );
  `,
  `
  -- What tools remember; one row, whose id names this metadata database.
  create table svc_catalog.catalog_state (
    id uuid primary key,
    cli_state json not null default '{}',
    console_state json not null default '{}'
  );
  -- gen_random_uuid() is not in every version of the database
  insert into svc_catalog.catalog_state (id) values (md5(random()::text || clock_timestamp()::text || current_database())::uuid);
  `,
  `
  -- Remote schemas were one section without effect; now each is a piece of its own. A section that is not
  -- made of remote schemas stays without effect.
  create temporary table kept_remote_schema on commit drop as
    select e.value as definition, e.value ->> 'name' as name, p.changed_at_version,
      json_typeof(e.value -> 'name') = 'string' and e.value ->> 'name' <> '' and json_typeof(e.value -> 'definition') = 'object'
        and (e.value #>> '{definition,url}' is null) <> (e.value #>> '{definition,url_from_env}' is null) as is_one
    from svc_catalog.metadata_piece p,
      json_array_elements(case json_typeof(p.definition) when 'array' then p.definition else '[]' end) e
    where p.kind = 'section' and p.key = 'remote_schemas';
  delete from kept_remote_schema where not (select bool_and(coalesce(is_one, false)) from kept_remote_schema);
  insert into svc_catalog.metadata_piece (kind, source, key, definition, changed_at_version)
    select distinct on (name) 'remote_schema', '', name, definition, changed_at_version from kept_remote_schema;
  update svc_catalog.metadata_piece set definition = null
    where kind = 'section' and key = 'remote_schemas' and exists (select from kept_remote_schema);

  -- What a remote schema last said of itself, so that the service starts while it is down.
  create table svc_catalog.remote_schema_introspection (
    name text collate "C" primary key,
    -- which server this was, and how it was asked
    server text not null,
    introspection text not null,
    read_at timestamptz not null default now()
  );
  `,
  `
  -- Actions were a section without effect; now each is a piece of its own. A section that is not made of
  -- actions stays without effect.
  create temporary table kept_action on commit drop as
    select e.value as definition, e.value ->> 'name' as name, p.changed_at_version,
      json_typeof(e.value -> 'name') = 'string' and e.value ->> 'name' ~ '^[_A-Za-z][_0-9A-Za-z]*$'
        and json_typeof(e.value #> '{definition,handler}') = 'string' and e.value #>> '{definition,handler}' <> ''
        and json_typeof(e.value #> '{definition,output_type}') = 'string' as is_one
    from svc_catalog.metadata_piece p,
      json_array_elements(case json_typeof(p.definition) when 'array' then p.definition else '[]' end) e
    where p.kind = 'section' and p.key = 'actions';
  delete from kept_action where not (select bool_and(coalesce(is_one, false)) from kept_action);
  insert into svc_catalog.metadata_piece (kind, source, key, definition, changed_at_version)
    select distinct on (name) 'action', '', name, definition, changed_at_version from kept_action;
  update svc_catalog.metadata_piece set definition = null
    where kind = 'section' and key = 'actions' and exists (select from kept_action);
  `,
  `
  -- Cron triggers were one section without effect; now each is a piece of its own. A section with anything else than
  -- plain cron triggers in it stays without effect.
  create temporary table kept_cron_trigger on commit drop as
    select e.value as definition, e.value ->> 'name' as name, p.changed_at_version,
      json_typeof(e.value -> 'name') = 'string' and e.value ->> 'name' <> ''
        and json_typeof(e.value -> 'webhook') = 'string' and e.value ->> 'webhook' <> ''
        and json_typeof(e.value -> 'include_in_metadata') = 'boolean'
        and e.value ->> 'schedule' ~ '^([*]|[1-5]?[0-9])(/[1-9])? ([*]|1?[0-9])(/[1-9])? ([*]|[12]?[1-9])(/[1-9])? ([*]|[1-9])(/[1-9])? ([*]|[0-6])$'
        and (e.value -> 'retry_conf') is null and (e.value -> 'headers') is null
        and (e.value -> 'request_transform') is null and (e.value -> 'response_transform') is null and (e.value -> 'signature') is null
        and coalesce(json_typeof(e.value -> 'comment'), 'null') in ('null', 'string') as is_one
    from svc_catalog.metadata_piece p,
      json_array_elements(case json_typeof(p.definition) when 'array' then p.definition else '[]' end) e
    where p.kind = 'section' and p.key = 'cron_triggers';
  delete from kept_cron_trigger where not (select bool_and(coalesce(is_one, false)) from kept_cron_trigger);
  insert into svc_catalog.metadata_piece (kind, source, key, definition, changed_at_version)
    select distinct on (name) 'cron_trigger', '', name, definition, changed_at_version from kept_cron_trigger;
  update svc_catalog.metadata_piece set definition = null
    where kind = 'section' and key = 'cron_triggers' and exists (select from kept_cron_trigger);

  -- The lease is who works on an event and until when; then it is free again.
  create table svc_catalog.svc_cron_events (
    id text primary key,
    trigger_name text not null,
    scheduled_time timestamptz not null,
    status text not null default 'scheduled' check (status in ('scheduled', 'locked', 'delivered', 'error', 'dead')),
    tries int not null default 0,
    created_at timestamptz not null default now(),
    next_retry_at timestamptz,
    lease_holder text,
    lease_until timestamptz
  );
  create unique index on svc_catalog.svc_cron_events (trigger_name, scheduled_time) where status in ('scheduled', 'locked');
  create index on svc_catalog.svc_cron_events (trigger_name, (coalesce(lease_until, next_retry_at, scheduled_time))) where status in ('scheduled', 'locked');
  create index on svc_catalog.svc_cron_events (trigger_name, scheduled_time);
  create table svc_catalog.svc_cron_event_invocation_logs (
    id text primary key,
    event_id text not null references svc_catalog.svc_cron_events on delete cascade,
    status int,
    request json,
    response json,
    created_at timestamptz not null default now()
  );
  create index on svc_catalog.svc_cron_event_invocation_logs (event_id, created_at);

  create table svc_catalog.svc_scheduled_events (
    id text primary key,
    webhook_conf json not null,
    scheduled_time timestamptz not null,
    retry_conf json,
    payload json,
    header_conf json,
    status text not null default 'scheduled' check (status in ('scheduled', 'locked', 'delivered', 'error', 'dead')),
    tries int not null default 0,
    created_at timestamptz not null default now(),
    next_retry_at timestamptz,
    comment text,
    signature json,
    lease_holder text,
    lease_until timestamptz
  );
  create index on svc_catalog.svc_scheduled_events ((coalesce(lease_until, next_retry_at, scheduled_time))) where status in ('scheduled', 'locked');
  create index on svc_catalog.svc_scheduled_events (scheduled_time);
  create table svc_catalog.svc_scheduled_event_invocation_logs (
    id text primary key,
    event_id text not null references svc_catalog.svc_scheduled_events on delete cascade,
    status int,
    request json,
    response json,
    created_at timestamptz not null default now()
  );
  create index on svc_catalog.svc_scheduled_event_invocation_logs (event_id, created_at);
  `,
  `
  -- Calls of asynchronous actions. What clients and handlers wrote is json, not jsonb, which changes the order
  -- of keys and has no U+0000.
  create table svc_catalog.svc_action_log (
    id uuid primary key default (md5(random()::text || clock_timestamp()::text || random()::text)::uuid),
    action_name text collate "C" not null,
    input_payload json not null,
    request_headers jsonb not null,
    session_variables jsonb not null,
    response_payload json,
    errors json,
    created_at timestamptz not null default now(),
    response_received_at timestamptz,
    status text not null default 'created' check (status in ('created', 'processing', 'completed', 'error')),
    tries int not null default 0,
    due_at timestamptz not null default now(),
    -- which instance makes the call, and until when it may
    lease_holder text,
    lease_until timestamptz
  );
  create index on svc_catalog.svc_action_log (action_name, due_at) where status in ('created', 'processing');
  create index on svc_catalog.svc_action_log (response_received_at) where status in ('completed', 'error');
  `,
  `
  -- An occurrence of a cron trigger has one event, whatever its state. Where there are more, the one that has come furthest stays, with the
  -- attempts of all. Events of triggers that were deleted go.
  lock table svc_catalog.svc_cron_events in access exclusive mode;
  delete from svc_catalog.svc_cron_events e where not exists (
    select from svc_catalog.metadata_piece p where p.kind = 'cron_trigger' and p.key = e.trigger_name and p.definition is not null);
  create temporary table surplus_cron_event on commit drop as
    select id, kept from (
      select id, first_value(id) over (partition by trigger_name, scheduled_time
        order by array_position(array['delivered', 'locked', 'scheduled', 'error', 'dead'], status), tries desc, created_at, id) as kept
      from svc_catalog.svc_cron_events) e
    where id <> kept;
  update svc_catalog.svc_cron_event_invocation_logs l set event_id = s.kept from surplus_cron_event s where s.id = l.event_id;
  delete from svc_catalog.svc_cron_events e using surplus_cron_event s where s.id = e.id;
  drop index if exists svc_catalog.svc_cron_events_trigger_name_scheduled_time_idx, svc_catalog.svc_cron_events_trigger_name_scheduled_time_idx1;
  create unique index svc_cron_events_occurrence on svc_catalog.svc_cron_events (trigger_name, scheduled_time);

  -- Occurrences up to made_until have been made, also where their events are no longer there.
  create table svc_catalog.svc_cron_progress (
    trigger_name text primary key,
    -- the made_until that the last hundred were made behind
    made_since timestamptz not null,
    made_until timestamptz not null
  );
  insert into svc_catalog.svc_cron_progress
    select trigger_name, max(scheduled_time), max(scheduled_time) from svc_catalog.svc_cron_events group by trigger_name;
  `,
];

export const CATALOG_VERSION = MIGRATIONS.length;

/** For all migrations of large tables, and for another instance that makes them. ms */
const PATIENCE_MS = 10 * 60_000;

/** Any number; the same in every instance. */
export const MIGRATION_LOCK = '7310868735423029113';

async function single(connection: Connection, text: string, values: readonly (string | null)[] = []): Promise<string | null> {
  const { rows } = await connection.query(text, values);
  return rows[0]?.[0] ?? null;
}

/** The version of the catalog, 0 for none. */
export async function storedVersion(connection: Connection): Promise<number> {
  if ((await single(connection, `select to_regclass('svc_catalog.catalog_version')::text`)) === null) return 0;
  return Number((await single(connection, 'select version from svc_catalog.catalog_version')) ?? 0);
}

async function prepare(connection: Connection): Promise<void> {
  // "if not exists" would need the privilege to create schemas even when it exists.
  if ((await single(connection, `select to_regnamespace('svc_catalog')::text`)) === null)
    await connection.query('create schema svc_catalog', []);
  await connection.query(
    'create table svc_catalog.catalog_version (id int primary key default 1 check (id = 1), version int not null, upgraded_at timestamptz not null default now())',
    [],
  );
}

/**
 * Brings the catalog to this service's version. Instances that start together wait for the first.
 * @throws SvcError `not-supported` when the catalog is of a newer service
 */
export async function migrate(database: Source, migrations: readonly string[] = MIGRATIONS): Promise<void> {
  await database.transaction({ isolation: 'read-committed', ...soon(PATIENCE_MS) }, async (connection) => {
    await connection.query(`select pg_advisory_xact_lock(${MIGRATION_LOCK})`, []);
    const version = await storedVersion(connection);
    if (version > migrations.length) {
      throw new SvcError(
        'not-supported',
        `the metadata database has catalog version ${version}; this service knows versions up to ${migrations.length}: start a newer one`,
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
