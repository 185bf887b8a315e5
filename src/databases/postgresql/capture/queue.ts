/** Queue of events in a database; see `EventStore`. */
import type { Source } from '../../../backend/backend.ts';
import type {
  Attempted,
  CapturedEvent,
  CapturedEventStore,
  DeliveryOutcome,
  FetchRequest,
  TriggerQueueRequest,
  Lease,
} from '../../../backend/event-store.ts';
import { BY_INDEX } from '../../../sql/by-index.ts';
import { LOOKAHEAD, searchEvents } from '../../shared/capture/search.ts';
import { arrayLiteral } from '../coerce/array-literal.ts';
import { CHANNEL, DUE, NOW, PENDING } from './names.ts';
import type { Connection, RunSqlResult, StatementOptions } from '../../../backend/connection.ts';

/**
 * Takes due events, round robin between queues. $1 names and $2 limits of queues, $3 limit of all, $4 holder, $5 seconds of the lease,
 * $6 bytes of all payloads. Only the first event of each key is taken from ordered events; a limited number of them is read, so that a few
 * keys with long queues do not slow down the search. A queue in which all of these had to wait is returned as a row with its name. Another
 * row has the number of events that were found, some of which other instances may have taken, and whether writers send notifications. The
 * last column of an event tells whether it is ordered.
 *
 * If the client stalls, the server ends its session instead of waiting until it can send rows, because the session holds their locks.
 */
const FETCH = `
with bound as materialized (
  select case when current_setting('tcp_user_timeout', true) is not null then set_config('tcp_user_timeout', ($5::float8 * 1000)::int::text, true) end
), requested as materialized (
  select l.name, l.most, l.ordinal from bound, unnest($1::text[], $2::int[]) with ordinality as l(name, most, ordinal) where l.most > 0
), busy as materialized (
  -- keys with an event under a lease, whose place may be larger: transactions do not commit in the order in which they begin
  select e.trigger_name, e.order_key from requested l join svc_catalog.event_log e on e.trigger_name = l.name
  where e.lease_holder is not null and e.lease_until > ${NOW} and e.order_key is not null
), free as (
  select l.ordinal, l.most, e.id, e.due from requested l cross join lateral (
    select id, ${DUE} as due from svc_catalog.event_log
    where trigger_name = l.name and ${PENDING} and order_key is null and ${DUE} <= ${NOW}
    order by ${DUE} limit l.most) e
), seen as materialized (
  select l.name, l.ordinal, l.most, e.id, e.due, not exists (
      select from svc_catalog.event_log f
      where f.trigger_name = l.name and f.order_key = e.order_key and f.place < e.place
        and not f.delivered and not f.error and not f.archived and f.order_key is not null)
      and not exists (select from busy b where b.trigger_name = l.name and b.order_key = e.order_key) as is_first
  from requested l cross join lateral (
    select id, order_key, place, ${DUE} as due from svc_catalog.event_log
    where trigger_name = l.name and ${PENDING} and order_key is not null and ${DUE} <= ${NOW}
    order by ${DUE} limit l.most + ${LOOKAHEAD}) e
), open as materialized (
  select id, row_number() over (partition by ordinal order by due) as turn, ordinal, most
  from (select ordinal, most, id, due from free union all select ordinal, most, id, due from seen where is_first) a
), chosen as materialized (
  -- twice the limit: other instances may have locked the first ones
  select e.ctid as place, octet_length(e.payload::text) as size, o.turn, o.ordinal
  from (select id, turn, ordinal from open where turn <= most order by turn, ordinal limit $3::int * 2) o
  join svc_catalog.event_log e using (id)
  where not e.delivered and not e.error and not e.archived and coalesce(greatest(e.lease_until, e.next_retry_at), e.created_at) <= ${NOW}
  order by o.turn, o.ordinal limit $3::int for update of e skip locked
), sized as (
  -- the event that reaches the limit of bytes is the last one
  select place, sum(size) over (order by turn, ordinal rows between unbounded preceding and 1 preceding) as before from chosen
), mine as (
  update svc_catalog.event_log e
  set locked = now(), lease_holder = $4, lease_until = ${NOW} + make_interval(secs => $5::float8)
  -- the rows are locked, so their ctid does not change
  where e.ctid = any (array(select place from sized where before is null or before < $6::bigint))
  returning e.id, e.trigger_name, e.tries, e.schema_name, e.table_name, to_char(e.created_at, 'YYYY-MM-DD"T"HH24:MI:SS.US') as created_at, e.payload::text,
    extract(epoch from ${NOW} - coalesce(e.next_retry_at, e.created_at)) as age, e.order_key is not null as ordered
)
select id, trigger_name, tries, schema_name, table_name, created_at, payload, null, null, age, ordered from mine
union all
select null, null, (select count(*) from open), null, null, null, null, null, pg_sequence_last_value('svc_catalog.event_waiting'::regclass), null, null
union all
select null, null, null, null, null, null, null, name, null, null, null from seen group by name, most having count(*) >= most + ${LOOKAHEAD} and count(*) filter (where is_first) < most`;

