/** Queue of events in a database; see `EventStore`. MariaDB does not notify of new events, so it is polled. */
import type {
  Attempted,
  CapturedEvent,
  CapturedEventStore,
  DeliveryOutcome,
  FetchRequest,
  InvocationRecord,
  TriggerQueueRequest,
  Lease,
} from '../../../backend/event-store.ts';
import { LOOKAHEAD, searchEvents } from '../../shared/capture/search.ts';
import { NOW } from './names.ts';
import { retryDeadlocks, type EventDatabase, type SourceQuery, shortDeadline } from './work.ts';

/** Maximum events postponed by one statement. */
const MAX_POSTPONED = 5_000;
/** Maximum trigger queues in one statement. */
const QUEUES_PER_STATEMENT = 50;
/** Maximum characters of requests and responses in one statement, well below the smallest common `max_allowed_packet`. */
const MAX_LOGGED = 200_000;

const IDS = `json_table(?, '$[*]' columns (id char(36) character set utf8mb4 collate utf8mb4_bin path '$')) j`;
/** Finds events by index: a scan would wait for concurrent writers of events. */
const EVENTS_OF = `${IDS} straight_join svc_catalog.event_log e force index (by_id) on e.id = j.id`;

/** Due events of a trigger queue, longest due first, and whether an earlier event of the same key is undelivered. */
const CANDIDATES = `
select e.id, e.trigger_name, e.order_key, e.order_key is null or not exists (
  select 1 from svc_catalog.event_log f force index (ordered)
  where f.source_database = e.source_database and f.trigger_name = e.trigger_name and f.open_key = e.order_key and f.place < e.place)
from svc_catalog.event_log e force index (queue)
where e.source_database = ? and e.trigger_name = ? and e.due <= ${NOW}
order by e.due limit ?`;

/** Due ordered events, with the first undelivered event of their key. */
const WAITING = `
select e.place, (select min(f.place) from svc_catalog.event_log f force index (ordered)
  where f.source_database = e.source_database and f.trigger_name = e.trigger_name and f.open_key = e.order_key)
from svc_catalog.event_log e force index (queue)
where e.source_database = ? and e.trigger_name = ? and e.due <= ${NOW} and e.order_key is not null
order by e.due limit ?`;

const PLACES = `json_table(?, '$[*]' columns (place bigint unsigned path '$')) j straight_join svc_catalog.event_log e force index (primary) on e.place = j.place`;

const POSTPONE = `
update json_table(?, '$[*]' columns (place bigint unsigned path '$.place', due datetime(6) path '$.due')) j
straight_join svc_catalog.event_log e force index (primary) on e.place = j.place
set e.lease_until = greatest(j.due, ${NOW} + interval 1 second)`;

/** Ordered events in delivery. */
const BUSY = `
select e.trigger_name, e.open_key, e.id from svc_catalog.event_log e force index (leased)
where e.source_database = ? and e.trigger_name = ? and e.lease_until > ${NOW} and e.lease_holder is not null and e.open_key is not null`;

interface Candidate {
  readonly id: string;
  readonly queue: string;
  /** `null` without ordering. */
  readonly key: string | null;
  /** The event is the first of its key, and no other one is in delivery. */
  readonly isFirst: boolean;
}

export class MariadbEventQueue implements CapturedEventStore {
  readonly #database: EventDatabase;

  constructor(database: EventDatabase) {
    this.#database = database;
  }

  async fetch(request: FetchRequest): Promise<readonly CapturedEvent[]> {
    if (request.limit <= 0 || request.queues.length === 0) return [];
    return searchEvents(
      request,
      async (part) => {
        const candidates = await this.#candidates(part.queues);
        const events = await retryDeadlocks(() => this.#take(roundRobin(candidates, part.queues), part));
        const stuck = part.queues.filter((queue) => isStuck(candidates, queue)).map(({ name }) => name);
        return { events, stuck, isOvertaken: events.length === 0 && candidates.some(({ isFirst }) => isFirst) };
      },
      async (stuck) => {
        for (const name of stuck) await retryDeadlocks(() => this.#postpone(name));
      },
    );
  }

  async renew(lease: Lease, ids: readonly string[]): Promise<readonly string[]> {
    if (ids.length === 0) return [];
    return retryDeadlocks(() =>
      this.#database.transact(shortDeadline(), async (query) => {
        const own = await heldIds(query, lease, ids);
        if (own.length > 0) {
          await query(`update ${EVENTS_OF} set e.lease_until = ${NOW} + interval ? second`, [json(own), String(lease.seconds)]);
        }
        return own;
      }),
    );
  }

