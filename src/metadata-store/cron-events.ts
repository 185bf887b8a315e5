/** Creates the future events of cron triggers from their schedules. */
import { cronTimes } from '../metadata/cron-times.ts';
import type { PieceChange } from '../metadata/pieces.ts';
import { isJsonObject, printJson } from '../util/json.ts';
import { zuluTime } from './event-times.ts';
import { statementDeadline } from './statement-deadline.ts';
import type { Connection } from '../backend/connection.ts';

/** Number of future events per trigger. */
const AHEAD = 100;

// $1 name
const REMOVE_ALL = `
with progress as (delete from svc_catalog.svc_cron_progress where trigger_name = $1)
delete from svc_catalog.svc_cron_events where trigger_name = $1`;
// $1 name, $2 time
const REMOVE_FUTURE = `
delete from svc_catalog.svc_cron_events
where trigger_name = $1 and scheduled_time > $2::timestamptz and tries = 0 and status = 'scheduled'`;
// Not now(): the transaction may have waited for others since it began.
const NOW = `select extract(epoch from clock_timestamp())::text`;

const NEW_ID = 'md5(random()::text || clock_timestamp()::text || $1::text || time)::uuid::text';

// $1 name, $2 since, $3 until, $4 JSON of the times in between
const MAKE = `
with progress as (
  insert into svc_catalog.svc_cron_progress (trigger_name, made_since, made_until) values ($1::text, $2::timestamptz, $3::timestamptz)
  on conflict (trigger_name) do update set made_since = excluded.made_since, made_until = excluded.made_until
)
insert into svc_catalog.svc_cron_events (id, trigger_name, scheduled_time)
select ${NEW_ID}, $1::text, time::timestamptz from json_array_elements_text($4::json) as made (time)
on conflict do nothing`;

interface Schedule {
  readonly name: string;
  readonly schedule: string;
}

/**
 * Creates, replaces and removes events for the cron triggers that a metadata change adds, alters and removes. Must run in the transaction
 * that stores the change, after the pieces are written: concurrent work of `generateCronEvents` is done by then, or waits.
 */
export async function followCronTriggers(connection: Connection, changes: readonly Pick<PieceChange, 'key' | 'json'>[]): Promise<void> {
  if (changes.length === 0) return;
  const { rows } = await connection.query(NOW, []);
  const now = new Date(Number(rows[0]?.[0]) * 1000);
  for (const { key, json } of changes) {
    if (json === null) {
      await connection.query(REMOVE_ALL, [key]);
      continue;
    }
    await connection.query(REMOVE_FUTURE, [key, now.toISOString()]);
    const schedule = isJsonObject(json) ? json['schedule'] : null;
    if (typeof schedule === 'string') await connection.query(MAKE, parametersFor(key, schedule, now.toISOString(), now));
  }
}

/** Returns the parameters of `MAKE` and `MAKE_MORE`. */
function parametersFor(name: string, schedule: string, since: string, after: Date): readonly [string, string, string, string] {
  const times = cronTimes(schedule, after, AHEAD).map((time) => time.toISOString());
  return [name, since, times.at(-1) ?? since, printJson(times)];
}

// $1 names
const AHEAD_OF = `
select name, (select count(*) from svc_catalog.svc_cron_events e where e.trigger_name = name and e.status = 'scheduled' and e.tries = 0)::text,
  ${zuluTime('coalesce(p.made_until, (select max(e.scheduled_time) from svc_catalog.svc_cron_events e where e.trigger_name = name), now())')},
  extract(epoch from now())::text
from json_array_elements_text($1::json) as asked (name) left join svc_catalog.svc_cron_progress p on p.trigger_name = name`;

/**
 * Like `MAKE`, but only if the trigger still has the schedule ($5), and its progress is still the one that was read. One statement, so that
 * an instance that hangs neither holds a lock nor stores progress without events. The lock on the piece delays changes of the trigger.
 */
const MAKE_MORE = `
with current as materialized (
  select from svc_catalog.metadata_piece
  where kind = 'cron_trigger' and source = '' and key = $1::text and definition ->> 'schedule' = $5::text for share
), progress as (
  insert into svc_catalog.svc_cron_progress as p (trigger_name, made_since, made_until) select $1::text, $2::timestamptz, $3::timestamptz from current
  on conflict (trigger_name) do update set made_since = excluded.made_since, made_until = excluded.made_until
  where p.made_until = excluded.made_since
  returning trigger_name
)
insert into svc_catalog.svc_cron_events (id, trigger_name, scheduled_time)
select ${NEW_ID}, trigger_name, time::timestamptz from progress, json_array_elements_text($4::json) as made (time)
on conflict do nothing returning id`;

/** Cron trigger to create events for. */
export interface FollowedTrigger extends Schedule {
  readonly retryConf: { readonly toleranceSeconds: number };
}

/**
 * Creates a hundred events for each trigger that has fewer future ones, except occurrences that are already too late. Each occurrence is
 * created once among all instances, even if its event was removed.
 * @returns the number of created events
 */
export async function generateCronEvents(connection: Pick<Connection, 'query'>, triggers: readonly FollowedTrigger[]): Promise<number> {
  if (triggers.length === 0) return 0;
  const { rows } = await connection.query(AHEAD_OF, [printJson(triggers.map(({ name }) => name))], statementDeadline());
  const byName = new Map(triggers.map((trigger) => [trigger.name, trigger]));
  let count = 0;
  for (const [name, ahead, since, now] of rows) {
    const trigger = byName.get(name ?? '');
    if (trigger === undefined || typeof since !== 'string' || Number(ahead) >= AHEAD) continue;
    const { schedule, retryConf } = trigger;
    const after = new Date(Math.max(Date.parse(since), (Number(now) - retryConf.toleranceSeconds) * 1000));
    count += (await connection.query(MAKE_MORE, [...parametersFor(trigger.name, schedule, since, after), schedule], statementDeadline()))
      .rows.length;
  }
  return count;
}
