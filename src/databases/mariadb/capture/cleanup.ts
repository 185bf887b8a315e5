/** Removal of old events, at once and planned. */
import { randomUUID } from 'node:crypto';
import type { CleanupCounts, CleanupSpec, PlannedCleanup } from '../../../backend/captures.ts';
import type { CleanupPlan } from '../../shared/capture/cleanup.ts';
import { MAX_CLEANUP_SECONDS } from '../../../metadata/event-trigger.ts';
import { NOW } from './names.ts';
import { affected, retryDeadlocks, type EventDatabase, type SourceQuery } from './work.ts';
import type { RunOptions } from '../../../backend/connection.ts';

/** Finds rows by index: a scan would wait for concurrent writers of events. */
const BY_ID = `json_table(?, '$[*]' columns (v char(36) character set utf8mb4 collate utf8mb4_bin path '$')) j straight_join`;

/** Removes one batch of old events. Skips locked ones, so that it waits for no other statement. */
async function batch(
  query: SourceQuery,
  origin: string,
  { trigger, clearOlderThan, batchSize, cleanInvocationLogs }: CleanupSpec,
): Promise<CleanupCounts> {
  const { rows } = await query(
    `select id from svc_catalog.event_log force index (told)
     where source_database = ? and trigger_name = ? and (delivered or error) and lease_holder is null
       and created_at < ${NOW} - interval ? hour
     order by created_at limit ${batchSize} for update skip locked`,
    [origin, trigger, String(clearOlderThan)],
  );
  if (rows.length === 0) return { events: 0, invocations: 0 };
  const list = JSON.stringify(rows.map(([id]) => id));
  let invocations = 0;
  if (cleanInvocationLogs)
    invocations = affected(
      await query(`delete i from ${BY_ID} svc_catalog.event_invocation_logs i force index (of_event) on i.event_id = j.v`, [list]),
    );
  await query(`delete e from ${BY_ID} svc_catalog.event_log e force index (by_id) on e.id = j.v`, [list]);
  return { events: rows.length, invocations };
}

export function removeBatch(database: EventDatabase, spec: CleanupSpec, options: RunOptions): Promise<CleanupCounts> {
  return retryDeadlocks(() => database.transact(options, (query) => batch(query, database.name, spec)));
}

/** Removes finished and abandoned runs after 30 days, at most 1000 at a time. */
const FORGET_OLD = `delete from svc_catalog.svc_event_log_cleanups
where source_database = ? and status in ('paused', 'completed', 'dead') and scheduled_at < ${NOW} - interval 30 day limit 1000`;

const LEFT_BEHIND = `update svc_catalog.svc_event_log_cleanups set status = 'dead'
where source_database = ? and status = 'running' and coalesce(started_at, scheduled_at) < ${NOW} - interval ${MAX_CLEANUP_SECONDS + 60} second`;

/** Planned runs of automatic clean-ups. */
export function cleanupPlan(database: EventDatabase): CleanupPlan {
  const { name, query, transact } = database;
  const plan = async (run: SourceQuery, trigger: string, times: readonly string[]): Promise<void> => {
    if (times.length === 0) return;
    const moments = times.map((time) => new Date(time).toISOString().slice(0, 19).replace('T', ' '));
    await run(
      `insert into svc_catalog.svc_event_log_cleanups (id, source_database, trigger_name, scheduled_at)
       select j.id, ?, ?, j.at from json_table(?, '$[*]' columns (id char(36) path '$.id', at datetime path '$.at')) j
       on duplicate key update status = svc_event_log_cleanups.status`,
      [name, trigger, JSON.stringify(moments.map((at) => ({ id: randomUUID(), at })))],
    );
  };
  return {
    async plannedCleanups() {
      const { rows } = await query(
        `select trigger_name, count(*) from svc_catalog.svc_event_log_cleanups
       where source_database = ? and status = 'scheduled' group by trigger_name`,
        [name],
      );
      return new Map(rows.map(([trigger, count]) => [trigger as string, Number(count)]));
    },
    planCleanups: (trigger, times) => plan(query, trigger, times),
    async forgetCleanups(except) {
      await query(
        `delete from svc_catalog.svc_event_log_cleanups where source_database = ? and status = 'scheduled' and trigger_name not in
       (select v from json_table(?, '$[*]' columns (v varchar(64) character set utf8mb4 collate utf8mb4_bin path '$')) j)`,
        [name, JSON.stringify(except)],
      );
    },
    replanCleanups: (trigger, times) =>
      retryDeadlocks(() =>
        transact({}, async (run) => {
          await run(
            `delete from svc_catalog.svc_event_log_cleanups where source_database = ? and status = 'scheduled' and trigger_name = ?`,
            [name, trigger],
          );
          await plan(run, trigger, times);
        }),
      ),
    takeDueCleanups: () => takeDue(database),
    async endCleanup(id, status, { events, invocations }) {
      await query(
        `update svc_catalog.svc_event_log_cleanups
       set status = ?, deleted_event_logs = ?, deleted_event_invocation_logs = ? where id = ?`,
        [status, String(events), String(invocations), id],
      );
    },
  };
}

/** Begins the latest run that is due of each trigger; earlier ones are not run. */
async function takeDue({ name, query, transact }: EventDatabase): Promise<readonly PlannedCleanup[]> {
  await query(FORGET_OLD, [name]);
  // Runs of instances that have stopped.
  await query(LEFT_BEHIND, [name]);
  return retryDeadlocks(() =>
    transact({}, async (run) => {
      // Without the lock, an instance that skips rows locked by another could take an earlier clean-up of the same trigger.
      const { rows } = await run(
        `select id, trigger_name from svc_catalog.svc_event_log_cleanups
           where source_database = ? and status = 'scheduled' and scheduled_at <= ${NOW} order by scheduled_at desc for update`,
        [name],
      );
      const latest = new Map<string, string>();
      for (const [id, trigger] of rows) {
        const isLatest = !latest.has(trigger as string);
        if (isLatest) latest.set(trigger as string, id as string);
        await run(`update svc_catalog.svc_event_log_cleanups set status = ?, started_at = ${NOW} where id = ?`, [
          isLatest ? 'running' : 'dead',
          id as string,
        ]);
      }
      return [...latest].map(([trigger, id]) => ({ id, trigger }));
    }),
  );
}
