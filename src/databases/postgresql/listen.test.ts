import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { DEEP } from '../../../test/support/deep.ts';
import { runSql, type TestDatabase, testDatabase, testServerUrl } from '../../../test/support/postgres.ts';
import type { Source } from '../../backend/backend.ts';
import { ROOT } from '../../util/path.ts';
import { postgresql } from './index.ts';
import { WAIT } from '../../../test/support/wait.ts';

const CHANNEL = 'odd "channel';
let database: TestDatabase;
const opened: Source[] = [];

beforeAll(async () => {
  database = await testDatabase();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((source) => source.close()));
});
afterAll(() => database.drop());

async function open(events: string[] = []): Promise<Source> {
  const source = await postgresql.connect(postgresql.configuration.decode({ connection_info: { database_url: database.url } }, ROOT), {
    sourceName: 'test',
    environment: {},
    usePreparedStatements: true,
    maxConnections: 2,
    onEvent: ({ kind }) => events.push(kind),
  });
  opened.push(source);
  return source;
}

const send = (source: Source, payload: string) => source.query('select pg_notify($1, $2)', [CHANNEL, payload]);
const name = (): string => new URL(database.url).pathname.slice(1);
const connections = (allowed: boolean) => runSql(testServerUrl(), `alter database ${name()} allow_connections ${allowed}`);
const LISTENERS = `from pg_stat_activity where datname = current_database() and query like 'listen%'`;
const count = async (source: Source) => (await source.query(`select count(*) ${LISTENERS}`, [])).rows[0]?.[0];

it('passes on messages of its channel until it stops', async () => {
  const source = await open();
  const heard: (string | null)[] = [];
  const listening = await source.listen?.(CHANNEL, (payload) => heard.push(payload));
  await send(source, 'one');
  await send(source, '');
  await vi.waitFor(() => expect(heard).toEqual(['one', '']), WAIT);
  await listening?.stop();
  await send(source, 'two');
  await vi.waitFor(async () => expect(await count(source)).toBe('0'), WAIT);
  expect(heard).toEqual(['one', '']);
});

it('listens again after a lost connection and reports the gap', async () => {
  const source = await open();
  const heard: (string | null)[] = [];
  await source.listen?.(CHANNEL, (payload) => heard.push(payload));
  await source.query(`select pg_terminate_backend(pid) ${LISTENERS}`, []);
  await vi.waitFor(() => expect(heard).toEqual([null]), WAIT);
  await send(source, 'after');
  await vi.waitFor(() => expect(heard).toEqual([null, 'after']), WAIT);
});

it.runIf(DEEP)('retries while the database is unreachable and reports the failure once', async () => {
  const events: string[] = [];
  const source = await open(events);
  await connections(false);
  const heard: (string | null)[] = [];
  await source.listen?.(CHANNEL, (payload) => heard.push(payload));
  await vi.waitFor(() => expect(events).toEqual(['listen-failed']), WAIT);
  // It retries meanwhile.
  await sleep(500);
  expect(events).toEqual(['listen-failed']);
  await connections(true);
  await vi.waitFor(() => expect(heard).toEqual([null]), WAIT);
  await send(source, 'one');
  await vi.waitFor(() => expect(heard).toEqual([null, 'one']), WAIT);
});

it('stops listening when its source is closed', async () => {
  const source = await open();
  await source.listen?.(CHANNEL, () => {});
  await source.close();
  const other = await open();
  await vi.waitFor(async () => expect(await count(other)).toBe('0'), WAIT);
});
