/** Misbehaving clients. */
import { connect as connectTcp, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '../../src/util/json.ts';
import { DEEP } from '../support/deep.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { MODERN, TestSocket } from '../support/websocket.ts';

let service: TestService;
const sockets: TestSocket[] = [];

beforeAll(async () => {
  service = await startTestService({ RESPONSE_TIMEOUT: '3', WEBSOCKET_KEEPALIVE: '1', LIVE_QUERIES_MULTIPLEXED_REFETCH_INTERVAL: '30' });
  await service.sql("create table big (n int, text text); insert into big values (0, repeat('x', 3000000)); create table item (id int)");
  for (const table of ['big', 'item']) await service.metadata('pg_track_table', { table });
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.close();
});
afterAll(() => service.stop());

async function open(protocol = MODERN): Promise<TestSocket> {
  const socket = new TestSocket(service.url, { protocol });
  sockets.push(socket);
  return socket.init();
}

/** A raw authenticated socket, for behaviour that no library has. */
async function raw(): Promise<Socket> {
  const { port, hostname } = new URL(service.url);
  const socket = connectTcp(Number(port), hostname);
  socket.on('error', () => undefined);
  socket.write(
    'GET /v1/graphql HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n',
  );
  socket.write(frame('{"type":"connection_init"}'));
  let text = '';
  await new Promise<void>((resolve) => {
    const take = (chunk: Buffer): void => {
      text += chunk.toString('latin1');
      if (!text.includes('connection_ack')) return;
      socket.off('data', take);
      resolve();
    };
    socket.on('data', take);
  });
  return socket;
}

/** A client frame, masked with zeros. */
function frame(text: string): Buffer {
  const data = Buffer.from(text);
  const head = data.length < 126 ? [0x81, 0x80 | data.length] : [0x81, 0xfe, data.length >> 8, data.length & 0xff];
  return Buffer.concat([Buffer.from([...head, 0, 0, 0, 0]), data]);
}

const closedSockets = (): number => service.observations.filter((o) => o.kind === 'websocket' && o.event.type === 'closed').length;

it('sends a slow reader the newest answer, and few earlier ones', async () => {
  const [late, quick] = [await open(), await open()];
  const newest = (message: JsonObject): number =>
    ((message['payload'] as { data: { big: { n: number }[] } }).data.big[0] as { n: number }).n;
  for (const socket of [late, quick]) {
    socket.start('1', 'subscription { big { n text } }');
    await socket.next();
  }
  late.websocket.pause();
  const seen: number[] = [];
  for (let n = 1; n <= 5; n++) {
    await service.sql(`update big set n = ${n}`);
    seen.push(newest(await quick.next()));
  }
  expect(seen).toEqual([1, 2, 3, 4, 5]);
  late.websocket.resume();
  let last = 0;
  let count = 0;
  while (last < 5) {
    last = newest(await late.next());
    count += 1;
  }
  expect(count).toBeLessThan(5);
});

it.runIf(DEEP)('closes the connection of a client that does not read, however little it sends', async () => {
  const socket = await raw();
  const before = closedSockets();
  socket.pause();
  for (let i = 0; i < 16; i++)
    socket.write(frame(JSON.stringify({ type: 'subscribe', id: String(i), payload: { query: '{ big { text } }' } })));
  while (closedSockets() === before) await sleep(20);
  socket.destroy();
});

it('ends only the socket that sends invalid frames', async () => {
  const other = await open();
  for (const bytes of [Buffer.alloc(100, 0xff), Buffer.from('GET / HTTP/1.1\r\n\r\n'), Buffer.from([0x81, 0x05, 1, 2, 3, 4, 5])]) {
    const socket = await raw();
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.resume();
    socket.write(bytes);
    await closed;
  }
  other.start('1', '{ item { id } }');
  expect(await other.next()).toMatchObject({ type: 'next' });
});

it('ends subscriptions of clients that vanish', async () => {
  const pollers = async (): Promise<number> => ((await service.metadata('get_subscriptions', {})) as { pollers: unknown[] }).pollers.length;
  const socket = await raw();
  socket.write(frame(JSON.stringify({ type: 'subscribe', id: '1', payload: { query: 'subscription { item { id } }' } })));
  while ((await pollers()) === 0) await sleep(10);
  socket.resetAndDestroy();
  while ((await pollers()) > 0) await sleep(10);
});

it('releases everything after many subscriptions that come and go', async () => {
  const socket = await open();
  for (let i = 0; i < 200; i++) {
    socket.start(String(i), 'subscription { item { id } }');
    socket.send({ type: 'complete', id: String(i) });
  }
  socket.start('last', '{ item { id } }');
  for (let message = await socket.next(); message['id'] !== 'last'; message = await socket.next());
  expect(await service.metadata('get_subscriptions', {})).toMatchObject({ pollers: [] });
});

it.runIf(DEEP)('closes the connection of a client without keep-alives', async () => {
  const socket = await raw();
  // It reads everything and answers nothing.
  socket.resume();
  await new Promise((resolve) => socket.once('close', resolve));
});

it.runIf(DEEP)('closes a socket whose message does not end', async () => {
  const socket = await raw();
  socket.on('data', (chunk) => {
    // It answers pings.
    if (chunk.includes(0x89)) socket.write(Buffer.from([0x8a, 0x80, 0, 0, 0, 0]));
  });
  socket.write(Buffer.from([0x01, 0x85, 0, 0, 0, 0]));
  socket.write(Buffer.from('{"typ'));
  await new Promise((resolve) => socket.once('close', resolve));
});
