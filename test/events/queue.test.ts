/** The queue of captured events: leases, order, limits, notifications, the log and its clean-up, on a real database. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Source } from '../../src/backend/backend.ts';
import type { Captures, CapturedTrigger } from '../../src/backend/captures.ts';
import type { CapturedEvent, CapturedEventStore, DeliveryResult, Lease } from '../../src/backend/event-store.ts';
import { type CatalogTable, nameKey } from '../../src/catalog/catalog.ts';
import { postgresqlCaptures } from '../../src/databases/postgresql/capture/captures.ts';
import { eventLog } from '../../src/databases/postgresql/capture/log.ts';
import { PostgresqlEventQueue } from '../../src/databases/postgresql/capture/queue.ts';
import { postgresql } from '../../src/databases/postgresql/index.ts';
import type { JsonObject } from '../../src/util/json.ts';
import { ROOT } from '../../src/util/path.ts';
import { DEEP } from '../support/deep.ts';
import { A, B, capturedTrigger, endOf, INSERT, keepsOrder, keyOf, type TakeArguments, takeFrom } from '../support/event-order.ts';
import { countsAttemptsOnce } from '../support/lost-answers.ts';
import { testDatabase, type TestDatabase } from '../support/postgres.ts';
import { WAIT } from '../support/wait.ts';

let database: TestDatabase;
let source: Source;
let captures: Captures;
let table: CatalogTable;

const open = async (stringifyNumericTypes = false, extra: JsonObject = {}, maxConnections = 6): Promise<Source> =>
  postgresql.connect(postgresql.configuration.decode({ connection_info: { database_url: database.url }, ...extra }, ROOT), {
    sourceName: 'test',
    environment: {},
    usePreparedStatements: true,
    maxConnections,
    stringifyNumericTypes,
  });
const captured = (name: string, definition: JsonObject, more: JsonObject = {}): CapturedTrigger =>
  capturedTrigger(table, name, definition, more);
const install = (...triggers: readonly CapturedTrigger[]) => captures.install(triggers, { owner: 'test', version: 1 });

beforeAll(async () => {
  database = await testDatabase();
  source = await open();
  captures = source.captures as Captures;
  await source.runSql('create table item (id int primary key, kind text, big bigint, amounts numeric[])', {});
  const name = { schema: 'public', name: 'item' };
  table = (await source.introspect({ tables: [name], functions: [] })).tables.get(nameKey(name)) as CatalogTable;
});
afterAll(async () => {
  await source.close();
  await database.drop();
});
beforeEach(async () => {
  await captures.uninstall('test');
  await source.runSql('truncate item', {});
});

const take = (...how: TakeArguments) => takeFrom(captures, ...how);
const taken = async (...how: TakeArguments): Promise<number[]> => (await take(...how)).map(keyOf).sort((a, b) => a - b);
const end = (lease: Lease, events: readonly CapturedEvent[], result?: DeliveryResult) => endOf(captures, lease, events, result);
const sql = async (text: string): Promise<readonly (readonly (string | null)[])[]> => (await source.query(text, [])).rows;
const rowsOf = (count: number, kind = `'k'`): Promise<unknown> =>
  sql(`insert into item select i, ${kind} from generate_series(1, ${count}) i`);

/** A source whose transactions, single statements included, wait before their commit. */
function slowly(committing: () => Promise<void>): Source {
  const transaction: Source['transaction'] = (how, run) =>
    source.transaction(how, async (connection) => {
      const result = await run(connection);
      await committing();
      return result;
    });
  const query: Source['query'] = (...statement) =>
    transaction({ isolation: 'read-committed' }, (connection) => connection.query(...statement));
  return { query, transaction } as Source;
}

