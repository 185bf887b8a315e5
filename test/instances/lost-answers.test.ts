/** Metadata changes whose commit gets no response, because the metadata database becomes unreachable at that moment. */
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { DEEP } from '../support/deep.ts';
import { type Relay, relayTo } from '../support/relay.ts';
import { type TestDatabase, testDatabase } from '../support/postgres.ts';
import { type Answer, startTestService, type TestService } from '../support/service.ts';

const HOOK = 'http://127.0.0.1:9/';
let metadata: TestDatabase;
let relay: Relay;
/** Performs `cut` on a separate connection to the metadata database. */
let steady: TestService;
/** An instance that reaches the metadata database through the relay. */
let cut: TestService;
let database: pg.Client;

beforeAll(async () => {
  metadata = await testDatabase('ready');
  relay = await relayTo(metadata.url);
  steady = await startTestService({ METADATA_DATABASE_URL: metadata.url, SCHEMA_SYNC_POLL_INTERVAL: '100' });
  cut = await startTestService({
    DATABASE_URL: steady.databaseUrl,
    METADATA_DATABASE_URL: relay.url,
    USE_PREPARED_STATEMENTS: 'false',
    SCHEMA_SYNC_POLL_INTERVAL: '100',
  });
  database = new pg.Client({ connectionString: steady.databaseUrl });
  await database.connect();
  await database.query('create table item (id int primary key, name text)');
  await steady.metadata('pg_track_table', { table: 'item' });
});
afterAll(async () => {
  relay.speak();
  await database.end();
  await cut.stop();
  await steady.stop();
  await relay.stop();
  await metadata.drop();
});

const post = (service: TestService, type: string, args: Json): Promise<Answer> =>
  service.send('/v1/metadata', { method: 'POST', body: JSON.stringify({ type, args }) });

const version = async (service: TestService): Promise<number> =>
  Number(((await service.metadata('export_metadata', {}, { version: 2 })) as JsonObject)['resource_version']);

async function names(sql: string): Promise<readonly string[]> {
  const { rows } = await database.query({ text: sql, rowMode: 'array' });
  return rows.map(([name]) => String(name));
}

const functions = () => names(`select proname from pg_proc where proname like 'notify\\_svc\\_%' order by 1`);
const triggers = () => names(`select tgname from pg_trigger where tgname like 'notify\\_svc\\_%' order by 1`);

/** Inserts a row and returns whether it has an event. */
async function capturesInsert(id: number): Promise<boolean> {
  await database.query(`insert into item values (${id}, 'x')`);
  const events = await names(
    `select id from svc_catalog.event_log where trigger_name = 'trg' and (payload #>> '{data,new,id}')::int = ${id} and not archived`,
  );
  return events.length === 1;
}

const isConsistent = async (service: TestService): Promise<boolean> =>
  ((await service.metadata('get_inconsistent_metadata', {})) as JsonObject)['is_consistent'] === true;

const inStep = () =>
  expect
    .poll(async () => [(await version(cut)) - (await version(steady)), await isConsistent(cut), await isConsistent(steady)])
    .toEqual([0, true, true]);

const create = (more: JsonObject = {}): JsonObject => ({ name: 'trg', table: 'item', webhook: HOOK, insert: { columns: '*' }, ...more });

beforeEach(async () => {
  relay.speak();
  await steady.metadata('bulk_keep_going', [{ type: 'pg_delete_event_trigger', args: { name: 'trg' } }]);
  await database.query('truncate item');
  await inStep();
  await expect.poll(functions).toEqual([]);
});

