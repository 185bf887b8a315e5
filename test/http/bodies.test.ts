import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
const SECRET = 'open sesame';
const MEGABYTE = 2 ** 20;

beforeAll(async () => {
  service = await startTestService({ ADMIN_SECRET: SECRET, SERVER_TIMEOUT: '2' });
  await service.sql('create table item (id int primary key, name text)');
  await service.metadata('pg_track_table', { table: 'item' });
  await service.metadata('create_query_collection', {
    name: 'c',
    definition: { queries: [{ name: 'named', query: 'query ($name: String) { item(where: {name: {_eq: $name}}) { id } }' }] },
  });
  await service.metadata('create_rest_endpoint', {
    name: 'named',
    url: 'named',
    methods: ['POST'],
    definition: { query: { collection_name: 'c', query_name: 'named' } },
  });
});
afterAll(() => service.stop());

interface Client {
  readonly socket: Socket;
  /** The bytes received so far. */
  text(): string;
  readonly closed: Promise<void>;
}

function open(): Client {
  const { port, hostname } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
  });
  socket.on('error', () => undefined);
  return { socket, text: () => text, closed: new Promise((resolve) => void socket.once('close', () => resolve())) };
}

const head = (path: string, ...more: readonly string[]): string =>
  [`POST ${path} HTTP/1.1`, 'Host: localhost', 'Content-Type: application/json', ...more, '', ''].join('\r\n');
const AS_ADMIN = `X-Svc-Admin-Secret: ${SECRET}`;
const CHUNKED = 'Transfer-Encoding: chunked';

async function answered(client: Client): Promise<string> {
  for (let i = 0; i < 3000 && !client.text().includes('\r\n\r\n'); i++) await sleep(10);
  return client.text();
}

describe('a request body in very small chunks', () => {
  it('is rejected, and uses no more memory than its bytes', async () => {
    const before = process.memoryUsage();
    const client = open();
    client.socket.write(head('/v1/graphql', AS_ADMIN, CHUNKED));
    const crumbs = Buffer.from('1\r\nx\r\n'.repeat(10_000));
    let most = 0;
    for (let i = 0; i < 50 && !client.socket.destroyed && client.text() === ''; i++) {
      client.socket.write(crumbs);
      await sleep(5);
      const now = process.memoryUsage();
      most = Math.max(most, now.rss - before.rss);
    }
    expect(await answered(client)).toContain('the request body arrives in too many small chunks');
    expect(client.text()).toMatch(/^HTTP\/1\.1 400 /);
    expect(most).toBeLessThan(60 * MEGABYTE);
    client.socket.destroy();
  });

  it('is read if the chunks are large or few', async () => {
    const whole = JSON.stringify({ query: `{ item { id } } #${'x'.repeat(1_500_000)}` });
    for (const size of [1000, 65_000]) {
      const client = open();
      client.socket.write(head('/v1/graphql', AS_ADMIN, CHUNKED));
      for (let i = 0; i < whole.length; i += size) {
        const piece = whole.slice(i, i + size);
        client.socket.write(`${piece.length.toString(16)}\r\n${piece}\r\n`);
      }
      client.socket.write('0\r\n\r\n');
      expect(await answered(client)).toContain('{"data":{"item":[]}}');
      client.socket.destroy();
    }
    const short = JSON.stringify({ query: '{ item { id } }' });
    const client = open();
    const chunks = [...short].map((character) => `1\r\n${character}\r\n`).join('');
    client.socket.write(`${head('/v1/graphql', AS_ADMIN, CHUNKED)}${chunks}0\r\n\r\n`);
    expect(await answered(client)).toContain('{"data":{"item":[]}}');
    client.socket.destroy();
  });
});

