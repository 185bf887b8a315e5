/** Log of events and delivery attempts. */
import { randomUUID } from 'node:crypto';
import { type EventCounts, type EventFilter, MAX_COUNTED, type Page } from '../../../backend/captures.ts';
import { SvcError } from '../../../errors/svc-error.ts';
import { type Json, parseJson } from '../../../util/json.ts';
import { momentText } from '../../../util/moment.ts';
import { type EventLogStatements, eventLogOf, STATES } from '../../shared/capture/event-log.ts';
import { tooLarge } from '../errors.ts';
import { NOW } from './names.ts';
import { schemaNameOf } from './triggers.ts';
import { affected, retryDeadlocks, type EventDatabase, isMissing } from './work.ts';

const SECONDS = "'%Y-%m-%dT%H:%i:%s.%f'";

function flag(column: string): string {
  return `json_compact(if(e.${column}, 'true', 'false'))`;
}

/** JSON of an event without its lease. */
const EVENT = `json_object('id', e.id, 'schema_name', e.schema_name, 'table_name', e.table_name, 'trigger_name', e.trigger_name,
  'payload', json_compact(e.payload), 'delivered', ${flag('delivered')}, 'error', ${flag('error')}, 'tries', e.tries,
  'created_at', date_format(e.created_at, ${SECONDS}), 'locked', concat(date_format(e.locked, ${SECONDS}), '+00:00'),
  'next_retry_at', date_format(e.next_retry_at, ${SECONDS}), 'archived', ${flag('archived')})`;

const INVOCATION = `json_object('id', i.id, 'trigger_name', i.trigger_name, 'event_id', i.event_id, 'http_status', i.status,
  'request', json_compact(i.request), 'response', json_compact(i.response), 'created_at', date_format(i.created_at, ${SECONDS}))`;

interface Matching {
  readonly condition: string;
  readonly values: readonly string[];
}

function matching({ trigger, from, to, state, archived = false }: EventFilter, origin: string): Matching {
  const conditions = [
    ['e.source_database = ?', origin],
    ...(trigger === undefined ? [] : [['e.trigger_name = ?', trigger]]),
    ...(from === undefined ? [] : [['e.created_at >= ?', moment(from)]]),
    ...(to === undefined ? [] : [['e.created_at < ?', moment(to)]]),
  ] as const;
  return {
    condition: [...conditions.map(([text]) => text), STATES[state], ...(archived ? [] : ['not e.archived'])].join(' and '),
    values: conditions.map(([, value]) => value),
  };
}

/** @throws SvcError data-exception */
function moment(text: string): string {
  const found = momentText('datetime', text);
  if (found === null) throw new SvcError('data-exception', `invalid value for type datetime: "${text.slice(0, 200)}"`);
  return found;
}

function jsonRows(rows: readonly (readonly (string | null)[])[]): readonly Json[] {
  return rows.map(([row]) => {
    if (row === null || row === undefined) throw tooLarge('a row of the log of events');
    return parseJson(row);
  });
}

const RESET = 'delivered = false, error = false, tries = 0, next_retry_at = null, locked = null, lease_holder = null, lease_until = null';

export function eventLog(database: EventDatabase): ReturnType<typeof eventLogOf> {
  return eventLogOf({ isMissing, ...changesOf(database), ...listsOf(database), ...readsOf(database) });
}

function changesOf({ name, query, transact }: EventDatabase): Pick<EventLogStatements, 'invoke' | 'redeliver' | 'redeliverAll'> {
  return {
    async invoke({ definition, table }, payload, session, traceContext) {
      const id = randomUUID();
      const event = `{"op": "MANUAL", "data": {"old": null, "new": ${payload}}, "session_variables": ${session}, "trace_context": ${traceContext}}`;
      await query(
        'insert into svc_catalog.event_log (id, source_database, schema_name, table_name, trigger_name, payload) values (?, ?, ?, ?, ?, ?)',
        [id, name, schemaNameOf(table, name), table.name.name, definition.name, event],
      );
      return id;
    },
    redeliver: (id) =>
      retryDeadlocks(() =>
        transact({}, async (run) => {
          const { rows } = await run(
            `select lease_holder is not null and lease_until > ${NOW} from svc_catalog.event_log where id = ? and source_database = ? for update`,
            [id, name],
          );
          const [found] = rows;
          if (found === undefined) return 'missing';
          if (found[0] === '1') return 'processing';
          await run(`update svc_catalog.event_log set ${RESET} where id = ?`, [id]);
          return 'done';
        }),
      ),
    async redeliverAll(filter, limit) {
      const { condition, values } = matching(filter, name);
      const limitSql = limit === null ? '' : ` limit ${limit}`;
      const update = `update svc_catalog.event_log e set ${RESET} where ${condition} and (e.delivered or e.error) order by e.created_at, e.place${limitSql}`;
      return affected(await retryDeadlocks(() => query(update, values)));
    },
  };
}

