/** The log of events and of the attempts to deliver them. */
import type { EventFilter, Page } from '../../../backend/captures.ts';
import { MAX_COUNTED } from '../../../backend/captures.ts';
import { parseJson } from '../../../util/json.ts';
import { SvcError } from '../../../errors/svc-error.ts';
import { cutRows, withinBytes } from '../../../sql/within-bytes.ts';
import { type EventLogStatements, eventLogOf, STATES } from '../../shared/capture/event-log.ts';
import { DatabaseError } from '../driver/database-error.ts';
import { affected } from './install.ts';
import type { Statements } from './time-limits.ts';

/** Columns of an event without its lease. */
const EVENT = 'id, schema_name, table_name, trigger_name, payload, delivered, error, tries, created_at, locked, next_retry_at, archived';

const INVOCATION = 'id, trigger_name, event_id, status as http_status, request, response, created_at';

/** $1 the names of triggers as a JSON array, $2 the time. Uses the indexes of each trigger, so that a long log costs little. */
const SUMMARY = `
select t.name, made.delivered, made.failed, open.pending, open.oldest
from json_array_elements_text($1::json) t (name)
cross join lateral (
  select count(*) filter (where e.delivered) as delivered, count(*) filter (where e.error) as failed
  from (
    select e.delivered, e.error from svc_catalog.event_log e
    where e.trigger_name = t.name and e.created_at >= $2::timestamptz at time zone 'utc' and not e.archived
    order by e.created_at desc limit ${MAX_COUNTED}) e) made
cross join lateral (
  select count(*) as pending, to_char(min(e.created_at), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as oldest
  from (
    select e.created_at from svc_catalog.event_log e
    where e.trigger_name = t.name and not e.delivered and not e.error and not e.archived limit ${MAX_COUNTED}) e) open`;

/** $1 the trigger, $2 and $3 the times. */
function matching({ state, archived = false }: EventFilter): string {
  return `($1::text is null or e.trigger_name = $1) and ($2::timestamptz is null or e.created_at >= $2::timestamptz at time zone 'utc')
    and ($3::timestamptz is null or e.created_at < $3::timestamptz at time zone 'utc') and ${STATES[state]}${archived ? '' : ' and not e.archived'}`;
}

function valuesOf({ trigger, from, to }: EventFilter): readonly (string | null)[] {
  return [trigger ?? null, from ?? null, to ?? null];
}

/** SQLSTATE of tables, schemas and functions that do not exist. */
const MISSING: ReadonlySet<string> = new Set(['42P01', '3F000', '42883']);

export function isMissing(error: unknown): boolean {
  return error instanceof SvcError && error.cause instanceof DatabaseError && MISSING.has(error.cause.code);
}

/** @param maxBytes maximum size of the rows of a list */
export function eventLog(source: Statements, maxBytes?: number): ReturnType<typeof eventLogOf> {
  return eventLogOf({ isMissing, ...changesOf(source), ...listsOf(source), ...readsOf(source) }, maxBytes);
}

function changesOf(source: Statements): Pick<EventLogStatements, 'invoke' | 'redeliver' | 'redeliverAll'> {
  return {
    async invoke({ definition, table }, payload, session, traceContext) {
      const { rows } = await source.query(
        `select svc_catalog.insert_event_log($1, $2, $3, 'MANUAL', json_build_object('old', null, 'new', $4::json), $5::jsonb, $6::jsonb)`,
        [table.name.schema, table.name.name, definition.name, payload, session, traceContext],
      );
      return rows[0]?.[0] as string;
    },
    async redeliver(id) {
      const { rows } = await source.query(
        `with found as (select id, lease_holder is not null and lease_until > (now() at time zone 'utc') as leased from svc_catalog.event_log where id = $1),
        again as (
          update svc_catalog.event_log e set delivered = false, error = false, tries = 0, next_retry_at = null, locked = null, lease_holder = null, lease_until = null
          from found where e.id = found.id and not (e.lease_holder is not null and e.lease_until > (now() at time zone 'utc')) returning e.id)
        select exists (select from found), exists (select from again)`,
        [id],
      );
      const [found, again] = rows[0] ?? [];
      return again === 't' ? 'done' : found === 't' ? 'processing' : 'missing';
    },
    async redeliverAll(filter, limit) {
      const { command } = await source.query(
        `update svc_catalog.event_log set delivered = false, error = false, tries = 0, next_retry_at = null
         where id in (select e.id from svc_catalog.event_log e where ${matching(filter)} and (e.delivered or e.error)
           order by e.created_at limit $4::bigint)`,
        [...valuesOf(filter), limit === null ? null : String(limit)],
      );
      return affected(command);
    },
  };
}

function listsOf(source: Statements): Pick<EventLogStatements, 'list' | 'invocations'> {
  const page = async (select: string, values: readonly (string | null)[], { limit, offset, after }: Page, bytes: number) => {
    const { rows } = await source.query(withinBytes(select, bytes), [
      ...values,
      String(limit),
      String(offset),
      ...(after === undefined ? [] : [after]),
    ]);
    const { texts, of } = cutRows(rows);
    return { total: of, fitting: texts.length, read: () => texts.map((text) => parseJson(text)) };
  };
  return {
    list(filter, at, bytes) {
      const behind =
        at.after === undefined
          ? ''
          : `and (e.created_at, e.place) < (select c.created_at, c.place from svc_catalog.event_log c where c.id = $6)`;
      return page(
        `select row_to_json(r)::text from (select ${EVENT} from svc_catalog.event_log e where ${matching(filter)} ${behind}
           order by e.created_at desc, e.place desc limit $4::bigint offset $5::bigint) r`,
        valuesOf(filter),
        at,
        bytes,
      );
    },
    invocations(of, at, bytes) {
      const behind =
        at.after === undefined
          ? ''
          : `and exists (select from svc_catalog.event_invocation_logs c where c.id = $4
             and (l.created_at < c.created_at or l.created_at = c.created_at and l.id > c.id))`;
      const [condition, value] = 'trigger' in of ? ['trigger_name = $1', of.trigger] : ['event_id = $1', of.event];
      return page(
        `select row_to_json(r)::text from (select ${INVOCATION} from svc_catalog.event_invocation_logs l where ${condition} ${behind}
           order by created_at desc, id limit $2::bigint offset $3::bigint) r`,
        [value],
        at,
        bytes,
      );
    },
  };
}

function readsOf(source: Statements): Pick<EventLogStatements, 'count' | 'summary' | 'event' | 'hasRow'> {
  return {
    async count(filter) {
      const { rows } = await source.query(`select count(*) from svc_catalog.event_log e where ${matching(filter)}`, valuesOf(filter));
      return Number(rows[0]?.[0]);
    },
    async summary(triggers, since) {
      const { rows } = await source.query(SUMMARY, [JSON.stringify(triggers), since]);
      return new Map(
        rows.map(([name, delivered, failed, pending, oldest]) => [
          name ?? '',
          { delivered: Number(delivered), failed: Number(failed), pending: Number(pending), oldestPending: oldest ?? null },
        ]),
      );
    },
    async event(id) {
      const text = `select row_to_json(r) from (select ${EVENT} from svc_catalog.event_log where id = $1) r`;
      const found = (await source.query(text, [id])).rows[0]?.[0];
      return found == null ? undefined : parseJson(found);
    },
    async hasRow(table, id) {
      const { rows } = await source.query(`select from svc_catalog.${table} where id = $1`, [id]);
      return rows.length > 0;
    },
  };
}
