/** The log of events and of the attempts to deliver them. */
import { randomUUID } from 'node:crypto';
import { type CapturedTrigger, type EventCounts, type EventFilter, MOST_COUNTED, type Page } from '../../../backend/captures.ts';
import { SvcError } from '../../../errors/svc-error.ts';
import { type Json, parseJson, printJson } from '../../../util/json.ts';
import { MOST_LISTED_BYTES } from '../../../sql/within-bytes.ts';
import { momentText } from '../../../util/moment.ts';
import { tooLarge } from '../errors.ts';
import { NOW } from './names.ts';
import { schemaOf } from './triggers.ts';
import { affected, again, type EventDatabase, orNothing } from './work.ts';

const SECONDS = "'%Y-%m-%dT%H:%i:%s.%f'";

function flag(column: string): string {
  return `json_compact(if(e.${column}, 'true', 'false'))`;
}

/** The columns of an event that are told; leases are the service's own affair. */
const EVENT = `json_object('id', e.id, 'schema_name', e.schema_name, 'table_name', e.table_name, 'trigger_name', e.trigger_name,
  'payload', json_compact(e.payload), 'delivered', ${flag('delivered')}, 'error', ${flag('error')}, 'tries', e.tries,
  'created_at', date_format(e.created_at, ${SECONDS}), 'locked', concat(date_format(e.locked, ${SECONDS}), '+00:00'),
  'next_retry_at', date_format(e.next_retry_at, ${SECONDS}), 'archived', ${flag('archived')})`;

const INVOCATION = `json_object('id', i.id, 'trigger_name', i.trigger_name, 'event_id', i.event_id, 'http_status', i.status,
  'request', json_compact(i.request), 'response', json_compact(i.response), 'created_at', date_format(i.created_at, ${SECONDS}))`;

const STATES: Readonly<Record<EventFilter['state'], string>> = {
  pending: '(not e.delivered and not e.error)',
  processed: '(e.delivered or e.error)',
  delivered: 'e.delivered',
  error: 'e.error',
  any: 'true',
};

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

function nullable(json: Json): string {
  return json === null ? 'null' : printJson(json);
}

const AGAIN = 'delivered = false, error = false, tries = 0, next_retry_at = null, locked = null, lease_holder = null, lease_until = null';

export class EventLog {
  readonly #database: EventDatabase;

  constructor(database: EventDatabase) {
    this.#database = database;
  }

  async invoke({ definition, table }: CapturedTrigger, payload: Json, session: Json, traceContext: Json): Promise<string> {
    const { name, query } = this.#database;
    const id = randomUUID();
    const event = `{"op": "MANUAL", "data": {"old": null, "new": ${printJson(payload)}}, "session_variables": ${nullable(session)}, "trace_context": ${nullable(traceContext)}}`;
    await query(
      'insert into svc_catalog.event_log (id, source_database, schema_name, table_name, trigger_name, payload) values (?, ?, ?, ?, ?, ?)',
      [id, name, schemaOf(table, name), table.name.name, definition.name, event],
    );
    return id;
  }

  async redeliver(id: string): Promise<'done' | 'missing' | 'processing'> {
    const { name, transact } = this.#database;
    return orNothing('missing' as const, () =>
      again(() =>
        transact({}, async (query) => {
          const { rows } = await query(
            `select lease_holder is not null and lease_until > ${NOW} from svc_catalog.event_log where id = ? and source_database = ? for update`,
            [id, name],
          );
          const [found] = rows;
          if (found === undefined) return 'missing';
          if (found[0] === '1') return 'processing';
          await query(`update svc_catalog.event_log set ${AGAIN} where id = ?`, [id]);
          return 'done';
        }),
      ),
    );
  }

  async redeliverAll(filter: EventFilter, limit: number | null): Promise<number> {
    const { condition, values } = matching(filter, this.#database.name);
    const bound = limit === null ? '' : ` limit ${limit}`;
    return orNothing(0, async () =>
      affected(
        await again(() =>
          this.#database.query(
            `update svc_catalog.event_log e set ${AGAIN} where ${condition} and (e.delivered or e.error) order by e.created_at, e.place${bound}`,
            values,
          ),
        ),
      ),
    );
  }

  async list(filter: EventFilter, page: Page): Promise<readonly Json[]> {
    const { condition, values } = matching(filter, this.#database.name);
    return this.#listed(
      {
        row: EVENT,
        size: 'e.size',
        from: `svc_catalog.event_log e where ${condition}${behind('event_log', 'e', page)} order by e.created_at desc, e.place desc`,
        table: 'event_log',
      },
      values,
      page,
    );
  }

