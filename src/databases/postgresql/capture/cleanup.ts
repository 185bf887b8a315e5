/** Removal of old events, at once and planned. */
import type { CleanupCounts, CleanupSpec } from '../../../backend/captures.ts';
import { MAX_CLEANUP_SECONDS } from '../../../metadata/event-trigger.ts';
import { BY_INDEX } from '../../../sql/by-index.ts';
import type { CleanupPlan } from '../../shared/capture/cleanup.ts';
import { arrayLiteral } from '../coerce/array-literal.ts';
import { NOW } from './names.ts';
import type { TimeLimitedDatabase } from './time-limits.ts';
import type { RunOptions } from '../../../backend/connection.ts';

/** Removes one batch: $1 trigger, $2 age in hours, $3 maximum number, $4 whether attempts are removed too. Locked events are skipped. */
const BATCH = `
with old as materialized (
  select id from svc_catalog.event_log
  where trigger_name = $1 and (delivered or error) and lease_holder is null and created_at < ${NOW} - make_interval(hours => $2::int)
  order by created_at limit $3::int for update skip locked
), attempts as (
  delete from svc_catalog.event_invocation_logs where $4::bool and event_id = any (array(select id from old)) returning 1
), kept as (
  update svc_catalog.event_invocation_logs set trigger_name = $1
  where not $4::bool and trigger_name is null and event_id = any (array(select id from old))
), events as (
  delete from svc_catalog.event_log where id = any (array(select id from old)) returning 1
)
select (select count(*) from events), (select count(*) from attempts)`;

/** Removes one batch of old events. */
export async function removeBatch(
  source: TimeLimitedDatabase,
  { trigger, clearOlderThan, batchSize, cleanInvocationLogs }: CleanupSpec,
  options: RunOptions,
): Promise<CleanupCounts> {
  const values = [trigger, String(clearOlderThan), String(batchSize), String(cleanInvocationLogs)];
  const { rows } = await source.query(BATCH, values, { ...options, settings: BY_INDEX });
  const [events = '0', invocations = '0'] = rows[0] ?? [];
  return { events: Number(events), invocations: Number(invocations) };
}

const PLAN = `
insert into svc_catalog.svc_event_log_cleanups (trigger_name, scheduled_at)
select $1, t at time zone 'utc' from unnest($2::timestamptz[]) t on conflict (trigger_name, scheduled_at) do nothing`;

/** Time after which finished runs are removed, and maximum number of removed runs per statement. */
const KEPT_DAYS = 30;
const FORGOTTEN_AT_ONCE = 10_000;

const FORGET_OLD = `
delete from svc_catalog.svc_event_log_cleanups where id in (
  select id from svc_catalog.svc_event_log_cleanups
  where status <> 'scheduled' and status <> 'running' and scheduled_at < ${NOW} - interval '${KEPT_DAYS} days'
  limit ${FORGOTTEN_AT_ONCE} for update skip locked)`;

/**
 * Starts the latest due run of each trigger. Earlier due runs, and runs of stopped instances, end as `dead`. Instances wait for each other:
 * one that skipped a locked row could take an earlier run.
 */
const TAKE = `
with left_behind as (
  update svc_catalog.svc_event_log_cleanups set status = 'dead'
  where status = 'running' and coalesce(started_at, scheduled_at) < ${NOW} - interval '${MAX_CLEANUP_SECONDS + 60} seconds'
), due as materialized (
  select id, trigger_name, scheduled_at from svc_catalog.svc_event_log_cleanups
  where status = 'scheduled' and scheduled_at <= ${NOW} order by id for update
), latest as (
  select distinct on (trigger_name) id from due order by trigger_name, scheduled_at desc
), ended as (
  update svc_catalog.svc_event_log_cleanups c set status = case when c.id in (select id from latest) then 'running' else 'dead' end, started_at = ${NOW}
  from due where c.id = due.id returning c.id, c.trigger_name, c.status
)
select id, trigger_name from ended where status = 'running'`;

/** Planned runs of automatic clean-ups. */
export function cleanupPlan(source: TimeLimitedDatabase): CleanupPlan {
  return {
    async plannedCleanups() {
      const { rows } = await source.query(
        `select trigger_name, count(*) from svc_catalog.svc_event_log_cleanups where status = 'scheduled' group by trigger_name`,
        [],
      );
      return new Map(rows.map(([name, count]) => [name as string, Number(count)]));
    },
    async planCleanups(trigger, times) {
      await source.query(PLAN, [trigger, arrayLiteral(times)]);
    },
    async forgetCleanups(except) {
      await source.query(
        `delete from svc_catalog.svc_event_log_cleanups where status = 'scheduled' and not trigger_name = any ($1::text[])`,
        [arrayLiteral(except)],
      );
    },
    replanCleanups: (trigger, times) =>
      source.transaction({ isolation: 'read-committed' }, async (connection) => {
        await connection.query(`delete from svc_catalog.svc_event_log_cleanups where status = 'scheduled' and trigger_name = $1`, [
          trigger,
        ]);
        await connection.query(PLAN, [trigger, arrayLiteral(times)]);
      }),
    async takeDueCleanups() {
      await source.query(FORGET_OLD, []);
      const { rows } = await source.query(TAKE, []);
      return rows.map(([id, trigger]) => ({ id: id as string, trigger: trigger as string }));
    },
    async endCleanup(id, status, { events, invocations }) {
      await source.query(
        `update svc_catalog.svc_event_log_cleanups
       set status = $2, deleted_event_logs = $3::int, deleted_event_invocation_logs = $4::int where id = $1`,
        [id, status, String(events), String(invocations)],
      );
    },
  };
}
