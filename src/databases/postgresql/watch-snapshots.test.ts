import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { bytesOfText } from '../../util/bytes.ts';
import { ConnectionError } from './driver/database-error.ts';
import type { WireExchange } from './driver/exchange.ts';
import type { DriverSession } from './driver/session.ts';
import { watchSnapshots } from './watch-snapshots.ts';

/** A session whose server answers at once. */
class FakeServer {
  snapshot = '1:1:';
  queries = 0;
  opened = 0;
  isClosed = false;
  owner: DriverSession['owner'] = null;
  readonly #session = this as unknown as DriverSession;

  open(): Promise<DriverSession> {
    this.opened += 1;
    return Promise.resolve(this.#session);
  }

  send(exchange: WireExchange): void {
    this.queries += 1;
    exchange.rows.push([[bytesOfText(this.snapshot.slice(0, 2)), bytesOfText(this.snapshot.slice(2))]]);
    exchange.settle(exchange);
  }

  lose(): void {
    this.owner?.lost(this.#session, new ConnectionError('lost', 'gone'));
  }

  end(): void {}
  destroy(): void {}
}

let server: FakeServer;
let snapshots: (string | null)[] = [];
let watch: ReturnType<typeof watchSnapshots>;

beforeEach(() => {
  vi.useFakeTimers();
  server = new FakeServer();
  snapshots = [];
  watch = watchSnapshots({
    open: () => server.open(),
    intervalMs: 100,
    onSnapshot: (snapshot) => snapshots.push(snapshot),
    onEvent: () => undefined,
  });
});
afterEach(() => {
  watch.stop();
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

/** Returns the number of queries within a time. */
async function queriesIn(ms: number): Promise<number> {
  const before = server.queries;
  await vi.advanceTimersByTimeAsync(ms);
  return server.queries - before;
}

test('polls at its interval while something changes, and less often after a while without changes', async () => {
  await vi.advanceTimersByTimeAsync(10);
  expect(await queriesIn(4_000)).toBe(40);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(await queriesIn(1_600)).toBe(10);
  server.snapshot = '1:2:';
  await vi.advanceTimersByTimeAsync(160);
  expect(snapshots.at(-1)).toBe('1:2:');
  expect(await queriesIn(4_000)).toBe(40);
});

test('polls at once on request', async () => {
  await vi.advanceTimersByTimeAsync(10_000);
  server.snapshot = '1:3:';
  watch.poll();
  expect(snapshots.at(-1)).toBe('1:3:');
  expect(await queriesIn(1_000)).toBe(10);
});

test('reports an unknown snapshot when the connection is lost, and opens another one', async () => {
  await vi.advanceTimersByTimeAsync(200);
  server.lose();
  expect(snapshots.at(-1)).toBeNull();
  await vi.advanceTimersByTimeAsync(100);
  expect(server.opened).toBe(2);
  expect(snapshots.at(-1)).toBe('1:1:');
});
