-- Cron triggers were one section without effect; now each is a piece. A section with anything else than
-- plain cron triggers stays without effect.
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

-- The lease names the instance that delivers an event, and the time at which the event is free again.
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
