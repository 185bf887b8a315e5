/** Who may open a websocket, and the handling of requests for other protocols. */
import { request } from 'node:http';
import { connect as connectTcp, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { WebsocketObservation } from '../../src/observability/observation.ts';
import { DEEP } from '../support/deep.ts';
import { type FakeServer, startFakeServer } from '../support/fake-server.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { LEGACY, MODERN, type OpenOptions, TestSocket } from '../support/websocket.ts';

let hook: FakeServer;
/** With a webhook, and CORS for all origins. */
let byHook: TestService;
/** With a webhook and the default CORS configuration. */
let withoutCors: TestService;
/** Without a secret, and with a list of origins. */
let open: TestService;
const sockets: TestSocket[] = [];
const SECRET = { 'x-svc-admin-secret': 'secret' };

beforeAll(async () => {
  hook = await startFakeServer();
  const hooked = { ADMIN_SECRET: 'secret', AUTH_HOOK: `${hook.url}/` };
  [byHook, withoutCors, open] = await Promise.all([
    startTestService({ ...hooked, WEBSOCKET_KEEPALIVE: '1' }),
    startTestService({ ...hooked, DISABLE_CORS: 'true' }),
    startTestService({ CORS_DOMAIN: 'https://app.example', WEBSOCKET_CONNECTION_LIMIT: '2' }),
  ]);
  await open.sql(
    'create function slow() returns text language sql volatile as $$ select pg_sleep(0.4)::text $$; create view nap as select slow()',
  );
  await open.metadata('pg_track_table', { table: 'nap' });
});
beforeEach(() => {
  hook.answer = () => ({ body: { 'X-Svc-Role': 'admin' } });
  hook.requests.length = 0;
});
afterEach(async () => {
  const closed = sockets.splice(0).map((socket) => {
    socket.close();
    return socket.closed;
  });
  await Promise.all(closed);
});
afterAll(async () => {
  await Promise.all([byHook, withoutCors, open].map((service) => service.stop()));
  await hook.close();
});

function connect(service: TestService, options: OpenOptions = {}): TestSocket {
  const socket = new TestSocket(service.url, options);
  sockets.push(socket);
  return socket;
}

const events = (service: TestService): readonly WebsocketObservation[] => service.observations.filter((o) => o.kind === 'websocket');

describe('the websocket handshake', () => {
  it.each<[string, OpenOptions, string]>([
    ['another path', { path: '/v1/other' }, '404 {"path":"$","error":"resource does not exist","code":"not-found"}'],
    [
      'a page whose origin is not in the list',
      { headers: { origin: 'https://evil.example' } },
      '400 {"path":"$","error":"received origin header does not match configured CORS domains","code":"access-denied"}',
    ],
  ])('is refused for %s', async (_name, options, message) => {
    await expect(connect(open, options).opened()).rejects.toThrow(message);
    expect(events(open).at(-1)).toMatchObject({ event: { type: 'rejected', error: { path: '$' } } });
  });

  it('rejects an unknown host name if there is no secret', async () => {
    await expect(connect(open, { headers: { host: 'evil.example', origin: 'http://evil.example' } }).opened()).rejects.toThrow(
      /^403 .*is not a trusted host/,
    );
  });

  it('accepts an absolute URL, as proxies send it', async () => {
    const { port, hostname } = new URL(open.url);
    const headers = {
      connection: 'upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': Buffer.alloc(16).toString('base64'),
    };
    const status = await new Promise((resolve, reject) => {
      const out = request({ port, hostname, path: `http://${hostname}/v1/graphql?x=1`, headers }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      out.on('upgrade', (answer, socket) => {
        socket.destroy();
        resolve(answer.statusCode);
      });
      out.on('error', reject);
      out.end();
    });
    expect(status).toBe(101);
  });

  it('selects only an offered protocol, and closes a socket without a common one', async () => {
    const offering = (protocols: string): TestSocket => connect(byHook, { headers: { 'sec-websocket-protocol': protocols } });
    for (const protocols of ['soap', 'soap, graphql_ws']) {
      const socket = offering(protocols);
      expect(await socket.closed).toEqual({ code: 4406, reason: 'Subprotocol not acceptable' });
      expect(socket.websocket.protocol).toBe('');
    }
    expect(events(byHook).at(-1)).toMatchObject({ event: { type: 'rejected', error: { code: 'not-supported' } } });
    for (const [offered, chosen] of [
      [`soap, ${LEGACY}`, LEGACY],
      [`${LEGACY}, ${MODERN}`, MODERN],
    ] as const) {
      const socket = connect(byHook, { protocol: offered });
      await socket.opened();
      expect(socket.websocket.protocol).toBe(chosen);
    }
    expect((await connect(byHook).init()).websocket.protocol).toBe('');
  });

  it("accepts listed origins and the service's own", async () => {
    await connect(open, { headers: { origin: 'https://app.example' } }).init();
    const host = new URL(open.url).host;
    await connect(open, { headers: { origin: `http://${host}` } }).init();
  });

  it('rejects connections above the limit, until one is closed', async () => {
    const first = await connect(open).init();
    await connect(open).init();
    await expect(connect(open).opened()).rejects.toThrow(/^503 .*the limit of 2 websockets and event streams is reached/);
    first.close();
    await first.closed;
    for (;;) {
      try {
        await connect(open).opened();
        break;
      } catch {
        // The service has not detected it yet.
      }
    }
  });
});

describe('websocket credentials', () => {
  it('combine the handshake and the init message', async () => {
    await connect(byHook, { headers: { 'x-of': 'handshake', 'x-both': 'handshake', cookie: 'a=1' } }).init({
      'X-Both': 'message',
      Authorization: 'Bearer 1',
      Origin: 'https://forged.example',
    });
    const { headers } = hook.requests[0] as { headers: Record<string, string> };
    expect(headers).toMatchObject({ 'x-of': 'handshake', 'x-both': 'message', authorization: 'Bearer 1', cookie: 'a=1' });
    expect(Object.keys(headers).filter((name) => /^sec-|^upgrade$|^origin$/.test(name))).toEqual([]);
  });

  it.each<[string, object, string]>([
    ['no texts', { a: 1 }, 'the header "a" must be a string'],
    ['several lines', { a: 'x\r\nx-svc-role: admin' }, 'the header "a" has invalid characters'],
    ['an invalid name', { 'a b': '' }, '"a b" is not a valid header name'],
    ['oversized headers', { a: 'x'.repeat(20_000) }, 'the headers exceed 16384 characters'],
  ])('are refused with %s as a header', async (_name, headers, message) => {
    const socket = connect(byHook);
    await socket.opened();
    socket.send({ type: 'connection_init', payload: { headers } } as never);
    expect(await socket.next()).toEqual({ type: 'connection_error', payload: message });
    expect((await socket.closed).code).toBe(4400);
    expect(hook.requests).toEqual([]);
  });

  it('stored by the browser do not count for foreign origins', async () => {
    const page = { origin: 'https://evil.example', cookie: 'session=1' };
    const socket = connect(byHook, { headers: page });
    await socket.opened();
    socket.send({ type: 'connection_init' });
    expect(await socket.next()).toMatchObject({
      type: 'connection_error',
      payload: expect.stringContaining('a page of the origin "https://evil.example" must not use the credentials of the browser'),
    });
    expect(hook.requests).toEqual([]);
    // Credentials that the page supplies itself count.
    await connect(byHook, { headers: page }).init(SECRET);
    await connect(byHook, { headers: { origin: page.origin } }).init();
  });

  it('in a cookie do not count if CORS is disabled', async () => {
    await connect(withoutCors, { headers: { cookie: 'session=1', 'x-other': 'kept' } }).init();
    expect(hook.requests[0]?.headers).toMatchObject({ 'x-other': 'kept' });
    expect(hook.requests[0]?.headers).not.toHaveProperty('cookie');
  });

  it('rejected by the webhook are distinguished from a failing webhook', async () => {
    const suggestions = ['Send credentials that the webhook accepts, or X-Svc-Admin-Secret.'];
    for (const [status, answer] of [
      [401, { payload: 'Authentication hook unauthorized this request', suggestions }],
      [500, { payload: 'Invalid response from authorization hook' }],
    ] as const) {
      hook.answer = () => ({ status });
      const socket = connect(byHook);
      await socket.opened();
      socket.send({ type: 'connection_init' });
      expect(await socket.next()).toEqual({ type: 'connection_error', ...answer });
    }
    expect(events(byHook).at(-1)).toMatchObject({ event: { type: 'conn_err', error: { code: 'unexpected' } } });
  });

  it('expire as the webhook specifies', async () => {
    hook.answer = () => ({ body: { 'X-Svc-Role': 'admin', 'Cache-Control': 'max-age=1' } });
    const socket = await connect(byHook, { protocol: MODERN }).init();
    expect(await socket.closed).toEqual({ code: 1000, reason: 'the session has ended' });
    hook.answer = () => ({ body: { 'X-Svc-Role': 'admin', Expires: new Date(0).toUTCString() } });
    const another = await connect(byHook, { protocol: MODERN }).init();
    expect((await another.closed).code).toBe(1000);
    expect(hook.requests).toHaveLength(2);
  });

  it.runIf(DEEP)('expire according to cache headers of the webhook', async () => {
    hook.answer = () => ({ body: { 'X-Svc-Role': 'admin' }, headers: { 'cache-control': 'private, max-age=1' } });
    const socket = await connect(byHook, { protocol: MODERN }).init();
    expect(await socket.closed).toEqual({ code: 1000, reason: 'the session has ended' });
    hook.answer = () => ({ body: { 'X-Svc-Role': 'admin' }, headers: { expires: new Date(Date.now() + 2000).toUTCString() } });
    const another = await connect(byHook, { protocol: MODERN }).init();
    expect((await another.closed).code).toBe(1000);
  });

  it('do not expire if a header only forbids caching', async () => {
    const headers = { 'cache-control': 'max-age=0, private, must-revalidate', expires: new Date(0).toUTCString() };
    hook.answer = () => ({ body: { 'X-Svc-Role': 'admin' }, headers });
    const socket = await connect(byHook, { protocol: MODERN }).init();
    socket.start('1', '{ __typename }');
    expect(await socket.next()).toMatchObject({ id: '1', type: 'next' });
  });
});

describe('a websocket', () => {
  it.runIf(DEEP)('is kept open by keep-alives', async () => {
    const modern = await connect(byHook, { protocol: MODERN }).init();
    const legacy = await connect(byHook).init();
    while (modern.signs.length < 2 || legacy.signs.length < 3) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(modern.signs[1]).toEqual({ type: 'ping', payload: { message: 'keepalive' } });
    expect(legacy.signs[2]).toEqual({ type: 'ka' });
  });

  it.runIf(DEEP)('is closed after an oversized message', async () => {
    const socket = await connect(byHook, { protocol: MODERN }).init();
    socket.send({ type: 'ping', payload: { of: 'x'.repeat(4_200_000) } });
    expect((await socket.closed).code).toBe(1009);
  });

  it('is logged from beginning to end', async () => {
    const socket = await connect(byHook, { protocol: MODERN }).init();
    socket.start('1', 'query Named { __typename }', { operationName: 'Named' });
    await socket.take(2);
    socket.start('2', '{ nothing }');
    await socket.next();
    socket.websocket.close(1000);
    await socket.closed;
    const id = events(byHook).findLast(({ event }) => event.type === 'accepted')?.websocketId;
    const told = (): readonly WebsocketObservation[] => events(byHook).filter(({ websocketId }) => websocketId === id);
    while (told().at(-1)?.event.type !== 'closed') await new Promise((resolve) => setTimeout(resolve, 5));
    expect(
      told().map(({ event }) => (event.type === 'operation' ? [event.operationId, event.operationName, event.state] : event.type)),
    ).toEqual([
      'accepted',
      ['1', 'Named', 'started'],
      ['1', 'Named', 'completed'],
      ['2', null, 'started'],
      ['2', null, 'query_err'],
      'closed',
    ]);
    expect(told().map(({ userVariables }) => userVariables?.get('x-svc-role') ?? null)).toEqual([null, ...Array(5).fill('admin')]);
  });
});

describe('a request for another protocol than websockets', () => {
  async function raw(): Promise<{ socket: Socket; received: (pattern: RegExp) => Promise<string> }> {
    const { port, hostname } = new URL(open.url);
    const socket = connectTcp(Number(port), hostname);
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString();
    });
    await new Promise((resolve) => socket.once('connect', resolve));
    const received = async (pattern: RegExp): Promise<string> => {
      while (!pattern.test(text)) await new Promise((resolve) => setTimeout(resolve, 5));
      const found = text;
      text = '';
      return found;
    };
    return { socket, received };
  }

  it('is answered as plain HTTP, however its body arrives', async () => {
    const { socket, received } = await raw();
    const body = JSON.stringify({ query: `{ __typename } #${'x'.repeat(1000)}` });
    const head = `POST /v1/graphql HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    socket.write(head + body);
    expect(await received(/query_root/)).toContain('HTTP/1.1 200 OK');
    socket.write(head + body.slice(0, 10));
    await new Promise((resolve) => setTimeout(resolve, 20));
    socket.write(body.slice(10));
    expect(await received(/query_root/)).toContain('HTTP/1.1 200 OK');
    socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    expect(await received(/\r\n\r\n/)).toContain('HTTP/1.1 200 OK');
    socket.destroy();
  });

  it('gets no websocket after an invalid handshake', async () => {
    const { socket, received } = await raw();
    socket.write('GET /v1/graphql HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    expect(await received(/\r\n\r\n/)).toContain('HTTP/1.1 400 Bad Request');
  });
});

it('ends with the service: running operations are answered, then all connections are closed', async () => {
  const busy = await connect(open, { protocol: MODERN }).init();
  const idle = await connect(open).init();
  busy.start('1', '{ nap { slow } }');
  busy.start('2', '{ __typename }');
  await busy.take(2);
  const stopped = open.stop();
  expect(await idle.closed).toEqual({ code: 1012, reason: 'shutting server down' });
  busy.start('3', '{ __typename }');
  expect(await busy.next()).toMatchObject({ type: 'error', id: '3', payload: [{ message: 'the server is shutting down' }] });
  expect(await busy.take(2)).toMatchObject([{ type: 'next', id: '1', payload: { data: { nap: [{ slow: '' }] } } }, { type: 'complete' }]);
  expect(await busy.closed).toEqual({ code: 1012, reason: 'shutting server down' });
  await stopped;
  open = { ...open, stop: async () => undefined };
});
