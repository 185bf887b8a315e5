/** Queue of cron and one-off events in the metadata database. */
import { randomUUID } from 'node:crypto';
import type { Attempted, DeliveryOutcome, EventStore, QueuedEvent } from '../backend/event-store.ts';
import { type Json, parseJson, printJson } from '../util/json.ts';
import { epochSeconds, zuluTime } from './event-times.ts';
import { statementDeadlineByIndex } from './statement-deadline.ts';
import type { Connection } from '../backend/connection.ts';

export type ScheduledEvent = CronEvent | OneOffEvent;

interface Scheduled extends QueuedEvent {
  /** `2024-05-01T00:00:00Z` */
  readonly scheduledTime: string;
  /** Delay since the scheduled time, in seconds. */
  readonly delay: number;
}

export interface CronEvent extends Scheduled {
  readonly kind: 'cron';
}

/** One-off event. Its webhook and settings were validated when it was created. */
export interface OneOffEvent extends Scheduled {
  readonly kind: 'one-off';
  readonly createdAt: string;
  readonly webhook: Json;
  readonly retryConf: Json;
  /** JSON text. */
  readonly payload: string | null;
  readonly headers: Json;
  readonly comment: string | null;
  readonly signature: Json;
}

/** The queue of all one-off events; no trigger has this name. */
export const ONE_OFF_QUEUE = '';

export type ScheduledEventStore = EventStore<ScheduledEvent, DeliveryOutcome>;

// $1 holder, $2 seconds, $3 queues, $4 limit, $5 bytes of the payloads of one-off events
const FETCH = `
with requested as (
  select name, most from json_to_recordset($3::json) as requested (name text, most bigint)
), due_cron as (
  select e.id from requested cross join lateral (
    select id from svc_catalog.svc_cron_events c
    where c.trigger_name = requested.name and c.status in ('scheduled', 'locked') and coalesce(c.lease_until, c.next_retry_at, c.scheduled_time) <= now()
    order by coalesce(c.lease_until, c.next_retry_at, c.scheduled_time) limit requested.most for update skip locked
  ) e limit $4::bigint
), due_one_off as materialized (
  select o.id, octet_length(o.payload::text) as size, coalesce(o.lease_until, o.next_retry_at, o.scheduled_time) as due from svc_catalog.svc_scheduled_events o
  where o.status in ('scheduled', 'locked') and coalesce(o.lease_until, o.next_retry_at, o.scheduled_time) <= now()
  order by coalesce(o.lease_until, o.next_retry_at, o.scheduled_time)
  limit (select least(coalesce(sum(most), 0), $4::bigint - (select count(*) from due_cron)) from requested where name = '${ONE_OFF_QUEUE}') for update skip locked
), sized as (
  -- the event that exceeds the bytes is the last one
  select id, sum(size) over (order by due, id rows between unbounded preceding and 1 preceding) as before from due_one_off
), cron as (
  update svc_catalog.svc_cron_events e
  set status = 'locked', lease_holder = $1, lease_until = now() + $2::float8 * interval '1 second'
  from due_cron where e.id = due_cron.id
  returning e.id, e.trigger_name, e.tries, e.scheduled_time
), one_off as (
  update svc_catalog.svc_scheduled_events e
  set status = 'locked', lease_holder = $1, lease_until = now() + $2::float8 * interval '1 second'
  from sized where e.id = sized.id and (before is null or before < $5::bigint)
  returning e.*
)
select 'cron', id, trigger_name, tries::text, ${zuluTime('scheduled_time')}, ${epochSeconds('now() - scheduled_time')},
  null, null, null, null, null, null, null
from cron
union all
select 'one-off', id, '${ONE_OFF_QUEUE}', tries::text, ${zuluTime('scheduled_time')}, ${epochSeconds('now() - scheduled_time')},
  ${zuluTime('created_at')}, webhook_conf::text, retry_conf::text, payload::text, header_conf::text, comment, signature::text
from one_off`;

// The lease holder is the only condition: one on the status would make the planner use the index of all waiting events.
// $1 holder, $2 seconds, $3 ids
const RENEW = `
with cron as (
  update svc_catalog.svc_cron_events set lease_until = now() + $2::float8 * interval '1 second'
  where id = any (array(select json_array_elements_text($3::json))) and lease_holder = $1 returning id
), one_off as (
  update svc_catalog.svc_scheduled_events set lease_until = now() + $2::float8 * interval '1 second'
  where id = any (array(select json_array_elements_text($3::json))) and lease_holder = $1 returning id
)
select id from cron union all select id from one_off`;

