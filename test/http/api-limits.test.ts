import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { AT_GATE, type Gate, gateOf } from '../support/gate.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let gate: Gate;
const SECRET = 'open sesame';
const GRAPHQL_RESPONSE = 'application/graphql-response+json';

beforeAll(async () => {
  service = await startTestService({ ADMIN_SECRET: SECRET });
  await service.sql(`create table author (id int primary key, name text);
    create table book (id int primary key, author_id int references author);
    insert into author values (1, 'one'); insert into book values (1, 1);
    create view slow as select author.id from author, lateral (select pg_sleep(0.3 + author.id * 0)) as pause;
    create view waiting as select author.id from author, lateral (select ${AT_GATE}) as pause;
    create view endless as select author.id from author, lateral (select pg_sleep(30 + author.id)) as pause`);
  for (const table of ['author', 'book', 'slow', 'waiting', 'endless']) await service.metadata('pg_track_table', { table });
  await service.metadata('pg_create_array_relationship', {
    table: 'author',
    name: 'books',
    using: { foreign_key_constraint_on: { table: 'book', column: 'author_id' } },
  });
  await service.metadata('pg_create_object_relationship', {
    table: 'book',
    name: 'author',
    using: { foreign_key_constraint_on: 'author_id' },
  });
  gate = await gateOf(service.databaseUrl);
  for (const role of ['user', 'other']) {
    for (const table of ['author', 'book', 'slow', 'waiting', 'endless']) {
      await service.metadata('pg_create_select_permission', { table, role, permission: { columns: '*', filter: {} } });
    }
  }
});
afterAll(async () => {
  await gate.end();
  await service.stop();
});
afterEach(async () => {
  vi.useRealTimers();
  await service.metadata('remove_api_limits', {});
});

const set = (limits: Parameters<TestService['metadata']>[1]) => service.metadata('set_api_limits', limits);
const as = (role: string, query: string, session: Record<string, string> = {}) => service.graphql(query, { role, session });
const refused = (code: string, message: string) => ({ errors: [{ message, extensions: { path: '$', code } }] });

describe('the API limits in the metadata', () => {
  const limits = {
    disabled: false,
    depth_limit: { global: 5, per_role: { other: 7, user: 3 } },
    time_limit: { per_role: { user: 10 } },
    rate_limit: {
      global: { max_reqs_per_min: 1000, unique_params: 'IP' },
      per_role: { user: { max_reqs_per_min: 5, unique_params: ['x-svc-user-id'] } },
    },
  };
  const exported = async () => ((await service.metadata('export_metadata', {})) as Record<string, unknown>)['api_limits'];

  it('apply until they are removed', async () => {
    expect(await exported()).toBeUndefined();
    await set(limits);
    expect(await exported()).toEqual(limits);
    const whole = await service.metadata('export_metadata', {});
    await service.metadata('remove_api_limits', {});
    expect(await exported()).toBeUndefined();
    await service.metadata('replace_metadata', whole);
    expect(await exported()).toEqual(limits);
    expect(await service.metadata('get_inconsistent_metadata', {})).toMatchObject({ is_consistent: true });
    await service.metadata('reload_metadata', {});
    expect(await exported()).toEqual(limits);
  });

  it.each([
    [{ depth_limit: 5 }, '$.args.depth_limit'],
    [{ depth_limit: { global: 0 } }, '$.args.depth_limit.global'],
    [{ node_limit: { per_role: { user: 'x' } } }, '$.args.node_limit.per_role.user'],
    [{ rate_limit: { global: { unique_params: 'IP' } } }, '$.args.rate_limit.global'],
    [{ rate_limit: { global: { max_reqs_per_min: 1, unique_params: 'NAME' } } }, '$.args.rate_limit.global.unique_params'],
    [{ rate_limit: { global: { max_reqs_per_min: 1, unique_params: ['user'] } } }, '$.args.rate_limit.global.unique_params[0]'],
  ])('reject %j', async (args, path) => {
    await expect(set(args as never)).rejects.toThrow(
      new RegExp(`400 .*"path":"${path.replaceAll(/[$.[\]]/g, '\\$&')}".*"code":"parse-failed"`),
    );
  });
});

