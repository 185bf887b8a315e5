/** The events of cron triggers that lie ahead: rows that are made from the schedules. */
import type { Connection } from '../backend/backend.ts';
import { cronTimes } from '../metadata/cron-times.ts';
import type { PieceChange } from '../metadata/pieces.ts';
import { isJsonObject, printJson } from '../util/json.ts';
import { soon } from './soon.ts';

/** How many events of a trigger are there beforehand. */
const AHEAD = 100;

// $1 name
const REMOVE_ALL = `delete from svc_catalog.svc_cron_events where trigger_name = $1`;
const REMOVE_FUTURE = `
delete from svc_catalog.svc_cron_events where trigger_name = $1 and scheduled_time > now() and tries = 0 and status = 'scheduled'`;
const NOW = `select extract(epoch from now())::text`;

// $1 JSON of {id, name, time}
const INSERT = `
insert into svc_catalog.svc_cron_events (id, trigger_name, scheduled_time)
select md5(random()::text || clock_timestamp()::text || name || time)::uuid::text, name, time::timestamptz
from json_to_recordset($1::json) as event (name text, time text)
on conflict do nothing`;

interface Schedule {
  readonly name: string;
  readonly schedule: string;
}

/**
 * Makes the events fit the cron triggers that a change of the metadata makes, alters and removes. To be called in the
 * transaction that stores the change, so that there are never events without their trigger.
 */
export async function followCronTriggers(connection: Connection, changes: readonly Pick<PieceChange, 'key' | 'json'>[]): Promise<void> {
  const schedules: Schedule[] = [];
  for (const { key, json } of changes) {
    await connection.query(json === null ? REMOVE_ALL : REMOVE_FUTURE, [key]);
    if (isJsonObject(json) && typeof json['schedule'] === 'string') schedules.push({ name: key, schedule: json['schedule'] });
  }
  if (schedules.length === 0) return;
  const now = await databaseTime(connection);
  await insert(
    connection,
    schedules.map((each) => ({ ...each, after: now })),
  );
}

async function databaseTime(connection: Connection): Promise<Date> {
  const { rows } = await connection.query(NOW, []);
  return new Date(Number(rows[0]?.[0]) * 1000);
}

async function insert(connection: Connection, schedules: readonly (Schedule & { readonly after: Date })[]): Promise<number> {
  const events = schedules.flatMap(({ name, schedule, after }) =>
    cronTimes(schedule, after, AHEAD).map((time) => ({ name, time: time.toISOString() })),
  );
  if (events.length > 0) await connection.query(INSERT, [printJson(events)], soon());
  return events.length;
}

// $1 names
const AHEAD_OF = `
select name, count(e.id) filter (where e.status = 'scheduled' and e.tries = 0)::text, extract(epoch from max(e.scheduled_time))::text,
  extract(epoch from now())::text
from json_array_elements_text($1::json) as wanted (name)
left join svc_catalog.svc_cron_events e on e.trigger_name = wanted.name
group by name`;

/** A trigger whose events are to be there. */
export interface FollowedTrigger extends Schedule {
  readonly retryConf: { readonly toleranceSeconds: number };
}

/**
 * Gives triggers that have fewer than a hundred events ahead a hundred more. Those that would come too late anyhow are left out.
 * @returns how many were made
 */
export async function generateCronEvents(connection: Connection, triggers: readonly FollowedTrigger[]): Promise<number> {
  if (triggers.length === 0) return 0;
  const { rows } = await connection.query(AHEAD_OF, [printJson(triggers.map(({ name }) => name))], soon());
  const byName = new Map(triggers.map((trigger) => [trigger.name, trigger]));
  let made = 0;
  for (const [name, count, latest, now] of rows) {
    const trigger = byName.get(name ?? '');
    if (trigger === undefined || Number(count) >= AHEAD) continue;
    const earliest = Number(now) - trigger.retryConf.toleranceSeconds;
    const after = latest === null ? Number(now) : Math.max(Number(latest), earliest);
    made += await insert(connection, [{ ...trigger, after: new Date(after * 1000) }]);
  }
  return made;
}
