/** The log of events and of the attempts to deliver them. */
import { type CapturedTrigger, type EventCounts, type EventFilter, MOST_COUNTED, type Page } from '../../../backend/captures.ts';
import { type Json, parseJson, printJson } from '../../../util/json.ts';
import { SvcError } from '../../../errors/svc-error.ts';
import { cutRows, MOST_LISTED_BYTES, withinBytes } from '../../../sql/within-bytes.ts';
import { DatabaseError } from '../driver/database-error.ts';
import { affected } from './install.ts';
import type { Statements } from './patient.ts';

/** The columns of an event that are told; leases are the service's own affair. */
const EVENT = 'id, schema_name, table_name, trigger_name, payload, delivered, error, tries, created_at, locked, next_retry_at, archived';

const INVOCATION = 'id, trigger_name, event_id, status as http_status, request, response, created_at';

const STATES: Readonly<Record<EventFilter['state'], string>> = {
  pending: '(not e.delivered and not e.error)',
  processed: '(e.delivered or e.error)',
  delivered: 'e.delivered',
  error: 'e.error',
  any: 'true',
};

/** $1 the names of triggers as a JSON array, $2 the time. By the indexes of each trigger, so that a long log costs little. */
const SUMMARY = `
select t.name, made.delivered, made.failed, open.pending, open.oldest
from json_array_elements_text($1::json) t (name)
cross join lateral (
  select count(*) filter (where e.delivered) as delivered, count(*) filter (where e.error) as failed
  from (
    select e.delivered, e.error from svc_catalog.event_log e
    where e.trigger_name = t.name and e.created_at >= $2::timestamptz at time zone 'utc' and not e.archived
    order by e.created_at desc limit ${MOST_COUNTED}) e) made
cross join lateral (
  select count(*) as pending, to_char(min(e.created_at), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as oldest
  from (
    select e.created_at from svc_catalog.event_log e
    where e.trigger_name = t.name and not e.delivered and not e.error and not e.archived limit ${MOST_COUNTED}) e) open`;

/** $1 the trigger, $2 and $3 the times. */
function matching({ state, archived = false }: EventFilter): string {
  return `($1::text is null or e.trigger_name = $1) and ($2::timestamptz is null or e.created_at >= $2::timestamptz at time zone 'utc')
    and ($3::timestamptz is null or e.created_at < $3::timestamptz at time zone 'utc') and ${STATES[state]}${archived ? '' : ' and not e.archived'}`;
}

function valuesOf({ trigger, from, to }: EventFilter): readonly (string | null)[] {
  return [trigger ?? null, from ?? null, to ?? null];
}

/** @throws SvcError bad-request where they are more than can be shown at a time: a part of them would look like all */
function jsonRows(rows: readonly (readonly (string | null)[])[], bytes: number): readonly Json[] {
  const { texts, of } = cutRows(rows);
  if (texts.length < of)
    throw new SvcError(
      'bad-request',
      `these ${of} rows have more than ${bytes} bytes: ask for fewer by the limit, which is to be at most ${texts.length} here`,
    );
  return texts.map((text) => parseJson(text));
}

/** The tables are made with the first trigger: before there is nothing in them. */
const NO_TABLES: ReadonlySet<string> = new Set(['42P01', '3F000', '42883']);

async function orNothing<T>(nothing: T, task: () => Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (error) {
    if (error instanceof SvcError && error.cause instanceof DatabaseError && NO_TABLES.has(error.cause.code)) return nothing;
    throw error;
  }
}

export class EventLog {
  readonly #source: Statements;
  readonly #mostBytes: number;

  /** @param mostBytes of the rows of a list */
  constructor(source: Statements, mostBytes = MOST_LISTED_BYTES) {
    this.#source = source;
    this.#mostBytes = mostBytes;
  }

