import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DEEP } from '../support/deep.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
const QUERY = JSON.stringify({ query: '{ item { name } }' });
const REQUEST = `POST /v1/graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${QUERY.length}\r\n\r\n${QUERY}`;

beforeAll(async () => {
  service = await startTestService({ RESPONSE_TIMEOUT: '1', RESULT_MEMORY: '22000000' });
  // A response of 20 MB: more than the system buffers.
  await service.sql("create table item (id int, name text); insert into item select n, repeat('x', 1000000) from generate_series(1, 20) n");
  await service.metadata('pg_track_table', { table: 'item' });
});
afterAll(() => service.stop());

async function unread(requests: string): Promise<Socket> {
  const { port, hostname } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  await new Promise<void>((resolve) => void socket.once('connect', () => resolve()));
  socket.pause();
  socket.write(requests);
  return socket;
}

const answered = (): number => service.observations.filter((o) => o.kind === 'http').length;

/** Reads the rest: to the end of the response, or of the connection. */
function rest(socket: Socket, onData: (received: number) => void = () => undefined): Promise<number> {
  return new Promise((resolve) => {
    let received = 0;
    socket.on('data', (chunk) => {
      received += chunk.length;
      onData(received);
      if (received > 20_000_000) resolve(received);
    });
    socket.once('close', () => resolve(received));
    socket.resume();
  });
}

it('closes the connection of a client that does not read', async () => {
  const before = answered();
  const socket = await unread(REQUEST);
  while (answered() === before) await sleep(10);
  await sleep(4500);
  expect(await rest(socket)).toBeLessThan(20_000_000);
  socket.destroy();
});

it('answers others while a client does not read, within the memory for results', async () => {
  const { port, hostname } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  let isOpen = true;
  socket.once('close', () => {
    isOpen = false;
  });
  socket.write(REQUEST);
  await new Promise<void>((resolve) => {
    socket.once('data', () => {
      socket.pause();
      resolve();
    });
  });
  const answers = await Promise.all([
    service.graphql('query a { item(where: {id: {_lt: 4}}) { id name } }'),
    service.graphql('query b { item(limit: 1) { id } }'),
  ]);
  expect(answers.map(({ errors }) => errors)).toEqual([undefined, undefined]);
  expect(isOpen).toBe(true);
  socket.destroy();
});

// Five seconds of waiting.
it.runIf(DEEP)('keeps the connection of a client that reads slowly', async () => {
  const socket = await unread(REQUEST);
  const started = performance.now();
  let pauses = 0;
  const received = await rest(socket, (count) => {
    if (count < (pauses + 1) * 1_500_000) return;
    pauses += 1;
    socket.pause();
    setTimeout(() => socket.resume(), 400);
  });
  expect(received).toBeGreaterThan(20_000_000);
  expect(performance.now() - started).toBeGreaterThan(4500);
  socket.destroy();
});

it.runIf(DEEP)('waits for the reader before it answers pipelined requests', async () => {
  await service.sql("create sequence reads; create view counted as select name from item where nextval('reads') > 0");
  await service.metadata('pg_track_table', { table: 'counted' });
  const query = JSON.stringify({ query: '{ counted { name } }' });
  const request = REQUEST.replace(QUERY, query).replace(`Content-Length: ${QUERY.length}`, `Content-Length: ${query.length}`);
  const socket = await unread(request.repeat(30));
  await sleep(1500);
  // The view counts the 20 rows of each read.
  expect(await service.sql('select last_value from reads')).toMatchObject({ result: [['last_value'], ['20']] });
  socket.destroy();
});

it.runIf(DEEP)('allows a slow query more time than its client has to read the response', async () => {
  await service.sql('create view slow as select id from item, lateral (select pg_sleep(2.5)) as pause where id = 1');
  await service.metadata('pg_track_table', { table: 'slow' });
  expect(await service.graphql('{ slow { id } }')).toEqual({ data: { slow: [{ id: 1 }] } });
});