describe('a lease', () => {
  it('excludes other instances, can be renewed, and expires', async () => {
    await install(captured('t', INSERT));
    await rowsOf(3);
    const first = await take(A, { t: 2 });
    expect(first.map(keyOf)).toEqual([1, 2]);
    expect(first[0]).toMatchObject({
      queue: 't',
      tries: 0,
      schema: 'public',
      table: 'item',
      createdAt: expect.stringMatching(/T.*\.\d{6}$/),
    });
    expect(await taken(B)).toEqual([3]);
    expect(await taken(B)).toEqual([]);
    const ids = first.map(({ id }) => id);
    expect(await captures.events.renew(B, ids)).toEqual([]);
    expect([...(await captures.events.renew(A, ids))].sort()).toEqual([...ids].sort());
    await captures.events.release(A, ids.slice(0, 1));
    expect(await taken(B)).toEqual([1]);
    // The service of the other instance has died.
    await sql(`update svc_catalog.event_log set lease_until = now() at time zone 'utc' - interval '1 second' where lease_holder = 'a'`);
    expect(await taken(B)).toEqual([2]);
    expect(await end(A, first)).toEqual([]);
  });

  it('is reported as such: an event is busy, and redelivered after it', async () => {
    await install(captured('t', INSERT));
    await rowsOf(1);
    const [event] = (await take()) as [CapturedEvent];
    expect(await captures.redeliver(event.id)).toBe('processing');
    await end(A, [event], { kind: 'failed' });
    expect(await captures.count({ state: 'error' })).toBe(1);
    expect(await captures.redeliver(event.id)).toBe('done');
    expect(await captures.redeliver('nothing')).toBe('missing');
    expect(await taken()).toEqual([1]);
    await end(A, [event], { kind: 'retry', seconds: 3600 });
    expect(await captures.redeliver(event.id)).toBe('done');
    expect(await taken()).toEqual([1]);
  });

  it('ends with the result of the event, which is logged', async () => {
    await install(captured('t', INSERT));
    await rowsOf(3);
    const [one, two, three] = (await take()) as [CapturedEvent, CapturedEvent, CapturedEvent];
    expect(await end(A, [one])).toEqual([one.id]);
    await end(A, [two], { kind: 'retry', seconds: 3600 });
    await captures.events.record(A, [{ ...three, result: { kind: 'failed' }, invocation: null }]);
    expect(await taken()).toEqual([]);
    expect(await sql('select delivered, error, tries, next_retry_at > now(), locked from svc_catalog.event_log order by place')).toEqual([
      ['t', 'f', '1', null, null],
      ['f', 'f', '1', 't', null],
      ['f', 't', '0', null, null],
    ]);
    expect(await captures.invocations('t', { limit: 10, offset: 0 })).toHaveLength(2);
    expect((await captures.event(one.id, { limit: 1, offset: 0 }))?.invocations).toMatchObject([
      { event_id: one.id, trigger_name: 't', http_status: 200, response: {} },
    ]);
    await sql(`update svc_catalog.event_log set next_retry_at = now() at time zone 'utc' where tries = 1`);
    expect((await take()).map(({ tries }) => tries)).toEqual([1]);
  });
});

it.runIf(DEEP)('counts an attempt once if the answers to its recording are lost', async () => {
  await install(captured('t', INSERT));
  await rowsOf(1);
  await countsAttemptsOnce(captures.events, 't', async () => {
    const [row] = await sql('select (select tries from svc_catalog.event_log), (select count(*) from svc_catalog.event_invocation_logs)');
    return [Number(row?.[0]), Number(row?.[1])];
  });
});

it.runIf(DEEP)('passes a bounded trigger queue to others when an instance stalls while it fetches events', async () => {
  await install(captured('t', INSERT));
  await rowsOf(2);
  const fetchBounded = (events: CapturedEventStore, lease: Lease) =>
    events.fetch({ lease, limit: 100, queues: [{ name: 't', limit: 100, overall: 1 }] });
  let began: () => void = () => undefined;
  const hasTaken = new Promise<void>((resolve) => (began = resolve));
  let goOn: () => void = () => undefined;
  const still = new PostgresqlEventQueue(
    slowly(() => {
      began();
      return new Promise((resolve) => (goOn = resolve));
    }),
    { notify: false },
  );
  const frozen = fetchBounded(still, { holder: 'still', seconds: 1 });
  await hasTaken;
  expect(await fetchBounded(captures.events, B)).toEqual([]);
  await expect.poll(async () => (await fetchBounded(captures.events, B)).map(keyOf), WAIT).toEqual([1]);
  goOn();
  await expect(frozen).rejects.toThrow();
});

it.runIf(DEEP)('archives no events of a new trigger with the name of a deleted one', async () => {
  await install(captured('t', INSERT));
  await rowsOf(2);
  const query: Source['query'] = async (...statement) => {
    if (statement[0].includes('set archived = true') && (await captures.count({ state: 'pending' })) === 2) {
      await install(captured('t', INSERT));
      await sql('insert into item values (3)');
    }
    return source.query(...statement);
  };
  const removing = {
    query,
    runSql: (...how: Parameters<Source['runSql']>) => source.runSql(...how),
    transaction: (...how: Parameters<Source['transaction']>) => source.transaction(...how),
  } as Source;
  await postgresqlCaptures(removing, { extensionsSchema: 'public', notify: false, stringifyNumericTypes: false }).retain([], {
    owner: 'test',
    settled: 1,
    removed: ['t'],
  });
  expect(await sql('select archived from svc_catalog.event_log order by place')).toEqual([['t'], ['t'], ['f']]);
  expect(await taken()).toEqual([3]);
});

