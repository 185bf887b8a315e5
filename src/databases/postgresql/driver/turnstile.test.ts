import { expect, test, vi } from 'vitest';
import { Turnstile } from './turnstile.ts';

/** Who got in, in order. */
function crowd(turnstile: Turnstile) {
  const inside: number[] = [];
  return {
    inside,
    enter(name: number): void {
      const wait = turnstile.enter();
      if (wait === null) inside.push(name);
      else void wait.then(() => inside.push(name));
    },
  };
}
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a few at once, the others in their order as soon as one leaves', async () => {
  const turnstile = new Turnstile();
  const { inside, enter } = crowd(turnstile);
  for (let i = 0; i < 8; i++) enter(i);
  expect(inside).toEqual([0, 1, 2, 3, 4]);
  turnstile.leave(0.5);
  enter(8);
  turnstile.leave(0.5);
  await settled();
  expect(inside).toEqual([0, 1, 2, 3, 4, 5, 6]);
  turnstile.leave(null);
  turnstile.leave(null);
  await settled();
  expect(inside).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
});

test('nobody waits long for those inside', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  try {
    const turnstile = new Turnstile();
    const { inside, enter } = crowd(turnstile);
    for (let i = 0; i < 7; i++) enter(i);
    await vi.advanceTimersByTimeAsync(4);
    enter(7);
    expect(inside.length).toBe(5);
    await vi.advanceTimersByTimeAsync(1);
    expect(inside).toEqual([0, 1, 2, 3, 4, 5, 6]);
    await vi.advanceTimersByTimeAsync(4);
    expect(inside).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  } finally {
    vi.useRealTimers();
  }
});

test('more at once where each takes long', () => {
  const turnstile = new Turnstile();
  for (let i = 0; i < 500; i++) {
    expect(turnstile.enter()).toBe(null);
    turnstile.leave(10);
  }
  const waits = Array.from({ length: 45 }, () => turnstile.enter());
  expect(waits.filter((wait) => wait === null).length).toBe(40);
});
