/** Changes whose commit in the metadata database gets no response, with SQL, whole sources and MariaDB. */
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { hasMariadb, startMariadb } from '../support/mariadb.ts';
import { type TestDatabase, testDatabase } from '../support/postgres.ts';
import { type Relay, relayTo } from '../support/relay.ts';
import { type Answer, startTestService, type TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

const HOOK = 'http://127.0.0.1:9/';
let metadata: TestDatabase;
let relay: Relay;
let steady: TestService;
/** An instance that reaches the metadata database through the relay. */
let cut: TestService;
let mariadb: Awaited<ReturnType<typeof startMariadb>> | undefined;
let other: TestDatabase;

beforeAll(async () => {
  mariadb = hasMariadb() ? await startMariadb() : undefined;
  await mariadb?.run('create database shop');
  metadata = await testDatabase('ready');
  other = await testDatabase();
  relay = await relayTo(metadata.url);
  const variables = { SHOP: mariadb?.url('shop') ?? '', OTHER: other.url };
  steady = await startTestService({ METADATA_DATABASE_URL: metadata.url, SCHEMA_SYNC_POLL_INTERVAL: '100' }, variables);
  cut = await startTestService(
    {
      DATABASE_URL: steady.databaseUrl,
      METADATA_DATABASE_URL: relay.url,
      USE_PREPARED_STATEMENTS: 'false',
      SCHEMA_SYNC_POLL_INTERVAL: '100',
    },
    variables,
  );
});
afterAll(async () => {
  relay.speak();
  await cut.stop();
  await steady.stop();
  await relay.stop();
  await metadata.drop();
  await other.drop();
  await mariadb?.stop();
});

/** Runs SQL and metadata changes in one request. */
const V1_QUERY: ReadonlySet<string> = new Set(['run_sql', 'bulk']);
const post = (type: string, args: Json): Promise<Answer> =>
  cut.send(V1_QUERY.has(type) ? '/v1/query' : '/v1/metadata', { method: 'POST', body: JSON.stringify({ type, args }) });

/** Sends a change whose commit gets no response. */
async function lose(commit: 'arrives' | 'is lost', type: string, args: Json): Promise<void> {
  const lost = relay.loseCommit(commit);
  const answer = await post(type, args);
  expect(answer.status, answer.text).toBe(503);
  await lost;
}

const state = async (service: TestService): Promise<Json> => {
  const { resource_version = null } = (await service.metadata('export_metadata', {}, { version: 2 })) as JsonObject;
  const { inconsistent_objects = null } = (await service.metadata('get_inconsistent_metadata', {})) as JsonObject;
  return [resource_version, inconsistent_objects];
};

async function settled(): Promise<void> {
  relay.speak();
  const both = async (): Promise<Json> => [await storedVersion(), await state(cut), await state(steady)];
  const consistent = ([stored]: readonly Json[]): Json => [stored ?? 0, [stored ?? 0, []], [stored ?? 0, []]];
  await expect
    .poll(async () => {
      const found = (await both()) as Json[];
      return JSON.stringify(found) === JSON.stringify(consistent(found)) ? 'consistent' : found;
    }, WAIT)
    .toBe('consistent');
}

async function storedVersion(): Promise<number> {
  const client = new pg.Client({ connectionString: metadata.url });
  await client.connect();
  try {
    const { rows } = await client.query<{ version: number }>('select resource_version::int as version from svc_catalog.metadata_version');
    return rows[0]?.version ?? 0;
  } finally {
    await client.end();
  }
}

const create = (more: JsonObject = {}): JsonObject => ({ name: 'trg', table: 'item', webhook: HOOK, insert: { columns: '*' }, ...more });

beforeEach(async () => {
  await settled();
  await steady.metadata('clear_metadata', {});
  await settled();
});

describe.each(['arrives', 'is lost'] as const)('a change whose commit %s without a response', (commit) => {
  it('captures new columns of SQL and reverts the definition that came with it', async () => {
    const database = new pg.Client({ connectionString: steady.databaseUrl });
    await database.connect();
    const capture = async (id: number): Promise<Json> => {
      await database.query(`insert into item (id) values (${id})`);
      const { rows } = await database.query<{ row: Json }>(
        `select payload #> '{data,new}' as row from svc_catalog.event_log where trigger_name = 'trg' and payload #>> '{data,new,id}' = '${id}'`,
      );
      return rows.map(({ row }) => row);
    };
    try {
      await database.query('drop table if exists item cascade; create table item (id int primary key, name text)');
      await steady.metadata('reload_metadata', {});
      await cut.metadata('pg_track_table', { table: 'item' });
      await cut.metadata('pg_create_event_trigger', create());
      await settled();
      const before = await storedVersion();
      await lose(commit, 'run_sql', { sql: 'alter table item add column extra int' });
      expect(await capture(1)).toEqual([{ id: 1, name: null, extra: null }]);
      relay.speak();
      // The effects of the SQL are introspected with the next version, even if that of the request was not stored.
      await expect.poll(storedVersion, WAIT).toBeGreaterThan(before);
      await settled();
      expect(await capture(2)).toEqual([{ id: 2, name: null, extra: null }]);
      await lose(commit, 'bulk', [
        { type: 'create_event_trigger', args: create({ replace: true, insert: { columns: '*', payload: ['id', 'extra'] } }) },
        { type: 'run_sql', args: { sql: 'alter table item alter column extra type bigint' } },
      ]);
      await settled();
      expect(await capture(3)).toEqual([commit === 'arrives' ? { id: 3, extra: null } : { id: 3, name: null, extra: null }]);
      await cut.metadata('pg_delete_event_trigger', { name: 'trg' });
      await cut.metadata('pg_untrack_table', { table: 'item' });
    } finally {
      await database.end();
    }
  });

  it('removes the captures of a source with it, or none', async () => {
    const database = new pg.Client({ connectionString: other.url });
    await database.connect();
    const functions = async (): Promise<number> =>
      (await database.query(`select from pg_proc where proname like 'notify\\_svc\\_%'`)).rowCount ?? 0;
    try {
      await database.query('create table if not exists item (id int primary key)');
      await cut.metadata('pg_add_source', { name: 'other', configuration: { connection_info: { database_url: { from_env: 'OTHER' } } } });
      await cut.metadata('pg_track_table', { source: 'other', table: 'item' });
      await cut.metadata('pg_create_event_trigger', { ...create(), source: 'other' });
      await settled();
      await lose(commit, 'pg_drop_source', { name: 'other', cascade: true });
      expect(await functions()).toBe(1);
      expect(await state(cut)).not.toEqual([expect.anything(), []]);
      await settled();
      await expect.poll(functions, WAIT).toBe(commit === 'arrives' ? 0 : 1);
      if (commit === 'is lost') await cut.metadata('pg_drop_source', { name: 'other', cascade: true });
      await settled();
    } finally {
      await database.end();
    }
  });

  it.skipIf(!hasMariadb())('keeps the stored event trigger of MariaDB, or reverts one that was not stored', async () => {
    const client = await createConnection({ uri: mariadb?.url('shop') ?? '' });
    const triggers = async (): Promise<readonly string[]> => {
      const [rows] = await client.query<RowDataPacket[][]>({
        sql: `select trigger_name from information_schema.triggers where trigger_name like 'notify\\_svc\\_%' order by 1`,
        rowsAsArray: true,
      });
      return rows.map(([name]) => String(name));
    };
    const source = 'shop';
    try {
      await client.query('create table if not exists item (id int primary key)');
      await cut.metadata('dbb_add_source', {
        name: source,
        configuration: { connection_info: { connection_string: { from_env: 'SHOP' } } },
      });
      await cut.metadata('dbb_track_table', { source, table: 'item' });
      await lose(commit, 'dbb_create_event_trigger', { ...create(), source });
      expect(await triggers()).toEqual(['notify_svc_trg_INSERT']);
      await settled();
      await expect.poll(triggers, WAIT).toEqual(commit === 'arrives' ? ['notify_svc_trg_INSERT'] : []);
      if (commit === 'is lost') await cut.metadata('dbb_create_event_trigger', { ...create(), source });
      const { insert: _, ...replacement } = create({ source, update: { columns: '*' }, replace: true });
      await lose(commit, 'dbb_create_event_trigger', replacement);
      await settled();
      await expect.poll(triggers, WAIT).toEqual([commit === 'arrives' ? 'notify_svc_trg_UPDATE' : 'notify_svc_trg_INSERT']);
      await lose(commit, 'dbb_drop_source', { name: source, cascade: true });
      await settled();
      await expect.poll(async () => (await triggers()).length, WAIT).toBe(commit === 'arrives' ? 0 : 1);
      if (commit === 'is lost') await cut.metadata('dbb_drop_source', { name: source, cascade: true });
      await settled();
    } finally {
      await client.end();
    }
  });
});
