/** The queue of events in a database: see `EventStore`. Nobody is told of new events: it is polled. */
import type {
  Attempted,
  CapturedEvent,
  CapturedEventStore,
  DeliveryOutcome,
  FetchRequest,
  InvocationRecord,
  LaneRequest,
  Lease,
} from '../../../backend/event-store.ts';
import { NOW } from './names.ts';
import { again, type EventDatabase, type Query, soon } from './work.ts';

/** Ordered events that are looked at beyond those that are wanted. */
const LOOK = 400;
/** Of which so many are put aside in one statement. */
const MOST_ASIDE = 5_000;
/** How often the search goes on where those that it has seen had to wait. */
const MOST_SEARCHES = 10;
/** Lanes in one statement. */
const LANES = 50;
/** Characters of requests and responses in one statement, well below the least `max_allowed_packet` that servers have in use. */
const MOST_LOGGED = 200_000;

const IDS = `json_table(?, '$[*]' columns (id char(36) character set utf8mb4 collate utf8mb4_bin path '$')) j`;
/** Events by their ids, found by the index: a scan would wait for whoever is writing events. */
const EVENTS_OF = `${IDS} straight_join svc_catalog.event_log e force index (by_id) on e.id = j.id`;

/** What is due of one lane, the longest due first, and whether an earlier event of the same key is open. */
const CANDIDATES = `
select e.id, e.trigger_name, e.order_key, e.order_key is null or not exists (
  select 1 from svc_catalog.event_log f force index (ordered)
  where f.source_database = e.source_database and f.trigger_name = e.trigger_name and f.open_key = e.order_key and f.place < e.place)
from svc_catalog.event_log e force index (queue)
where e.source_database = ? and e.trigger_name = ? and e.due <= ${NOW}
order by e.due limit ?`;

/** What is due and ordered, with the first of its key that is open. */
const WAITING = `
select e.place, (select min(f.place) from svc_catalog.event_log f force index (ordered)
  where f.source_database = e.source_database and f.trigger_name = e.trigger_name and f.open_key = e.order_key)
from svc_catalog.event_log e force index (queue)
where e.source_database = ? and e.trigger_name = ? and e.due <= ${NOW} and e.order_key is not null
order by e.due limit ?`;

const PLACES = `json_table(?, '$[*]' columns (place bigint unsigned path '$')) j straight_join svc_catalog.event_log e force index (primary) on e.place = j.place`;

const ASIDE = `
update json_table(?, '$[*]' columns (place bigint unsigned path '$.place', due datetime(6) path '$.due')) j
straight_join svc_catalog.event_log e force index (primary) on e.place = j.place
set e.lease_until = greatest(j.due, ${NOW} + interval 1 second)`;

/** Ordered events that are worked on. */
const BUSY = `
select e.trigger_name, e.open_key, e.id from svc_catalog.event_log e force index (leased)
where e.source_database = ? and e.trigger_name = ? and e.lease_until > ${NOW} and e.lease_holder is not null and e.open_key is not null`;

interface Candidate {
  readonly id: string;
  readonly lane: string;
  /** Null where it is in no order. */
  readonly key: string | null;
  /** It is the first of its key, of which no other one is worked on. */
  readonly isFirst: boolean;
}

export class MariadbEventQueue implements CapturedEventStore {
  readonly #database: EventDatabase;

  constructor(database: EventDatabase) {
    this.#database = database;
  }

  async fetch(request: FetchRequest): Promise<readonly CapturedEvent[]> {
    if (request.limit <= 0 || request.lanes.length === 0) return [];
    return this.#search(request);
  }

