/**
 * The release before and this one on one metadata database: instances are replaced one by one, and back, under load. No request fails, no
 * event is lost or delivered twice, and all instances end with the same metadata.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isJsonObject, type Json, type JsonObject, parseJson, printJson } from '../../src/util/json.ts';
import { type FakeServer, startFakeServer } from '../support/fake-server.ts';
import { type TestDatabase, testDatabase } from '../support/postgres.ts';
import { WAIT } from '../support/wait.ts';
import { MODERN, TestSocket } from '../support/websocket.ts';
import { buildEarlierRelease } from './earlier-release.ts';
import { Fleet, type Instance } from './fleet.ts';

const earlier = buildEarlierRelease();
if ('missing' in earlier) console.error(`upgrade: NOT RUN, ${earlier.missing}`);

const PAUSE_MS = 50;
/** Limit of the whole test and of its longest waits, in ms: it takes half a minute on a quiet machine, besides the minute of the cron trigger. */
const LIMIT_MS = 600_000;
const LONG_WAIT = { ...WAIT, timeout: 120_000 };
/** Parts of payloads that identify a delivery. */
const ITEM = /"new": ?\{(?:"n": ?0, ?)?"id": ?(\d+)/;
const NUMBER = /"number": ?(\d+)/;
const OCCURRENCE = /"scheduled_time": ?"([^"]+)/;
/** Code with which an instance that stops closes its websockets. */
const RESTART = 1012;