it.runIf(DEEP)('reads only a part of the queue, even if its statements were planned while it was small', async () => {
  await install(captured('t', INSERT));
  const alone = await open(false, {}, 1);
  const { events } = alone.captures as Captures;
  const next = async (): Promise<void> => {
    const taken = await events.fetch({ lease: A, limit: 20, queues: [{ name: 't', limit: 20 }] });
    const outcomes = taken.map(({ id, tries }) => ({
      id,
      tries,
      result: { kind: 'delivered' } as const,
      invocation: { status: 200, request: '{}', response: '{}' },
    }));
    expect(await events.record(A, outcomes)).toHaveLength(taken.length);
  };
  // Of tables and indexes; counted by the session, which reports them on request.
  const read = async (): Promise<number> => {
    await alone.query('select pg_stat_force_next_flush()', []);
    const { rows } = await alone.query(
      `select (select sum(seq_tup_read) from pg_stat_user_tables where relname = 'event_log')
         + (select sum(idx_tup_read) from pg_stat_user_indexes where relname = 'event_log')`,
      [],
    );
    return Number(rows[0]?.[0]);
  };
  try {
    // Often enough for cached generic plans.
    for (let i = 1; i <= 12; i++) {
      await sql(`insert into item values (${-i}, 'k')`);
      await next();
    }
    await rowsOf(3000);
    const before = await read();
    await next();
    expect((await read()) - before).toBeLessThan(20 * 20);
  } finally {
    await alone.close();
  }
});

describe('trigger queues', () => {
  it('take turns, each within its limit', async () => {
    await install(captured('t', INSERT), captured('u', INSERT));
    await rowsOf(10);
    const queues = (await take(A, { t: 100, u: 3 }, 8)).map(({ queue }) => queue);
    expect(queues.filter((queue) => queue === 'u')).toHaveLength(3);
    expect(queues).toHaveLength(8);
    expect(await take(A, { other: 5 })).toEqual([]);
  });

  it('are skipped when enough bytes are fetched', async () => {
    await install(captured('t', INSERT));
    await rowsOf(4, `repeat('k', 1000)`);
    const some = async (bytes: number) =>
      (await captures.events.fetch({ lease: A, limit: 9, bytes, queues: [{ name: 't', limit: 9 }] })).length;
    expect([await some(1), await some(1500), await some(1500)]).toEqual([1, 2, 1]);
  });

  it('may be limited across all instances', async () => {
    await install(captured('t', INSERT));
    await rowsOf(10);
    const bounded = (lease: Lease): Promise<readonly CapturedEvent[]> =>
      captures.events.fetch({ lease, limit: 100, queues: [{ name: 't', limit: 100, overall: 3 }] });
    const all = await Promise.all([bounded(A), bounded(B), bounded(A), bounded(B)]);
    expect(all.flat()).toHaveLength(3);
    const [some = []] = all.filter((events) => events.length > 0);
    const holder = (await sql(`select lease_holder from svc_catalog.event_log where id = '${some[0]?.id}'`))[0]?.[0] as string;
    await end({ holder, seconds: 60 }, some);
    expect(await bounded(B)).toHaveLength(some.length);
  });
});

describe('order of events', () => {
  keepsOrder({
    captures: () => captures,
    table: () => table,
    source: () => source,
    slow: (committing) => new PostgresqlEventQueue(slowly(committing), { notify: false }),
    sql,
    rows: rowsOf,
    remainder: (of) => `(i % ${of})::text`,
    hotBut: (id) => `case when i = ${id} then 'other' else 'hot' end`,
    isOfRow: (id) => `payload #>> '{data,new,id}' = '${id}'`,
  });
});

describe('notifications of new events', () => {
  it('arrive only while the service waits for them', async () => {
    await install(captured('t', INSERT));
    let wakes = 0;
    let woken: () => void = () => undefined;
    const listening = await captures.events.listen?.(() => {
      wakes += 1;
      woken();
    });
    const soon = (): Promise<void> => new Promise((resolve) => (woken = resolve));
    expect(await taken()).toEqual([]);
    const told = soon();
    await rowsOf(1);
    await told;
    const before = wakes;
    expect(await taken()).toEqual([1]);
    // It has found an event and polls again by itself.
    await sql('insert into item values (2)');
    expect(await sql(`select last_value from svc_catalog.event_waiting`)).toEqual([['1']]);
    expect(await taken()).toEqual([2]);
    expect(wakes).toBe(before);
    await listening?.stop();
  });

  it('can be disabled for a source', async () => {
    const silent = await open(false, { event_notifications: false });
    expect(silent.captures?.events.listen).toBeUndefined();
    await silent.close();
  });
});