  async renew(lease: Lease, ids: readonly string[]): Promise<readonly string[]> {
    if (ids.length === 0) return [];
    return again(() =>
      this.#database.transact(soon(), async (query) => {
        const own = await held(query, lease, ids);
        if (own.length > 0) {
          await query(`update ${EVENTS_OF} set e.lease_until = ${NOW} + interval ? second`, [json(own), String(lease.seconds)]);
        }
        return own;
      }),
    );
  }

  async record(lease: Lease, outcomes: readonly Attempted<DeliveryOutcome>[]): Promise<readonly string[]> {
    if (outcomes.length === 0) return [];
    return again(() =>
      this.#database.transact(soon(), async (query) => {
        const { rows } = await query(
          `select e.id, e.trigger_name, e.order_key, e.tries from ${EVENTS_OF} where e.lease_holder = ? and e.due is not null for update`,
          [json(outcomes.map(({ id }) => id)), lease.holder],
        );
        const triesOf = new Map(rows.map(([id, , , tries]) => [id, Number(tries)]));
        const own = outcomes.filter(({ id, tries }) => triesOf.get(id) === tries);
        if (own.length === 0) return [];
        const lanes = new Map(rows.map(([id, lane]) => [id as string, lane as string]));
        await query(RECORD, [JSON.stringify(own.map(outcomeRow))]);
        await this.#log(query, own, lanes);
        const ended = new Set(own.filter(({ result }) => result.kind !== 'retry').map(({ id }) => id));
        for (const [id, lane, key] of rows)
          if (key !== null && key !== undefined && ended.has(id as string)) await this.#wakeNext(query, lane as string, key);
        return own.map(({ id }) => id);
      }),
    );
  }

  async release(lease: Lease, ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await again(() =>
      this.#database.transact(soon(), async (query) => {
        const own = await held(query, lease, ids);
        if (own.length === 0) return;
        await query(`update ${EVENTS_OF} set e.locked = null, e.lease_holder = null, e.lease_until = null`, [json(own)]);
      }),
    );
  }

  async #search(request: FetchRequest): Promise<readonly CapturedEvent[]> {
    const events: CapturedEvent[] = [];
    let { lanes, bytes = Number.MAX_SAFE_INTEGER } = request;
    for (let search = 1; ; search++) {
      const candidates = await this.#candidates(lanes);
      const wanted = inTurns(candidates, lanes);
      const taken = await again(() => this.#take(wanted, { ...request, lanes, limit: request.limit - events.length, bytes }));
      events.push(...taken);
      bytes -= taken.reduce((sum, { size = 0 }) => sum + size, 0);
      if (events.length >= request.limit || bytes <= 0 || search === MOST_SEARCHES) return events;
      const stuck = lanes.filter((lane) => isStuck(candidates, lane));
      const overtaken = taken.length === 0 && candidates.some(({ isFirst }) => isFirst);
      if (stuck.length === 0 && !overtaken) return events;
      // Others took all that was found: what comes after it is for whoever looks next.
      if (stuck.length === 0) continue;
      for (const { name } of stuck) await again(() => this.#putAside(name));
      lanes = stuck.map((lane) => ({ ...lane, limit: lane.limit - taken.filter((event) => event.lane === lane.name).length }));
    }
  }

  async #candidates(lanes: readonly LaneRequest[]): Promise<readonly Candidate[]> {
    const wanted = lanes.filter(({ limit }) => limit > 0);
    const found: Candidate[] = [];
    for (let i = 0; i < wanted.length; i += LANES) {
      const some = wanted.slice(i, i + LANES);
      const text = some.map(() => `(${CANDIDATES})`).join(' union all ');
      const { rows } = await this.#database.query(
        text,
        some.flatMap(({ name, limit }) => [this.#database.name, name, String(Math.trunc(limit) + LOOK)]),
        soon(),
      );
      for (const [id, lane, key = null, isFirst] of rows)
        found.push({ id: id as string, lane: lane as string, key, isFirst: isFirst === '1' });
    }
    const others = await this.#othersOfKey(found);
    return found.map((each) => (others(each) ? { ...each, isFirst: false } : each));
  }

  /** Says of ordered events whether another one of the key is worked on: one of a transaction that began later and was there sooner. */
  async #othersOfKey(events: readonly Candidate[]): Promise<(event: Candidate) => boolean> {
    const busy = new Map<string, string[]>();
    const keyIn = (lane: string, key: string | null): string => `${key} ${lane}`;
    for (const lane of new Set(events.flatMap(({ lane, key }) => (key === null ? [] : [lane])))) {
      const { rows } = await this.#database.query(BUSY, [this.#database.name, lane], soon());
      for (const [, key = null, id] of rows) busy.set(keyIn(lane, key), [...(busy.get(keyIn(lane, key)) ?? []), id as string]);
    }
    return ({ id, lane, key }) => key !== null && (busy.get(keyIn(lane, key))?.some((other) => other !== id) ?? false);
  }

  /** Of these, in this order, those that nobody else has taken meanwhile. */
  async #take(candidates: readonly Candidate[], { lease, lanes, limit, bytes = 0 }: FetchRequest): Promise<readonly CapturedEvent[]> {
    // Twice as many as are wanted: others may be at the first of them.
    const wanted = candidates.slice(0, 2 * limit);
    if (wanted.length === 0) return [];
    for (const { name, overall } of lanes) {
      if (overall === undefined || !wanted.some(({ lane }) => lane === name)) continue;
      const values = [this.#database.name, name];
      await this.#database.query(ADD_LANE, [...values, ...values], soon());
    }
    const own = await this.#database.transact(soon(), async (query) => {
      const left = await this.#leftOf(query, lanes, wanted);
      const { rows } = await query(`select e.id, e.size from ${EVENTS_OF} where e.due <= ${NOW} for update skip locked`, [
        json(wanted.map(({ id }) => id)),
      ]);
      const sizes = new Map(rows.map(([id, size]) => [id as string, Number(size)]));
      const chosen: string[] = [];
      let before = 0;
      for (const { id, lane } of wanted) {
        const size = sizes.get(id);
        const places = left.get(lane) ?? limit;
        if (size === undefined || places <= 0 || chosen.length === limit || before >= bytes) continue;
        chosen.push(id);
        left.set(lane, places - 1);
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
    // Of two of a key that were taken at the same moment neither saw the other. Both may be given back.
    const others = await this.#othersOfKey(wanted.filter(({ id }) => own.includes(id)));
    const given = wanted.filter((each) => own.includes(each.id) && others(each)).map(({ id }) => id);
    await this.release(lease, given);
    const found = new Map((await this.#read(own.filter((id) => !given.includes(id)))).map((event) => [event.id, event]));
    return own.flatMap((id) => found.get(id) ?? []);
  }

  async #read(ids: readonly string[]): Promise<readonly CapturedEvent[]> {
    if (ids.length === 0) return [];
    const { rows } = await this.#database.query(
      `select e.id, e.trigger_name, e.tries, e.schema_name, e.table_name, date_format(e.created_at, '%Y-%m-%dT%H:%i:%s.%f'), e.payload, e.size,
         timestampdiff(microsecond, coalesce(e.next_retry_at, e.created_at), ${NOW}) / 1000000 from ${EVENTS_OF}`,
      [json(ids)],
      soon(),
    );
    return rows.map(([id, lane, tries, schema, table, createdAt, payload, size, age]) => ({
      id: id as string,
      lane: lane as string,
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
   * Ordered events that wait for an earlier one are put aside until that one is due, or somebody has ended its lease and wakes them. The
   * earlier one is held meanwhile, so that its end is not missed in between.
   */
  async #putAside(lane: string): Promise<void> {
    const { rows } = await this.#database.query(WAITING, [this.#database.name, lane, String(MOST_ASIDE)], soon());
    const waiting = rows.filter(([place, head]) => head !== null && head !== place);
    if (waiting.length === 0) return;
    await this.#database.transact(soon(), async (query) => {
      const heads = await query(`select e.place, e.due from ${PLACES} where e.due is not null for update skip locked`, [
        json([...new Set(waiting.map(([, head]) => head as string))]),
      ]);
      const dues = new Map(heads.rows.map(([place, due]) => [place, due]));
      const free = await query(`select e.place from ${PLACES} where e.due <= ${NOW} and e.lease_holder is null for update skip locked`, [
        json(waiting.filter(([, head]) => dues.has(head)).map(([place]) => place as string)),
      ]);
      const headOf = new Map(waiting.map(([place, head]) => [place, head]));
      const ends = free.rows.map(([place]) => ({ place, due: dues.get(headOf.get(place)) }));
      if (ends.length > 0) await query(ASIDE, [JSON.stringify(ends)]);
    });
  }

  /** After the end of ordered events: the next of their keys. */
  async #wakeNext(query: Query, lane: string, key: string): Promise<void> {
    const { rows } = await query(
      `select place from svc_catalog.event_log force index (ordered)
       where source_database = ? and trigger_name = ? and open_key = ? order by place limit 1`,
      [this.#database.name, lane, key],
    );
    const place = rows[0]?.[0];
    if (place == null) return;
    await query(
      'update svc_catalog.event_log set lease_until = null where place = ? and lease_holder is null and lease_until is not null and due is not null',
      [place],
    );
  }

  async #log(query: Query, outcomes: readonly DeliveryOutcome[], lanes: ReadonlyMap<string, string>): Promise<void> {
    let rows: InvocationRow[] = [];
    let size = 0;
    const flush = async (): Promise<void> => {
      if (rows.length > 0) await query(LOG, [this.#database.name, JSON.stringify(rows)]);
      rows = [];
      size = 0;
    };
    for (const { id, invocation } of outcomes) {
      if (invocation === null) continue;
      const row = { id, trigger: lanes.get(id) ?? '', ...invocation };
      const own = invocation.request.length + invocation.response.length;
      if (own > MOST_LOGGED) await this.#logLarge(query, row);
      else {
        if (size + own > MOST_LOGGED) await flush();
        rows.push(row);
        size += own;
      }
    }
    await flush();
  }

  /** In statements of their own, and where even those would be larger than the server takes, without the text. */
  async #logLarge(query: Query, { id, trigger, status, request, response }: InvocationRow): Promise<void> {
    const { rows } = await query('select @@max_allowed_packet', []);
    const most = (Number(rows[0]?.[0]) - 10_000) / 2;
    const kept = (text: string): string =>
      Buffer.byteLength(text) > most ? JSON.stringify({ version: '2', type: 'too_large', data: { bytes: Buffer.byteLength(text) } }) : text;
    await query(
      'insert into svc_catalog.event_invocation_logs (source_database, trigger_name, event_id, status, request, response) values (?, ?, ?, ?, ?, ?)',
      [this.#database.name, trigger, id, status === null ? null : String(status), kept(request), kept(response)],
    );
  }

  /**
   * How many events may be taken of lanes that are bounded over all instances: the leases are counted while no other instance takes from the
   * lane. One that another is taking from just now is left to it.
   */
  async #leftOf(query: Query, lanes: readonly LaneRequest[], wanted: readonly Candidate[]): Promise<Map<string, number>> {
    const left = new Map<string, number>();
    for (const { name, overall } of lanes) {
      if (overall === undefined || !wanted.some(({ lane }) => lane === name)) continue;
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

/** By itself: in a transaction it would keep others that add the lane waiting. Not where it is there: that would wait for whoever has it. */
const ADD_LANE = `insert ignore into svc_catalog.event_lanes (source_database, trigger_name)
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

async function held(query: Query, { holder }: Lease, ids: readonly string[]): Promise<readonly string[]> {
  const { rows } = await query(`select e.id from ${EVENTS_OF} where e.lease_holder = ? and e.due is not null for update`, [
    json(ids),
    holder,
  ]);
  return rows.map(([id]) => id as string);
}

function json(ids: readonly string[]): string {
  return JSON.stringify(ids);
}

/** More would be found beyond events that wait for others. */
function isStuck(candidates: readonly Candidate[], { name, limit }: LaneRequest): boolean {
  if (limit <= 0) return false;
  const own = candidates.filter(({ lane }) => lane === name);
  return own.length >= limit + LOOK && own.filter(({ isFirst }) => isFirst).length < limit;
}

/** Those that may be taken, a round of one for each lane after another. */
function inTurns(candidates: readonly Candidate[], lanes: readonly LaneRequest[]): readonly Candidate[] {
  const byLane = lanes.map(({ name, limit }) =>
    candidates.filter(({ lane, isFirst }) => lane === name && isFirst).slice(0, Math.max(0, limit)),
  );
  const most = Math.max(0, ...byLane.map(({ length }) => length));
  return Array.from({ length: most }, (_, turn) => byLane.flatMap((own) => own[turn] ?? [])).flat();
}