/**
 * Releases ordered events that were taken while another one of their key has a lease: of two that were taken at the same time, neither saw
 * the other. Both may be released. $1 IDs, $2 holder
 */
const YIELD = `
update svc_catalog.event_log e set locked = null, lease_holder = null, lease_until = null
where e.id = any ($1::text[]) and e.lease_holder = $2 and exists (
  select from svc_catalog.event_log f
  where f.trigger_name = e.trigger_name and f.lease_holder is not null and f.order_key = e.order_key and f.id <> e.id and f.lease_until > ${NOW})
returning e.id`;

/**
 * Postpones ordered events that wait for an earlier one until that one is due, or until its lease ends and they are woken (`WAKE`). The
 * earlier one is locked meanwhile, so that its end is not missed.
 */
const ASIDE = `
with waiting as materialized (
  select e.id, h.id as head, h.due
  from unnest($1::text[]) as l(name) cross join lateral (
    select id, order_key, place from svc_catalog.event_log
    where trigger_name = l.name and ${PENDING} and order_key is not null and ${DUE} <= ${NOW}
    order by ${DUE} limit 5000) e
  cross join lateral (
    select id, ${DUE} as due from svc_catalog.event_log f
    where f.trigger_name = l.name and f.order_key = e.order_key and f.place < e.place
      and not f.delivered and not f.error and not f.archived and f.order_key is not null
    order by f.place limit 1) h
), head as materialized (
  select e.id from (select distinct head as id from waiting) w join svc_catalog.event_log e using (id)
  where ${PENDING} for share of e skip locked
), own as materialized (
  select e.id, w.due from waiting w join head h on h.id = w.head join svc_catalog.event_log e on e.id = w.id
  where e.lease_holder is null for update of e skip locked
)
update svc_catalog.event_log e set lease_until = greatest(o.due, ${NOW} + interval '1 second') from own o where o.id = e.id`;

/** Wakes the next event of each key after the end of an ordered one. $1 names, $2 keys */
const WAKE = `
update svc_catalog.event_log e set lease_until = null
from (select distinct name, order_key from unnest($1::text[], $2::bigint[]) as k(name, order_key)) k
where e.id = (
    select n.id from svc_catalog.event_log n
    where n.trigger_name = k.name and n.order_key = k.order_key and not n.delivered and not n.error and not n.archived and n.order_key is not null
    order by n.place limit 1)
  and e.lease_holder is null and e.lease_until is not null`;

const RECORD = `
with outcome as (
  select * from unnest($2::text[], $3::text[], $4::int[], $5::bool[], $6::int[], $7::text[], $8::text[], $9::int[])
    as o(id, result, seconds, sent, status, request, response, tries)
), mine as (
  update svc_catalog.event_log e
  set delivered = o.result = 'delivered', error = o.result in ('failed', 'dead'), tries = e.tries + case when o.sent then 1 else 0 end,
    next_retry_at = case when o.result = 'retry' then ${NOW} + make_interval(secs => o.seconds) end,
    locked = null, lease_holder = null, lease_until = null
  from outcome o where e.id = o.id and e.lease_holder = $1 and e.tries = o.tries
  returning e.id, e.trigger_name, case when o.result <> 'retry' then e.order_key end as order_key, o.sent, o.status, o.request, o.response
), logged as (
  insert into svc_catalog.event_invocation_logs (trigger_name, event_id, status, request, response)
  select trigger_name, id, status, request::json, response::json from mine where sent
)
select id, trigger_name, order_key from mine`;

const RENEW = `
update svc_catalog.event_log set lease_until = ${NOW} + make_interval(secs => $3::float8)
where id = any ($1::text[]) and lease_holder = $2 and ${PENDING} returning id`;

const RELEASE = `
update svc_catalog.event_log set locked = null, lease_holder = null, lease_until = null
where id = any ($1::text[]) and lease_holder = $2 returning trigger_name, order_key`;