describe('captured payloads', () => {
  it.runIf(DEEP)('have large numbers as text if configured', async () => {
    const texts = await open(true);
    await texts.captures?.install([captured('t', INSERT)], { owner: 'test', version: 1 });
    await sql(`insert into item values (1, null, 9007199254740993, '{1.50}')`);
    const [event] = (await take()) as [CapturedEvent];
    expect(JSON.parse(event.payload)).toMatchObject({ data: { new: { id: 1, big: '9007199254740993', amounts: ['1.50'] } } });
    await texts.close();
  });

  it.runIf(DEEP)('have all columns of a wide table', async () => {
    const columns = Array.from({ length: 120 }, (_, i) => `c${i} bigint default ${i}`).join(', ');
    await source.runSql(`create table wide (id int primary key, ${columns})`, {});
    const name = { schema: 'public', name: 'wide' };
    const wide = (await source.introspect({ tables: [name], functions: [] })).tables.get(nameKey(name)) as CatalogTable;
    const payload = wide.columns.map((column) => column.name);
    await install({ ...captured('t', { insert: { columns: '*', payload } }), table: wide });
    await sql('insert into wide values (1)');
    const [event] = (await take()) as [CapturedEvent];
    expect(Object.keys((JSON.parse(event.payload) as { data: { new: object } }).data.new)).toHaveLength(121);
    await source.runSql('drop table wide', {});
  });

  it.runIf(DEEP)('the event tables are created by several instances that start together', async () => {
    const others = await Promise.all([open(), open(), open()]);
    const failures = await Promise.all(
      others.map((each) => each.captures?.install([captured('t', INSERT)], { owner: 'test', version: 1 })),
    );
    expect(failures.flat()).toEqual([]);
    await rowsOf(1);
    expect(await taken()).toEqual([1]);
    await Promise.all(others.map((each) => each.close()));
  });
});

const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString();