  async record(lease: Lease, outcomes: readonly Attempted<DeliveryOutcome>[]): Promise<readonly string[]> {
    if (outcomes.length === 0) return [];
    return retryDeadlocks(() =>
      this.#database.transact(shortDeadline(), async (query) => {
        const { rows } = await query(
          `select e.id, e.trigger_name, e.order_key, e.tries from ${EVENTS_OF} where e.lease_holder = ? and e.due is not null for update`,
          [json(outcomes.map(({ id }) => id)), lease.holder],
        );
        const triesOf = new Map(rows.map(([id, , , tries]) => [id, Number(tries)]));
        const own = outcomes.filter(({ id, tries }) => triesOf.get(id) === tries);
        if (own.length === 0) return [];
        const queues = new Map(rows.map(([id, queue]) => [id as string, queue as string]));
        await query(RECORD, [JSON.stringify(own.map(outcomeRow))]);
        await this.#log(query, own, queues);
        const ended = new Set(own.filter(({ result }) => result.kind !== 'retry').map(({ id }) => id));
        for (const [id, queue, key] of rows)
          if (key !== null && key !== undefined && ended.has(id as string)) await this.#wakeNext(query, queue as string, key);
        return own.map(({ id }) => id);
      }),
    );
  }

  async release(lease: Lease, ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await retryDeadlocks(() =>
      this.#database.transact(shortDeadline(), async (query) => {
        const own = await heldIds(query, lease, ids);
        if (own.length === 0) return;
        await query(`update ${EVENTS_OF} set e.locked = null, e.lease_holder = null, e.lease_until = null`, [json(own)]);
      }),
    );
  }

  async #candidates(queues: readonly TriggerQueueRequest[]): Promise<readonly Candidate[]> {
    const requested = queues.filter(({ limit }) => limit > 0);
    const found: Candidate[] = [];
    for (let i = 0; i < requested.length; i += QUEUES_PER_STATEMENT) {
      const some = requested.slice(i, i + QUEUES_PER_STATEMENT);
      const text = some.map(() => `(${CANDIDATES})`).join(' union all ');
      const { rows } = await this.#database.query(
        text,
        some.flatMap(({ name, limit }) => [this.#database.name, name, String(Math.trunc(limit) + LOOKAHEAD)]),
        shortDeadline(),
      );
      for (const [id, queue, key = null, isFirst] of rows)
        found.push({ id: id as string, queue: queue as string, key, isFirst: isFirst === '1' });
    }
    const others = await this.#othersOfKey(found);
    return found.map((each) => (others(each) ? { ...each, isFirst: false } : each));
  }

  /** Returns whether another event of the same key is in delivery, such as one of a later transaction that committed earlier. */
  async #othersOfKey(events: readonly Candidate[]): Promise<(event: Candidate) => boolean> {
    const busy = new Map<string, string[]>();
    const keyIn = (queue: string, key: string | null): string => `${key} ${queue}`;
    for (const queue of new Set(events.flatMap(({ queue, key }) => (key === null ? [] : [queue])))) {
      const { rows } = await this.#database.query(BUSY, [this.#database.name, queue], shortDeadline());
      for (const [, key = null, id] of rows) busy.set(keyIn(queue, key), [...(busy.get(keyIn(queue, key)) ?? []), id as string]);
    }
    return ({ id, queue, key }) => key !== null && (busy.get(keyIn(queue, key))?.some((other) => other !== id) ?? false);
  }

  /** Takes the candidates, in order, that no other instance has taken in the meantime. */
  async #take(candidates: readonly Candidate[], { lease, queues, limit, bytes = 0 }: FetchRequest): Promise<readonly CapturedEvent[]> {
    // Twice the limit, because other instances may be taking the first ones.
    const first = candidates.slice(0, 2 * limit);
    if (first.length === 0) return [];
    for (const { name, overall } of queues) {
      if (overall === undefined || !first.some(({ queue }) => queue === name)) continue;
      const values = [this.#database.name, name];
      await this.#database.query(ADD_QUEUE, [...values, ...values], shortDeadline());
    }
    const own = await this.#database.transact(shortDeadline(), async (query) => {
      const left = await this.#remaining(query, queues, first);
      const { rows } = await query(`select e.id, e.size from ${EVENTS_OF} where e.due <= ${NOW} for update skip locked`, [
        json(first.map(({ id }) => id)),
      ]);
      const sizes = new Map(rows.map(([id, size]) => [id as string, Number(size)]));
      const chosen: string[] = [];
      let before = 0;
      for (const { id, queue } of first) {
        const size = sizes.get(id);
        const places = left.get(queue) ?? limit;
        if (size === undefined || places <= 0 || chosen.length === limit || before >= bytes) continue;
        chosen.push(id);
        left.set(queue, places - 1);
        before += size;
      }
      if (chosen.length > 0) {
        await query(`update ${EVENTS_OF} set e.locked = ${NOW}, e.lease_holder = ?, e.lease_until = ${NOW} + interval ? second`, [
          json(chosen),
          lease.holder,
          String(lease.seconds),
        ]);
      }
      return chosen;
    });
    if (own.length === 0) return [];
    // Two transactions that take events of one key at the same moment do not see each other. Both may release their events.
    const others = await this.#othersOfKey(first.filter(({ id }) => own.includes(id)));
    const returned = first.filter((each) => own.includes(each.id) && others(each)).map(({ id }) => id);
    await this.release(lease, returned);
    const found = new Map((await this.#read(own.filter((id) => !returned.includes(id)))).map((event) => [event.id, event]));
    return own.flatMap((id) => found.get(id) ?? []);
  }

  async #read(ids: readonly string[]): Promise<readonly CapturedEvent[]> {
    if (ids.length === 0) return [];
    const { rows } = await this.#database.query(
      `select e.id, e.trigger_name, e.tries, e.schema_name, e.table_name, date_format(e.created_at, '%Y-%m-%dT%H:%i:%s.%f'), e.payload, e.size,
         timestampdiff(microsecond, coalesce(e.next_retry_at, e.created_at), ${NOW}) / 1000000 from ${EVENTS_OF}`,
      [json(ids)],
      shortDeadline(),
    );
    return rows.map(([id, queue, tries, schema, table, createdAt, payload, size, age]) => ({
      id: id as string,
      queue: queue as string,
      tries: Number(tries),
      schema: schema as string,
      table: table as string,
      createdAt: createdAt as string,
      age: Math.max(0, Number(age)),
      payload: payload as string,
      size: Number(size),
    }));
  }

  /**
   * Postpones ordered events that wait for an earlier one until that one is due; the end of its lease wakes them sooner. The earlier event
   * is locked meanwhile, so that its end is not missed.
   */
  async #postpone(queue: string): Promise<void> {
    const { rows } = await this.#database.query(WAITING, [this.#database.name, queue, String(MAX_POSTPONED)], shortDeadline());
    const waiting = rows.filter(([place, head]) => head !== null && head !== place);
    if (waiting.length === 0) return;
    await this.#database.transact(shortDeadline(), async (query) => {
      const heads = await query(`select e.place, e.due from ${PLACES} where e.due is not null for update skip locked`, [
        json([...new Set(waiting.map(([, head]) => head as string))]),
      ]);
      const dues = new Map(heads.rows.map(([place, due]) => [place, due]));
      const free = await query(`select e.place from ${PLACES} where e.due <= ${NOW} and e.lease_holder is null for update skip locked`, [
        json(waiting.filter(([, head]) => dues.has(head)).map(([place]) => place as string)),
      ]);
      const headOf = new Map(waiting.map(([place, head]) => [place, head]));
      const ends = free.rows.map(([place]) => ({ place, due: dues.get(headOf.get(place)) }));
      if (ends.length > 0) await query(POSTPONE, [JSON.stringify(ends)]);
    });
  }

  /** Wakes the next event of a key. */
  async #wakeNext(query: SourceQuery, queue: string, key: string): Promise<void> {
    const { rows } = await query(
      `select place from svc_catalog.event_log force index (ordered)
       where source_database = ? and trigger_name = ? and open_key = ? order by place limit 1`,
      [this.#database.name, queue, key],
    );
    const place = rows[0]?.[0];
    if (place == null) return;
    await query(
      'update svc_catalog.event_log set lease_until = null where place = ? and lease_holder is null and lease_until is not null and due is not null',
      [place],
    );
  }

  async #log(query: SourceQuery, outcomes: readonly DeliveryOutcome[], queues: ReadonlyMap<string, string>): Promise<void> {
    let rows: InvocationRow[] = [];
    let size = 0;
    const flush = async (): Promise<void> => {
      if (rows.length > 0) await query(LOG, [this.#database.name, JSON.stringify(rows)]);
      rows = [];
      size = 0;
    };
    for (const { id, invocation } of outcomes) {
      if (invocation === null) continue;
      const row = { id, trigger: queues.get(id) ?? '', ...invocation };
      const own = invocation.request.length + invocation.response.length;
      if (own > MAX_LOGGED) await this.#logLarge(query, row);
      else {
        if (size + own > MAX_LOGGED) await flush();
        rows.push(row);
        size += own;
      }
    }
    await flush();
  }

  /** Logs a large exchange in a statement of its own, without texts that exceed the server's limit. */
  async #logLarge(query: SourceQuery, { id, trigger, status, request, response }: InvocationRow): Promise<void> {
    const { rows } = await query('select @@max_allowed_packet', []);
    const most = (Number(rows[0]?.[0]) - 10_000) / 2;
    const fitting = (text: string): string =>
      Buffer.byteLength(text) > most ? JSON.stringify({ version: '2', type: 'too_large', data: { bytes: Buffer.byteLength(text) } }) : text;
    await query(
      'insert into svc_catalog.event_invocation_logs (source_database, trigger_name, event_id, status, request, response) values (?, ?, ?, ?, ?, ?)',
      [this.#database.name, trigger, id, status === null ? null : String(status), fitting(request), fitting(response)],
    );
  }

  /**
   * Returns how many more events may be taken from queues with a limit for all instances. Leases are counted under a lock; a queue that
   * another instance has locked is skipped.
   */
  async #remaining(
    query: SourceQuery,
    queues: readonly TriggerQueueRequest[],
    candidates: readonly Candidate[],
  ): Promise<Map<string, number>> {
    const left = new Map<string, number>();
    for (const { name, overall } of queues) {
      if (overall === undefined || !candidates.some(({ queue }) => queue === name)) continue;
      const values = [this.#database.name, name];
      left.set(name, 0);
      const { rows } = await query(
        `select 1 from svc_catalog.event_lanes where source_database = ? and trigger_name = ? for update skip locked`,
        values,
      );
      if (rows.length === 0) continue;
      const leased = await query(
        `select count(*) from svc_catalog.event_log force index (leased)
         where source_database = ? and trigger_name = ? and lease_until > ${NOW} and lease_holder is not null`,
        values,
      );
      left.set(name, overall - Number(leased.rows[0]?.[0]));
    }
    return left;
  }
}

