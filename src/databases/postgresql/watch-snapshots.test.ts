import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { bytesOfText } from '../../util/bytes.ts';
import { ConnectionError } from './driver/database-error.ts';
import type { WireExchange } from './driver/exchange.ts';
import type { DriverSession } from './driver/session.ts';
import { watchSnapshots } from './watch-snapshots.ts';

/** A server that answers at once. */
class Played {
  snapshot = '1:1:';
  questions = 0;
  opened = 0;
  isClosed = false;
  owner: DriverSession['owner'] = null;
  readonly #session = this as unknown as DriverSession;

  open(): Promise<DriverSession> {
    this.opened += 1;
    return Promise.resolve(this.#session);
  }

  send(exchange: WireExchange): void {
    this.questions += 1;
    exchange.rows.push([[bytesOfText(this.snapshot.slice(0, 2)), bytesOfText(this.snapshot.slice(2))]]);
    exchange.settle(exchange);
  }

  lose(): void {
    this.owner?.lost(this.#session, new ConnectionError('lost', 'gone'));
  }

  end(): void {}
  destroy(): void {}
}

let played: Played;
let heard: (string | null)[] = [];
let watch: ReturnType<typeof watchSnapshots>;

beforeEach(() => {
  vi.useFakeTimers();
  played = new Played();
  heard = [];
  watch = watchSnapshots({
    open: () => played.open(),
    intervalMs: 100,
    onSnapshot: (snapshot) => heard.push(snapshot),
    onEvent: () => undefined,
  });
});
afterEach(() => {
  watch.stop();
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

/** How many questions there are in so many ms. */
async function questionsIn(ms: number): Promise<number> {
  const before = played.questions;
  await vi.advanceTimersByTimeAsync(ms);
  return played.questions - before;
}

test('asks every interval while something changes, and less often when nothing has for a while', async () => {
  await vi.advanceTimersByTimeAsync(10);
  expect(await questionsIn(4_000)).toBe(40);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(await questionsIn(1_600)).toBe(10);
  played.snapshot = '1:2:';
  await vi.advanceTimersByTimeAsync(160);
  expect(heard.at(-1)).toBe('1:2:');
  expect(await questionsIn(4_000)).toBe(40);
});

test('asks at once when it is told to', async () => {
  await vi.advanceTimersByTimeAsync(10_000);
  played.snapshot = '1:3:';
  watch.ask();
  expect(heard.at(-1)).toBe('1:3:');
  expect(await questionsIn(1_000)).toBe(10);
});

test('knows nothing any more when the connection is lost, and opens another one', async () => {
  await vi.advanceTimersByTimeAsync(200);
  played.lose();
  expect(heard.at(-1)).toBeNull();
  await vi.advanceTimersByTimeAsync(100);
  expect(played.opened).toBe(2);
  expect(heard.at(-1)).toBe('1:1:');
});
