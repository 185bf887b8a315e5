/** `--result-memory`: reservations of requests, their effect on other requests, and their release. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../src/util/json.ts';
import { AT_GATE, type Gate, gateOf } from '../support/gate.ts';
import { type GraphqlServer, startGraphqlServer } from '../support/graphql-server.ts';
import { type HandlerServer, startHandlerServer } from '../support/handler-server.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';
import { MODERN, TestSocket } from '../support/websocket.ts';

const MOST = 8_388_608;

let service: TestService;
let gate: Gate;
let server: GraphqlServer;
let handler: HandlerServer;

beforeAll(async () => {
  server = await startGraphqlServer('type Query { long(size: Int!): String }', {
    long: ({ size }: { size: number }) => 'x'.repeat(size),
  });
  handler = await startHandlerServer();
  handler.answer = () => ({ body: 'x'.repeat(10_000_000) });
  service = await startTestService({ RESULT_MEMORY: String(MOST), ENABLED_APIS: 'graphql,metadata,metrics' }, { HANDLER: handler.url });
  await service.sql(`
    create table item (id int primary key, body text);
    insert into item select n, repeat('x', 1000) from generate_series(1, 3000) n;
    create table written (id serial primary key, body text);
    create view slow as select id, body from item, lateral (select ${AT_GATE}) as pause where id < 3`);
  gate = await gateOf(service.databaseUrl);
  for (const table of ['item', 'slow', 'written']) await service.metadata('pg_track_table', { table });
  for (const table of ['item', 'slow'])
    for (const role of ['greedy', 'other'])
      await service.metadata('pg_create_select_permission', { table, role, permission: { columns: ['id', 'body'], filter: {} } });
  await service.metadata('add_remote_schema', { name: 'r', definition: { url: server.url } });
  for (const type of ['query', 'mutation'])
    await service.metadata('create_action', { name: `act_${type}`, definition: { handler: '{{HANDLER}}', type, output_type: 'String' } });
});
afterAll(async () => {
  await gate.end();
  await service.stop();
  await Promise.all([server.close(), handler.close()]);
});

/** Reserved bytes, actual and expected. */
async function inUse(): Promise<readonly number[]> {
  const { text } = await service.send('/v1/metrics');
  return ['result_memory_bytes', 'result_memory_expected_bytes'].map((name) =>
    Number(new RegExp(`^svc_${name} (\\d+)$`, 'm').exec(text)?.[1]),
  );
}

const nothing = (): Promise<void> => expect.poll(inUse, WAIT).toEqual([0, 0]);

/** Reads of rows under many aliases with different arguments, with a large expected result. */
const unequal = (names: number, first: number, table = 'slow'): string =>
  `{ ${Array.from({ length: names }, (_, n) => `a${n}: ${table}(where: {id: {_gt: ${first + n}}}) { id }`).join(' ')} }`;

const post = (path: string, body: Json, role: string, signal?: AbortSignal) =>
  service.send(path, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'x-svc-role': role },
    ...(signal === undefined ? {} : { signal }),
  });

const busy = (message = 'try again') => ({
  errors: [{ message: expect.stringContaining(message), extensions: { code: 'busy' } }],
});

it('answers others while documents of many different reads wait for the database', async () => {
  await gate.shut();
  const large = [500, 44, 30].map((names, i) => service.graphql(unequal(names, 1000 * (i + 1)), { role: 'greedy' }));
  await gate.untilWaiting(1);
  const small = ['greedy', 'other'].map((role) => service.graphql('{ item(limit: 1, order_by: {id: asc}) { id } }', { role }));
  expect(await Promise.all(small)).toEqual([{ data: { item: [{ id: 1 }] } }, { data: { item: [{ id: 1 }] } }]);
  // Three megabytes, which are expected after the first time.
  for (let i = 0; i < 2; i++) expect(await service.graphql('{ item { body } }', { role: 'other' })).not.toHaveProperty('errors');
  expect(await gate.waiting()).toBe(1);
  await gate.open();
  for (const answer of await Promise.all(large)) expect(answer).not.toHaveProperty('errors');
  await nothing();
}, 90_000);

