/** Lifetime of sockets and streams: tokens, metadata changes, shutdown. Includes compression for clients that support it. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { DEEP } from '../support/deep.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { token } from '../support/tokens.ts';
import { LEGACY, MODERN, TestSocket } from '../support/websocket.ts';

let service: TestService;
const sockets: TestSocket[] = [];
const KEY = 'k'.repeat(32);
const SECRET = { 'x-svc-admin-secret': 'secret' };
const LIVE = 'subscription { item { id name } }';

beforeAll(async () => {
  service = await startTestService({
    ADMIN_SECRET: 'secret',
    JWT_SECRET: JSON.stringify({ type: 'HS256', key: KEY }),
    CONNECTION_COMPRESSION: 'true',
    CLOSE_WEBSOCKETS_ON_METADATA_CHANGE: 'true',
    LIVE_QUERIES_MULTIPLEXED_REFETCH_INTERVAL: '50',
  });
  await service.sql("create table item (id int, name text); insert into item values (1, repeat('ä', 100000))");
  await service.metadata('pg_track_table', { table: 'item' });
  await service.metadata('pg_create_select_permission', { table: 'item', role: 'user', permission: { columns: '*', filter: {} } });
  await service.metadata('set_api_limits', { disabled: false, concurrency_limit: { per_role: { user: 1 } } });
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.close();
});
afterAll(() => service.stop());

async function open(headers: Readonly<Record<string, string>>): Promise<TestSocket> {
  const socket = new TestSocket(service.url, { protocol: MODERN });
  sockets.push(socket);
  return socket.init(headers);
}

/** A token of the role `user` that is valid for that many seconds, plus the rest of the current one. */
function signed(seconds: number): { authorization: string } {
  const claims = {
    exp: Math.ceil(Date.now() / 1000) + seconds,
    'urn:svc:jwt:claims': { 'x-svc-allowed-roles': ['user'], 'x-svc-default-role': 'user' },
  };
  return { authorization: `Bearer ${token('HS256', KEY, { claims })}` };
}

const stream = (headers: Readonly<Record<string, string>>): Promise<Response> =>
  fetch(`${service.url}/v1/graphql?query=${encodeURIComponent(LIVE)}`, { headers: { ...headers, accept: 'text/event-stream' } });

it('compresses messages for clients that support it', async () => {
  const socket = await open(SECRET);
  expect(socket.websocket.extensions).toContain('permessage-deflate');
  socket.start('1', LIVE);
  expect(await socket.next()).toEqual({ type: 'next', id: '1', payload: { data: { item: [{ id: 1, name: 'ä'.repeat(100_000) }] } } });
  await service.sql("update item set name = 'short'");
  expect(await socket.next()).toMatchObject({ payload: { data: { item: [{ name: 'short' }] } } });
});

it.runIf(DEEP)('ends sockets and streams when their token expires, and not as completed', async () => {
  const headers = signed(4);
  const [socket, response] = await Promise.all([open(headers), stream(headers)]);
  const text = response.text();
  socket.start('1', LIVE);
  expect(await socket.next()).toMatchObject({ type: 'next' });
  expect(await socket.closed).toEqual({ code: 1000, reason: 'the session has ended' });
  expect(await text).toContain('event: next');
  expect(await text).not.toContain('event: complete');
});

it.runIf(DEEP)('ends an operation when its own token expires, even if the client authenticates again', async () => {
  const socket = new TestSocket(service.url, { protocol: LEGACY });
  sockets.push(socket);
  await socket.init(signed(4));
  socket.start('1', LIVE);
  expect(await socket.next()).toMatchObject({ type: 'data' });
  await socket.init(SECRET);
  expect(await socket.closed).toEqual({ code: 1000, reason: 'the session has ended' });
});

it.runIf(DEEP)('applies a later token when no operation of the previous one is running', async () => {
  const socket = new TestSocket(service.url, { protocol: LEGACY });
  sockets.push(socket);
  await socket.init(signed(2));
  socket.start('1', '{ item { id } }');
  expect(await socket.take(2)).toMatchObject([{ type: 'data' }, { type: 'complete' }]);
  await socket.init(signed(600));
  const closed = await Promise.race([socket.closed, new Promise((resolve) => setTimeout(() => resolve('open'), 3100))]);
  expect(closed).toBe('open');
});

it('counts a subscription once against the limits of its role, when it starts', async () => {
  const socket = await open(signed(600));
  for (const id of ['1', '2']) {
    socket.start(id, LIVE);
    expect(await socket.next()).toMatchObject({ type: 'next', id });
  }
});

it('closes all sockets after a metadata change if configured', async () => {
  const socket = await open(SECRET);
  const response = await stream(SECRET);
  const text = response.text();
  await service.metadata('pg_drop_select_permission', { table: 'item', role: 'user' });
  expect(await socket.closed).toEqual({ code: 1012, reason: 'Server state changed, restarting the server' });
  expect(await text).not.toContain('event: complete');
});

it('ends streams immediately when the service stops', async () => {
  const response = await stream(SECRET);
  const text = response.text();
  await service.stop();
  expect(await text).not.toContain('event: complete');
  service = { ...service, stop: async () => undefined };
});
