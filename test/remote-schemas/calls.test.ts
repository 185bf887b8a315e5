/** Requests to remote schemas: their payload, their responses and their errors. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { QueryObservation } from '../../src/observability/observation.ts';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { type GraphqlServer, startGraphqlServer } from '../support/graphql-server.ts';
import { startTestService, type TestService } from '../support/service.ts';

const SDL = `
  type Query { hello(to: String = "you"): String long(size: Int!): String broken: String! }
  type Mutation { greet(name: String!): String fail: String }
  type Subscription { ticks: Int }
`;
const ROOT = {
  hello: ({ to }: { to: string }) => `hello ${to}`,
  long: ({ size }: { size: number }) => 'x'.repeat(size),
  broken: () => {
    throw new Error('out of order');
  },
  greet: ({ name }: { name: string }) => `hi ${name}`,
  fail: () => {
    throw new Error('refused');
  },
};
const SECRET = 'planted-secret';
const ADMIN = { 'x-svc-admin-secret': SECRET };

let service: TestService;
let server: GraphqlServer;

beforeAll(async () => {
  service = await startTestService({
    ADMIN_SECRET: SECRET,
    REMOTE_SCHEMA_RESPONSE_LIMIT: '2000',
    ENABLED_LOG_TYPES: 'query-log',
    LOG_MASKED_VARIABLES: 'hidden',
  });
  await service.sql("create table item (id int primary key, name text); insert into item values (1, 'one')");
  await service.metadata('pg_track_table', { table: 'item' });
});
afterAll(() => service.stop());
beforeEach(async () => {
  server = await startGraphqlServer(SDL, ROOT);
  const definition = { url: `${server.url}?key=planted-key`, forward_client_headers: true, timeout_seconds: 5 };
  await service.metadata('add_remote_schema', { name: 'r', definition });
});
afterEach(async () => {
  await server.close();
  await service.metadata('remove_remote_schema', { name: 'r' });
});

const post = (body: Json, headers: Record<string, string> = {}, path = '/v1/graphql') =>
  service.send(path, { method: 'POST', body: JSON.stringify(body), headers: { ...ADMIN, ...headers } });
const ask = async (query: string, variables: JsonObject = {}): Promise<JsonObject> => (await post({ query, variables })).json as JsonObject;

describe('a request to remote schemas', () => {
  test('is answered in the order of its fields, from any source', async () => {
    const answer = await post({ query: '{ b: hello(to: "b") item { name } __typename a: hello }' });
    expect(answer.text).toBe('{"data":{"b":"hello b","item":[{"name":"one"}],"__typename":"query_root","a":"hello you"}}');
    expect(server.asked()).toHaveLength(2);
  });

  test("contains the session and the client's headers, but never the secret", async () => {
    await post(
      { query: '{ hello }' },
      { 'x-svc-role': 'admin', 'x-svc-user-id': '7', cookie: 'c=1', 'x-own': 'o', origin: 'https://p.example' },
    );
    expect(server.asked()[0]?.headers).toMatchObject({
      'x-svc-role': 'admin',
      'x-svc-user-id': '7',
      cookie: 'c=1',
      'x-own': 'o',
      'x-forwarded-origin': 'https://p.example',
      'user-agent': 'svc-graphql',
    });
    expect(JSON.stringify(server.requests)).not.toContain(SECRET);
  });

  test('limits the cookies in the response, however many servers set', async () => {
    let calls = 0;
    server.answer = () => {
      server.headers = { 'set-cookie': `c${calls++}=${'x'.repeat(2000)}` };
      return undefined;
    };
    const roots = Array.from({ length: 12 }, (_, i) => `a${i}: hello`);
    const answer = await post({ query: `{ ${roots.join(' ')} }` });
    expect(answer.json).toHaveProperty('data.a11', 'hello you');
    expect(answer.headers.getSetCookie()).toHaveLength(4);
  });

  test('returns cookies of servers: for a query, a batch, a REST endpoint', async () => {
    server.headers = { 'set-cookie': ['a=1; Path=/', 'b=2'] };
    const cookies = ['a=1; Path=/', 'b=2'];
    expect((await post({ query: '{ hello }' })).headers.getSetCookie()).toEqual(cookies);
    expect((await post([{ query: '{ hello }' }, { query: 'mutation { greet(name: "x") }' }])).headers.getSetCookie()).toEqual(cookies);
    await service.metadata('create_query_collection', { name: 'c', definition: { queries: [{ name: 'q', query: '{ hello }' }] } });
    const definition = { query: { collection_name: 'c', query_name: 'q' } };
    await service.metadata('create_rest_endpoint', { name: 'e', url: 'hello', methods: ['GET'], definition });
    const answer = await service.send('/api/rest/hello', { headers: ADMIN });
    expect(answer.json).toEqual({ hello: 'hello you' });
    expect(answer.headers.getSetCookie()).toEqual(cookies);
    await service.metadata('drop_rest_endpoint', { name: 'e' });
    await service.metadata('drop_query_collection', { collection: 'c', cascade: true });
  });

  test('runs mutations in order and stops at an error', async () => {
    const insert = (id: number) => `i${id}: insert_item_one(object: {id: ${id}}) { id }`;
    expect(await ask(`mutation { ${insert(2)} greet(name: "x") ${insert(3)} fail ${insert(4)} }`)).toMatchObject({
      errors: [{ message: 'refused' }],
    });
    expect(await ask('{ item(where: {id: {_gt: 1}}, order_by: {id: asc}) { id } }')).toEqual({ data: { item: [{ id: 2 }, { id: 3 }] } });
    expect(server.asked().map(({ query }) => /greet|fail/.exec(query)?.[0])).toEqual(['greet', 'fail']);
    await service.sql('delete from item where id > 1');
  });
});

describe('a failing remote request', () => {
  test('returns the messages of the server', async () => {
    expect(await ask('{ hello broken }')).toEqual({
      errors: [{ message: 'out of order', locations: [{ line: 1, column: 8 }], path: ['broken'] }],
    });
  });

  test.each([
    ['reset', 'HTTP exception occurred'],
    [{ headers: { 'content-type': 'text/html' }, body: '<html>secret</html>' }, 'is not valid JSON'],
    [{ body: [] }, 'Expected an object as the response from remote'],
  ] as const)('is a clear error for %j, without the secrets of the URL', async (answer, message) => {
    server.answer = ({ operationName }) => (operationName === undefined ? answer : undefined);
    const { status, text } = await post({ query: '{ item { id } hello }' });
    expect([status, text]).toEqual([200, expect.stringContaining(message)]);
    expect(JSON.parse(text)).toMatchObject({ errors: [{ extensions: { code: 'remote-schema-error' } }] });
    expect(text).not.toMatch(/<html>|planted/);
    server.answer = () => undefined;
    expect(await ask('{ hello }')).toEqual({ data: { hello: 'hello you' } });
  });

  test('is an oversized response, alone, with others of the request, or with those of a batch', async () => {
    const message = 'the responses of remote schemas exceed 2000 bytes';
    expect(await ask('{ long(size: 3000) }')).toMatchObject({ errors: [{ message }] });
    expect(await ask('{ a: long(size: 1200) b: long(size: 1200) }')).toMatchObject({ errors: [{ message }] });
    expect(await ask('{ long(size: 1200) }')).toMatchObject({ data: {} });
    const batch = [{ query: '{ long(size: 1200) }' }, { query: '{ long(size: 1200) }' }, { query: '{ item { id } }' }];
    expect((await post(batch)).json).toMatchObject([{ data: {} }, { errors: [{ message }] }, { data: { item: [{ id: 1 }] } }]);
  });

  test('is aborted when its client disconnects', async () => {
    server.answer = () => 'hang';
    const controller = new AbortController();
    const gone = fetch(`${service.url}/v1/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...ADMIN },
      body: JSON.stringify({ query: '{ hello }' }),
      signal: controller.signal,
    }).catch(() => 'gone');
    for (let i = 0; i < 2000 && server.asked().length === 0; i++) await sleep(10);
    controller.abort();
    expect(await gone).toBe('gone');
    for (let i = 0; i < 2000 && server.dropped.length === 0; i++) await sleep(10);
    expect(server.dropped).toHaveLength(1);
  });

  test('is aborted when another part of the request fails', async () => {
    server.answer = ({ query }) => (query.includes('broken') ? undefined : 'hang');
    expect(await ask('{ a: hello b: hello broken }')).toMatchObject({ errors: [{ message: 'out of order' }] });
    for (let i = 0; i < 2000 && server.dropped.length < 2; i++) await sleep(10);
    expect(server.dropped).toHaveLength(2);
  });
});

describe('explain, logs and subscriptions of remote fields', () => {
  test('explain shows the remote request without sending it', async () => {
    const explained = await post({ query: { query: '{ item { id } a: hello(to: "x") }' } }, {}, '/v1/graphql/explain');
    expect(explained.json).toMatchObject([
      { field: 'item', sql: expect.stringContaining('"item"') },
      { field: 'a', remote_schema: 'r', query: 'query {a: hello(to: "x")}' },
    ]);
    expect(server.asked()).toEqual([]);
  });

  test('the query log contains remote requests without values', async () => {
    const before = service.observations.length;
    await ask('query ($to: String) { item { id } a: hello(to: $to) }', { to: 'x' });
    await ask('query ($hidden: String) { hello(to: $hidden) }', { hidden: 'planted-value' });
    const logged = service.observations.slice(before).filter((o): o is QueryObservation => o.kind === 'query');
    expect(logged.map(({ statements }) => statements && [...statements.keys()])).toEqual([['item'], null]);
    expect(logged.map(({ remoteRequests }) => [...(remoteRequests ?? [])])).toEqual([
      [['a', { remoteSchema: 'r', document: 'query($v0: String) {a: hello(to: $v0)}' }]],
      // As with SQL: such a variable has shaped the request, if only by its presence.
      [['hello', { remoteSchema: 'r', document: '[MASKED]' }]],
    ]);
    expect(JSON.stringify(logged.map(({ query }) => query))).not.toContain('planted');
  });

  test('rejects a subscription to a remote field', async () => {
    const explained = await post({ query: { query: 'subscription { ticks }' } }, {}, '/v1/graphql/explain');
    expect(explained).toMatchObject({
      status: 400,
      json: { code: 'not-supported', path: '$', error: 'subscription to remote server is not supported' },
    });
    const other = await post({ query: { query: 'subscription { tocks }' } }, {}, '/v1/graphql/explain');
    expect(other.json).toMatchObject({ code: 'validation-failed' });
  });
});
