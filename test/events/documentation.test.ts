/** The examples of docs/event-triggers.md, docs/delivery.md, docs/schedules.md and docs/actions.md, unchanged. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Json, type JsonObject, parseJson } from '../../src/util/json.ts';
import { type FakeServer, startFakeServer } from '../support/fake-server.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The blocks of a page in a language. */
function blocksOf(page: string, language: 'js' | 'json'): readonly string[] {
  const text = readFileSync(new URL(`../../docs/${page}.md`, import.meta.url), 'utf8');
  return [...text.matchAll(new RegExp(`^\`\`\`${language}(?: shown)?\n(.*?)^\`\`\``, 'gms'))].map(([, block = '']) => block);
}
function operationOf(page: string, wanted: string): { readonly type: string; readonly args: JsonObject } {
  const found = blocksOf(page, 'json').find((text) => new RegExp(`^\\{\\s*"type": "${wanted}"`).test(text));
  if (found === undefined) throw new Error(`${page} has no ${wanted}`);
  return JSON.parse(found) as { type: string; args: JsonObject };
}
/** The payload that a page shows. */
function bodyOf(page: string, begins: string): JsonObject {
  const found = blocksOf(page, 'json').find((text) => text.replaceAll(/\s/g, '').startsWith(begins));
  return JSON.parse(found ?? 'null') as JsonObject;
}

const children: ChildProcess[] = [];