describe('a request without credentials', () => {
  const PATHS = ['/v1/graphql', '/v1/metadata', '/v1/query', '/v2/query', '/v1/graphql/explain', '/api/rest/named'];

  it('is rejected on every path before the body is read, and cut off if it continues', async () => {
    const cutOff = async (path: string): Promise<void> => {
      const client = open();
      client.socket.write(head(path, 'Content-Length: 1000000'));
      expect(await answered(client), path).toContain('access-denied');
      const started = performance.now();
      await client.closed;
      expect(performance.now() - started, path).toBeLessThan(20_000);
    };
    await Promise.all(PATHS.map(cutOff));
  });

  it('keeps its connection if the rest of the body arrives soon', async () => {
    const client = open();
    client.socket.write(head('/v1/metadata', 'Content-Length: 10'));
    expect(await answered(client)).toContain('access-denied');
    client.socket.write(`${'x'.repeat(10)}GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    for (let i = 0; i < 2000 && !client.text().endsWith('OK'); i++) await sleep(10);
    expect(client.text()).toMatch(/OK$/);
    client.socket.destroy();
  });
});

it('has time to upload its body', async () => {
  const client = open();
  client.socket.write(head('/v1/graphql', AS_ADMIN, 'Content-Length: 1000'));
  const started = performance.now();
  const drip = setInterval(() => client.socket.write(' '), 50);
  await client.closed;
  clearInterval(drip);
  expect(performance.now() - started).toBeLessThan(20_000);
  expect(client.text()).toMatch(/^HTTP\/1\.1 408 /);
});

it('distinguishes a client that disconnects from a server error', async () => {
  const seen = service.observations.length;
  const client = open();
  client.socket.write(`${head('/v1/graphql', AS_ADMIN, 'X-Request-Id: gone', 'Content-Length: 1000', 'Expect: 100-continue')}{`);
  // The service has begun to read.
  expect(await answered(client)).toContain('100 Continue');
  client.socket.destroy();
  const said = () =>
    service.observations.slice(seen).filter((o) => o.kind === 'unexpected' || (o.kind === 'http' && o.requestId === 'gone'));
  await expect.poll(said).not.toEqual([]);
  await sleep(100);
  expect(said()).toMatchObject([{ kind: 'http', status: 499, error: { code: 'bad-request' } }]);
});

describe('a form body', () => {
  const post = (body: string, path = 'named') =>
    service.send(`/api/rest/${path}`, {
      method: 'POST',
      body,
      headers: { 'x-svc-admin-secret': SECRET, 'content-type': 'application/x-www-form-urlencoded' },
    });

  it('carries variables', async () => {
    expect(await post('name=a')).toMatchObject({ status: 200, json: { item: [] } });
  });

  it('is not read for an unknown endpoint', async () => {
    expect((await post('a=1&'.repeat(100_000), 'nothing')).status).toBe(404);
  });

  it.each([
    ['fields', 'a=1&'.repeat(1001)],
    ['bytes', `name=${'x'.repeat(1_100_000)}`],
    ['escapes', `name=${'%41'.repeat(5_000_000)}`],
  ])('is rejected cheaply with too many %s', async (_what, body) => {
    let best = Number.POSITIVE_INFINITY;
    for (let attempt = 0; attempt < 5 && best >= 400; attempt++) {
      const cpu = process.cpuUsage();
      expect((await post(body)).status).toBe(413);
      best = Math.min(best, process.cpuUsage(cpu).user / 1000);
    }
    expect(best).toBeLessThan(400); // the client runs in this process too
  });
});

describe('a body with repeated keys or in another encoding', () => {
  const send = (path: string, body: string, headers: Record<string, string> = {}) =>
    fetch(`${service.url}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Svc-Admin-Secret': SECRET, ...headers },
      body,
    });

  it('is rejected by the metadata API with the path of the repeated key', async () => {
    const permission = '{"columns":["id"],"filter":{},"columns":"*"}';
    const body = `{"type":"pg_create_select_permission","args":{"table":"item","role":"reader","permission":${permission}}}`;
    const answer = await send('/v1/metadata', body);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toEqual({
      path: '$.args.permission.columns',
      error: 'duplicate key "columns" in an object',
      code: 'parse-failed',
    });
  });

  it('is rejected in the same way if it is long', async () => {
    const rows = Array.from({ length: 20_000 }, (_, id) => `{"id":${id},"cost":9007199254740993.5}`).join();
    const document = (end: string): string => `{"type":"set_catalog_state","args":{"type":"console","state":{"rows":[${rows}]${end}}}}`;
    const stored = await send('/v1/metadata', document(''));
    expect([stored.status, await stored.json()]).toEqual([200, { message: 'success' }]);
    const state = await (await send('/v1/metadata', '{"type":"get_catalog_state","args":{}}')).text();
    expect(state).toMatch(/"id": ?19999, ?"cost": ?9007199254740993\.5/);
    for (const [end, path, code, error] of [
      [',"a":1,"a":2', '$.args.state.a', 'parse-failed', 'duplicate key "a" in an object'],
      [',', '$', 'invalid-json', 'the request body is not valid JSON'],
      [`,"a":${'['.repeat(600)}${']'.repeat(600)}`, '$', 'invalid-json', 'JSON is nested deeper than 512 levels'],
    ] as const)
      expect(await (await send('/v1/metadata', document(end))).json()).toEqual({ path, error, code });
  });

  it.each(['/v1/graphql', '/v1/metadata', '/api/rest/named'])('is rejected by %s if it is compressed', async (path) => {
    const answer = await send(path, '{"query":"{ item { id } }"}', { 'Content-Encoding': 'gzip' });
    expect(answer.status).toBe(415);
    expect(await answer.text()).toContain('content encoding');
  });
});
