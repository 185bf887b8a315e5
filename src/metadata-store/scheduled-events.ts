/** Cron and one-off events for administrators: creates, deletes and lists them. */
import { cutRows, MAX_LISTED_BYTES, withinBytes } from '../sql/within-bytes.ts';
import { type Json, type JsonObject, parseJson, printJson } from '../util/json.ts';
import { zuluTime } from './event-times.ts';
import { statementDeadline } from './statement-deadline.ts';
import type { Connection } from '../backend/connection.ts';

export const SCHEDULED_STATUSES = ['scheduled', 'locked', 'delivered', 'error', 'dead'] as const;
export type ScheduledStatus = (typeof SCHEDULED_STATUSES)[number];

/** Events of one type; cron events of one trigger, or of all if absent. */
export type EventsOf = { readonly type: 'cron'; readonly trigger?: string | undefined } | { readonly type: 'one_off' };

export interface NewScheduledEvent {
  readonly id: string;
  readonly webhook: Json;
  /** ISO 8601 */
  readonly scheduledTime: string;
  readonly retryConf: Json;
  readonly payload: Json;
  readonly headers: Json;
  readonly comment: string | null;
  readonly signature: Json;
}

export interface EventPage {
  /** Defaults to `MAX_LISTED_EVENTS`. */
  readonly limit?: number | undefined;
  readonly offset: number;
  /** Also counts all rows. */
  readonly count: boolean;
}

/** Maximum number of rows of a page. */
export const MAX_LISTED_EVENTS = 10_000;

export interface EventRows {
  readonly rows: readonly JsonObject[];
  readonly count: number | undefined;
  /** True if rows are missing because of the maximum number of rows or bytes. */
  readonly isTruncated: boolean;
}

export interface ScheduledEvents {
  create(event: NewScheduledEvent): Promise<void>;
  /** @returns whether it existed */
  delete(type: EventsOf['type'], id: string): Promise<boolean>;
  /** Lists events by scheduled time. @param statuses empty for all */
  list(of: EventsOf, statuses: readonly ScheduledStatus[], page: EventPage): Promise<EventRows>;
  /** Lists delivery attempts, newest first. @param event id of one event; `undefined` for all */
  invocations(of: EventsOf, event: string | undefined, page: EventPage): Promise<EventRows>;
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

/** @param database open metadata database with the current catalog version @param maxBytes maximum size of the rows of a page */
export function createScheduledEvents(database: Pick<Connection, 'query'>, maxBytes = MAX_LISTED_BYTES): ScheduledEvents {
  const ask = async (text: string, values: readonly (string | null)[]): Promise<readonly (readonly (string | null)[])[]> =>
    (await database.query(text, values, statementDeadline(TIMEOUT_MS))).rows;

  async function sliced(
    shown: string,
    from: string,
    order: string,
    values: readonly (string | null)[],
    page: EventPage,
  ): Promise<EventRows> {
    const { limit = Number.POSITIVE_INFINITY, offset } = page;
    // One more row than the maximum shows whether there are more.
    const bounds = [String(Math.min(limit, MAX_LISTED_EVENTS + 1)), String(offset)];
    const place = (n: number): string => `$${values.length + n}::bigint`;
    const text = withinBytes(`select ${shown}::text ${from} order by ${order} limit ${place(1)} offset ${place(2)}`, maxBytes);
    const { texts, of } = cutRows(await ask(text, [...values, ...bounds]));
    const count = page.count ? Number((await ask(`select count(*)::text ${from}`, values))[0]?.[0]) : undefined;
    const listed = texts.slice(0, MAX_LISTED_EVENTS);
    return { rows: listed.map((json) => parseJson(json) as JsonObject), count, isTruncated: listed.length < of };
  }

  return {
    async create({ id, webhook, scheduledTime, retryConf, payload, headers, comment, signature }) {
      const json = (value: Json): string | null => (value === null ? null : printJson(value));
      await ask(CREATE, [id, printJson(webhook), scheduledTime, json(retryConf), json(payload), json(headers), comment, json(signature)]);
    },
    async delete(type, id) {
      return (await ask(`delete from ${TABLES[type].events} where id = $1 returning id`, [id])).length > 0;
    },
    list(of, statuses, page) {
      const from = `from ${TABLES[of.type].events} e where (json_array_length($1::json) = 0 or e.status in (select json_array_elements_text($1::json)))`;
      const trigger = of.type === 'cron' ? of.trigger : undefined;
      const values = [printJson([...statuses]), ...(trigger === undefined ? [] : [trigger])];
      return sliced(
        SHOWN[of.type],
        trigger === undefined ? from : `${from} and e.trigger_name = $2`,
        'e.scheduled_time, e.id',
        values,
        page,
      );
    },
    invocations(of, event, page) {
      const { events, logs } = TABLES[of.type];
      const trigger = of.type === 'cron' ? of.trigger : undefined;
      const order = 'l.created_at desc, l.id';
      if (event !== undefined) return sliced(SHOWN_LOG, `from ${logs} l where l.event_id = $1`, order, [event], page);
      if (trigger === undefined) return sliced(SHOWN_LOG, `from ${logs} l`, order, [], page);
      return sliced(SHOWN_LOG, `from ${logs} l join ${events} e on e.id = l.event_id where e.trigger_name = $1`, order, [trigger], page);
    },
  };
}
