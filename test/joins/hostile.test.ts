/** Joined fields of hostile servers or hostile clients: errors, aborts and cleanup. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildSchema } from 'graphql';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { DEEP } from '../support/deep.ts';
import { type GraphqlServer, startGraphqlServer } from '../support/graphql-server.ts';
import { type Answer, startTestService, type TestService } from '../support/service.ts';

const SECRET = 'planted-secret';
const MEGABYTES = DEEP ? 20 : 2;
const SDL = `
  type Town { id: Int! name: String mayor: Mayor data: JSON }
  type Mayor { name: String home: Town }
  scalar JSON
  type Query { town(id: Int!): Town towns(ids: [Int!]!): [Town] }
`;
const town = (id: number): object => ({ id, name: `Town ${id}`, mayor: { name: `Mayor ${id}` } });
const ROOT = {
  town: ({ id }: { id: number }) => town(id),
  towns: ({ ids }: { ids: readonly number[] }) => ids.map(town),
};
const PATH = '$.selectionSet.person.selectionSet.town';

let service: TestService;
let server: GraphqlServer;
let elsewhere: Server;
const reached: string[] = [];

beforeAll(async () => {
  server = await startGraphqlServer(SDL, ROOT);
  elsewhere = createServer((request, response) => {
    reached.push(request.url ?? '');
    response.end('{"data":{"f0":{"name":"forged"}}}');
  });
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
  service = await startTestService({ ADMIN_SECRET: SECRET });
  await service.sql(
    'create table person (id int primary key, town_id int); insert into person select n, n % 3 from generate_series(1, 9) n',
  );
  await service.metadata('pg_track_table', { table: 'person' });
  await service.metadata('add_remote_schema', { name: 'far', definition: { url: `${server.url}?key=planted-key`, timeout_seconds: 60 } });
  const relate = (name: string, field: string, argument: string, more: object) =>
    service.metadata('pg_create_remote_relationship', {
      table: 'person',
      name,
      definition: {
        to_remote_schema: {
          remote_schema: 'far',
          lhs_fields: ['town_id'],
          remote_field: { [field]: { arguments: { [argument]: '$town_id' } } },
          ...more,
        },
      },
    } as never);
  await relate('town', 'town', 'id', {});
  await relate('listed', 'towns', 'ids', { batch: { match_field: 'id' } });
  await relate('all_listed', 'towns', 'ids', { batch: { match_field: 'id', many: true } });
  await service.metadata('pg_create_select_permission', { table: 'person', role: 'guest', permission: { columns: '*', filter: {} } });
});
afterAll(async () => {
  await service.stop();
  await server.close();
  await new Promise((resolve) => elsewhere.close(resolve));
});
beforeEach(() => {
  server.answer = () => undefined;
  server.requests.length = 0;
  server.dropped.length = 0;
});

const JOINED = '{ person(order_by: {id: asc}, limit: 3) { id town { name } } }';
const post = (body: Json, path = '/v1/graphql', headers: Record<string, string> = {}): Promise<Answer> =>
  service.send(path, { method: 'POST', body: JSON.stringify(body), headers: { 'x-svc-admin-secret': SECRET, ...headers } });
const answers = (body: unknown, headers: Record<string, string> = { 'content-type': 'application/json' }): void => {
  server.answer = () => ({ headers, body });
};
const asked = (data: object) => ({ data });
/** Timeout for the server. */
const limit = (timeout_seconds: number): Promise<Json> =>
  service.metadata('update_remote_schema', { name: 'far', definition: { url: `${server.url}?key=planted-key`, timeout_seconds } });
const MARKED = Object.fromEntries([0, 1, 2].map((i) => [`f${i}`, { name: `["x:0","1"]${'\u0001'}\u2028"` }]));

/** Slow requests. */
const HEAVY: readonly [string, () => void, string][] = [
  ['answers with too many values', () => answers(`{"data":[${'{},'.repeat(2_100_000)}{}]}`), 'has too many values'],
];

