/** Asynchronous calls: they are stored, made once each, and reported to the caller. */
import { createClient } from 'graphql-ws';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { DEEP } from '../support/deep.ts';
import { type HandlerServer, startHandlerServer } from '../support/handler-server.ts';
import { type GraphqlOptions, startTestService, type TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

let service: TestService;
let handler: HandlerServer;

const OPTIONS = { ASYNC_ACTIONS_FETCH_INTERVAL: '50', GRACEFUL_SHUTDOWN_TIMEOUT: '1', DEV_MODE: 'true', ACTION_RESPONSE_LIMIT: '100000' };
const NONE = '00000000-0000-4000-8000-000000000000';

beforeAll(async () => {
  handler = await startHandlerServer();
  service = await startTestService(OPTIONS, { HANDLERS: handler.url });
  await service.sql("create table person (id int primary key, name text); insert into person values (1, 'Ann'), (2, 'Bob')");
  await service.metadata('pg_track_table', { table: 'person' });
  await service.metadata('pg_create_select_permission', {
    table: 'person',
    role: 'user',
    permission: { columns: ['name'], filter: { id: { _lt: 2 } } },
  });
  const relationships = [{ name: 'person', type: 'object', remote_table: 'person', field_mapping: { id: 'id' } }];
  await service.metadata('set_custom_types', {
    objects: [
      {
        name: 'Made',
        fields: [
          { name: 'id', type: 'Int!' },
          { name: 'text', type: 'String' },
        ],
        relationships,
      },
    ],
  });
  const definition = {
    handler: '{{HANDLERS}}',
    output_type: 'Made!',
    kind: 'asynchronous',
    arguments: [{ name: 'n', type: 'Int' }],
    forward_client_headers: true,
  };
  await service.metadata('create_action', { name: 'make', definition });
  await service.metadata('create_action_permission', { action: 'make', role: 'user' });
  await service.metadata('create_action', {
    name: 'retry',
    definition: { ...definition, retry_conf: { num_retries: 2, interval_sec: 0 } },
  });
});
afterAll(async () => {
  await service.stop();
  await handler.close();
});
beforeEach(() => {
  handler.requests.length = 0;
  handler.answer = () => ({ body: { id: 1, text: 't', more: 1 } });
});

const start = async (name = 'make', options: GraphqlOptions = {}): Promise<string> => {
  const { data } = await service.graphql(`mutation { ${name}(n: 5) }`, options);
  return ((data ?? {}) as Record<string, string>)[name] ?? '';
};
const result = async (id: string, name = 'make', options: GraphqlOptions = {}, of = service): Promise<JsonObject | null> => {
  const { data } = await of.graphql(
    `query ($id: uuid!) { r: ${name}(id: $id) { id created_at errors output { id t: text __typename } } }`,
    { ...options, variables: { id } },
  );
  return ((data ?? {}) as { r: JsonObject | null }).r;
};
const done = async (id: string, name = 'make', of = service): Promise<JsonObject> => {
  for (;;) {
    const found = await result(id, name, {}, of);
    if (found !== null && (found['output'] !== null || found['errors'] !== null)) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};
const rows = async (sql: string): Promise<Json> => ((await service.sql(sql)) as { result: readonly Json[] }).result.slice(1);

describe('an asynchronous action', () => {
  test('returns an id, and its result after the handler has responded', async () => {
    let release: () => void = () => undefined;
    handler.answer = () => new Promise((resolve) => (release = () => resolve({ body: { id: 1, text: 't' } })));
    const id = await start('make', { session: { 'user-id': '7' } });
    // Random bits of version 4, which cannot be guessed.
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(await result(id)).toEqual({ id, created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*\+00:00$/), errors: null, output: null });
    while (handler.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(handler.requests[0]?.json).toEqual({
      action: { name: 'make' },
      input: { n: 5 },
      session_variables: { 'x-svc-role': 'admin', 'x-svc-user-id': '7' },
      request_query: null,
    });
    expect(handler.requests[0]?.headers['x-forwarded-host']).toBe(new URL(service.url).host);
    release();
    expect(await done(id)).toMatchObject({ errors: null, output: { id: 1, t: 't', __typename: 'Made' } });
    expect(handler.requests).toHaveLength(1);
  });

  test('reports errors', async () => {
    handler.answer = () => ({ status: 422, body: { message: 'no', code: 'mine', extensions: { a: 1 } } });
    expect(await done(await start())).toMatchObject({ output: null, errors: { code: 'mine', path: '$', error: 'no' } });
    handler.answer = () => ({ body: '"text"' });
    expect(await done(await start())).toMatchObject({
      errors: {
        code: 'unexpected',
        path: '$',
        error: 'got scalar String for the action webhook response, expecting Made',
        internal: { error: 'unexpected response' },
      },
    });
    handler.answer = () => ({ status: 500, body: null });
    expect(await done(await start())).toMatchObject({ errors: { error: 'internal error' } });
    expect(handler.requests).toHaveLength(3);
  });

  test('is retried as configured, but not after a response of the handler', async () => {
    let calls = 0;
    handler.answer = () => (++calls < 3 ? 'reset' : { body: { id: 1 } });
    expect(await done(await start('retry'), 'retry')).toMatchObject({ output: { id: 1 } });
    calls = -10;
    expect(await done(await start('retry'), 'retry')).toMatchObject({ errors: { error: 'http exception when calling webhook' } });
    expect(handler.requests).toHaveLength(6);
    handler.answer = () => ({ status: 400, body: { message: 'no' } });
    expect(await done(await start('retry'), 'retry')).toMatchObject({ errors: { error: 'no' } });
    expect(handler.requests).toHaveLength(7);
  });

  test('shows its result to administrators and to the session of the call', async () => {
    const own = { role: 'user', session: { 'user-id': '7' } };
    const id = await start('make', own);
    await done(id);
    expect(await result(id, 'make', own)).toMatchObject({ output: { id: 1 } });
    expect(await result(id, 'make', { role: 'user', session: { 'user-id': '8' } })).toBeNull();
    expect(await result(id, 'make', { role: 'user' })).toBeNull();
    expect(await result(id, 'retry')).toBeNull();
    expect(await result(NONE)).toBeNull();
    expect(await service.graphql('{ make(id: "x") { id } }')).toMatchObject({
      errors: [{ message: 'invalid input syntax for type uuid: "x"', extensions: { code: 'data-exception' } }],
    });
  });

  test("leads from its output to tables, restricted to the role's permissions", async () => {
    const own = { role: 'user', session: { 'user-id': '7' } };
    const [one, two] = [await start('make', own), await start('make', own)];
    await Promise.all([done(one), done(two)]);
    const query = `{ make(id: "${one}") { output { person { name } } } }`;
    expect(await service.graphql(query, own)).toEqual({ data: { make: { output: { person: { name: 'Ann' } } } } });
    expect(await service.graphql(query)).toEqual({ data: { make: { output: { person: { name: 'Ann' } } } } });
  });

  test('has a type of its name in the schema', async () => {
    const { data } = await service.graphql(
      '{ __type(name: "make") { fields { name type { name kind ofType { name } } } } s: __schema { subscriptionType { fields { name } } } }',
    );
    const named = (name: string): JsonObject => ({ kind: 'NON_NULL', name: null, ofType: { name } });
    expect(data).toMatchObject({
      __type: {
        fields: [
          { name: 'created_at', type: named('timestamptz') },
          { name: 'errors', type: { kind: 'SCALAR', name: 'json' } },
          { name: 'id', type: named('uuid') },
          { name: 'output', type: { kind: 'OBJECT', name: 'Made' } },
        ],
      },
      s: { subscriptionType: { fields: expect.arrayContaining([{ name: 'make' }]) } },
    });
  });

  test('can be subscribed to, until the handler has responded', async () => {
    const client = createClient({ url: `${service.url.replace('http', 'ws')}/v1/graphql`, webSocketImpl: WebSocket });
    const subscribe = (query: string) => client.iterate({ query })[Symbol.asyncIterator]();
    let release: () => void = () => undefined;
    handler.answer = () => new Promise((resolve) => (release = () => resolve({ body: { id: 1, text: 'late' } })));
    const id = await start();
    while (handler.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    const plain = subscribe(`subscription { make(id: "${id}") { output { text } errors } }`);
    const related = subscribe(`subscription { make(id: "${id}") { output { person { name } } } }`);
    expect((await plain.next()).value).toEqual({ data: { make: { output: null, errors: null } } });
    expect((await related.next()).value).toEqual({ data: { make: { output: null } } });
    release();
    expect((await plain.next()).value).toEqual({ data: { make: { output: { text: 'late' }, errors: null } } });
    expect((await plain.next()).done).toBe(true);
    expect((await related.next()).value).toEqual({ data: { make: { output: { person: { name: 'Ann' } } } } });
    await service.sql("update person set name = 'Anna' where id = 1");
    expect((await related.next()).value).toEqual({ data: { make: { output: { person: { name: 'Anna' } } } } });
    await service.sql("update person set name = 'Ann' where id = 1");
    await expect(subscribe('subscription { make(id: "x") { id } }').next()).rejects.toMatchObject([
      { extensions: { code: 'data-exception' } },
    ]);
    await client.dispose();
  });

  test('hides a result that does not match the current type of the action', async () => {
    const as = (output_type: string): JsonObject => ({
      name: 'changed',
      definition: { handler: '{{HANDLERS}}', output_type, kind: 'asynchronous' },
    });
    await service.metadata('create_action', as('Made!'));
    const { data } = await service.graphql('mutation { changed }');
    const { changed } = data as { changed: string };
    expect(await done(changed, 'changed')).toMatchObject({ output: { id: 1 } });
    await service.metadata('update_action', as('[Made!]!'));
    const later = await service.graphql(`{ changed(id: "${changed}") { output { id } } }`);
    expect(later.errors).toMatchObject([{ message: 'got object for the action webhook response, expecting [Made!]' }]);
    await service.metadata('update_action', as('Int'));
    const scalar = await service.graphql(`{ changed(id: "${changed}") { output } }`);
    expect(scalar.errors).toMatchObject([{ message: 'got object for the action webhook response, expecting Int' }]);
    await service.metadata('drop_action', { name: 'changed' });
  });

  test('limits the results in one request to the size of one handler response', async () => {
    handler.answer = () => ({ body: { id: 1, text: 'x'.repeat(40_000) } });
    const id = await start();
    await done(id);
    const twice = await service.graphql(`{ a: make(id: "${id}") { output { id } } b: make(id: "${id}") { output { id } } }`);
    expect(twice).toEqual({ data: { a: { output: { id: 1 } }, b: { output: { id: 1 } } } });
    const often = await service.graphql(`{ ${['a', 'b', 'c'].map((name) => `${name}: make(id: "${id}") { output { id } }`).join(' ')} }`);
    expect(often.errors).toMatchObject([{ message: 'the results of actions exceed 100000 bytes' }]);
  });

  test('is deleted with the action on request', async () => {
    const definition = { handler: '{{HANDLERS}}', output_type: 'Int', kind: 'asynchronous' };
    const count = (): Promise<Json> => rows("select count(*) from svc_catalog.svc_action_log where action_name = 'temp'");
    handler.answer = () => ({ body: 5 });
    await service.metadata('create_action', { name: 'temp', definition });
    await service.graphql('mutation { temp }');
    await service.metadata('drop_action', { name: 'temp', clear_data: false });
    expect(await count()).toEqual([['1']]);
    await service.metadata('create_action', { name: 'temp', definition });
    const drop = (name: string) => ({ type: 'drop_action', args: { name } });
    await expect(service.metadata('bulk', [drop('temp'), drop('nowhere')])).rejects.toThrow('not-exists');
    expect(await count()).toEqual([['1']]);
    await service.metadata('drop_action', { name: 'temp' });
    expect(await count()).toEqual([['0']]);
  });
});

test.runIf(DEEP)('passes calls of a dead instance to another one, and deletes old ones', async () => {
  const keeper = await startTestService({ ...OPTIONS, ASYNC_ACTIONS_FETCH_INTERVAL: '0' }, { HANDLERS: handler.url });
  await keeper.metadata('create_action', {
    name: 'long',
    definition: { handler: '{{HANDLERS}}', output_type: 'Int', kind: 'asynchronous' },
  });
  const other = (options: Record<string, string> = {}) =>
    startTestService({ ...OPTIONS, DATABASE_URL: keeper.databaseUrl, ...options }, { HANDLERS: handler.url });
  const leaver = await other();
  handler.answer = () => 'hang';
  const { data } = await keeper.graphql('mutation { long }');
  const { long: id } = data as { long: string };
  while (handler.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  await leaver.stop();
  const read = async (): Promise<JsonObject | null> => {
    const answer = await keeper.graphql(`{ long(id: "${id}") { output errors } }`);
    return (answer['data'] as { long: JsonObject | null }).long;
  };
  expect(await read()).toEqual({ output: null, errors: null });
  handler.answer = () => ({ body: 9 });
  const heir = await other({ ASYNC_ACTIONS_LOG_RETENTION: '3' });
  let found = await read();
  for (; found?.['output'] === null; found = await read()) await new Promise((resolve) => setTimeout(resolve, 20));
  expect(found).toEqual({ output: 9, errors: null });
  expect(handler.requests).toHaveLength(2);
  for (; found !== null; found = await read()) await new Promise((resolve) => setTimeout(resolve, 100));
  await heir.stop();
  await keeper.stop();
});

test.runIf(DEEP)('limits the memory of large responses until they are recorded', async () => {
  const CALLS = 4;
  const large = await startHandlerServer();
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  large.answer = async () => {
    await released;
    return { body: `5${' '.repeat(20_000_000)}` };
  };
  const reader = await startTestService(
    { ASYNC_ACTIONS_FETCH_INTERVAL: '50', GRACEFUL_SHUTDOWN_TIMEOUT: '1', ENABLED_LOG_TYPES: 'action-handler-log' },
    { HANDLERS: large.url },
  );
  const locker = new pg.Client({ connectionString: reader.databaseUrl });
  await locker.connect();
  try {
    await reader.metadata('create_action', {
      name: 'large',
      definition: { handler: '{{HANDLERS}}', output_type: 'Int', kind: 'asynchronous' },
    });
    const { data } = await reader.graphql(`mutation { ${Array.from({ length: CALLS }, (_, i) => `c${i}: large`).join(' ')} }`);
    await vi.waitFor(() => expect(large.requests).toHaveLength(CALLS), WAIT);
    // Nothing can be recorded meanwhile.
    await locker.query('begin; lock table svc_catalog.svc_action_log in exclusive mode');
    release();
    const read = (): number => reader.observations.filter(({ kind }) => kind === 'action').length;
    await vi.waitFor(() => expect(read()).toBeGreaterThan(0), WAIT);
    // Long enough for the others.
    await new Promise((resolve) => setTimeout(resolve, 700));
    // One within the shared 32 MiB, and the one that need not wait.
    expect(read()).toBeLessThanOrEqual(2);
    await locker.query('rollback');
    const ids = Object.values(data as Record<string, string>);
    const fields = ids.map((id, i) => `c${i}: large(id: "${id}") { output }`).join(' ');
    const all = Object.fromEntries(ids.map((_, i) => [`c${i}`, { output: 5 }]));
    await vi.waitFor(async () => expect((await reader.graphql(`{ ${fields} }`))['data']).toEqual(all), WAIT);
    expect(large.requests).toHaveLength(CALLS);
  } finally {
    release();
    await locker.end();
    await reader.stop();
    await large.close();
  }
});
