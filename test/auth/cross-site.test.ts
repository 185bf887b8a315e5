/** Requests that a browser would send for foreign pages, to a service with tokens in cookies, with a webhook, and without a secret. */
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FakeServer, startFakeServer } from '../support/fake-server.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { token } from '../support/tokens.ts';

const SECRET = 'open sesame';
const KEY = 'k'.repeat(32);
const claims = { 'x-svc-allowed-roles': ['admin'], 'x-svc-default-role': 'admin' };
const signed = token('HS256', KEY, { claims: { 'urn:svc:jwt:claims': claims } });
const COOKIE = { cookie: `session=${signed}` };
const SQL = JSON.stringify({ type: 'run_sql', args: { sql: 'insert into item values (1)' } });
const EXPORT = JSON.stringify({ type: 'export_metadata', args: {} });
const COUNT = JSON.stringify({ query: '{ item { id } }' });

let byCookie: TestService;
let byHook: TestService;
let open: TestService;
let hook: FakeServer;

async function prepared(options: Readonly<Record<string, string>>): Promise<TestService> {
  const service = await startTestService(options);
  await service.sql('create table item (id int)');
  await service.metadata('pg_track_table', { table: 'item' });
  await service.metadata('create_query_collection', {
    name: 'c',
    definition: {
      queries: [
        { name: 'add', query: 'mutation { insert_item_one(object: {id: 2}) { id } }' },
        { name: 'all', query: 'query ($id: Int) { item(where: {id: {_eq: $id}}) { id } }' },
      ],
    },
  });
  for (const [name, methods] of [
    ['add', ['GET', 'POST']],
    ['all', ['GET', 'POST']],
  ] as const) {
    await service.metadata('create_rest_endpoint', {
      name,
      url: name,
      methods,
      definition: { query: { collection_name: 'c', query_name: name } },
    });
  }
  return service;
}

beforeAll(async () => {
  hook = await startFakeServer();
  hook.answer = () => ({ body: { 'X-Svc-Role': 'admin' } });
  [byCookie, byHook, open] = await Promise.all([
    prepared({
      ADMIN_SECRET: SECRET,
      CORS_DOMAIN: 'https://app.example',
      JWT_SECRET: JSON.stringify({ type: 'HS256', key: KEY, header: { type: 'Cookie', name: 'session' } }),
    }),
    prepared({ ADMIN_SECRET: SECRET, AUTH_HOOK: hook.url }),
    prepared({}),
  ]);
});
afterAll(async () => {
  await Promise.all([byCookie.stop(), byHook.stop(), open.stop()]);
  await hook.close();
});

interface Raw {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Raw requests, because `fetch` cannot set `Host` or `Sec-Fetch-Site`. */
function send(
  service: TestService,
  path: string,
  { method = 'POST', headers = {}, body = '' }: Raw = {},
): Promise<{ status: number; text: string }> {
  const { port, hostname } = new URL(service.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString();
    });
    socket.on('error', reject);
    socket.on('end', () => resolve({ status: Number(text.slice(9, 12)), text: text.slice(text.indexOf('\r\n\r\n') + 4) }));
    const all = { Host: `localhost:${port}`, Connection: 'close', 'Content-Length': String(body.length), ...headers };
    socket.write(
      `${method} ${path} HTTP/1.1\r\n${Object.entries(all)
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join('')}\r\n${body}`,
    );
  });
}

const JSON_CONTENT = { 'content-type': 'application/json' };
const FOREIGN = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };

const EVERYWHERE: readonly (readonly [string, string])[] = [
  ['/v1/graphql', COUNT],
  ['/v1alpha1/graphql', COUNT],
  ['/v1/metadata', EXPORT],
  ['/v1/query', SQL],
  ['/v2/query', SQL],
  ['/v1/graphql/explain', JSON.stringify({ query: { query: '{ item { id } }' } })],
  ['/api/rest/add', '{}'],
];