describe('the event log', () => {
  it('marks many events as failed after their retries, and redelivers them by time and trigger', async () => {
    await install(captured('t', INSERT), captured('u', INSERT));
    await rowsOf(4);
    await end(A, await take(A, { t: 100, u: 100 }), { kind: 'failed' });
    await sql(
      `update svc_catalog.event_log set created_at = '2024-05-01 10:00' where trigger_name = 't' and payload #>> '{data,new,id}' < '3'`,
    );
    const from = '2024-05-01T00:00:00Z';
    const to = '2024-05-01T12:00:00+02:00';
    expect(await captures.count({ state: 'error', trigger: 't', from, to })).toBe(0);
    expect(await captures.count({ state: 'error', trigger: 't', from, to: '2024-05-01T12:00:01+02:00' })).toBe(2);
    expect(await captures.redeliverAll({ state: 'error', trigger: 't', from, to: '2024-05-02' }, 1)).toBe(1);
    expect(await captures.redeliverAll({ state: 'error', trigger: 'u' }, null)).toBe(4);
    expect(await captures.count({ state: 'error' })).toBe(3);
    expect(await take(A, { t: 100, u: 100 })).toHaveLength(5);
    expect(await captures.list({ state: 'error', trigger: 't' }, { limit: 2, offset: 2 })).toHaveLength(1);
  });

  it.runIf(DEEP)('returns no more bytes than the memory limit', async () => {
    await install(captured('t', INSERT));
    await rowsOf(5);
    await sql(`update svc_catalog.event_log set payload = jsonb_build_object('x', repeat('x', 1000))`);
    const log = eventLog(source, 4000);
    const listed = (limit: number): Promise<readonly unknown[]> => log.list({ state: 'any' }, { limit, offset: 0 });
    await expect(listed(100)).rejects.toMatchObject({ code: 'bad-request', message: expect.stringContaining('at most 4') as string });
    expect(await listed(4)).toHaveLength(4);
    expect(await eventLog(source, 1).list({ state: 'any' }, { limit: 1, offset: 0 })).toHaveLength(1);
  });

  it('is cleaned up in batches, without recent, pending or leased events', async () => {
    await install(captured('t', INSERT), captured('u', INSERT));
    await rowsOf(10);
    await end(A, await take(A, { t: 6, u: 10 }));
    await sql(`update svc_catalog.event_log set created_at = created_at - interval '5 hours' where payload #>> '{data,new,id}' <> '1'`);
    const spec = { trigger: 't', batchSize: 2, clearOlderThan: 4, timeout: 60 };
    let batches = 0;
    const counted = (clean: boolean) => () => {
      batches += 1;
      return { ...spec, cleanInvocationLogs: clean };
    };
    expect(await captures.cleanUp(() => null, {})).toEqual({ events: 0, invocations: 0 });
    expect(await captures.cleanUp(counted(true), {})).toEqual({ events: 5, invocations: 5 });
    expect(batches).toBe(4);
    expect(await captures.count({ state: 'any' })).toBe(15);
    expect(await captures.cleanUp(() => ({ ...spec, trigger: 'u', cleanInvocationLogs: false }), {})).toEqual({
      events: 9,
      invocations: 0,
    });
    expect(await captures.invocations('u', { limit: 100, offset: 0 })).toHaveLength(10);
  });

  it.runIf(DEEP)('is cleaned up in small steps, whatever the batch size', async () => {
    await install(captured('t', INSERT));
    await rowsOf(2_500);
    await sql(`update svc_catalog.event_log set delivered = true, created_at = created_at - interval '5 hours'`);
    const spec = { trigger: 't', batchSize: 10_000, clearOlderThan: 4, timeout: 60, cleanInvocationLogs: true };
    let steps = 0;
    const counted = () => {
      steps += 1;
      return spec;
    };
    expect(await captures.cleanUp(counted, {})).toEqual({ events: 2_500, invocations: 0 });
    expect(steps).toBe(3);
  });

  it('schedules clean-ups for one instance', async () => {
    await install(captured('t', INSERT));
    const [two, one] = [daysAgo(2), daysAgo(1)];
    await captures.planCleanups('t', [two, one, '2124-05-01T00:00:00Z']);
    await captures.planCleanups('t', [two]);
    expect(await captures.plannedCleanups()).toEqual(new Map([['t', 3]]));
    const all = (await Promise.all([captures.takeDueCleanups(), captures.takeDueCleanups()])).flat();
    expect(all).toMatchObject([{ trigger: 't' }]);
    await captures.endCleanup(all[0]?.id as string, 'completed', { events: 1, invocations: 2 });
    expect(await sql('select status, deleted_event_logs from svc_catalog.svc_event_log_cleanups order by scheduled_at')).toEqual([
      ['dead', null],
      ['completed', '1'],
      ['scheduled', null],
    ]);
    await captures.replanCleanups('t', ['2125-05-01T00:00:00Z', '2126-05-01T00:00:00Z']);
    expect(await captures.plannedCleanups()).toEqual(new Map([['t', 2]]));
    await captures.forgetCleanups([]);
    expect(await captures.plannedCleanups()).toEqual(new Map());
  });

  it.runIf(DEEP)('ends clean-ups that an instance abandoned, and deletes old records of them', async () => {
    await install(captured('t', INSERT));
    await captures.planCleanups('t', [daysAgo(40), daysAgo(1)]);
    expect(await captures.takeDueCleanups()).toHaveLength(1);
    const statuses = (): Promise<unknown> => sql('select status from svc_catalog.svc_event_log_cleanups order by scheduled_at');
    expect(await statuses()).toEqual([['dead'], ['running']]);
    expect(await captures.takeDueCleanups()).toEqual([]);
    expect(await statuses()).toEqual([['running']]);
    await sql(`update svc_catalog.svc_event_log_cleanups set started_at = started_at - interval '2 hours'`);
    await captures.takeDueCleanups();
    expect(await statuses()).toEqual([['dead']]);
  });

  it.runIf(DEEP)('is migrated with its content', async () => {
    await install(captured('t', INSERT));
    await rowsOf(2);
    await sql('alter table svc_catalog.svc_event_log_cleanups drop column started_at');
    await sql('update svc_catalog.svc_source_catalog_version set version = 1');
    await Promise.all([install(captured('t', INSERT)), install(captured('t', INSERT))]);
    await captures.planCleanups('t', ['2024-05-01T00:00:00Z']);
    expect(await captures.takeDueCleanups()).toHaveLength(1);
    expect(await taken()).toEqual([1, 2]);
  });

  it('has event ids in order of time', async () => {
    await install(captured('t', INSERT));
    for (let i = 1; i <= 5; i++) {
      await sql(`insert into item select ${i}, 'k'`);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    const ids = (await sql('select id from svc_catalog.event_log order by place')).map(([id]) => id as string);
    expect(ids.toSorted()).toEqual(ids);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  });

  it('is empty before the tables exist', async () => {
    expect(await captures.list({ state: 'any' }, { limit: 1, offset: 0 })).toEqual([]);
    expect(await captures.event('x', { limit: 1, offset: 0 })).toBeNull();
    expect(await captures.redeliverAll({ state: 'error' }, null)).toBe(0);
  });
});
