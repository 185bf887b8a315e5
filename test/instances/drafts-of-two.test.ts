/** Changes of event triggers that two instances draft at the same time, based on the same metadata version. */
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { hasMariadb, startMariadb } from '../support/mariadb.ts';
import { type TestDatabase, testDatabase } from '../support/postgres.ts';
import { serveInProcess } from '../support/served-process.ts';
import { type Answer, startTestService, type TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

/** A database that both instances have as a source. */
interface Shared {
  readonly source: string;
  /** First column of the rows of a statement. */
  query(sql: string): Promise<readonly string[]>;
  stop(): Promise<void>;
}

const TABLES = 'create table item (id int primary key, name varchar(10)); create table other (id int primary key)';

for (const { kind, isThere, ofId } of [
  { kind: 'pg', isThere: true, ofId: `payload #>> '{data,new,id}'` },
  { kind: 'dbb', isThere: hasMariadb(), ofId: `json_value(payload, '$.data.new.id')` },
])
  describe.skipIf(!isThere)(`two instances on one source of the kind ${kind}`, () => {
    let metadata: TestDatabase;
    let version: pg.Client;
    let one: TestService;
    let two: TestService;
    let shared: Shared;
    let settings: { readonly METADATA_DATABASE_URL: string; readonly SCHEMA_SYNC_POLL_INTERVAL: string };
    let others: { readonly SHOP: string };

    const shareMariadb = async (): Promise<Shared & { readonly url: string }> => {
      const server = await startMariadb();
      await server.run('create database shop');
      const client = await createConnection({ uri: server.url('shop') });
      return {
        source: 'shop',
        url: server.url('shop'),
        async query(sql) {
          const [rows] = await client.query<RowDataPacket[][]>({ sql, rowsAsArray: true });
          return Array.isArray(rows) ? rows.map((row) => String(row[0])) : [];
        },
        async stop() {
          await client.end();
          await server.stop();
        },
      };
    };
    const sharePostgres = async (url: string): Promise<Shared> => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      return {
        source: 'default',
        query: async (text) => (await client.query<Json[]>({ text, rowMode: 'array' })).rows.map(([first]) => String(first)),
        stop: () => client.end(),
      };
    };

    beforeAll(async () => {
      metadata = await testDatabase('ready');
      settings = { METADATA_DATABASE_URL: metadata.url, SCHEMA_SYNC_POLL_INTERVAL: '100' };
      const mariadb = kind === 'dbb' ? await shareMariadb() : undefined;
      others = { SHOP: mariadb?.url ?? '' };
      one = await startTestService(settings, others);
      two = await startTestService({ DATABASE_URL: one.databaseUrl, ...settings }, others);
      shared = mariadb ?? (await sharePostgres(one.databaseUrl));
      version = new pg.Client({ connectionString: metadata.url });
      await version.connect();
      for (const each of TABLES.split(';')) await shared.query(each);
      if (kind === 'dbb') {
        const configuration = { connection_info: { connection_string: { from_env: 'SHOP' } } };
        await one.metadata('dbb_add_source', { name: 'shop', configuration });
      }
      for (const table of ['item', 'other']) await one.metadata(`${kind}_track_table`, { source: shared.source, table });
      // The first trigger creates the event tables.
      await post(one, create('first', 'other'));
    });
    afterAll(async () => {
      await shared.stop();
      await version.end();
      await one.stop({ keepDatabase: true });
      await two.stop();
      await metadata.drop();
    });
    afterEach(async () => {
      await version.query('rollback');
      for (const name of ['trg', 'early', 'late']) await post(one, operation('delete_event_trigger', { name }));
      await expect.poll(triggers, WAIT).toEqual(['notify_svc_first_INSERT']);
      await shared.query('delete from item');
    });

    const operation = (type: string, args: JsonObject): JsonObject => ({
      type: `${kind}_${type}`,
      args: { source: shared.source, ...args },
    });
    const create = (name: string, table: string): JsonObject =>
      operation('create_event_trigger', { name, table, webhook: 'http://127.0.0.1:9/', insert: { columns: '*' } });
    const post = (service: TestService, body: Json): Promise<Answer> =>
      service.send('/v1/metadata', { method: 'POST', body: JSON.stringify(body) });
    const absent = (): JsonObject => operation('track_table', { table: 'nothing' });

    const triggers = (): Promise<readonly string[]> =>
      shared.query(
        kind === 'pg'
          ? `select tgname from pg_trigger where tgname like 'notify\\_svc\\_%' order by 1`
          : `select trigger_name from information_schema.triggers where trigger_name like 'notify\\_svc\\_%' order by 1`,
      );
    const events = (): Promise<readonly string[]> =>
      shared.query(`select ${ofId} from svc_catalog.event_log where trigger_name = 'trg' and archived = false order by 1`);

    /** New rows of the events of `trg`, in the order of their ids. */
    const captured = async (): Promise<readonly Json[]> => {
      const row = kind === 'pg' ? `payload #>> '{data,new}'` : `concat(json_extract(payload, '$.data.new'))`;
      const rows = await shared.query(
        `select ${row} from svc_catalog.event_log where trigger_name = 'trg' and archived = false order by ${ofId}`,
      );
      return rows.map((each) => JSON.parse(each) as Json);
    };

    /** Both instances have the newest version, and neither can store another one until a rollback. */
    async function holdVersion(): Promise<void> {
      const versionOf = async (service: TestService): Promise<Json | undefined> =>
        ((await service.metadata('export_metadata', {}, { version: 2 })) as JsonObject)['resource_version'];
      const newest = await versionOf(one);
      await expect.poll(() => versionOf(two), WAIT).toBe(newest);
      await version.query('begin; select resource_version from svc_catalog.metadata_version for update');
    }

    /** Lets a change be stored that has installed `trg`, with rows before and after. */
    async function expectCaptured(creating: Promise<Answer>): Promise<void> {
      await shared.query('insert into item (id) values (1)');
      await version.query('rollback');
      expect((await creating).status).toBe(200);
      await shared.query('insert into item (id) values (2)');
      expect(await events()).toEqual(['1', '2']);
    }

    it('keeps the event trigger of a change under way when the other instance refuses a change', async () => {
      await holdVersion();
      const creating = post(two, create('trg', 'item'));
      await expect.poll(triggers, WAIT).toContain('notify_svc_trg_INSERT');
      const refused = await post(one, { type: 'bulk', args: [create('early', 'other'), absent()] });
      expect(refused.status).toBe(400);
      expect(await triggers()).toEqual(['notify_svc_first_INSERT', 'notify_svc_trg_INSERT']);
      await expectCaptured(creating);
    });

    it('keeps the event trigger of a change under way when an operation of bulk_keep_going fails on the other instance', async () => {
      await holdVersion();
      const creating = post(two, create('trg', 'item'));
      await expect.poll(triggers, WAIT).toContain('notify_svc_trg_INSERT');
      const going = post(one, { type: 'bulk_keep_going', args: [create('early', 'other'), absent(), create('late', 'other')] });
      await expect.poll(triggers, WAIT).toContain('notify_svc_late_INSERT');
      expect(await triggers()).toContain('notify_svc_trg_INSERT');
      await expectCaptured(creating);
      expect((await going).status).toBe(200);
    });

    it('keeps an event trigger that two changes create when one of them is refused', async () => {
      await holdVersion();
      const creating = post(two, { type: 'bulk', args: [create('trg', 'item'), create('late', 'other')] });
      await expect.poll(triggers, WAIT).toContain('notify_svc_late_INSERT');
      const refused = await post(one, { type: 'bulk', args: [create('trg', 'item'), create('early', 'other'), absent()] });
      expect(refused.status).toBe(400);
      expect(await triggers()).toEqual(['notify_svc_first_INSERT', 'notify_svc_late_INSERT', 'notify_svc_trg_INSERT']);
      await expectCaptured(creating);
    });

    /** Comment with the fingerprint of `trg`, or its trigger. */
    const installed = async (): Promise<string> =>
      (
        await shared.query(
          kind === 'pg'
            ? `select obj_description(oid, 'pg_proc') from pg_proc where proname = 'notify_svc_trg_INSERT'`
            : `select action_statement from information_schema.triggers where trigger_name = 'notify_svc_trg_INSERT'`,
        )
      )[0] ?? '';

    /** Replaces `trg` by one whose events have these columns. */
    const replace = (payload: readonly string[]): { type: string; args: JsonObject } => ({
      type: `${kind}_create_event_trigger`,
      args: {
        ...{ source: shared.source, name: 'trg', table: 'item', webhook: 'http://127.0.0.1:9/', replace: true },
        insert: { columns: '*', payload },
      },
    });

    it('captures rows by the stored definition when two changes of an event trigger collide', async () => {
      await post(one, create('trg', 'item'));
      const { resource_version = null } = (await one.metadata('export_metadata', {}, { version: 2 })) as JsonObject;
      await holdVersion();
      const before = await installed();
      const winning = post(one, { ...replace(['id']), resource_version });
      await expect.poll(installed, WAIT).not.toBe(before);
      const first = await installed();
      const losing = post(two, { ...replace(['id', 'name']), resource_version });
      // The other definition must not be installed at all.
      await vi.waitUntil(async () => (await installed()) !== first, { timeout: 500 }).catch(() => undefined);
      await version.query('rollback');
      const { status, text } = await winning;
      expect(status, text).toBe(200);
      await shared.query('insert into item (id) values (1)');
      expect((await losing).status).toBe(409);
      await shared.query('insert into item (id) values (2)');
      expect(await captured()).toEqual([{ id: 1 }, { id: 2 }]);
    });

    it('applies two concurrent changes of an event trigger one after the other', async () => {
      await post(one, create('trg', 'item'));
      await holdVersion();
      const before = await installed();
      const earlier = post(one, replace(['id']));
      await expect.poll(installed, WAIT).not.toBe(before);
      const later = post(two, replace(['id', 'name']));
      await version.query('rollback');
      expect([(await earlier).status, (await later).status]).toEqual([200, 200]);
      await shared.query('insert into item (id) values (1)');
      expect(await events()).toEqual(['1']);
    });

    it('restores the stored definition when a change is refused after an instance was killed during another one', async () => {
      await post(one, create('trg', 'item'));
      const third = serveInProcess(one.databaseUrl, settings, [], others);
      onTestFinished(() => third.kill('SIGKILL'));
      const url = await third.listening;
      await holdVersion();
      const before = await installed();
      const init = { method: 'POST', body: JSON.stringify(replace(['id'])), headers: { 'content-type': 'application/json' } };
      const ending = fetch(`${url}/v1/metadata`, init).then(
        () => 'answered',
        () => 'ended',
      );
      await expect.poll(installed, WAIT).not.toBe(before);
      third.kill('SIGKILL');
      await third.ended;
      expect(await ending).toBe('ended');
      await version.query('rollback');
      await shared.query('insert into item (id) values (1)');
      expect((await post(one, { type: 'bulk', args: [replace(['id', 'name']), absent()] })).status).toBe(400);
      await shared.query('insert into item (id) values (2)');
      expect((await post(two, replace(['id']))).status).toBe(200);
      await shared.query('insert into item (id) values (3)');
      // The killed instance's definition captured the first one.
      expect(await captured()).toEqual([{ id: 1 }, { id: 2, name: null }, { id: 3 }]);
    });
  });