/** Timeout of a queue statement, in ms: a fetch that takes longer would return events whose leases have expired. */
const STATEMENT_TIMEOUT_MS = 30_000;

function shortDeadline(): StatementOptions {
  return { deadline: Date.now() + STATEMENT_TIMEOUT_MS, settings: BY_INDEX };
}

const NO_BOUND = Number.MAX_SAFE_INTEGER;

export interface EventQueueOptions {
  /** True if the database may send notifications of new events. */
  readonly notify: boolean;
}

export class PostgresqlEventQueue implements CapturedEventStore {
  readonly #source: Source;
  #listeners = 0;
  readonly listen?: CapturedEventStore['listen'];

  constructor(source: Source, { notify }: EventQueueOptions) {
    this.#source = source;
    if (notify) this.listen = (wake) => this.#listen(wake);
  }

  async fetch(request: FetchRequest): Promise<readonly CapturedEvent[]> {
    if (request.limit <= 0 || request.queues.length === 0) return [];
    const { events, announced } = await this.#search(request);
    if (this.#listeners === 0) return events;
    // An instance that found events polls again without a notification.
    if (events.length > 0) {
      if (announced) await this.#announce('1');
      return events;
    }
    if (announced) return events;
    await this.#announce('2');
    // Events that were written before sent no notification.
    return (await this.#search(request)).events;
  }

  async renew(lease: Lease, ids: readonly string[]): Promise<readonly string[]> {
    if (ids.length === 0) return [];
    const { rows } = await this.#source.query(RENEW, [arrayLiteral(ids), lease.holder, String(lease.seconds)], shortDeadline());
    return rows.map(([id]) => id as string);
  }

  async record(lease: Lease, outcomes: readonly Attempted<DeliveryOutcome>[]): Promise<readonly string[]> {
    if (outcomes.length === 0) return [];
    const column = (of: (outcome: Attempted<DeliveryOutcome>) => string | null): string => arrayLiteral(outcomes.map(of));
    const { rows } = await this.#source.query(
      RECORD,
      [
        lease.holder,
        column(({ id }) => id),
        column(({ result }) => result.kind),
        column(({ result }) => (result.kind === 'retry' ? String(Math.ceil(result.seconds)) : null)),
        column(({ invocation }) => String(invocation !== null)),
        column(({ invocation }) => (invocation?.status == null ? null : String(invocation.status))),
        column(({ invocation }) => invocation?.request ?? null),
        column(({ invocation }) => invocation?.response ?? null),
        column(({ tries }) => String(tries)),
      ],
      shortDeadline(),
    );
    await this.#wakeNext(rows.map(([, queue, key]) => [queue, key]));
    return rows.map(([id]) => id as string);
  }

  async release(lease: Lease, ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await this.#source.query(RELEASE, [arrayLiteral(ids), lease.holder], shortDeadline());
  }

  async #listen(wake: () => void): Promise<{ stop(): Promise<void> }> {
    const listening = await this.#source.listen?.(CHANNEL, () => wake());
    if (listening === undefined) return { stop: async () => undefined };
    this.#listeners += 1;
    return {
      stop: () => {
        this.#listeners -= 1;
        return listening.stop();
      },
    };
  }