/** Runs outside a transaction, in which it would block other inserts. Inserts only if the row is missing, to avoid waiting for its lock. */
const ADD_QUEUE = `insert ignore into svc_catalog.event_lanes (source_database, trigger_name)
select ?, ? from dual where not exists (select 1 from svc_catalog.event_lanes where source_database = ? and trigger_name = ?)`;

interface InvocationRow extends InvocationRecord {
  readonly id: string;
  readonly trigger: string;
}

const TEXT = 'character set utf8mb4 collate utf8mb4_bin';

const RECORD = `
update json_table(?, '$[*]' columns (id char(36) ${TEXT} path '$.id', delivered boolean path '$.delivered', error boolean path '$.error',
  seconds int path '$.seconds', sent int path '$.sent')) o
straight_join svc_catalog.event_log e force index (by_id) on e.id = o.id
set e.delivered = o.delivered, e.error = o.error, e.tries = e.tries + o.sent, e.next_retry_at = ${NOW} + interval o.seconds second,
  e.locked = null, e.lease_holder = null, e.lease_until = null`;

const LOG = `
insert into svc_catalog.event_invocation_logs (source_database, trigger_name, event_id, status, request, response)
select ?, i.name, i.id, i.status, i.request, i.response from json_table(?, '$[*]' columns (id char(36) ${TEXT} path '$.id',
  name varchar(64) ${TEXT} path '$.trigger', status int path '$.status', request longtext ${TEXT} path '$.request', response longtext ${TEXT} path '$.response')) i`;