  async count(filter: EventFilter): Promise<number> {
    const { condition, values } = matching(filter, this.#database.name);
    return orNothing(0, async () => {
      const { rows } = await this.#database.query(`select count(*) from svc_catalog.event_log e where ${condition}`, values);
      return Number(rows[0]?.[0]);
    });
  }

  async summary(triggers: readonly string[], since: string): Promise<ReadonlyMap<string, EventCounts>> {
    const { name, query } = this.#database;
    return orNothing(new Map<string, EventCounts>(), async () => {
      const counts = new Map<string, EventCounts>();
      for (const trigger of triggers) {
        const made = await query(
          `select coalesce(sum(delivered), 0), coalesce(sum(error), 0) from (
             select delivered, error from svc_catalog.event_log
             where source_database = ? and trigger_name = ? and created_at >= ? and not archived order by created_at desc limit ${MOST_COUNTED}) e`,
          [name, trigger, moment(since)],
        );
        const open = await query(
          `select count(*), concat(date_format(min(created_at), ${SECONDS}), 'Z') from (
             select created_at from svc_catalog.event_log
             where source_database = ? and trigger_name = ? and not delivered and not error and not archived limit ${MOST_COUNTED}) e`,
          [name, trigger],
        );
        const [delivered, failed] = (made.rows[0] ?? []).map(Number);
        const [pending, oldest = null] = open.rows[0] ?? [];
        counts.set(trigger, { delivered: delivered ?? 0, failed: failed ?? 0, pending: Number(pending ?? 0), oldestPending: oldest });
      }
      return counts;
    });
  }

  async invocations(trigger: string, page: Page): Promise<readonly Json[]> {
    return this.#invocationsWhere('i.source_database = ? and i.trigger_name = ?', [this.#database.name, trigger], page);
  }

  async event(id: string, page: Page): Promise<{ readonly event: Json; readonly invocations: readonly Json[] } | null> {
    return orNothing(null, async () => {
      const { name, query } = this.#database;
      const { rows } = await query(`select ${EVENT} from svc_catalog.event_log e where e.id = ? and e.source_database = ?`, [id, name]);
      const [event] = jsonRows(rows);
      return event === undefined ? null : { event, invocations: await this.#invocationsWhere('i.event_id = ?', [id], page) };
    });
  }

  async #invocationsWhere(condition: string, values: readonly string[], page: Page): Promise<readonly Json[]> {
    return this.#listed(
      {
        row: INVOCATION,
        size: 'octet_length(i.request) + octet_length(i.response)',
        from: `svc_catalog.event_invocation_logs i where ${condition}${behind('event_invocation_logs', 'i', page)} order by i.created_at desc, i.place desc`,
        table: 'event_invocation_logs',
      },
      values,
      page,
    );
  }

  /** @throws SvcError bad-request where they are more than can be shown at a time: a part of them would look like all */
  async #listed(list: Listed, own: readonly string[], { limit, offset, after }: Page): Promise<readonly Json[]> {
    const { query } = this.#database;
    const values = after === undefined ? own : [...own, after];
    return orNothing([], async () => {
      const from = `${list.from} limit ${limit} offset ${offset}`;
      const sizes = await query(
        `select count(*), coalesce(sum(coalesce(preceding_bytes, 0) < ${MOST_LISTED_BYTES}), 0) from (
           select sum(bytes) over (order by number rows between unbounded preceding and 1 preceding) as preceding_bytes from (
             select ${list.size} as bytes, row_number() over () as number from ${from}) as page) as measured`,
        values,
      );
      const [all, fitting] = (sizes.rows[0] ?? []).map(Number);
      if (all === 0 && after !== undefined) {
        // A page behind a row that is gone would look like the end.
        const { rows } = await query(`select 1 from svc_catalog.${list.table} where id = ?`, [after]);
        if (rows.length === 0) throw new SvcError('not-exists', `the list has no row of the id "${after}"`);
      }
      if (all !== fitting)
        throw new SvcError(
          'bad-request',
          `these ${all} rows have more than ${MOST_LISTED_BYTES} bytes: ask for fewer by the limit, which is to be at most ${fitting} here`,
        );
      return jsonRows((await query(`select ${list.row} from ${from}`, values)).rows);
    });
  }
}

function behind(table: string, alias: string, { after }: Page): string {
  if (after === undefined) return '';
  return ` and exists (select 1 from svc_catalog.${table} c where c.id = ?
    and (${alias}.created_at < c.created_at or ${alias}.created_at = c.created_at and ${alias}.place < c.place))`;
}

interface Listed {
  /** A JSON object. */
  readonly row: string;
  /** About its bytes. */
  readonly size: string;
  /** All behind the word, up to the limit. */
  readonly from: string;
  readonly table: 'event_log' | 'event_invocation_logs';
}
