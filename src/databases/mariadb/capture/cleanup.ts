/** Removal of old events, at once and planned. */
import { randomUUID } from 'node:crypto';
import type { CleanupCounts, CleanupSpec, PlannedCleanup } from '../../../backend/captures.ts';
import { MOST_REMOVED_AT_ONCE, rest } from '../../shared/removal-pace.ts';
import { LONGEST_CLEANUP_S } from '../../../metadata/event-trigger.ts';
import { SvcError } from '../../../errors/svc-error.ts';
import { NOW } from './names.ts';
import { affected, again, type EventDatabase, type Query } from './work.ts';
import type { RunOptions } from '../../../backend/connection.ts';

/** Found by their index: a scan would wait for whoever is writing events. */
const BY_ID = `json_table(?, '$[*]' columns (v char(36) character set utf8mb4 collate utf8mb4_bin path '$')) j straight_join`;

/** Nobody waits for it: events that somebody works on are left out. */
async function batch(
  query: Query,
  origin: string,
  { trigger, clearOlderThan, batchSize, cleanInvocationLogs }: CleanupSpec,
): Promise<CleanupCounts> {
  const { rows } = await query(
    `select id from svc_catalog.event_log force index (told)
     where source_database = ? and trigger_name = ? and (delivered or error) and lease_holder is null
       and created_at < ${NOW} - interval ? hour
     order by created_at limit ${Math.min(batchSize, MOST_REMOVED_AT_ONCE)} for update skip locked`,
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

export async function cleanUp(database: EventDatabase, specOf: () => CleanupSpec | null, how: RunOptions): Promise<CleanupCounts> {
  let events = 0;
  let invocations = 0;
  for (let spec = specOf(); spec !== null; spec = specOf()) {
    const now = spec;
    const began = performance.now();
    const deadline = Math.min(how.deadline ?? Number.POSITIVE_INFINITY, Date.now() + spec.timeout * 1_000);
    try {
      const removed = await again(() => database.transact({ ...how, deadline }, (query) => batch(query, database.name, now)));
      if (removed.events === 0) break;
      events += removed.events;
      invocations += removed.invocations;
      await rest(began);
    } catch (error) {
      if (error instanceof SvcError && error.code === 'timeout' && how.signal?.aborted !== true) break;
      throw error;
    }
  }
  return { events, invocations };
}

/** Runs that were given up or have ended are kept for so long, and removed so many at a time. */
const FORGET_OLD = `delete from svc_catalog.svc_event_log_cleanups
where source_database = ? and status in ('paused', 'completed', 'dead') and scheduled_at < ${NOW} - interval 30 day limit 1000`;

const LEFT_BEHIND = `update svc_catalog.svc_event_log_cleanups set status = 'dead'
where source_database = ? and status = 'running' and coalesce(started_at, scheduled_at) < ${NOW} - interval ${LONGEST_CLEANUP_S + 60} second`;

/** The plan of automatic clean-ups. */
export class CleanupPlan {
  readonly #database: EventDatabase;

  constructor(database: EventDatabase) {
    this.#database = database;
  }

  async planned(): Promise<ReadonlyMap<string, number>> {
    const { name, query } = this.#database;
    const { rows } = await query(
      `select trigger_name, count(*) from svc_catalog.svc_event_log_cleanups
       where source_database = ? and status = 'scheduled' group by trigger_name`,
      [name],
    );
    return new Map(rows.map(([trigger, count]) => [trigger as string, Number(count)]));
  }

  async plan(trigger: string, times: readonly string[]): Promise<void> {
    await this.#plan(this.#database.query, trigger, times);
  }

  async #plan(query: Query, trigger: string, times: readonly string[]): Promise<void> {
    if (times.length === 0) return;
    const moments = times.map((time) => new Date(time).toISOString().slice(0, 19).replace('T', ' '));
    await query(
      `insert into svc_catalog.svc_event_log_cleanups (id, source_database, trigger_name, scheduled_at)
       select j.id, ?, ?, j.at from json_table(?, '$[*]' columns (id char(36) path '$.id', at datetime path '$.at')) j
       on duplicate key update status = svc_event_log_cleanups.status`,
      [this.#database.name, trigger, JSON.stringify(moments.map((at) => ({ id: randomUUID(), at })))],
    );
  }

  async forget(except: readonly string[]): Promise<void> {
    await this.#database.query(
      `delete from svc_catalog.svc_event_log_cleanups where source_database = ? and status = 'scheduled' and trigger_name not in
       (select v from json_table(?, '$[*]' columns (v varchar(64) character set utf8mb4 collate utf8mb4_bin path '$')) j)`,
      [this.#database.name, JSON.stringify(except)],
    );
  }

  async replan(trigger: string, times: readonly string[]): Promise<void> {
    const { name, transact } = this.#database;
    await again(() =>
      transact({}, async (query) => {
        await query(
          `delete from svc_catalog.svc_event_log_cleanups where source_database = ? and status = 'scheduled' and trigger_name = ?`,
          [name, trigger],
        );
        await this.#plan(query, trigger, times);
      }),
    );
  }

  async takeDue(): Promise<readonly PlannedCleanup[]> {
    const { name, transact, query: alone } = this.#database;
    await alone(FORGET_OLD, [name]);
    // Those whose instance is gone.
    await alone(LEFT_BEHIND, [name]);
    return again(() =>
      transact({}, async (query) => {
        // An instance that skipped the rows locked by another one could take an earlier clean-up of the same trigger.
        const { rows } = await query(
          `select id, trigger_name from svc_catalog.svc_event_log_cleanups
           where source_database = ? and status = 'scheduled' and scheduled_at <= ${NOW} order by scheduled_at desc for update`,
          [name],
        );
        const latest = new Map<string, string>();
        for (const [id, trigger] of rows) {
          const isLatest = !latest.has(trigger as string);
          if (isLatest) latest.set(trigger as string, id as string);
          // Those before it are given up.
          await query(`update svc_catalog.svc_event_log_cleanups set status = ?, started_at = ${NOW} where id = ?`, [
            isLatest ? 'running' : 'dead',
            id as string,
          ]);
        }
        return [...latest].map(([trigger, id]) => ({ id, trigger }));
      }),
    );
  }

  async end(id: string, status: 'completed' | 'paused' | 'dead', { events, invocations }: CleanupCounts): Promise<void> {
    await this.#database.query(
      `update svc_catalog.svc_event_log_cleanups
       set status = ?, deleted_event_logs = ?, deleted_event_invocation_logs = ? where id = ?`,
      [status, String(events), String(invocations), id],
    );
  }
}