// $1 holder, $2 ids
const RELEASE = `
with cron as (
  update svc_catalog.svc_cron_events set status = 'scheduled', lease_holder = null, lease_until = null
  where id = any (array(select json_array_elements_text($2::json))) and lease_holder = $1
)
update svc_catalog.svc_scheduled_events set status = 'scheduled', lease_holder = null, lease_until = null
where id = any (array(select json_array_elements_text($2::json))) and lease_holder = $1`;

const recorded = (table: string): string => `
  update svc_catalog.${table} e
  set status = outcome.status, tries = e.tries + outcome.attempts, lease_holder = null, lease_until = null,
    next_retry_at = now() + outcome.wait * interval '1 second'
  from outcome where e.id = any (array(select id from outcome)) and e.id = outcome.id and e.lease_holder = $1 and e.tries = outcome.tries
  returning e.id, outcome.log_id`;
const logged = (table: string, of: string): string => `
  insert into svc_catalog.${table} (id, event_id, status, request, response)
  select outcome.log_id, outcome.id, outcome.code, outcome.request::json, outcome.response::json
  from outcome join ${of} on ${of}.log_id = outcome.log_id where outcome.attempts > 0`;

// $1 holder, $2 outcomes
const RECORD = `
with outcome as materialized (
  select * from json_to_recordset($2::json)
    as outcome (id text, status text, wait float8, tries int, attempts int, log_id text, code int, request text, response text)
), cron as (${recorded('svc_cron_events')}
), one_off as (${recorded('svc_scheduled_events')}
), cron_log as (${logged('svc_cron_event_invocation_logs', 'cron')}
), one_off_log as (${logged('svc_scheduled_event_invocation_logs', 'one_off')}
)
select id from cron union all select id from one_off`;

/** @param database open metadata database with the current catalog version */
export function createScheduledEventStore(database: Pick<Connection, 'query'>): ScheduledEventStore {
  return {
    async fetch({ lease, limit, queues, bytes = Number.MAX_SAFE_INTEGER }) {
      const wanted = queues.map(({ name, limit: most }) => ({ name, most }));
      const { rows } = await database.query(
        FETCH,
        [lease.holder, String(lease.seconds), printJson(wanted), String(limit), String(bytes)],
        statementDeadlineByIndex(),
      );
      return rows.map(eventOf);
    },
    async renew({ holder, seconds }, ids) {
      const { rows } = await database.query(RENEW, [holder, String(seconds), printJson([...ids])], statementDeadlineByIndex());
      return rows.map(([id]) => id ?? '');
    },
    async record({ holder }, outcomes) {
      const { rows } = await database.query(
        RECORD,
        [holder, printJson(outcomes.map((outcome) => written(outcome, randomUUID())))],
        statementDeadlineByIndex(),
      );
      return rows.map(([id]) => id ?? '');
    },
    async release({ holder }, ids) {
      await database.query(RELEASE, [holder, printJson([...ids])], statementDeadlineByIndex());
    },
  };
}

function eventOf([
  kind,
  id,
  queue,
  tries,
  scheduledTime,
  delay,
  createdAt,
  webhook,
  retryConf,
  payload,
  headers,
  comment,
  signature,
]: readonly (string | null)[]): ScheduledEvent {
  const common = { id: id ?? '', queue: queue ?? '', tries: Number(tries), scheduledTime: scheduledTime ?? '', delay: Number(delay) };
  if (kind === 'cron') return { kind, ...common };
  return {
    kind: 'one-off',
    ...common,
    createdAt: createdAt ?? '',
    webhook: jsonOf(webhook),
    retryConf: jsonOf(retryConf),
    payload: payload ?? null,
    headers: jsonOf(headers),
    comment: comment ?? null,
    size: payload?.length ?? 0,
    signature: jsonOf(signature),
  };
}

function jsonOf(text: string | null | undefined): Json {
  return text === null || text === undefined ? null : parseJson(text);
}

const STATUS = { delivered: 'delivered', failed: 'error', dead: 'dead', retry: 'scheduled' } as const;

function written({ id, result, invocation, tries }: Attempted<DeliveryOutcome>, logId: string): Json {
  return {
    id,
    status: STATUS[result.kind],
    wait: result.kind === 'retry' ? result.seconds : null,
    tries,
    attempts: invocation === null ? 0 : 1,
    log_id: logId,
    code: invocation?.status ?? null,
    request: invocation?.request ?? null,
    response: invocation?.response ?? null,
  };
}
