/** Removal of old events, at once and planned. */
import type { CleanupCounts, CleanupSpec, PlannedCleanup } from '../../../backend/captures.ts';
import { MOST_REMOVED_AT_ONCE, rest } from '../../shared/removal-pace.ts';
import { LONGEST_CLEANUP_S } from '../../../metadata/event-trigger.ts';
import { BY_INDEX } from '../../../sql/by-index.ts';
import { SvcError } from '../../../errors/svc-error.ts';
import { arrayLiteral } from '../coerce/array-literal.ts';
import { NOW } from './names.ts';
import type { PatientDatabase } from './patient.ts';
import type { RunOptions } from '../../../backend/connection.ts';

const NO_COUNTS: CleanupCounts = { events: 0, invocations: 0 };

/**
 * One batch: $1 the trigger, $2 hours, $3 the number, $4 whether attempts go too. Nobody waits for it: events that
 * somebody works on are left out.
 */
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

export async function cleanUp(source: PatientDatabase, specOf: () => CleanupSpec | null, how: RunOptions): Promise<CleanupCounts> {
  let { events, invocations } = NO_COUNTS;
  for (let spec = specOf(); spec !== null; spec = specOf()) {
    const { trigger, clearOlderThan, batchSize, cleanInvocationLogs } = spec;
    const began = performance.now();
    const deadline = Math.min(how.deadline ?? Number.POSITIVE_INFINITY, Date.now() + spec.timeout * 1_000);
    const values = [trigger, String(clearOlderThan), String(Math.min(batchSize, MOST_REMOVED_AT_ONCE)), String(cleanInvocationLogs)];
    try {
      const { rows } = await source.query(BATCH, values, { ...how, deadline, settings: BY_INDEX });
      const [removed = '0', attempts = '0'] = rows[0] ?? [];
      if (removed === '0') break;
      events += Number(removed);
      invocations += Number(attempts);
      await rest(began);
    } catch (error) {
      if (error instanceof SvcError && error.code === 'timeout' && how.signal?.aborted !== true) break;
      throw error;
    }
  }
  return { events, invocations };
}

const PLAN = `
insert into svc_catalog.svc_event_log_cleanups (trigger_name, scheduled_at)
select $1, t at time zone 'utc' from unnest($2::timestamptz[]) t on conflict (trigger_name, scheduled_at) do nothing`;

/** Runs that were given up or have ended are kept for so long, and removed so many at a time. */
const KEPT_DAYS = 30;
const FORGOTTEN_AT_ONCE = 10_000;

const FORGET_OLD = `
delete from svc_catalog.svc_event_log_cleanups where id in (
  select id from svc_catalog.svc_event_log_cleanups
  where status <> 'scheduled' and status <> 'running' and scheduled_at < ${NOW} - interval '${KEPT_DAYS} days'
  limit ${FORGOTTEN_AT_ONCE} for update skip locked)`;

/**
 * The latest that is due of each trigger; those before it, and those whose instance is gone, are given up. Instances wait for each
 * other: one that skipped the row of another would take the one before it.
 */
const TAKE = `
with left_behind as (
  update svc_catalog.svc_event_log_cleanups set status = 'dead'
  where status = 'running' and coalesce(started_at, scheduled_at) < ${NOW} - interval '${LONGEST_CLEANUP_S + 60} seconds'
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

/** The plan of automatic clean-ups. */
export class CleanupPlan {
  readonly #source: PatientDatabase;

  constructor(source: PatientDatabase) {
    this.#source = source;
  }

  async planned(): Promise<ReadonlyMap<string, number>> {
    const { rows } = await this.#source.query(
      `select trigger_name, count(*) from svc_catalog.svc_event_log_cleanups where status = 'scheduled' group by trigger_name`,
      [],
    );
    return new Map(rows.map(([name, count]) => [name as string, Number(count)]));
  }

  async plan(trigger: string, times: readonly string[]): Promise<void> {
    await this.#source.query(PLAN, [trigger, arrayLiteral(times)]);
  }

  async forget(except: readonly string[]): Promise<void> {
    await this.#source.query(
      `delete from svc_catalog.svc_event_log_cleanups where status = 'scheduled' and not trigger_name = any ($1::text[])`,
      [arrayLiteral(except)],
    );
  }

  async replan(trigger: string, times: readonly string[]): Promise<void> {
    await this.#source.transaction({ isolation: 'read-committed' }, async (connection) => {
      await connection.query(`delete from svc_catalog.svc_event_log_cleanups where status = 'scheduled' and trigger_name = $1`, [trigger]);
      await connection.query(PLAN, [trigger, arrayLiteral(times)]);
    });
  }

  async takeDue(): Promise<readonly PlannedCleanup[]> {
    await this.#source.query(FORGET_OLD, []);
    const { rows } = await this.#source.query(TAKE, []);
    return rows.map(([id, trigger]) => ({ id: id as string, trigger: trigger as string }));
  }

  async end(id: string, status: 'completed' | 'paused' | 'dead', { events, invocations }: CleanupCounts): Promise<void> {
    await this.#source.query(
      `update svc_catalog.svc_event_log_cleanups
       set status = $2, deleted_event_logs = $3::int, deleted_event_invocation_logs = $4::int where id = $1`,
      [id, status, String(events), String(invocations)],
    );
  }
}