  async invoke({ definition, table }: CapturedTrigger, payload: Json, session: Json, traceContext: Json): Promise<string> {
    const { rows } = await this.#source.query(
      `select svc_catalog.insert_event_log($1, $2, $3, 'MANUAL', json_build_object('old', null, 'new', $4::json), $5::jsonb, $6::jsonb)`,
      [table.name.schema, table.name.name, definition.name, printJson(payload), nullable(session), nullable(traceContext)],
    );
    return rows[0]?.[0] as string;
  }

  async redeliver(id: string): Promise<'done' | 'missing' | 'processing'> {
    return orNothing('missing' as const, async () => {
      const { rows } = await this.#source.query(
        `with found as (select id, lease_holder is not null and lease_until > (now() at time zone 'utc') as leased from svc_catalog.event_log where id = $1),
        again as (
          update svc_catalog.event_log e set delivered = false, error = false, tries = 0, next_retry_at = null, locked = null, lease_holder = null, lease_until = null
          from found where e.id = found.id and not (e.lease_holder is not null and e.lease_until > (now() at time zone 'utc')) returning e.id)
        select exists (select from found), exists (select from again)`,
        [id],
      );
      const [found, again] = rows[0] ?? [];
      return again === 't' ? 'done' : found === 't' ? 'processing' : 'missing';
    });
  }

  async redeliverAll(filter: EventFilter, limit: number | null): Promise<number> {
    return orNothing(0, async () => {
      const { command } = await this.#source.query(
        `update svc_catalog.event_log set delivered = false, error = false, tries = 0, next_retry_at = null
         where id in (select e.id from svc_catalog.event_log e where ${matching(filter)} and (e.delivered or e.error)
           order by e.created_at limit $4::bigint)`,
        [...valuesOf(filter), limit === null ? null : String(limit)],
      );
      return affected(command);
    });
  }

  async list(filter: EventFilter, { limit, offset, after }: Page): Promise<readonly Json[]> {
    return orNothing([], async () => {
      const behind =
        after === undefined
          ? ''
          : `and (e.created_at, e.place) < (select c.created_at, c.place from svc_catalog.event_log c where c.id = $6)`;
      const { rows } = await this.#source.query(
        withinBytes(
          `select row_to_json(r)::text from (select ${EVENT} from svc_catalog.event_log e where ${matching(filter)} ${behind}
           order by e.created_at desc, e.place desc limit $4::bigint offset $5::bigint) r`,
          this.#mostBytes,
        ),
        [...valuesOf(filter), String(limit), String(offset), ...(after === undefined ? [] : [after])],
      );
      if (rows.length === 0 && after !== undefined) await this.#require('event_log', after);
      return jsonRows(rows, this.#mostBytes);
    });
  }

  async count(filter: EventFilter): Promise<number> {
    return orNothing(0, async () => {
      const { rows } = await this.#source.query(`select count(*) from svc_catalog.event_log e where ${matching(filter)}`, valuesOf(filter));
      return Number(rows[0]?.[0]);
    });
  }

  async summary(triggers: readonly string[], since: string): Promise<ReadonlyMap<string, EventCounts>> {
    return orNothing(new Map(), async () => {
      const { rows } = await this.#source.query(SUMMARY, [JSON.stringify(triggers), since]);
      return new Map(
        rows.map(([name, delivered, failed, pending, oldest]) => [
          name ?? '',
          { delivered: Number(delivered), failed: Number(failed), pending: Number(pending), oldestPending: oldest ?? null },
        ]),
      );
    });
  }

  async invocations(trigger: string, page: Page): Promise<readonly Json[]> {
    return this.#invocationsWhere('trigger_name = $1', trigger, page);
  }

  async event(id: string, page: Page): Promise<{ readonly event: Json; readonly invocations: readonly Json[] } | null> {
    return orNothing(null, async () => {
      const text = `select row_to_json(r) from (select ${EVENT} from svc_catalog.event_log where id = $1) r`;
      const found = (await this.#source.query(text, [id])).rows[0]?.[0];
      return found == null ? null : { event: parseJson(found), invocations: await this.#invocationsWhere('event_id = $1', id, page) };
    });
  }

  /** @throws SvcError not-exists: a page behind a row that is gone would look like the end */
  async #require(table: 'event_log' | 'event_invocation_logs', id: string): Promise<void> {
    const { rows } = await this.#source.query(`select from svc_catalog.${table} where id = $1`, [id]);
    if (rows.length === 0) throw new SvcError('not-exists', `the list has no row of the id "${id}"`);
  }

  async #invocationsWhere(condition: string, value: string, { limit, offset, after }: Page): Promise<readonly Json[]> {
    return orNothing([], async () => {
      const behind =
        after === undefined
          ? ''
          : `and exists (select from svc_catalog.event_invocation_logs c where c.id = $4
             and (l.created_at < c.created_at or l.created_at = c.created_at and l.id > c.id))`;
      const { rows } = await this.#source.query(
        withinBytes(
          `select row_to_json(r)::text from (select ${INVOCATION} from svc_catalog.event_invocation_logs l where ${condition} ${behind}
           order by created_at desc, id limit $2::bigint offset $3::bigint) r`,
          this.#mostBytes,
        ),
        [value, String(limit), String(offset), ...(after === undefined ? [] : [after])],
      );
      if (rows.length === 0 && after !== undefined) await this.#require('event_invocation_logs', after);
      return jsonRows(rows, this.#mostBytes);
    });
  }
}

function nullable(json: Json): string | null {
  return json === null ? null : printJson(json);
}