describe('a change whose commit gets no response', () => {
  it('keeps the stored event trigger, and captures every row', async () => {
    const lost = relay.loseCommit();
    const answer = await post(cut, 'pg_create_event_trigger', create());
    await lost;
    expect(await triggers()).toEqual(['notify_svc_trg_INSERT']);
    expect(await capturesInsert(1)).toBe(true);
    expect(answer.status, answer.text).toBe(503);
    await expect.poll(() => version(steady)).toBeGreaterThan(await version(cut));
    expect(await isConsistent(cut)).toBe(false);
    relay.speak();
    await inStep();
    expect(await triggers()).toEqual(['notify_svc_trg_INSERT']);
    expect(await capturesInsert(2)).toBe(true);
  });

  it('replaces the event trigger once it is known to be stored', async () => {
    await cut.metadata('pg_create_event_trigger', create());
    await inStep();
    const lost = relay.loseCommit();
    const replacement = { ...create({ update: { columns: '*' }, replace: true }) };
    delete replacement['insert'];
    expect((await post(cut, 'pg_create_event_trigger', replacement)).status).toBe(503);
    await lost;
    relay.speak();
    await inStep();
    await expect.poll(triggers).toEqual(['notify_svc_trg_UPDATE']);
  });

  it('restores the replaced event trigger if nothing was stored', async () => {
    await cut.metadata('pg_create_event_trigger', create());
    await inStep();
    const lost = relay.loseCommit('is lost');
    const replacement = { ...create({ update: { columns: '*' }, replace: true }) };
    delete replacement['insert'];
    expect((await post(cut, 'pg_create_event_trigger', replacement)).status).toBe(503);
    await lost;
    expect(await capturesInsert(1)).toBe(true);
    relay.speak();
    await inStep();
    await expect.poll(triggers).toEqual(['notify_svc_trg_INSERT']);
    expect(await capturesInsert(2)).toBe(true);
  });

  it('removes the created event trigger if nothing was stored', async () => {
    const lost = relay.loseCommit('is lost');
    expect((await post(cut, 'pg_create_event_trigger', create())).status).toBe(503);
    await lost;
    expect(await isConsistent(cut)).toBe(false);
    relay.speak();
    await inStep();
    await expect.poll(functions).toEqual([]);
  });

  it('removes the event trigger whose deletion is stored', async () => {
    await cut.metadata('pg_create_event_trigger', create());
    await inStep();
    const lost = relay.loseCommit();
    expect((await post(cut, 'pg_delete_event_trigger', { name: 'trg' })).status).toBe(503);
    await lost;
    relay.speak();
    await inStep();
    await expect.poll(functions).toEqual([]);
  });

  it('is answered once the metadata database is available again within the request', async () => {
    const lost = relay.loseCommit();
    void lost.then(() => relay.speak());
    expect((await post(cut, 'pg_create_event_trigger', create())).status).toBe(200);
    await inStep();
    expect(await triggers()).toEqual(['notify_svc_trg_INSERT']);
  });

  it('is not mistaken for a later change that was rejected', async () => {
    const lost = relay.loseCommit();
    const cron = (name: string) => ({ name, webhook: HOOK, schedule: '0 0 1 1 *', include_in_metadata: true });
    expect((await post(cut, 'create_cron_trigger', cron('first'))).status).toBe(503);
    await lost;
    relay.speak();
    await cut.metadata('create_cron_trigger', cron('second'));
    await inStep();
    const document = (await steady.metadata('export_metadata', {})) as { cron_triggers: { name: string }[] };
    expect(document.cron_triggers.map(({ name }) => name).sort()).toEqual(['first', 'second']);
    for (const name of ['first', 'second']) await cut.metadata('delete_cron_trigger', { name });
  });
});

describe('an unavailable metadata database', () => {
  it('causes no definite rejection', async () => {
    await relay.stop();
    try {
      await steady.metadata('pg_create_event_trigger', create({ enable_manual: true }));
      for (const [type, args] of [
        ['pg_delete_event_trigger', { name: 'trg' }],
        ['pg_invoke_event_trigger', { name: 'trg', payload: {} }],
        ['pg_create_event_trigger', create({ table: 'nothing' })],
      ] as const) {
        const { status, text } = await post(cut, type, args);
        expect(status, `${type}: ${text}`).toBe(503);
      }
    } finally {
      await relay.start();
    }
    await expect.poll(async () => (await post(cut, 'pg_invoke_event_trigger', { name: 'trg', payload: {} })).status).toBe(200);
  });
});

describe('a change that is rejected while the metadata database becomes unavailable', () => {
  it('is reported until its installed objects are reverted', async () => {
    await cut.metadata('pg_create_event_trigger', create());
    await inStep();
    const holder = new pg.Client({ connectionString: metadata.url });
    await holder.connect();
    await holder.query('begin; select resource_version from svc_catalog.metadata_version for update');
    const replacement = { ...create({ update: { columns: '*' }, replace: true }) };
    delete replacement['insert'];
    const refused = post(cut, 'pg_create_event_trigger', replacement);
    await expect.poll(triggers).toContain('notify_svc_trg_UPDATE');
    await relay.stop();
    try {
      expect((await refused).status).toBe(503);
      expect(await isConsistent(cut)).toBe(false);
      expect(await capturesInsert(1)).toBe(true);
    } finally {
      await relay.start();
      await holder.end();
    }
    await inStep();
    await expect.poll(triggers).toEqual(['notify_svc_trg_INSERT']);
  });
});

describe('installed objects that were removed externally', () => {
  it('are restored by an instance that loads a change of the event trigger', async () => {
    await cut.metadata('pg_create_event_trigger', create());
    await inStep();
    await database.query('drop trigger "notify_svc_trg_INSERT" on item');
    await cut.metadata(
      'pg_create_event_trigger',
      create({ retry_conf: { num_retries: 1, interval_sec: 10, timeout_sec: 60 }, replace: true }),
    );
    await expect.poll(triggers).toEqual(['notify_svc_trg_INSERT']);
  });

  it.runIf(DEEP)('are removed by a later attempt if a writer blocked the table for too long', async () => {
    await cut.metadata('pg_create_event_trigger', create());
    await inStep();
    await database.query('begin');
    await database.query(`insert into item values (1, 'x')`);
    const answer = await cut.metadata('pg_delete_event_trigger', { name: 'trg' });
    expect(answer).toMatchObject({ warnings: [{ code: 'source-cleanup-failed' }] });
    await database.query('commit');
    await expect.poll(functions).toEqual([]);
  });
});
