import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DEEP } from '../support/deep.ts';
import { AT_GATE, type Gate, gateOf } from '../support/gate.ts';
import { type HandlerServer, startHandlerServer } from '../support/handler-server.ts';
import { type Answer, type GraphqlOptions, startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let handler: HandlerServer;
let gate: Gate;
let next = 100;

beforeAll(async () => {
  handler = await startHandlerServer();
  service = await startTestService({ ENABLED_APIS: 'graphql,metadata,metrics', MAX_CACHE_SIZE: '20000' });
  await service.sql(`
    create table note (id int primary key, owner text, text text);
    create function slowly() returns setof note language sql stable as $$ select n.* from note n, pg_sleep(0.2) where n.id < 3 $$;
    create function waits() returns setof note language sql stable as $$ select n.* from note n, ${AT_GATE} where n.id < 3 $$;
    create function dice() returns setof note language sql volatile as $$ select n.* from note n where n.id < 3 $$`);
  await service.metadata('pg_track_table', { table: 'note' });
  for (const name of ['slowly', 'waits']) await service.metadata('pg_track_function', { function: name });
  await service.metadata('pg_track_function', { function: 'dice', configuration: { exposed_as: 'query' } });
  for (const role of ['user', 'reader']) {
    await service.metadata('pg_create_select_permission', {
      table: 'note',
      role,
      permission: { columns: ['id', 'text'], filter: role === 'user' ? { owner: { _eq: 'X-Svc-User-Id' } } : {} },
    });
  }
  await service.metadata('set_custom_types', { objects: [{ name: 'Said', fields: [{ name: 'text', type: 'String!' }] }] });
  await service.metadata('create_action', {
    name: 'say',
    definition: { kind: 'synchronous', type: 'query', handler: handler.url, output_type: 'Said', forward_client_headers: true },
  });
  for (const role of ['user', 'reader']) await service.metadata('create_action_permission', { action: 'say', role });
  gate = await gateOf(service.databaseUrl);
  handler.answer = ({ json }) => ({ body: { text: json.session_variables['x-svc-user-id'] ?? 'nobody' } });
});
afterAll(async () => {
  await gate.end();
  await service.stop();
  await handler.close();
});
beforeEach(async () => {
  await service.sql(`delete from note; insert into note values (1, 'a', 'one'), (2, 'b', 'two')`);
  await service.send('/v1/cache/clear', { method: 'POST' });
});

async function post(
  query: string,
  { variables, role, session = {} }: GraphqlOptions = {},
  more: Record<string, string> = {},
): Promise<Answer> {
  const headers: Record<string, string> = { ...more, ...(role === undefined ? {} : { 'x-svc-role': role }) };
  for (const [name, value] of Object.entries(session)) headers[`x-svc-${name}`] = value;
  return service.send('/v1/graphql', { method: 'POST', headers, body: JSON.stringify({ query, variables }) });
}

/** Inserts a row that a cached answer does not contain. */
async function add(): Promise<void> {
  next += 1;
  await service.sql(`insert into note values (${next}, 'a', 'new')`);
}

const count = ({ json }: Answer): number => (json as { data: { note: unknown[] } }).data.note.length;

describe('a cached answer', () => {
  it('is returned for the time that the query specifies, with its headers', async () => {
    const first = await post('query @cached(ttl: 120) { note { id } }');
    expect(first.headers.get('x-svc-query-cache-key')).toMatch(/^[0-9a-f]{40}$/);
    expect(first.headers.get('x-svc-query-family-cache-key')).toMatch(/^[0-9a-f]{40}$/);
    expect(first.headers.get('cache-control')).toBe('private, max-age=120');
    await add();
    const second = await post('query @cached(ttl: 120) { note { id } }');
    expect(second.text).toBe(first.text);
    expect(second.headers.get('x-svc-query-cache-key')).toBe(first.headers.get('x-svc-query-cache-key'));
    expect(count(await post('{ note { id } }'))).toBe(3);
  });

  it('expires after that time', async () => {
    await post('query @cached(ttl: 1) { note { id } }');
    await add();
    await sleep(1100);
    expect(count(await post('query @cached(ttl: 1) { note { id } }'))).toBe(3);
  });

  it('is refreshed and stored if the query requires it', async () => {
    const query = 'query($again: Boolean!) @cached(refresh: $again) { note { id } }';
    await post(query, { variables: { again: false } });
    await add();
    expect(count(await post(query, { variables: { again: false } }))).toBe(2);
    expect(count(await post(query, { variables: { again: true } }))).toBe(3);
    await add();
    expect(count(await post(query, { variables: { again: false } }))).toBe(3);
  });

  it('differs for other variables and other fields', async () => {
    const query = 'query($id: Int!) @cached { note(where: {id: {_eq: $id}}) { id } }';
    const one = await post(query, { variables: { id: 1 } });
    const two = await post(query, { variables: { id: 2 } });
    expect(one.text).not.toBe(two.text);
    expect(one.headers.get('x-svc-query-cache-key')).not.toBe(two.headers.get('x-svc-query-cache-key'));
    expect(one.headers.get('x-svc-query-family-cache-key')).toBe(two.headers.get('x-svc-query-family-cache-key'));
    expect((await post('query @cached { note { id } }')).text).not.toBe((await post('query @cached { note { other: id } }')).text);
  });

  it('is shared by sessions with the same relevant variables, and by no others', async () => {
    const query = 'query @cached { note { id } }';
    const of = (role: string, user: string): Promise<Answer> => post(query, { role, session: { 'user-id': user } });
    const [a, b] = [await of('user', 'a'), await of('user', 'b')];
    expect([a.text, b.text]).toEqual(['{"data":{"note":[{"id":1}]}}', '{"data":{"note":[{"id":2}]}}']);
    await add();
    expect((await of('user', 'a')).text).toBe(a.text);
    const [c, d] = [await of('reader', 'a'), await of('reader', 'b')];
    // The permission of this role reads no session variable.
    expect(c.headers.get('x-svc-query-cache-key')).toBe(d.headers.get('x-svc-query-cache-key'));
    expect(c.headers.get('x-svc-query-cache-key')).not.toBe(a.headers.get('x-svc-query-cache-key'));
  });

  it('does not survive a change of its permissions', async () => {
    const query = 'query @cached { note { id } }';
    expect(count(await post(query, { role: 'reader' }))).toBe(2);
    const permission = { columns: ['id'], filter: { id: { _eq: 1 } } };
    await service.metadata('pg_drop_select_permission', { table: 'note', role: 'reader' });
    expect((await post(query, { role: 'reader' })).json).toHaveProperty('errors');
    await service.metadata('pg_create_select_permission', { table: 'note', role: 'reader', permission });
    expect(count(await post(query, { role: 'reader' }))).toBe(1);
  });

  it('is dropped when the metadata changes, and not counted as cleared', async () => {
    const bytes = async (): Promise<string | undefined> => /^svc_cache_bytes (\d+)$/m.exec((await service.send('/v1/metrics')).text)?.[1];
    await post('query @cached { note { id text } }');
    expect(await bytes()).not.toBe('0');
    await service.metadata('pg_set_table_customization', { table: 'note', configuration: { comment: `number ${next}` } });
    expect(await bytes()).toBe('0');
    expect((await service.send('/v1/cache/clear', { method: 'POST' })).json).toEqual({ message: 'success', clearedItemCount: 0 });
  });

  it('of remote schemas is shared within the same session and the same headers only', async () => {
    handler.requests.length = 0;
    const query = 'query @cached { say { text } }';
    const as = (user: string, more: Record<string, string> = {}): Promise<Answer> =>
      post(query, { role: 'reader', session: { 'user-id': user } }, more);
    expect((await as('a')).text).toContain('"a"');
    expect((await as('b')).text).toContain('"b"');
    expect((await as('a')).text).toContain('"a"');
    expect(handler.requests).toHaveLength(2);
    await as('a', { 'x-tenant': '7' });
    expect(handler.requests).toHaveLength(3);
  });

  it.runIf(DEEP)('is computed once for concurrent requests', async () => {
    const before = await cacheRequests();
    const answers = await Promise.all(Array.from({ length: 10 }, () => post('query @cached { slowly { id } }')));
    expect(new Set(answers.map(({ text }) => text))).toEqual(
      new Set(['{"data":{"slowly":[{"id":1}, \n {"id":2}]}}'.replace(', \n ', answers[0]?.text.includes('}, \n {') ? ', \n ' : ',')]),
    );
    const after = await cacheRequests();
    expect([after.miss - before.miss, after.hit - before.hit]).toEqual([1, 9]);
  });
});

async function cacheRequests(): Promise<{ readonly hit: number; readonly miss: number }> {
  const { text } = await service.send('/v1/metrics');
  const of = (status: string): number => Number(new RegExp(`svc_cache_requests_total\\{status="${status}"\\} (\\d+)`).exec(text)?.[1]);
  return { hit: of('hit'), miss: of('miss') };
}

const bytesKept = async (): Promise<number> => Number(/svc_cache_bytes (\d+)/.exec((await service.send('/v1/metrics')).text)?.[1]);

it('is compressed once for all clients of an encoding, and the compressed size counts', async () => {
  await service.sql(`update note set text = repeat('x', 5000) where id = 1`);
  const query = 'query @cached { note { text } }';
  const sizes: number[] = [];
  const answers: Answer[] = [];
  for (const encoding of ['identity', 'gzip', 'gzip', 'br', 'identity']) {
    answers.push(await post(query, {}, { 'accept-encoding': encoding }));
    sizes.push(await bytesKept());
  }
  expect(answers.map(({ headers }) => headers.get('content-encoding'))).toEqual([null, 'gzip', 'gzip', 'br', null]);
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  const [plain = 0, gzipped = 0, again = 0, both = 0, last = 0] = sizes;
  expect(gzipped).toBeGreaterThan(plain);
  expect(again).toBe(gzipped);
  expect(both).toBeGreaterThan(again);
  expect(last).toBe(both);
});

it('has a Vary header for client caches', async () => {
  const { headers } = await post('query @cached { note { id } }', { role: 'user', session: { 'user-id': 'a' } });
  const names = (headers.get('vary') ?? '').toLowerCase().split(', ');
  expect(names).toEqual(expect.arrayContaining(['authorization', 'cookie', 'x-svc-role', 'x-svc-user-id']));
  expect(new Set(names).size).toBe(names.length);
});

describe('an uncached answer', () => {
  it.each([
    ['introspection', 'query @cached { __schema { queryType { name } } }'],
    ['functions that give something else each time', 'query @cached { dice { id } }'],
  ])('is %s', async (_, query) => {
    const before = await cacheRequests();
    for (let i = 0; i < 2; i++) expect((await post(query)).headers.get('x-svc-query-cache-key')).toBeNull();
    expect(await cacheRequests()).toEqual(before);
  });

  it('is an error', async () => {
    const query = 'query($id: Int!) @cached { note(where: {id: {_eq: $id}}) { id } }';
    const wrong = await post(query, { variables: { id: 'x' } });
    expect(wrong.json).toHaveProperty('errors');
    expect(wrong.headers.get('cache-control')).toBeNull();
    handler.answer = () => ({ status: 400, body: { message: 'no' } });
    expect((await post('query @cached { say { text } }')).json).toHaveProperty('errors');
    handler.answer = () => ({ body: { text: 'yes' } });
    expect((await post('query @cached { say { text } }')).text).toContain('yes');
  });

  it('exceeds the size limit, which is reported', async () => {
    await service.sql(`update note set text = repeat('x', 30000) where id = 1`);
    const answer = await post('query @cached { note { text } }');
    expect(answer.headers.get('warning')).toBe('199 - cache-store-size-limit-exceeded');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect((await post('mutation @cached { delete_note(where: {}) { affected_rows } }')).json).toHaveProperty('errors');
  });

  it.each(['-1', '0'])('has a ttl of %s seconds', async (ttl) => {
    await post(`query @cached(ttl: ${ttl}) { note { id } }`);
    await add();
    expect(count(await post(`query @cached(ttl: ${ttl}) { note { id } }`))).toBe(3);
  });

  it('stays out of browser caches for GET requests', async () => {
    const answer = await service.send(`/v1/graphql?query=${encodeURIComponent('query @cached { note { id } }')}`);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('x-svc-query-cache-key')).toMatch(/^[0-9a-f]{40}$/);
  });
});

