/** GraphQL over server-sent events, with one connection per operation. */
import { createClient } from 'graphql-sse';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DEEP } from '../support/deep.ts';
import { AT_GATE, type Gate, gateOf } from '../support/gate.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let gate: Gate;
const HEADERS = { 'x-svc-admin-secret': 'secret', accept: 'text/event-stream' };

beforeAll(async () => {
  service = await startTestService({ ADMIN_SECRET: 'secret', WEBSOCKET_KEEPALIVE: '1', WEBSOCKET_CONNECTION_LIMIT: '2' });
  await service.sql(
    `create table item (id int primary key, name text, data json); insert into item values (1, E'one\\r\\ntwo', E'{\\n"a":\\r\\n1}'), (2, 'x', '[]');
     create view nap as select 1 as id from pg_sleep(1.5);
     create view waits as select 1 as id from ${AT_GATE}`,
  );
  for (const table of ['item', 'nap', 'waits']) await service.metadata('pg_track_table', { table });
  gate = await gateOf(service.databaseUrl);
});
afterAll(async () => {
  await gate.end();
  await service.stop();
});

const QUERY = '{ item(order_by: {id: asc}) { id name data } }';
const ITEMS = {
  data: {
    item: [
      { id: 1, name: 'one\r\ntwo', data: { a: 1 } },
      { id: 2, name: 'x', data: [] },
    ],
  },
};

const post = (query: string, headers: Record<string, string> = {}): ReturnType<TestService['send']> =>
  service.send('/v1/graphql', { method: 'POST', headers: { ...HEADERS, ...headers }, body: JSON.stringify({ query }) });
const get = (query: string, headers: Record<string, string> = {}): ReturnType<TestService['send']> =>
  service.send(`/v1/graphql?query=${encodeURIComponent(query)}`, { headers: { ...HEADERS, ...headers } });

/** The events of a stream: name and data. */
function eventsOf(text: string): readonly (readonly [string, string])[] {
  return text
    .split('\n\n')
    .filter((event) => event !== '' && event !== ':')
    .map((event) => {
      const match = /^event: (\w+)\ndata: ([^\r\n]*)$/.exec(event);
      if (match === null) throw new Error(`no event: ${JSON.stringify(event)}`);
      return [match[1] as string, match[2] as string];
    });
}

it('answers queries, whatever line breaks the database puts into its JSON', async () => {
  for (const answer of [await post(QUERY), await get(QUERY)]) {
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('x-accel-buffering')).toBe('no');
    const [next, complete, ...more] = eventsOf(answer.text);
    expect([next?.[0], JSON.parse(next?.[1] ?? '')]).toEqual(['next', ITEMS]);
    expect([complete, more]).toEqual([['complete', ''], []]);
  }
});

it('runs mutations for POST only', async () => {
  const rename = 'mutation { update_item(where: {id: {_eq: 2}}, _set: {name: "x"}) { affected_rows } }';
  expect(eventsOf((await get(rename)).text)[0]?.[1]).toContain('only queries are allowed in GET requests');
  expect(eventsOf((await post(rename)).text)[0]?.[1]).toMatch(/"affected_rows" : 1/);
});

it('sends errors of an operation as an event, and answers invalid requests with an error status', async () => {
  expect(eventsOf((await post('{ nothing }')).text)).toEqual([
    [
      'next',
      '{"errors":[{"message":"field \'nothing\' not found in type: \'query_root\'","locations":[{"line":1,"column":3}],"extensions":{"path":"$.selectionSet.nothing","code":"validation-failed"}}]}',
    ],
    ['complete', ''],
  ]);
  const unknown = await post(QUERY, { 'x-svc-admin-secret': 'wrong' });
  expect([unknown.status, unknown.headers.get('content-type')]).toEqual([401, 'application/json; charset=utf-8']);
  const batch = await service.send('/v1/graphql', { method: 'POST', headers: HEADERS, body: '[]' });
  expect([batch.status, batch.text]).toEqual([400, expect.stringContaining('an event stream is for one operation, not for a batch')]);
  const notJson = await service.send('/v1/graphql', { method: 'POST', headers: HEADERS, body: '{' });
  expect(notJson.status).toBe(400);
});

it.each([
  ['text/event-stream, application/json', true],
  ['application/json, text/event-stream', false],
  ['application/json;q=0.5, text/event-stream', true],
  ['*/*', false],
  ['application/graphql-response+json, text/event-stream;q=0.9', false],
])('answers %s with events: %s', async (accept, expected) => {
  const answer = await post('{ __typename }', { accept });
  expect(answer.headers.get('content-type')?.startsWith('text/event-stream')).toBe(expected);
});

it('keeps the connection open while it waits', async () => {
  const { text } = await post('{ nap { id } }');
  expect(text.split(':\n\n').length - 1).toBeGreaterThanOrEqual(2);
  expect(eventsOf(text)[0]).toEqual(['next', '{"data":{"nap":[{"id":1}]}}']);
});

it('limits the number of connections together with websockets', async () => {
  await gate.shut();
  const open = [post('{ waits { id } }'), post('{ waits { id } }')];
  while (service.observations.filter((o) => o.kind === 'http' && o.status === 503).length === 0) {
    const answer = await post('{ __typename }');
    if (answer.status === 503) expect(answer.text).toContain('the limit of 2 websockets and event streams is reached');
  }
  await gate.open();
  await Promise.all(open);
  expect((await post('{ __typename }')).status).toBe(200);
});

it('works with graphql-sse', async () => {
  const client = createClient({ url: `${service.url}/v1/graphql`, headers: { 'x-svc-admin-secret': 'secret' } });
  const results: unknown[] = [];
  for await (const result of client.iterate({ query: QUERY })) results.push(result);
  expect(results).toEqual([ITEMS]);
  client.dispose();
});

it.runIf(DEEP)('sends no keep-alives if they are disabled', async () => {
  const silent = await startTestService({ ADMIN_SECRET: 'secret', WEBSOCKET_KEEPALIVE: '0' });
  try {
    await silent.sql('create view nap as select 1 as id from pg_sleep(6)');
    await silent.metadata('pg_track_table', { table: 'nap' });
    const body = JSON.stringify({ query: '{ nap { id } }' });
    const { text } = await silent.send('/v1/graphql', { method: 'POST', headers: HEADERS, body });
    // One at the beginning shows that the service is listening.
    expect(text.split('\n\n').filter((event) => event === ':')).toHaveLength(1);
    expect(eventsOf(text).map(([name]) => name)).toEqual(['next', 'complete']);
  } finally {
    await silent.stop();
  }
});