describe.skipIf('missing' in earlier)('the release before and this one', () => {
  let database: TestDatabase;
  let client: pg.Client;
  let receiver: FakeServer;
  let fleet: Fleet;
  const failures: string[] = [];
  const inserted = new Set<number>();
  const sockets = new Set<TestSocket>();
  let isLoaded = true;
  let lastItem = 0;
  let operations = 0;
  let schedules = 0;
  let counted = 0;

  async function post(instance: Instance, path: string, body: Json): Promise<JsonObject> {
    const response = await fetch(instance.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: printJson(body),
    });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${instance.release} ${path}: ${response.status} ${text}`);
    const json = parseJson(text);
    if (!isJsonObject(json) || 'errors' in json) throw new Error(`${instance.release} ${path}: ${text}`);
    return json;
  }

  const operate = (type: string, args: Json, instance = fleet.pick()): Promise<JsonObject> =>
    post(instance, '/v1/metadata', { type, args });
  const graphql = (query: string, variables: JsonObject = {}, instance = fleet.pick()): Promise<JsonObject> =>
    post(instance, '/v1/graphql', { query, variables });

  /** Repeats a step while there is load, and records its failures. */
  async function repeat(step: (round: number) => Promise<void>, pauseMs = PAUSE_MS): Promise<void> {
    for (let round = 0; isLoaded; round++) {
      try {
        await step(round);
      } catch (error) {
        failures.push(String(error instanceof Error ? (error.cause ?? error) : error));
      }
      await sleep(pauseMs);
    }
  }

  async function insertItem(): Promise<void> {
    lastItem += 1;
    const id = lastItem;
    await graphql('mutation ($id: Int!) { insert_item_one(object: {id: $id, n: 0}) { id } }', { id });
    inserted.add(id);
  }

  async function readItems(): Promise<void> {
    await graphql('{ item(order_by: {id: desc}, limit: 5) { id n } item_aggregate { aggregate { count } } }');
  }

  const eventTrigger = (round: number): JsonObject => ({
    name: 'item_made',
    table: 'item',
    webhook: '{{HOOKS}}/item',
    // Every third definition needs another function.
    insert: { columns: '*', ...(round % 3 === 0 ? { payload: ['id'] } : {}) },
    retry_conf: { num_retries: 1 + (round % 5), interval_sec: 1, timeout_sec: 60 },
  });

  /** Changes of the metadata on any instance, which the next one must accept. */
  async function changeMetadata(round: number): Promise<void> {
    const permission = { columns: ['id'], filter: { id: { _gt: round } } };
    await operate('pg_track_table', { table: 'note' });
    await operate('pg_create_select_permission', { table: 'note', role: 'user', permission });
    await operate('pg_create_event_trigger', { ...eventTrigger(round), replace: true });
    await operate('pg_untrack_table', { table: 'note', cascade: true });
    operations += 4;
  }

  async function schedule(): Promise<void> {
    schedules += 1;
    const schedule_at = new Date().toISOString();
    await operate('create_scheduled_event', { webhook: '{{HOOKS}}/once', schedule_at, payload: { number: schedules } });
  }

  /** A live query that subscribes again after each restart of its instance. */
  async function countItems(): Promise<void> {
    const socket = new TestSocket(fleet.pick().url, { protocol: MODERN });
    sockets.add(socket);
    void socket.closed.then(({ code, reason }) => {
      sockets.delete(socket);
      if (code !== RESTART && isLoaded) failures.push(`a websocket was closed with ${code} ${reason}`);
    });
    const next = async (): Promise<JsonObject | null> => socket.next().catch(() => null);
    await socket.init();
    socket.start('1', 'subscription { item_aggregate { aggregate { count } } }');
    for (let message = await next(); message !== null && isLoaded; message = await next()) {
      if (message['type'] === 'next') counted = Math.max(counted, countOf(message));
      // Before it closes, an instance that stops completes its subscriptions.
      else if (message['type'] !== 'complete') failures.push(`a live query ended with ${printJson(message)}`);
    }
    socket.close();
  }

  const countOf = (payload: JsonObject): number => Number(/"count":(\d+)/.exec(printJson(payload))?.[1] ?? 0);

  const delivered = (path: string, pattern: RegExp): readonly number[] =>
    receiver.requests.filter((request) => request.path === path).map(({ body }) => Number(pattern.exec(body)?.[1]));

  async function exports(): Promise<readonly string[]> {
    return Promise.all(fleet.instances.map(async (instance) => printJson(await operate('export_metadata', {}, instance))));
  }

  beforeAll(async () => {
    if ('missing' in earlier) return;
    database = await testDatabase();
    client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query('create table item (id int primary key, n int not null); create table note (id int primary key)');
    receiver = await startFakeServer();
    receiver.answer = () => ({});
    fleet = new Fleet(database.url, earlier.main, { HOOKS: receiver.url });
    await fleet.add('earlier');
    await operate('pg_track_table', { table: 'item' });
    await operate('pg_create_event_trigger', eventTrigger(1));
    await operate('create_cron_trigger', {
      name: 'each_minute',
      webhook: '{{HOOKS}}/cron',
      schedule: '* * * * *',
      include_in_metadata: true,
      retry_conf: { num_retries: 0, timeout_seconds: 60, tolerance_seconds: 3600, retry_interval_seconds: 10 },
    });
  });
  afterAll(async () => {
    if ('missing' in earlier) return;
    isLoaded = false;
    await fleet?.stop();
    await receiver?.close();
    await client?.end();
    await database?.drop();
  });

  it('replace each other under load, and back', { timeout: LIMIT_MS }, async () => {
    await fleet.add('earlier');
    const load = [
      ...[repeat(insertItem), repeat(insertItem), repeat(readItems), repeat(readItems)],
      ...[repeat(changeMetadata), repeat(schedule, 200), repeat(countItems), repeat(countItems)],
    ];
    for (const [from, to] of [
      ['earlier', 'current'],
      ['current', 'earlier'],
    ] as const) {
      await fleet.add(to);
      await fleet.add(to);
      // All four serve together: each release sees what the other one changes.
      const [seenOperations, seenItems] = [operations, inserted.size];
      await expect.poll(() => operations > seenOperations + 4 && inserted.size > seenItems + 20, LONG_WAIT).toBe(true);
      await fleet.remove(from);
      await fleet.remove(from);
    }
    // A cron trigger is due once a minute: at least one occurrence has passed.
    await expect.poll(() => delivered('/cron', OCCURRENCE).length, LONG_WAIT).toBeGreaterThan(0);
    isLoaded = false;
    for (const socket of sockets) socket.close();
    await Promise.all(load);
    expect(failures).toEqual([]);

    const items = [...inserted].sort((a, b) => a - b);
    expect((await client.query('select id from item order by id')).rows.map(({ id }) => id)).toEqual(items);
    await expect.poll(() => delivered('/item', ITEM).length, WAIT).toBeGreaterThanOrEqual(items.length);
    await expect.poll(() => delivered('/once', NUMBER).length, WAIT).toBeGreaterThanOrEqual(schedules);
    // Nothing is left that could be delivered again.
    const open = `select (select count(*) from svc_catalog.event_log where not delivered)
      + (select count(*) from svc_catalog.svc_scheduled_events where status <> 'delivered')
      + (select count(*) from svc_catalog.svc_cron_events where status not in ('delivered', 'scheduled')) as open`;
    await expect.poll(async () => Number((await client.query(open)).rows[0].open), WAIT).toBe(0);
    expect([...delivered('/item', ITEM)].sort((a, b) => a - b)).toEqual(items);
    expect([...delivered('/once', NUMBER)].sort((a, b) => a - b)).toEqual(Array.from({ length: schedules }, (_, i) => i + 1));
    const occurrences = receiver.requests.filter(({ path }) => path === '/cron').map(({ body }) => OCCURRENCE.exec(body)?.[1]);
    expect(new Set(occurrences).size).toBe(occurrences.length);
    expect(counted).toBeGreaterThan(0);

    await fleet.add('current');
    await expect.poll(async () => new Set(await exports()).size, WAIT).toBe(1);
    const { is_consistent } = await operate('get_inconsistent_metadata', {});
    expect(is_consistent).toBe(true);
  });
});