describe('a joined server', () => {
  test.each<[string, () => void, string]>([
    ['answers HTML', () => answers('<html>planted-page</html>', { 'content-type': 'text/html' }), 'is not valid JSON'],
    ['answers with a truncated body', () => answers('{"data":{"f0":{"name":"x"'), 'is not valid JSON'],
    ['answers with an empty body', () => answers(''), 'is not valid JSON'],
    ['answers with unlimited nesting', () => answers(`{"data":${'['.repeat(100_000)}`), 'is nested deeper than 512 levels'],
    ...(DEEP ? HEAVY : []),
    ['answers with a large body that is not JSON', () => answers('<p>,</p>'.repeat(125_000 * MEGABYTES)), 'is not valid JSON'],
    ['breaks the connection', () => (server.answer = () => 'reset'), 'HTTP exception occurred'],
    ['answers with another type', () => answers(asked({ f0: 'x', f1: 'y', f2: 'z' })), 'expecting an object in the response from remote'],
    [
      'answers with a list',
      () => answers(asked({ f0: [{ name: 'x' }], f1: null, f2: null })),
      'expecting an object in the response from remote',
    ],
    ['omits a key', () => answers(asked({ f0: null })), 'expecting a key for each join in the response from remote'],
    ['omits a field', () => answers(asked({ f0: {}, f1: {}, f2: {} })), 'expecting key name'],
    ['answers with unrelated keys', () => answers(asked({ constructor: {}, __proto__: {} })), 'expecting a key for each join'],
  ])('causes one error at the field: %s', async (_what, misbehave, message) => {
    misbehave();
    const { text } = await post({ query: JOINED });
    expect(JSON.parse(text)).toMatchObject({
      errors: [{ message: expect.stringContaining(message), extensions: { code: 'remote-schema-error', path: PATH } }],
    });
    expect(text).not.toMatch(/planted|<p>/);
    server.answer = () => undefined;
    expect((await post({ query: JOINED })).json).toHaveProperty('data');
  });

  test('that hangs causes one error at the field', async () => {
    await limit(1);
    try {
      server.answer = () => 'hang';
      expect((await post({ query: JOINED })).json).toMatchObject({
        errors: [{ message: expect.stringContaining('HTTP exception occurred'), extensions: { code: 'remote-schema-error', path: PATH } }],
      });
    } finally {
      await limit(60);
    }
    server.answer = () => undefined;
    expect((await post({ query: JOINED })).json).toHaveProperty('data');
  });

  test('that answers with text like our placeholders changes only its own field', async () => {
    answers(asked(MARKED));
    const { json } = await post({ query: JOINED });
    expect((json as { data: { person: { town: { name: string } }[] } }).data.person.map((row) => row.town.name)).toEqual(
      Array.from({ length: 3 }, () => MARKED['f0']?.name),
    );
  });

  test('that returns surplus, duplicate or unknown rows contributes only the requested ones', async () => {
    const rows = [
      null,
      5,
      { svc__key__id: 99, name: 'x' },
      { name: 'x' },
      { svc__key__id: null, name: 'x' },
      ...[1, 1, '2'].map((id) => ({ svc__key__id: id, name: `n${id}` })),
    ];
    answers(asked({ f0: rows }));
    expect((await post({ query: '{ person(order_by: {id: asc}, limit: 3) { listed { name } all_listed { name } } }' })).json).toEqual({
      data: {
        person: [
          { listed: { name: 'n1' }, all_listed: [{ name: 'n1' }, { name: 'n1' }] },
          { listed: { name: 'n2' }, all_listed: [{ name: 'n2' }] },
          { listed: null, all_listed: [] },
        ],
      },
    });
    answers(asked({ f0: [{ svc__key__id: { a: 1 }, name: 'x' }] }));
    expect((await post({ query: '{ person { listed { name } } }' })).json).toMatchObject({
      errors: [{ message: 'expecting a scalar in the response from remote, to join by' }],
    });
  });

  test('that sends a large answer is read to its end, while others are answered', async () => {
    const data = { f0: { data: Array.from({ length: 125 * MEGABYTES }, (_, i) => ({ i, text: 'x'.repeat(8000) })) }, f1: null, f2: null };
    answers(asked(data));
    const large = post({ query: '{ person(order_by: {id: asc}, limit: 3) { town { data } } }' });
    for (let i = 0; i < 3000 && server.asked().length === 0; i++) await sleep(5);
    expect((await post({ query: '{ person_by_pk(id: 1) { id } }' })).json).toEqual({ data: { person_by_pk: { id: 1 } } });
    const { text } = await large;
    expect(text.length).toBeGreaterThan(1_000_000 * MEGABYTES);
    expect(text.endsWith('{"town":null}]}}')).toBe(true);
  });

  test('that redirects elsewhere is not followed, and receives no data', async () => {
    const { port } = elsewhere.address() as AddressInfo;
    for (const location of [
      `http://127.0.0.1:${port}/forged`,
      `http://localhost:${port}/`,
      'http://169.254.169.254/latest/',
      'file:///etc/passwd',
    ]) {
      server.answer = () => ({ status: 307, headers: { location } });
      expect((await post({ query: JOINED })).json).toMatchObject({ errors: [{ extensions: { code: 'remote-schema-error', path: PATH } }] });
    }
    expect(reached).toEqual([]);
  });

  test('that renames its types while it runs fails with its own message, and cannot be reloaded while they are needed', async () => {
    const before = await service.metadata('export_metadata', {});
    server.schema = buildSchema(SDL.replaceAll('town(', 'city(').replaceAll('Town', 'City'));
    try {
      expect((await post({ query: JOINED })).json).toMatchObject({
        errors: [{ message: 'Errors from remote server', extensions: { code: 'unexpected' } }],
      });
      const reload = await post({ type: 'reload_remote_schema', args: { name: 'far' } }, '/v1/metadata');
      expect(reload).toMatchObject({ status: 400, json: { error: 'cannot continue due to new inconsistent metadata' } });
      expect(await service.metadata('export_metadata', {})).toEqual(before);
    } finally {
      server.schema = buildSchema(SDL);
    }
    expect((await post({ query: JOINED })).json).toHaveProperty('data');
  });
});

