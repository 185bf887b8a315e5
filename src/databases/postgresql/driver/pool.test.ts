import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WireExchange } from './exchange.ts';
import { Pool } from './pool.ts';
import { DriverSession } from './session.ts';

const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);
const SYNC = Buffer.from([0x53, 0, 0, 0, 4]);

/** Server that answers every statement at once, and records the number of statements in each write to it. */
let server: net.Server;
let writes: number[] = [];
beforeAll(async () => {
  server = net.createServer((socket) => {
    socket
      .on('error', () => undefined)
      .on('data', (data) => {
        let count = 0;
        for (let at = data.indexOf(SYNC); at >= 0; at = data.indexOf(SYNC, at + 1)) count++;
        writes.push(count);
        socket.write(Buffer.concat(Array.from({ length: count }, () => READY)));
      });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterAll(() => {
  server.close();
});

async function open(): Promise<DriverSession> {
  const socket = net.connect((server.address() as AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');
  return new DriverSession(socket, { prepare: false, preparedMemory: 0, cancel: () => undefined, terminate: () => undefined });
}

const LIMITS = { maxConnections: 8, idleTimeoutMs: 60_000, lifetimeMs: 600_000, waitTimeoutMs: 60_000, retries: 0 };

it.each([
  { title: 'sends short statements of one turn in one write', durations: [0.01], expected: [8] },
  { title: 'spreads statements over the connections that would take longer together', durations: [0.4], expected: [2, 2, 2, 2] },
  { title: 'spreads slower statements', durations: [20], expected: [2, 2, 2, 2] },
  {
    title: 'spreads statements that are short on average, and took long a while ago',
    durations: [0.01, 200, ...Array.from({ length: 100 }, () => 0.01)],
    expected: [2, 2, 2, 2],
  },
  {
    title: 'forgets in time that a statement took long',
    durations: [0.01, 200, ...Array.from({ length: 200 }, () => 0.01)],
    expected: [8],
  },
])('$title', async ({ durations, expected }) => {
  const pool = new Pool(open, LIMITS, () => undefined);
  await pool.start();
  const idle = await Promise.all(Array.from({ length: 4 }, () => pool.acquire({})));
  for (const session of idle) pool.release(session);
  for (const ms of durations) pool.costs.record('statement', ms);
  writes = [];
  const ended = Array.from(
    { length: 8 },
    () =>
      new Promise<WireExchange>((resolve) => {
        pool.read(new WireExchange('json', [{ text: 'statement', values: [] }], resolve));
      }),
  );
  for (const { failure } of await Promise.all(ended)) expect(failure).toBeNull();
  expect(writes).toEqual(expected);
  await pool.close(0);
});