describe('clearing the response cache', () => {
  const query = 'query($id: Int!) @cached { note(where: {id: {_gte: $id}}) { id } }';
  const clear = async (parameters: string): Promise<unknown> =>
    (await service.send(`/v1/cache/clear${parameters}`, { method: 'POST' })).json;

  it('removes one answer, a family, or all', async () => {
    const first = await post(query, { variables: { id: 1 } });
    for (const id of [0, -1]) await post(query, { variables: { id } });
    await post('query @cached { note { text } }');
    expect(await clear(`?key=${first.headers.get('x-svc-query-cache-key')}`)).toEqual({ message: 'success', clearedItemCount: 1 });
    expect(await clear(`?family=${first.headers.get('x-svc-query-family-cache-key')}`)).toEqual({
      message: 'success',
      clearedItemCount: 2,
    });
    expect(await clear('?famly=x')).toMatchObject({ code: 'bad-request' });
    expect(await clear(`?key=${'k'.repeat(9000)}`)).toMatchObject({ code: 'bad-request', error: 'a key has at most 200 characters' });
    expect(await clear('')).toEqual({ message: 'success', clearedItemCount: 1 });
  });

  it('is restricted to administrators', async () => {
    const answer = await service.send('/v1/cache/clear', { method: 'POST', headers: { 'x-svc-role': 'user' } });
    expect(answer.json).toMatchObject({ code: 'access-denied' });
  });

  it.runIf(DEEP)('applies to answers in progress', async () => {
    await gate.shut();
    const making = post('query @cached { waits { id } }');
    await gate.untilWaiting(1);
    await clear('');
    await gate.open();
    expect((await making).text).toContain('"id":1');
    expect(await clear('')).toEqual({ message: 'success', clearedItemCount: 0 });
  });
});
