/** What administrators ask and say about cron and one-off events. */
import { cutRows, MOST_LISTED_BYTES, withinBytes } from '../sql/within-bytes.ts';
import { type Json, type JsonObject, parseJson, printJson } from '../util/json.ts';
import { zuluTime } from './event-times.ts';
import { soon } from './soon.ts';
import type { Connection } from '../backend/connection.ts';

export const SCHEDULED_STATUSES = ['scheduled', 'locked', 'delivered', 'error', 'dead'] as const;
export type ScheduledStatus = (typeof SCHEDULED_STATUSES)[number];

/** Of which kind, and of cron events of which trigger; absent: all of them. */
export type EventsOf = { readonly type: 'cron'; readonly trigger?: string | undefined } | { readonly type: 'one_off' };

export interface NewScheduledEvent {
  readonly id: string;
  /** JSON, as it is shown. */
  readonly webhook: Json;
  /** ISO 8601 */
  readonly scheduledTime: string;
  readonly retryConf: Json;
  readonly payload: Json;
  readonly headers: Json;
  readonly comment: string | null;
  readonly signature: Json;
}

export interface EventSlice {
  /** Absent: as many as there may be at a time, `MOST_LISTED`. */
  readonly limit?: number | undefined;
  readonly offset: number;
  /** Whether all that there are are counted. */
  readonly count: boolean;
}

/** Rows at a time. */
export const MOST_LISTED = 10_000;

export interface EventRows {
  readonly rows: readonly JsonObject[];
  readonly count: number | undefined;
  /** There are more than may be told at a time, of those that were asked for. */
  readonly isCut: boolean;
}

export interface ScheduledEvents {
  create(event: NewScheduledEvent): Promise<void>;
  /** @returns whether there was one */
  delete(type: EventsOf['type'], id: string): Promise<boolean>;
  /** In the order of their times. @param statuses none: all */
  list(of: EventsOf, statuses: readonly ScheduledStatus[], slice: EventSlice): Promise<EventRows>;
  /** Newest first. @param event of it alone */
  invocations(of: EventsOf, event: string | undefined, slice: EventSlice): Promise<EventRows>;
}

const TABLES = {
  cron: { events: 'svc_catalog.svc_cron_events', logs: 'svc_catalog.svc_cron_event_invocation_logs' },
  one_off: { events: 'svc_catalog.svc_scheduled_events', logs: 'svc_catalog.svc_scheduled_event_invocation_logs' },
} as const;

const COMMON = `'status', e.status, 'tries', e.tries, 'created_at', ${zuluTime('e.created_at')}, 'next_retry_at', ${zuluTime('e.next_retry_at')}`;
const SHOWN = {
  cron: `json_build_object('id', e.id, 'trigger_name', e.trigger_name, 'scheduled_time', ${zuluTime('e.scheduled_time')}, ${COMMON})`,
  one_off:
    `json_build_object('id', e.id, 'webhook_conf', e.webhook_conf, 'scheduled_time', ${zuluTime('e.scheduled_time')}, 'retry_conf', e.retry_conf, ` +
    `'payload', e.payload, 'header_conf', e.header_conf, ${COMMON}, 'comment', e.comment)`,
} as const;
const SHOWN_LOG = `json_build_object('id', l.id, 'event_id', l.event_id, 'status', l.status, 'request', l.request, 'response', l.response, 'created_at', ${zuluTime('l.created_at')})`;

const CREATE = `
insert into svc_catalog.svc_scheduled_events (id, webhook_conf, scheduled_time, retry_conf, payload, header_conf, comment, signature)
values ($1, $2::json, $3::timestamptz, $4::json, $5::json, $6::json, $7, $8::json)`;

const TIMEOUT_MS = 60_000;

/** `database` is the open metadata database, migrated. @param mostBytes of the rows of a list */
export function createScheduledEvents(database: Pick<Connection, 'query'>, mostBytes = MOST_LISTED_BYTES): ScheduledEvents {
  const ask = async (text: string, values: readonly (string | null)[]): Promise<readonly (readonly (string | null)[])[]> =>
    (await database.query(text, values, soon(TIMEOUT_MS))).rows;

  async function sliced(
    shown: string,
    from: string,
    order: string,
    values: readonly (string | null)[],
    slice: EventSlice,
  ): Promise<EventRows> {
    const { limit = Number.POSITIVE_INFINITY, offset } = slice;
    // One more tells whether there are more.
    const bounds = [String(Math.min(limit, MOST_LISTED + 1)), String(offset)];
    const place = (n: number): string => `$${values.length + n}::bigint`;
    const text = withinBytes(`select ${shown}::text ${from} order by ${order} limit ${place(1)} offset ${place(2)}`, mostBytes);
    const { texts, of } = cutRows(await ask(text, [...values, ...bounds]));
    const count = slice.count ? Number((await ask(`select count(*)::text ${from}`, values))[0]?.[0]) : undefined;
    const told = texts.slice(0, MOST_LISTED);
    return { rows: told.map((json) => parseJson(json) as JsonObject), count, isCut: told.length < of };
  }

  return {
    async create({ id, webhook, scheduledTime, retryConf, payload, headers, comment, signature }) {
      const json = (value: Json): string | null => (value === null ? null : printJson(value));
      await ask(CREATE, [id, printJson(webhook), scheduledTime, json(retryConf), json(payload), json(headers), comment, json(signature)]);
    },
    async delete(type, id) {
      return (await ask(`delete from ${TABLES[type].events} where id = $1 returning id`, [id])).length > 0;
    },
    list(of, statuses, slice) {
      const from = `from ${TABLES[of.type].events} e where (json_array_length($1::json) = 0 or e.status in (select json_array_elements_text($1::json)))`;
      const trigger = of.type === 'cron' ? of.trigger : undefined;
      const values = [printJson([...statuses]), ...(trigger === undefined ? [] : [trigger])];
      return sliced(
        SHOWN[of.type],
        trigger === undefined ? from : `${from} and e.trigger_name = $2`,
        'e.scheduled_time, e.id',
        values,
        slice,
      );
    },
    invocations(of, event, slice) {
      const { events, logs } = TABLES[of.type];
      const trigger = of.type === 'cron' ? of.trigger : undefined;
      const order = 'l.created_at desc, l.id';
      if (event !== undefined) return sliced(SHOWN_LOG, `from ${logs} l where l.event_id = $1`, order, [event], slice);
      if (trigger === undefined) return sliced(SHOWN_LOG, `from ${logs} l`, order, [], slice);
      return sliced(SHOWN_LOG, `from ${logs} l join ${events} e on e.id = l.event_id where e.trigger_name = $1`, order, [trigger], slice);
    },
  };
}
