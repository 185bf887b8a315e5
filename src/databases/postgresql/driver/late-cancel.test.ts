import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WAIT } from '../../../../test/support/wait.ts';
import { CancellationSource } from '../../../util/cancellation.ts';
import { WireExchange } from './exchange.ts';
import { Pool } from './pool.ts';
import { DriverSession } from './session.ts';

const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);
const SLOW = 'slow';

/** Server that answers every statement at once, and `SLOW` when the test calls `endSlow`. */
let server: net.Server;
let endSlow: (() => void) | null = null;
beforeAll(async () => {
  server = net.createServer((socket) => {
    socket
      .on('error', () => undefined)
      .on('data', (data) => {
        if (data.includes(SLOW)) endSlow = () => socket.write(READY);
        else socket.write(READY);
      });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterAll(() => {
  server.close();
});

it.each([
  { title: 'reuses a connection once its cancel request has been processed', processed: true, opened: 1 },
  { title: 'does not reuse a connection that a cancel request may still reach', processed: false, opened: 2 },
])('$title', async ({ processed, opened }) => {
  let cancelled: ((processed: boolean) => void) | null = null;
  let count = 0;
  const open = async (): Promise<DriverSession> => {
    count += 1;
    const socket = net.connect((server.address() as AddressInfo).port, '127.0.0.1');
    await once(socket, 'connect');
    return new DriverSession(socket, {
      prepare: false,
      preparedMemory: 0,
      cancel: (done) => {
        cancelled = done;
      },
      terminate: () => undefined,
    });
  };
  const limits = { maxConnections: 1, idleTimeoutMs: 60_000, lifetimeMs: 600_000, waitTimeoutMs: 60_000, retries: 0 };
  const pool = new Pool(open, limits, () => undefined);
  await pool.start();
  const run = (text: string, signal?: CancellationSource): Promise<WireExchange> =>
    new Promise((resolve) => {
      const exchange = new WireExchange('json', [{ text, values: [] }], resolve);
      exchange.signal = signal;
      exchange.releasesEarly = true;
      pool.read(exchange);
    });
  endSlow = null;
  const signal = new CancellationSource();
  const slow = run(SLOW, signal);
  await expect.poll(() => endSlow, WAIT).not.toBeNull();
  signal.cancel();
  expect((await slow).failure).toMatchObject({ reason: 'abort' });
  await expect.poll(() => cancelled, WAIT).not.toBeNull();
  const next = run('quick');
  (cancelled as unknown as (processed: boolean) => void)(processed);
  (endSlow as unknown as () => void)();
  expect((await next).failure).toBeNull();
  expect(count).toBe(opened);
  await pool.close(0);
});