  /** Sets whether writers send notifications; 2 means yes. */
  async #announce(value: '1' | '2'): Promise<void> {
    await this.#source.query(`select setval('svc_catalog.event_waiting', $1::bigint)`, [value], shortDeadline());
  }

  async #search(request: FetchRequest): Promise<{ readonly events: readonly CapturedEvent[]; readonly announced: boolean }> {
    let announced = false;
    const events = await searchEvents(
      request,
      async (part) => {
        const found = await this.#withoutConflicts(request.lease, await this.#take(part));
        announced = found.announced;
        return { events: found.events, stuck: found.stuck, isOvertaken: found.events.length === 0 && found.open > 0 };
      },
      async (stuck) => void (await this.#source.query(ASIDE, [arrayLiteral(stuck)], shortDeadline())),
    );
    return { events, announced };
  }

  async #take(request: FetchRequest): Promise<Found> {
    const { queues } = request;
    if (!queues.some(({ overall }) => overall !== undefined)) return this.#takeFrom(this.#source, request, queues);
    return this.#source.transaction({ isolation: 'read-committed' }, async (connection) =>
      this.#takeFrom(connection, request, await withinBounds(connection, request)),
    );
  }

  /** Releases ordered events that another instance took at the same time, after the leases are committed. */
  async #withoutConflicts({ holder }: Lease, found: Found): Promise<Found> {
    if (found.ordered.length === 0) return found;
    const { rows } = await this.#source.query(YIELD, [arrayLiteral(found.ordered), holder], shortDeadline());
    const released = new Set(rows.map(([id]) => id));
    return released.size === 0 ? found : { ...found, events: found.events.filter(({ id }) => !released.has(id)) };
  }

  async #takeFrom(
    connection: Connection,
    { lease, limit, bytes = NO_BOUND }: FetchRequest,
    queues: readonly TriggerQueueRequest[],
  ): Promise<Found> {
    const values = [
      arrayLiteral(queues.map(({ name }) => name)),
      arrayLiteral(queues.map((queue) => String(queue.limit))),
      String(limit),
      lease.holder,
      String(lease.seconds),
      String(bytes),
    ];
    return foundIn(await connection.query(FETCH, values, shortDeadline()));
  }

  async #wakeNext(ended: readonly (readonly (string | null | undefined)[])[]): Promise<void> {
    const ordered = ended.filter(([, key]) => key != null);
    if (ordered.length === 0) return;
    await this.#source.query(
      WAKE,
      [arrayLiteral(ordered.map(([queue]) => queue as string)), arrayLiteral(ordered.map(([, key]) => key as string))],
      shortDeadline(),
    );
  }
}

interface Found {
  readonly events: readonly CapturedEvent[];
  /** IDs of ordered events. */
  readonly ordered: readonly string[];
  /** Names of queues that have more events beyond those that wait for others. */
  readonly stuck: readonly string[];
  /** Number of events of all queues that could be taken. */
  readonly open: number;
  /** True if writers send notifications. */
  readonly announced: boolean;
}

function foundIn({ rows }: RunSqlResult): Found {
  const events: CapturedEvent[] = [];
  const ordered: string[] = [];
  const stuck: string[] = [];
  let announced = false;
  let open = 0;
  for (const [id, queue, tries, schema, table, createdAt, payload, waits, waiting, age, isOrdered] of rows) {
    if (id === null || id === undefined) {
      if (waits != null) stuck.push(waits);
      else {
        announced = waiting === '2';
        open = Number(tries);
      }
    } else {
      if (isOrdered === 't') ordered.push(id);
      events.push({
        id,
        queue: queue as string,
        tries: Number(tries),
        schema: schema as string,
        table: table as string,
        createdAt: createdAt as string,
        age: Math.max(0, Number(age)),
        payload: payload as string,
        size: (payload as string).length,
      });
    }
  }
  return { events, ordered, stuck, open, announced };
}

const LOCK_CLASS = 731086;

/**
 * Reduces the limits of queues by the leases of all instances. A queue from which another instance is taking events is skipped. Leases are
 * counted by a separate statement, which sees those of the last holder of the lock. The server ends the transaction of an instance that
 * stalls in it for as long as a lease, because its lock blocks the queue.
 */
async function withinBounds(connection: Connection, { queues, lease }: FetchRequest): Promise<readonly TriggerQueueRequest[]> {
  const bounded = queues.filter(({ overall }) => overall !== undefined).map(({ name }) => name);
  const locked = await connection.query(
    `select name from (select set_config('idle_in_transaction_session_timeout', $2, true) as bound) b
     left join (select name from unnest($1::text[]) as l(name) where pg_try_advisory_xact_lock(${LOCK_CLASS}, hashtext(name))) l on bound is not null`,
    [arrayLiteral(bounded), String(Math.ceil(lease.seconds * 1000))],
    shortDeadline(),
  );
  const own = new Set(locked.rows.flatMap(([name]) => name ?? []));
  const counted = await connection.query(
    `select trigger_name, count(*) from svc_catalog.event_log
     where trigger_name = any ($1::text[]) and lease_holder is not null and lease_until > ${NOW} group by trigger_name`,
    [arrayLiteral([...own])],
    shortDeadline(),
  );
  const leased = new Map(counted.rows.map(([name, count]) => [name, Number(count)]));
  return queues.map((queue) => {
    if (queue.overall === undefined) return queue;
    const left = own.has(queue.name) ? Math.max(0, queue.overall - (leased.get(queue.name) ?? 0)) : 0;
    return { ...queue, limit: Math.min(queue.limit, left) };
  });
}