describe('the memory reservation is released after', () => {
  it('a client disconnects from a running or a queued request', async () => {
    await gate.shut();
    const clients = new AbortController();
    const asked = [500, 499, 498].map((names, i) =>
      post('/v1/graphql', { query: unequal(names, 5000 * (i + 1)) }, 'greedy', clients.signal).catch(() => null),
    );
    await gate.untilWaiting(1);
    clients.abort();
    await Promise.all(asked);
    await gate.untilWaiting(0);
    await nothing();
    await gate.open();
  });

  it('errors of the database, of the limit and of the remote schema', async () => {
    const wrong = '{ item(where: {body: {_regex: "("}}) { id } }';
    expect(await service.graphql(wrong)).toHaveProperty('errors');
    expect(await service.graphql('{ a: item { body } b: item { body id } c: item(limit: 2999) { body } }')).toMatchObject(busy());
    expect(await service.graphql('{ missing }')).toHaveProperty('errors');
    server.answer = () => 'reset';
    expect(await service.graphql('{ long(size: 5) item(limit: 1) { body } }')).toHaveProperty('errors');
    server.answer = () => undefined;
    await nothing();
  });

  it('a websocket closes with running operations', async () => {
    await gate.shut();
    const socket = await new TestSocket(service.url, { protocol: MODERN, headers: { 'x-svc-role': 'greedy' } }).init();
    for (const [i, kind] of ['query', 'subscription', 'query'].entries())
      socket.send({ type: 'subscribe', id: `${i}`, payload: { query: `${kind} ${unequal(400 + i, 7000 * (i + 1))}` } });
    await gate.untilWaiting(1);
    socket.websocket.terminate();
    await gate.open();
    await nothing();
  });

  it('a batch and bulks with rejected parts', async () => {
    const whole = { query: '{ item { body } }' };
    const batch = await post('/v1/graphql', [whole, whole, whole, { query: '{ item(limit: 1) { id } }' }], 'greedy');
    expect(batch.json).toMatchObject([{ data: {} }, { data: {} }, busy(), { data: {} }]);
    const select = { type: 'select', args: { table: 'item', columns: ['body', 'id'] } };
    for (const type of ['bulk', 'concurrent_bulk'])
      await post('/v2/query', { type, args: Array.from({ length: 6 }, () => select) }, 'admin');
    await nothing();
  });
});

it('rejects a later operation of a batch that would have to wait', async () => {
  await gate.shut();
  const first = service.graphql(unequal(500, 20_000), { role: 'greedy' });
  await gate.untilWaiting(1);
  const batch = post('/v1/graphql', [{ query: '{ item(limit: 1) { id } }' }, { query: unequal(100, 1, 'item') }], 'greedy');
  expect((await batch).json).toMatchObject([{ data: {} }, busy()]);
  await gate.open();
  expect(await first).not.toHaveProperty('errors');
  await nothing();
});

describe('the memory reservation includes', () => {
  it('answers of remote schemas', async () => {
    expect(await service.graphql('{ long(size: 1000) }')).not.toHaveProperty('errors');
    const answer = await post('/v1/graphql', { query: '{ long(size: 10000000) }' }, 'admin');
    expect(answer).toMatchObject({ status: 503, json: busy() });
    await nothing();
  });

  it('answers of actions, with an error that says that the handler was called', async () => {
    expect(await post('/v1/graphql', { query: '{ act_query }' }, 'admin')).toMatchObject({ status: 503, json: busy() });
    const changed = await post('/v1/graphql', { query: 'mutation { act_mutation }' }, 'admin');
    expect(changed).toMatchObject({ status: 503, json: busy('The mutation was committed; its answer was not sent') });
    await nothing();
  });

  it('rows that a mutation returns, with an error that says that it was committed', async () => {
    const insert = `mutation ($body: String!) { insert_written(objects: [{body: $body}, {body: $body}]) { returning { body } } }`;
    const answer = await service.graphql(insert, { variables: { body: 'x'.repeat(5_000_000) } });
    expect(answer).toMatchObject(busy('The mutation was committed; its answer was not sent'));
    expect(await service.graphql('{ written_aggregate { aggregate { count } } }')).toEqual({
      data: { written_aggregate: { aggregate: { count: 2 } } },
    });
    await nothing();
  });
});

describe('counts printed answers of subscriptions and skips refreshes without free memory', () => {
  // Three megabytes that are printed as 60.
  const names = Array.from({ length: 20 }, (_, n) => `a${n}: body`).join(' ');

  const pollers = async (): Promise<Json> => (await post('/v1/metadata', { type: 'get_subscriptions', args: {} }, 'admin')).json;

  it.each([
    ['live queries', (fields: string) => `subscription { item { ${fields} } }`],
    ['streams', (fields: string) => `subscription { item_stream(batch_size: 5000, cursor: {initial_value: {id: 0}}) { ${fields} } }`],
  ])('%s', async (_, subscription) => {
    const socket = await new TestSocket(service.url, { protocol: MODERN, headers: { 'x-svc-role': 'other' } }).init();
    socket.start('large', subscription(names));
    await expect.poll(pollers, WAIT).toMatchObject({ pollers: [{ failing_cohorts: 1 }] });
    socket.start('small', subscription('id'));
    expect(await socket.next()).toMatchObject({ id: 'small', type: 'next', payload: { data: {} } });
    expect(socket.left).toEqual([]);
    socket.close();
    await nothing();
  });
});