describe.each([
  ['tokens in cookies', () => byCookie, COOKIE],
  ['a webhook that sees cookies', () => byHook, { cookie: 'session=1' }],
  ['a webhook that sees cookies beside a token', () => byHook, { cookie: 'session=1', authorization: 'Bearer x' }],
  ['a webhook that sees a remembered password', () => byHook, { authorization: 'Basic YTpi' }],
  ['no secret', () => open, {}],
] as const)('a page of another origin, with %s', (_what, service, credentials) => {
  it.each(EVERYWHERE)('is rejected by %s', async (path, body) => {
    const calls = hook.requests.length;
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json']) {
      const answer = await send(service(), path, { headers: { ...credentials, ...FOREIGN, 'content-type': type }, body });
      expect(answer.status).toBe(403);
      expect(answer.text).toContain('access-denied');
      expect(answer.text).toContain('--cors-domain');
    }
    expect(hook.requests.length).toBe(calls);
  });

  it.each(['/v1/graphql?query={item{id}}', '/api/rest/all', '/v1alpha1/config', '/healthz/sources', '/api/swagger/json'])(
    'gets no data from %s',
    async (path) => {
      expect((await send(service(), path, { method: 'GET', headers: { ...credentials, ...FOREIGN } })).status).toBe(403);
    },
  );

  it('may request health and version', async () => {
    for (const path of ['/healthz', '/v1/version'])
      expect((await send(service(), path, { method: 'GET', headers: { ...credentials, ...FOREIGN } })).status).toBe(200);
  });

  it('cannot run a mutation by a link', async () => {
    const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
    for (const headers of [{ ...credentials, ...link }, credentials]) {
      const answer = await send(service(), '/api/rest/add', { method: 'GET', headers });
      expect([answer.status, answer.text]).toEqual([403, expect.stringContaining('with GET, it requires credentials in a header')]);
      expect((await send(service(), '/api/rest/all?id=7', { method: 'GET', headers })).status).toBe(200);
    }
  });
});

describe('tokens in cookies', () => {
  it.each(EVERYWHERE.filter(([path]) => !path.includes('graphql')))('%s rejects a form body from any origin', async (path, body) => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
      const answer = await send(byCookie, path, { headers: { ...COOKIE, 'content-type': type }, body });
      expect(answer.status).toBe(415);
      expect(
        (await send(byCookie, path, { headers: { ...COOKIE, origin: 'https://app.example', 'content-type': type }, body })).status,
      ).toBe(415);
    }
  });

  it("are accepted from listed origins and the service's own", async () => {
    const { port } = new URL(byCookie.url);
    for (const origin of ['https://app.example', `http://localhost:${port}`]) {
      const answer = await send(byCookie, '/v1/graphql', { headers: { ...COOKIE, ...JSON_CONTENT, origin }, body: COUNT });
      expect([answer.status, answer.text]).toEqual([200, '{"data":{"item":[]}}']);
    }
  });

  it('do not affect requests with credentials in a header', async () => {
    const admin = { ...FOREIGN, 'x-svc-admin-secret': SECRET };
    const form = { ...admin, 'content-type': 'application/x-www-form-urlencoded' };
    expect(await send(byCookie, '/api/rest/all', { headers: form, body: 'id=7' })).toMatchObject({ status: 200, text: '{"item":[]}' });
    expect((await send(byCookie, '/v1/metadata', { headers: { ...admin, 'content-type': 'text/plain' }, body: EXPORT })).status).toBe(200);
    expect((await send(byCookie, '/api/rest/add', { method: 'GET', headers: admin })).status).toBe(200);
    await byCookie.sql('delete from item');
  });
});

describe('a service without a secret', () => {
  it.each(['evil.example', 'localhost.evil.example:8080'])('rejects a request for the host %s', async (host) => {
    const own = { Host: host, origin: `http://${host}`, ...JSON_CONTENT };
    const answer = await send(open, '/v2/query', { headers: own, body: SQL });
    expect([answer.status, answer.text]).toEqual([403, expect.stringContaining('--trusted-hosts')]);
    expect((await send(open, '/v1/graphql?query={item{id}}', { method: 'GET', headers: { Host: host } })).status).toBe(403);
    expect((await send(open, '/healthz', { method: 'GET', headers: { Host: host } })).status).toBe(200);
  });

  it.each(['svc:8080', '127.0.0.1', '[::1]:8080', '192.168.7.7:8080'])('answers a request for the host %s', async (Host) => {
    const answer = await send(open, '/v1/graphql', { headers: { Host, ...JSON_CONTENT }, body: COUNT });
    expect([answer.status, answer.text]).toEqual([200, '{"data":{"item":[]}}']);
  });

  it('does not require an origin from clients other than browsers', async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await send(open, '/v1/metadata', { headers: form, body: EXPORT })).status).toBe(200);
    expect((await send(open, '/api/rest/all', { headers: form, body: 'id=7' })).status).toBe(200);
  });
});
