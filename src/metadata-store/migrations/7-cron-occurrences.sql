-- An occurrence of a cron trigger has one event, whatever its state. If there are several, the most advanced one stays, with the attempts
-- of all. Events of deleted triggers are removed.
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

-- Occurrences up to made_until have been created, even if their events no longer exist.
create table svc_catalog.svc_cron_progress (
  trigger_name text primary key,
  -- made_until before the last hundred events were created
  made_since timestamptz not null,
  made_until timestamptz not null
);
insert into svc_catalog.svc_cron_progress
  select trigger_name, max(scheduled_time), max(scheduled_time) from svc_catalog.svc_cron_events group by trigger_name;