describe('depth and node limits', () => {
  const TWO = '{ author { id } }';
  const FOUR = '{ author { books { author { id } } } }';
  const SPREAD = '{ ...A } fragment A on query_root { author { ...B } } fragment B on author { books { ... { author { id } } } }';

  it('count fields in fragments and nested selections', async () => {
    await set({ depth_limit: { global: 3, per_role: { other: 4 } } });
    for (const query of [FOUR, SPREAD]) {
      expect(await as('user', query)).toEqual(
        refused('validation-failed', 'the operation is 4 levels deep, but no more than 3 are allowed'),
      );
      expect(await as('other', query)).toEqual({ data: { author: [{ books: [{ author: { id: 1 } }] }] } });
      expect(await service.graphql(query)).toHaveProperty('data');
    }
    expect(await as('user', TWO)).toHaveProperty('data');
    const skipped = FOUR.replace('books', 'books @skip(if: true)');
    expect(await as('user', skipped)).toHaveProperty('errors');
  });

  it('exempt introspection', async () => {
    await set({ depth_limit: { global: 2 } });
    const query = '{ __schema { types { fields { type { ofType { name } } } } } __type(name: "author") { fields { name } } author { id } }';
    expect(await as('user', query)).toHaveProperty('data');
    expect(
      await as('user', `{ ...S author { books { id } } } fragment S on query_root { __schema { queryType { name } } }`),
    ).toHaveProperty('errors');
  });

  it('restrict input objects', async () => {
    await set({ node_limit: { global: 2 } });
    expect(await as('user', '{ author { books { id } id name } }')).toHaveProperty('data');
    expect(await as('user', '{ a: author { id } b: author { id } author { id } }')).toEqual(
      refused('validation-failed', 'the operation has 3 fields with a selection, but no more than 2 are allowed'),
    );
  });

  it('have no effect while disabled', async () => {
    await set({ disabled: true, depth_limit: { global: 1 } });
    expect(await as('user', FOUR)).toHaveProperty('data');
  });

  it('apply to cached operations', async () => {
    expect(await as('user', FOUR)).toHaveProperty('data');
    await set({ depth_limit: { global: 3 } });
    expect(await as('user', FOUR)).toHaveProperty('errors');
  });
});

it('rejects a batch longer than its role permits', async () => {
  await set({ batch_limit: { per_role: { user: 2 } } });
  const batch = (role: string, count: number) =>
    service.send('/v1/graphql', {
      method: 'POST',
      headers: { 'x-svc-admin-secret': SECRET, 'x-svc-role': role },
      body: JSON.stringify(Array.from({ length: count }, () => ({ query: '{ author { id } }' }))),
    });
  expect((await batch('user', 2)).json).toHaveLength(2);
  expect((await batch('user', 3)).json).toEqual(refused('bad-request', 'batch of 3 operations exceeds the limit of 2'));
  expect((await batch('other', 3)).json).toHaveLength(3);
});

it('counts requests per minute by the configured key', async () => {
  // The clock stands still, so that no minute ends during the test.
  vi.useFakeTimers({ toFake: ['Date'] });
  await set({
    rate_limit: { global: { max_reqs_per_min: 2 }, per_role: { other: { max_reqs_per_min: 1, unique_params: ['X-Svc-User-Id'] } } },
  });
  const over = refused('busy', 'the limit of 2 requests per minute is reached');
  expect(await as('user', '{ author { id } }')).toHaveProperty('data');
  expect(await as('user', '{ author { id } }', { 'user-id': '2' })).toHaveProperty('data');
  expect(await as('user', '{ author { id } }')).toEqual(over);
  for (const id of ['1', '2']) expect(await as('other', '{ author { id } }', { 'user-id': id })).toHaveProperty('data');
  expect(await as('other', '{ author { id } }', { 'user-id': '1' })).toHaveProperty('errors');
  for (let i = 0; i < 5; i++) expect(await service.graphql('{ author { id } }')).toHaveProperty('data');

  const answer = await service.send('/v1/graphql', {
    method: 'POST',
    headers: { 'x-svc-admin-secret': SECRET, 'x-svc-role': 'user', accept: GRAPHQL_RESPONSE },
    body: '{"query":"{ author { id } }"}',
  });
  expect([answer.status, answer.json]).toEqual([429, over]);
});

it('limits the number of concurrent operations', async () => {
  await set({ concurrency_limit: { per_role: { user: 1 } } });
  await gate.shut();
  const running = as('user', '{ waiting { id } }');
  await gate.untilWaiting(1);
  expect(await as('user', '{ author { id } }')).toEqual(refused('busy', 'the limit of 1 concurrent requests is reached'));
  expect(await as('other', '{ author { id } }')).toHaveProperty('data');
  await gate.open();
  expect(await running).toHaveProperty('data');
  expect(await as('user', '{ author { id } }')).toHaveProperty('data');
  expect(await as('user', '{ nothing }')).toHaveProperty('errors');
  expect(await as('user', '{ author { id } }')).toHaveProperty('data');
});

it('aborts an operation after its time limit', async () => {
  await set({ time_limit: { global: 60, per_role: { user: 1 } } });
  const started = performance.now();
  expect(await as('user', '{ endless { id } }')).toMatchObject({ errors: [{ extensions: { code: 'timeout' } }] });
  expect(performance.now() - started).toBeGreaterThan(990);
  // Long before the statement would end.
  expect(performance.now() - started).toBeLessThan(25_000);
  await set({ time_limit: { global: 1, per_role: { user: 60 } } });
  expect(await as('user', '{ slow { id } }')).toHaveProperty('data');
});