describe('a client of joined fields', () => {
  test('that disconnects aborts the request to the server', async () => {
    server.answer = () => 'hang';
    const controller = new AbortController();
    const gone = service.send('/v1/graphql', {
      method: 'POST',
      body: JSON.stringify({ query: JOINED }),
      headers: { 'x-svc-admin-secret': SECRET },
      signal: controller.signal,
    });
    for (let i = 0; i < 3000 && server.asked().length === 0; i++) await sleep(10);
    controller.abort();
    await expect(gone).rejects.toThrow();
    for (let i = 0; i < 2000 && server.dropped.length === 0; i++) await sleep(10);
    expect(server.dropped).toHaveLength(1);
  });

  test('is subject to its limits in joined fields too', async () => {
    const limited = async (limits: JsonObject, query: string): Promise<Json> => {
      await service.metadata('set_api_limits', { disabled: false, ...limits });
      return service.graphql(query, { role: 'guest' });
    };
    try {
      const deep = '{ person { town { mayor { name } } } }';
      expect(await limited({ depth_limit: { global: 3, per_role: {} } }, deep)).toMatchObject({
        errors: [{ message: expect.stringContaining('4 levels deep') }],
      });
      expect(await limited({ depth_limit: { global: 4, per_role: {} } }, deep)).toHaveProperty('data');
      expect(await limited({ node_limit: { global: 2, per_role: {} } }, deep)).toMatchObject({
        errors: [{ message: expect.stringContaining('3 fields with a selection') }],
      });
      server.answer = () => 'hang';
      const slow = await limited({ time_limit: { global: 1, per_role: {} } }, deep);
      expect(slow).toMatchObject({ errors: [{ extensions: { path: PATH } }] });
    } finally {
      await service.metadata('remove_api_limits', {});
    }
  });

  test('receives every step from explain, and no server is called', async () => {
    const { json } = await post({ query: { query: '{ person { town { name } listed { name } } }' } }, '/v1/graphql/explain');
    expect((json as JsonObject[]).map(({ field }) => field)).toEqual(['person', 'person.town', 'person.listed']);
    expect(JSON.stringify(json)).not.toContain('planted');
    expect(server.requests).toEqual([]);
  });

  test('may define the same relationship with older operation names', async () => {
    const old = {
      name: 'old',
      table: 'person',
      svc_fields: ['town_id'],
      remote_schema: 'far',
      remote_field: { town: { arguments: { id: '$town_id' } } },
    };
    for (const type of ['create_remote_relationship', 'update_remote_relationship']) {
      expect(await post({ type, args: old }, '/v1/query')).toMatchObject({ status: 200 });
      expect((await post({ query: '{ person_by_pk(id: 1) { old { name } } }' })).json).toEqual({
        data: { person_by_pk: { old: { name: 'Town 1' } } },
      });
    }
    expect(await post({ type: 'delete_remote_relationship', args: { table: 'person', name: 'old' } }, '/v1/query')).toMatchObject({
      status: 200,
    });
    expect((await post({ query: '{ person_by_pk(id: 1) { old { name } } }' })).json).toHaveProperty('errors');
  });

  test('finds joined fields in a stored operation and in its description', async () => {
    await service.metadata('create_query_collection', { name: 'stored', definition: { queries: [{ name: 'people', query: JOINED }] } });
    const definition = { query: { collection_name: 'stored', query_name: 'people' } };
    await service.metadata('create_rest_endpoint', { name: 'people', url: 'people', methods: ['GET'], definition });
    const get = (path: string) => service.send(path, { headers: { 'x-svc-admin-secret': SECRET } });
    expect((await get('/api/rest/people')).json).toMatchObject({ person: [{ id: 1, town: { name: 'Town 1' } }, {}, {}] });
    expect((await get('/api/swagger/json')).text).toContain('"town"');
  });

  test('that uses too many aliases is rejected before any server is called', async () => {
    const many = Array.from({ length: 201 }, (_, i) => `n${i}: town { data }`).join(' ');
    expect((await post({ query: `{ person { ${many} } }` })).json).toMatchObject({
      errors: [{ message: 'the operation has more than 200 fields from other sources' }],
    });
    expect(server.requests).toEqual([]);
  });
});