function listsOf({ name, query }: EventDatabase): Pick<EventLogStatements, 'list' | 'invocations'> {
  const page = async (list: Listed, own: readonly string[], { limit, offset, after }: Page, bytes: number) => {
    const values = after === undefined ? own : [...own, after];
    const from = `${list.from} limit ${limit} offset ${offset}`;
    const sizes = await query(
      `select count(*), coalesce(sum(coalesce(preceding_bytes, 0) < ${bytes}), 0) from (
           select sum(bytes) over (order by number rows between unbounded preceding and 1 preceding) as preceding_bytes from (
             select ${list.size} as bytes, row_number() over () as number from ${from}) as page) as measured`,
      values,
    );
    const [total = 0, fitting = 0] = (sizes.rows[0] ?? []).map(Number);
    return { total, fitting, read: async () => jsonRows((await query(`select ${list.row} from ${from}`, values)).rows) };
  };
  return {
    async list(filter, at, bytes) {
      const { condition, values } = matching(filter, name);
      const from = `svc_catalog.event_log e where ${condition}${afterRow('event_log', 'e', at)} order by e.created_at desc, e.place desc`;
      return page({ row: EVENT, size: 'e.size', from }, values, at, bytes);
    },
    invocations(of, at, bytes) {
      const condition = 'trigger' in of ? 'i.source_database = ? and i.trigger_name = ?' : 'i.event_id = ?';
      const values = 'trigger' in of ? [name, of.trigger] : [of.event];
      const from = `svc_catalog.event_invocation_logs i where ${condition}${afterRow('event_invocation_logs', 'i', at)} order by i.created_at desc, i.place desc`;
      return page({ row: INVOCATION, size: 'octet_length(i.request) + octet_length(i.response)', from }, values, at, bytes);
    },
  };
}

function readsOf({ name, query }: EventDatabase): Pick<EventLogStatements, 'count' | 'summary' | 'event' | 'hasRow'> {
  return {
    async count(filter) {
      const { condition, values } = matching(filter, name);
      const { rows } = await query(`select count(*) from svc_catalog.event_log e where ${condition}`, values);
      return Number(rows[0]?.[0]);
    },
    async summary(triggers, since) {
      const counts = new Map<string, EventCounts>();
      for (const trigger of triggers) {
        const ended = await query(
          `select coalesce(sum(delivered), 0), coalesce(sum(error), 0) from (
             select delivered, error from svc_catalog.event_log
             where source_database = ? and trigger_name = ? and created_at >= ? and not archived order by created_at desc limit ${MAX_COUNTED}) e`,
          [name, trigger, moment(since)],
        );
        const open = await query(
          `select count(*), concat(date_format(min(created_at), ${SECONDS}), 'Z') from (
             select created_at from svc_catalog.event_log
             where source_database = ? and trigger_name = ? and not delivered and not error and not archived limit ${MAX_COUNTED}) e`,
          [name, trigger],
        );
        const [delivered, failed] = (ended.rows[0] ?? []).map(Number);
        const [pending, oldest = null] = open.rows[0] ?? [];
        counts.set(trigger, { delivered: delivered ?? 0, failed: failed ?? 0, pending: Number(pending ?? 0), oldestPending: oldest });
      }
      return counts;
    },
    async event(id) {
      const { rows } = await query(`select ${EVENT} from svc_catalog.event_log e where e.id = ? and e.source_database = ?`, [id, name]);
      return jsonRows(rows)[0];
    },
    async hasRow(table, id) {
      const { rows } = await query(`select 1 from svc_catalog.${table} where id = ?`, [id]);
      return rows.length > 0;
    },
  };
}

function afterRow(table: string, alias: string, { after }: Page): string {
  if (after === undefined) return '';
  return ` and exists (select 1 from svc_catalog.${table} c where c.id = ?
    and (${alias}.created_at < c.created_at or ${alias}.created_at = c.created_at and ${alias}.place < c.place))`;
}

interface Listed {
  /** SQL of the row as a JSON object. */
  readonly row: string;
  /** Approximate size of the row, in bytes. */
  readonly size: string;
  /** From clause without `from` and `limit`. */
  readonly from: string;
}
