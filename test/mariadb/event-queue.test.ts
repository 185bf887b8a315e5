/** Queue of captured events in MariaDB: leases, order, limits, log and clean-up. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Source } from '../../src/backend/backend.ts';
import type { Captures, CapturedTrigger } from '../../src/backend/captures.ts';
import type { CapturedEvent, DeliveryResult, Lease } from '../../src/backend/event-store.ts';
import { type CatalogTable, nameKey } from '../../src/catalog/catalog.ts';
import { mariadbCaptures } from '../../src/databases/mariadb/capture/captures.ts';
import { TRIGGER_FORMAT } from '../../src/databases/mariadb/capture/triggers.ts';
import { MariadbEventQueue } from '../../src/databases/mariadb/capture/queue.ts';
import type { EventDatabase } from '../../src/databases/mariadb/capture/work.ts';
import { connect } from '../../src/databases/mariadb/connect.ts';
import type { JsonObject } from '../../src/util/json.ts';
import { A, B, capturedTrigger, endOf, INSERT, keepsOrder, keyOf, type TakeArguments, takeFrom } from '../support/event-order.ts';
import { countsAttemptsOnce } from '../support/lost-answers.ts';
import { hasMariadb, startMariadb, type TestMariadb } from '../support/mariadb.ts';

describe.skipIf(!hasMariadb())('event queue of MariaDB', () => {
  let server: TestMariadb;
  let source: Source;
  let captures: Captures;
  let table: CatalogTable;

  const open = (database = 'shop', maxConnections = 4): Promise<Source> =>
    connect(
      { connectionString: { kind: 'template', text: server.url(database) }, pool: undefined, ssl: undefined },
      { sourceName: database, environment: {}, usePreparedStatements: true, maxConnections },
    );
  const tableOf = async (of: Source, name = 'item'): Promise<CatalogTable> => {
    const qualified = { schema: '', name };
    return (await of.introspect({ tables: [qualified] })).tables.get(nameKey(qualified)) as CatalogTable;
  };
  const captured = (name: string, definition: JsonObject = INSERT, more: JsonObject = {}, on = table): CapturedTrigger =>
    capturedTrigger(on, name, definition, more);
  const install = (...triggers: readonly CapturedTrigger[]) => captures.install(triggers, { owner: 'test', version: 1 });
  const take = (...how: TakeArguments) => takeFrom(captures, ...how);
  const taken = async (...how: TakeArguments): Promise<number[]> => (await take(...how)).map(keyOf).sort((a, b) => a - b);
  const end = (lease: Lease, events: readonly CapturedEvent[], result?: DeliveryResult) => endOf(captures, lease, events, result);
  const sql = async (text: string): Promise<readonly (readonly (string | null)[])[]> => (await source.query(text, [])).rows;
  const rows = (count: number, kind = `'k'`): Promise<unknown> => sql(`insert into item select seq, ${kind}, 0 from seq_1_to_${count}`);

  /** Queue of an instance whose transactions pause before they commit. */
  const slow = (committing: () => Promise<void>): MariadbEventQueue => {
    const transact: EventDatabase['transact'] = (_, run) =>
      source.transaction({}, async (connection) => {
        const result = await run((...statement) => connection.query(...statement));
        await committing();
        return result;
      });
    return new MariadbEventQueue({
      name: 'shop',
      query: (...statement) => source.query(...statement),
      transact,
      define: async () => undefined,
    });
  };

  beforeAll(async () => {
    server = await startMariadb();
    await server.run(`create database shop; create database other;
      create table shop.item (id int primary key, kind text, n int); create table other.item (id int primary key, kind text, n int)`);
    source = await open();
    captures = source.captures as Captures;
    table = await tableOf(source);
  });
  afterAll(async () => {
    await source?.close();
    await server?.stop();
  });
  beforeEach(async () => {
    await captures.uninstall('test');
    await sql('truncate item');
  });

  it('keeps the trigger of a newer service until its definition changes', async () => {
    const statement = async (): Promise<string> =>
      (await sql(`select action_statement from information_schema.triggers where trigger_name = 'notify_svc_t_INSERT'`))[0]?.[0] ?? '';
    const format = (text: string): unknown => JSON.parse(decodeURIComponent(/svc (\S+)/.exec(text)?.[1] ?? '')).format;
    await install(captured('t'));
    const own = await statement();
    expect(format(own)).toBe(TRIGGER_FORMAT);
    const [, label = ''] = /svc (\S+)/.exec(own) ?? [];
    const later = encodeURIComponent(JSON.stringify({ ...JSON.parse(decodeURIComponent(label)), format: TRIGGER_FORMAT + 1, other: 1 }));
    const newer = own.replace(label, later).replace(/end$/, 'set event = null;\nend');
    await server.run(`create or replace trigger shop.notify_svc_t_INSERT after insert on shop.item for each row ${newer}`);
    await install(captured('t'));
    expect(await statement()).toBe(newer);
    expect(await captures.install([captured('t')], { owner: 'test', version: 2, reinstall: true })).toEqual([]);
    expect(format(await statement())).toBe(TRIGGER_FORMAT + 1);
    expect(await statement()).toContain('set event = null');
    await rows(1);
    expect(await taken()).toEqual([1]);
    await install(captured('t', { insert: { columns: '*', payload: ['id'] } }));
    expect(format(await statement())).toBe(TRIGGER_FORMAT);
    expect(await statement()).not.toContain('set event = null');
  });

  it('uses the tables of a newer service, unless they require it', async () => {
    await install(captured('t'));
    await sql('update svc_catalog.svc_source_catalog_version set version = 2');
    await install(captured('u'));
    await rows(1);
    expect(await taken(A, { t: 9, u: 9 })).toEqual([1, 1]);
    expect(await sql('select version, oldest_reader from svc_catalog.svc_source_catalog_version')).toEqual([['2', '1']]);
    await sql('update svc_catalog.svc_source_catalog_version set oldest_reader = 2');
    await expect(install(captured('v'))).rejects.toMatchObject({
      code: 'not-supported',
      message: expect.stringContaining(
        'have version 2, which requires a service that supports version 2, and this one supports versions up to 1',
      ),
    });
    await sql('alter table svc_catalog.svc_source_catalog_version drop column oldest_reader');
    await expect(install(captured('v'))).rejects.toMatchObject({ code: 'not-supported' });
    await sql('update svc_catalog.svc_source_catalog_version set version = 1');
    await install(captured('v'));
  });

  it('keeps events under a lease, which can be renewed and expires', async () => {
    await install(captured('t'));
    await rows(3);
    const first = await take(A, { t: 2 });
    expect(first.map(keyOf)).toEqual([1, 2]);
    expect(first[0]).toMatchObject({
      queue: 't',
      tries: 0,
      schema: 'shop',
      table: 'item',
      createdAt: expect.stringMatching(/T.*\.\d{6}$/),
    });
    expect([await taken(B), await taken(B)]).toEqual([[3], []]);
    const ids = first.map(({ id }) => id);
    expect(await captures.events.renew(B, ids)).toEqual([]);
    expect([...(await captures.events.renew(A, ids))].sort()).toEqual([...ids].sort());
    await captures.events.release(B, ids);
    expect(await taken(B)).toEqual([]);
    await captures.events.release(A, ids.slice(0, 1));
    expect(await taken(B)).toEqual([1]);
    // The other instance has died.
    await sql(`update svc_catalog.event_log set lease_until = utc_timestamp() - interval 1 second where lease_holder = 'a'`);
    expect(await taken(B)).toEqual([2]);
    expect(await end(A, first)).toEqual([]);
  });

  it('reports events in delivery and redelivers them afterwards', async () => {
    await install(captured('t'));
    await rows(1);
    const [event] = (await take()) as [CapturedEvent];
    expect(await captures.redeliver(event.id)).toBe('processing');
    await end(A, [event], { kind: 'failed' });
    expect(await captures.count({ state: 'error' })).toBe(1);
    expect([await captures.redeliver(event.id), await captures.redeliver('nothing')]).toEqual(['done', 'missing']);
    expect(await taken()).toEqual([1]);
    await end(A, [event], { kind: 'retry', seconds: 3600 });
    expect(await taken()).toEqual([]);
    expect(await captures.redeliver(event.id)).toBe('done');
    expect(await taken()).toEqual([1]);
  });

  it('records outcomes and logs them', async () => {
    await install(captured('t'));
    await rows(3);
    const [one, two, three] = (await take()) as [CapturedEvent, CapturedEvent, CapturedEvent];
    const large = 'é'.repeat(700_000);
    const invocation = { status: 200, request: JSON.stringify({ large }), response: '{"large":1}' };
    expect(await captures.events.record(A, [{ ...one, result: { kind: 'delivered' }, invocation }])).toEqual([one.id]);
    await end(A, [two], { kind: 'retry', seconds: 3600 });
    await captures.events.record(A, [{ ...three, result: { kind: 'failed' }, invocation: null }]);
    expect(await taken()).toEqual([]);
    expect(
      await sql('select delivered, error, tries, next_retry_at > utc_timestamp(), locked from svc_catalog.event_log order by place'),
    ).toEqual([
      ['1', '0', '1', null, null],
      ['0', '0', '1', '1', null],
      ['0', '1', '0', null, null],
    ]);
    expect(await captures.invocations('t', { limit: 1, offset: 0 })).toMatchObject([{ event_id: two.id, request: { a: '\0é' } }]);
    // More than the server accepts in one statement; the outcome is recorded all the same.
    expect((await captures.event(one.id, { limit: 1, offset: 0 }))?.invocations).toMatchObject([
      { trigger_name: 't', http_status: 200, request: { type: 'too_large' }, response: {} },
    ]);
    await sql('update svc_catalog.event_log set next_retry_at = utc_timestamp() where tries = 1');
    expect((await take()).map(({ tries }) => tries)).toEqual([1]);
  });

  it('counts each attempt once if the response to its recording is lost', async () => {
    await install(captured('t'));
    await rows(1);
    await countsAttemptsOnce(captures.events, 't', async () => {
      const [row] = await sql('select (select tries from svc_catalog.event_log), (select count(*) from svc_catalog.event_invocation_logs)');
      return [Number(row?.[0]), Number(row?.[1])];
    });
  });

  it('does not archive events of a new trigger with the name of a deleted one', async () => {
    await install(captured('t'));
    await rows(2);
    const query: EventDatabase['query'] = async (text, ...more) => {
      if (text.includes('set archived = true') && (await captures.count({ state: 'pending' })) === 2) {
        await install(captured('t'));
        await sql(`insert into item values (3, 'k', 0)`);
      }
      return source.query(text, ...more);
    };
    const transact: EventDatabase['transact'] = (_, run) =>
      source.transaction({}, (connection) => run((...each) => connection.query(...each)));
    const define: EventDatabase['define'] = (run) => source.session((connection) => run((text) => connection.runSql(text, {})));
    await mariadbCaptures({ name: 'shop', query, transact, define }, { stringifyNumericTypes: false }).retain([], {
      owner: 'test',
      settled: 1,
      removed: ['t'],
    });
    expect(await sql('select archived from svc_catalog.event_log order by place')).toEqual([['1'], ['1'], ['0']]);
    expect(await taken()).toEqual([3]);
  });

  it('takes events of several triggers in turn, within limits of number, bytes and all instances', async () => {
    await install(captured('t'), captured('u'));
    await rows(10, `repeat('k', 1000)`);
    const queues = (await take(A, { t: 100, u: 3 }, 8)).map(({ queue }) => queue);
    expect([queues.filter((queue) => queue === 'u').length, queues.length]).toEqual([3, 8]);
    expect(await take(A, { other: 5 })).toEqual([]);
    const some = async (bytes: number) =>
      (await captures.events.fetch({ lease: A, limit: 9, bytes, queues: [{ name: 'u', limit: 9 }] })).length;
    expect([await some(1), await some(1500), await some(1500)]).toEqual([1, 2, 2]);
    await captures.redeliverAll({ state: 'any' }, null);
    await sql('update svc_catalog.event_log set lease_until = null, lease_holder = null');
    // Works with a single connection, too.
    const other = await open('shop', 1);
    try {
      const bounded = (lease: Lease, by: Captures): Promise<readonly CapturedEvent[]> =>
        by.events.fetch({ lease, limit: 100, queues: [{ name: 't', limit: 100, overall: 3 }] });
      const all = await Promise.all([A, B, A, B].map((lease, i) => bounded(lease, i < 2 ? captures : (other.captures as Captures))));
      expect(all.flat()).toHaveLength(3);
      expect((await bounded(B, captures)).length).toBe(0);
    } finally {
      await other.close();
    }
  });

  describe('order', () =>
    keepsOrder({
      captures: () => captures,
      table: () => table,
      source: () => source,
      slow,
      sql,
      rows,
      remainder: (of) => `cast(seq % ${of} as char)`,
      hotBut: (id) => `if(seq = ${id}, 'other', 'hot')`,
      isOfRow: (id) => `json_value(payload, '$.data.new.id') = '${id}'`,
    }));

  it('neither waits for writers nor blocks them', async () => {
    await install(captured('t'));
    await rows(2);
    await source.transaction({}, async (connection) => {
      await connection.query(`insert into item values (9, 'open', 0)`, []);
      const events = await take();
      expect(events.map(keyOf)).toEqual([1, 2]);
      await end(A, events);
      await connection.query(`insert into item values (10, 'open', 0)`, []);
    });
    expect(await taken()).toEqual([9, 10]);
  });

  it('separates events by the connected database of the source', async () => {
    const other = await open('other');
    const theirs = other.captures as Captures;
    try {
      await install(captured('t'));
      await theirs.install([captured('t', INSERT, {}, await tableOf(other))], { owner: 'they', version: 1 });
      await sql(`insert into item values (1, 'k', 0)`);
      await sql(`insert into other.item values (2, 'k', 0)`);
      expect((await takeFrom(theirs, B, { t: 9 }, 9)).map(keyOf)).toEqual([2]);
      expect(await taken()).toEqual([1]);
      expect([await captures.isTaken('t', 'they'), await captures.isTaken('t', 'test')]).toEqual([true, false]);
      expect(await captures.count({ state: 'any' })).toBe(1);
      // A table of the other database, in which that source owns the name.
      const across: CatalogTable = { ...table, name: { schema: 'other', name: 'item' } };
      expect(await install(captured('t', INSERT, {}, across))).toMatchObject([{ name: 't', error: { code: 'already-exists' } }]);
      // Uninstalling one keeps the other.
      await captures.uninstall('test');
      await sql(`insert into other.item values (3, 'k', 0)`);
      expect((await takeFrom(theirs, B, { t: 9 }, 9)).map(keyOf)).toEqual([3]);
      await theirs.uninstall('they');
      expect(await sql(`select schema_name from information_schema.schemata where schema_name = 'svc_catalog'`)).toEqual([]);
    } finally {
      await other.close();
    }
  });

  it('creates its tables once when several instances start together', async () => {
    const others = await Promise.all([open(), open(), open()]);
    try {
      const all = await Promise.all(
        others.map((each) => each.captures?.install([captured('t'), captured('u')], { owner: 'test', version: 1 })),
      );
      expect(all).toEqual([[], [], []]);
      await rows(2);
      expect(await taken()).toEqual([1, 2]);
    } finally {
      for (const each of others) await each.close();
    }
  });

  it('gives up events and redelivers them by time and trigger', async () => {
    await install(captured('t'), captured('u'));
    await rows(3);
    await end(A, await take(A, { t: 9, u: 9 }), { kind: 'failed' });
    expect(await captures.count({ state: 'error', trigger: 't' })).toBe(3);
    await expect(captures.redeliverAll({ state: 'error', from: 'yesterday' }, null)).rejects.toMatchObject({ code: 'data-exception' });
    expect(await captures.redeliverAll({ state: 'error', trigger: 't', to: '2000-01-01T00:00:00Z' }, null)).toBe(0);
    expect(await captures.redeliverAll({ state: 'error', trigger: 't', from: '2000-01-01T00:00:00+02:00' }, 2)).toBe(2);
    expect([await taken(A, { t: 9, u: 9 }), await captures.count({ state: 'error' })]).toEqual([[1, 2], 4]);
  });

  it('lists events up to a limit of bytes', async () => {
    await install(captured('t'));
    await rows(3);
    await sql(`insert into svc_catalog.event_invocation_logs (source_database, trigger_name, event_id, request, response)
      select 'shop', 't', 'e', concat('"', repeat('r', 900000), '"'), '1' from seq_1_to_40`);
    await expect(captures.invocations('t', { limit: 100, offset: 0 })).rejects.toMatchObject({
      code: 'bad-request',
      message: expect.stringMatching(/^these 40 rows have more than \d+ bytes: .* at most 3\d$/),
    });
    expect(await captures.invocations('t', { limit: 2, offset: 38 })).toHaveLength(2);
    expect(await captures.list({ state: 'any', trigger: 't' }, { limit: 2, offset: 1 })).toMatchObject([
      { payload: { data: { new: { id: 2 } } } },
      { payload: { data: { new: { id: 1 } } } },
    ]);
  });

  it('removes old events in batches, except pending ones and those in delivery', async () => {
    await install(captured('t'));
    await rows(6);
    const events = await take(A, { t: 5 });
    await end(A, events.slice(0, 4));
    await sql('update svc_catalog.event_log set created_at = created_at - interval 3 hour where place > 1');
    const spec = { trigger: 't', batchSize: 2, clearOlderThan: 2, timeout: 10, cleanInvocationLogs: false };
    expect(await captures.cleanUp(() => spec, {})).toEqual({ events: 3, invocations: 0 });
    expect(await captures.count({ state: 'any' })).toBe(3);
    expect(await captures.invocations('t', { limit: 9, offset: 0 })).toHaveLength(4);
    await sql('update svc_catalog.event_log set created_at = created_at - interval 3 hour');
    expect(await captures.cleanUp(() => ({ ...spec, cleanInvocationLogs: true }), {})).toEqual({ events: 1, invocations: 1 });
    expect(await captures.cleanUp(() => null, {})).toEqual({ events: 0, invocations: 0 });
  });

  it('plans clean-ups, each of which one instance runs', async () => {
    await install(captured('t'));
    // The second instance would discard old ones.
    const [older, later] = [2, 1].map((days) => new Date(Date.now() - days * 86_400_000).toISOString()) as [string, string];
    await captures.planCleanups('t', [older, later, '2999-01-01T00:00:00Z']);
    await captures.planCleanups('t', [older]);
    await captures.planCleanups('u', ['2999-01-01T00:00:00Z']);
    expect([...(await captures.plannedCleanups())]).toEqual([
      ['t', 3],
      ['u', 1],
    ]);
    const due = (await Promise.all([captures.takeDueCleanups(), captures.takeDueCleanups()])).flat();
    expect(due).toMatchObject([{ trigger: 't' }]);
    await captures.endCleanup(due[0]?.id ?? '', 'completed', { events: 3, invocations: 1 });
    expect(
      await sql(
        'select status, deleted_event_logs from svc_catalog.svc_event_log_cleanups where scheduled_at < now() order by scheduled_at',
      ),
    ).toEqual([
      ['dead', null],
      ['completed', '3'],
    ]);
    // A run whose instance has died is given up; old ones are removed.
    await sql(
      `update svc_catalog.svc_event_log_cleanups set status = 'running', started_at = utc_timestamp() - interval 2 hour where status = 'completed'`,
    );
    await sql(`update svc_catalog.svc_event_log_cleanups set scheduled_at = utc_timestamp() - interval 40 day where status = 'dead'`);
    expect(await captures.takeDueCleanups()).toEqual([]);
    expect(await sql('select status from svc_catalog.svc_event_log_cleanups where started_at is not null')).toEqual([['dead']]);
    await captures.forgetCleanups(['u']);
    await captures.replanCleanups('u', ['2998-01-01T00:00:00Z', '2997-01-01T00:00:00Z']);
    expect([...(await captures.plannedCleanups())]).toEqual([['u', 2]]);
  });

  it('returns nothing before the tables exist', async () => {
    expect([await captures.list({ state: 'any' }, { limit: 1, offset: 0 }), await captures.count({ state: 'any' })]).toEqual([[], 0]);
    expect([await captures.redeliver('a'), await captures.event('a', { limit: 1, offset: 0 })]).toEqual(['missing', null]);
    expect(await captures.retain([], { owner: 'test', settled: 1, removed: ['t'] })).toBe(true);
  });
});