/** Runs a program that listens at port 3000 on another port. @returns its address */
async function started(program: string, environment: Readonly<Record<string, string>> = {}): Promise<string> {
  const text = program.replace('.listen(3000)', `.listen(0, '127.0.0.1', function () { console.log(this.address().port); })`);
  expect(text).not.toBe(program);
  const child = spawn(process.execPath, ['--input-type=module', '-e', text], {
    cwd: root,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const port = await new Promise<string>((resolve, reject) => {
    child.stdout.once('data', (printed: Buffer) => resolve(printed.toString().trim()));
    child.once('exit', () => reject(new Error('the program has ended')));
  });
  return `http://127.0.0.1:${port}`;
}

let service: TestService;
let receiver: FakeServer;
let database: pg.Client;

beforeAll(async () => {
  receiver = await startFakeServer();
  service = await startTestService({}, { HOOKS: receiver.url, HOOK_KEY: 'k', HOOK_SECRET: 's3cret' });
  database = new pg.Client({ connectionString: service.databaseUrl });
  await database.connect();
  await database.query(`create table author (id int primary key, name text); insert into author values (1, 'Ann');
    create table article (id int primary key, title text, published boolean); create table note (id int primary key);
    create table done (id text primary key); create table worked (id text)`);
  await service.metadata('pg_track_tables', { tables: ['author', 'article', 'note'] });
});
afterAll(async () => {
  for (const child of children) child.kill();
  await database.end();
  await service.stop();
  await receiver.close();
});

const run = ({ type, args }: { readonly type: string; readonly args: JsonObject }, more: JsonObject = {}): Promise<Json> =>
  service.metadata(type, { ...args, ...more });
const attemptsOf = async (name: string): Promise<readonly JsonObject[]> =>
  (await service.metadata('pg_get_event_invocation_logs', { name, source: 'default' })) as readonly JsonObject[];

test('runs an action whose handler is a few lines', async () => {
  const handler = await started(blocksOf('actions', 'js')[0] ?? '');
  await run(operationOf('actions', 'set_custom_types'));
  const create = operationOf('actions', 'create_action');
  const definition = create.args['definition'] as JsonObject;
  await run(create, { definition: { ...definition, handler } });
  await run(operationOf('actions', 'create_action_permission'));
  const user = { role: 'user', session: { 'user-id': '1' } };
  expect(await service.graphql('mutation { login(username: "ann") { token author { name } } }')).toEqual({
    data: { login: { token: 't', author: { name: 'Ann' } } },
  });
  expect(await service.graphql('mutation { login(username: "eve") { token } }', user)).toEqual({
    errors: [{ message: 'nobody of this name', extensions: { path: '$', code: 'no-user' } }],
  });
  receiver.answer = () => ({ body: { token: 't', author_id: 1 } });
  await service.metadata('update_action', { ...create.args, definition: { ...definition, handler: receiver.url } });
  await service.graphql('mutation { login(username: "ann") { token } }', user);
  expect(parseJson(receiver.requests.at(-1)?.body ?? '')).toEqual(bodyOf('actions', '{"action"'));
});

test('delivers an event trigger to its webhook', async () => {
  receiver.answer = () => ({});
  const create = operationOf('event-triggers', 'pg_create_event_trigger');
  await run(create);
  await service.metadata('pg_create_insert_permission', { table: 'article', role: 'user', permission: { check: {}, columns: '*' } });
  await service.graphql('mutation { insert_article(objects: {id: 1, title: "Hello"}) { affected_rows } }', {
    role: 'user',
    session: { 'user-id': '1' },
  });
  const sent = await vi.waitFor(() => {
    const found = receiver.requests.find(({ path }) => path === '/article');
    expect(found).toBeDefined();
    return parseJson(found?.body ?? '') as JsonObject;
  }, WAIT);
  const told = bodyOf('event-triggers', '{"id":');
  const stamps = ({ id, created_at }: JsonObject): readonly string[] =>
    [id, created_at].map((text) => String(text).replace(/[0-9a-f]/g, '0'));
  expect(stamps(sent)).toEqual(stamps(told));
  expect({ ...sent, id: '', created_at: '' }).toEqual({ ...told, id: '', created_at: '' });
});

test('runs a receiver that tolerates duplicate events', async () => {
  const { hostname, port, username, password, pathname } = new URL(service.databaseUrl);
  const work = `async function work(client, event) { await client.query('insert into public.worked values ($1)', [event.id]); }`;
  const webhook = await started(`${blocksOf('delivery', 'js')[0] ?? ''}\n${work}`, {
    ...{ PGHOST: hostname, PGPORT: port, PGUSER: decodeURIComponent(username), PGPASSWORD: decodeURIComponent(password) },
    PGDATABASE: pathname.slice(1),
  });
  await service.metadata('pg_create_event_trigger', { name: 'once', table: 'note', webhook, insert: { columns: '*' } });
  await database.query('insert into note values (1)');
  await vi.waitFor(async () => expect(await attemptsOf('once')).toHaveLength(1), WAIT);
  const [event] = await attemptsOf('once');
  await service.metadata('pg_redeliver_event', { event_id: event?.['event_id'] as Json, source: 'default' });
  await vi.waitFor(async () => expect((await attemptsOf('once')).map(({ http_status }) => http_status)).toEqual([200, 200]), WAIT);
  expect((await database.query('select id from worked')).rows).toEqual([{ id: event?.['event_id'] }]);
  await service.metadata('pg_delete_event_trigger', { name: 'once' });
});

test('verifies a signature', async () => {
  const [imports = '', ...check] = (blocksOf('delivery', 'js')[1] ?? '').split('\n');
  const program = `import { createServer } from 'node:http';
    ${imports}
    createServer(async (request, response) => {
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      const body = Buffer.concat(chunks);
      ${check.join('\n')}
      response.writeHead(200).end();
    }).listen(3000);`;
  const webhook = await started(program, { HOOK_SECRET: 's3cret' });
  const signature = { secret_from_env: 'HOOK_SECRET' };
  await service.metadata('pg_create_event_trigger', { name: 'signed', table: 'note', webhook, insert: { columns: '*' }, signature });
  await database.query('insert into note values (2)');
  await vi.waitFor(async () => expect((await attemptsOf('signed')).map(({ http_status }) => http_status)).toEqual([200]), WAIT);
  const forged = await fetch(webhook, { method: 'POST', headers: { 'x-svc-signature': `t=1,v1=${'0'.repeat(64)}` }, body: '{}' });
  expect([forged.status, (await fetch(webhook, { method: 'POST', body: '{}' })).status]).toEqual([401, 401]);
});

test('runs schedules with the documented payloads', async () => {
  receiver.answer = () => ({});
  await run(operationOf('schedules', 'create_cron_trigger'), { comment: '…' });
  await run(operationOf('schedules', 'create_scheduled_event'));
  await database.query(
    `insert into svc_catalog.svc_cron_events (id, trigger_name, scheduled_time) values ('c1', 'nightly', now() - interval '1 s')`,
  );
  await service.metadata('create_scheduled_event', { webhook: '{{HOOKS}}/soon', schedule_at: new Date(Date.now() - 1000).toISOString() });
  const sent = await vi.waitFor(() => {
    const found = receiver.requests.find(({ path }) => path === '/nightly');
    expect(found).toMatchObject({ headers: { 'x-key': 'k' } });
    return parseJson(found?.body ?? '') as JsonObject;
  }, WAIT);
  const told = bodyOf('schedules', '{"id":');
  const stamps = { id: '', scheduled_time: '' };
  expect({ ...sent, ...stamps }).toEqual({ ...told, ...stamps });
  expect(sent['scheduled_time']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
});