function outcomeRow({ id, result, invocation }: DeliveryOutcome) {
  return {
    id,
    delivered: result.kind === 'delivered' ? 1 : 0,
    error: result.kind === 'failed' || result.kind === 'dead' ? 1 : 0,
    seconds: result.kind === 'retry' ? Math.ceil(result.seconds) : null,
    sent: invocation === null ? 0 : 1,
  };
}

async function heldIds(query: SourceQuery, { holder }: Lease, ids: readonly string[]): Promise<readonly string[]> {
  const { rows } = await query(`select e.id from ${EVENTS_OF} where e.lease_holder = ? and e.due is not null for update`, [
    json(ids),
    holder,
  ]);
  return rows.map(([id]) => id as string);
}

function json(ids: readonly string[]): string {
  return JSON.stringify(ids);
}

/** Returns whether more candidates exist beyond events that wait for others. */
function isStuck(candidates: readonly Candidate[], { name, limit }: TriggerQueueRequest): boolean {
  if (limit <= 0) return false;
  const own = candidates.filter(({ queue }) => queue === name);
  return own.length >= limit + LOOKAHEAD && own.filter(({ isFirst }) => isFirst).length < limit;
}

/** Returns the deliverable candidates, one for each queue in turn. */
function roundRobin(candidates: readonly Candidate[], queues: readonly TriggerQueueRequest[]): readonly Candidate[] {
  const byQueue = queues.map(({ name, limit }) =>
    candidates.filter(({ queue, isFirst }) => queue === name && isFirst).slice(0, Math.max(0, limit)),
  );
  const most = Math.max(0, ...byQueue.map(({ length }) => length));
  return Array.from({ length: most }, (_, turn) => byQueue.flatMap((own) => own[turn] ?? [])).flat();
}
