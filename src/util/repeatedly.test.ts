import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { repeatedly } from './repeatedly.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('runs at once and at each interval, but never concurrently', async () => {
  const ends: (() => void)[] = [];
  const repetition = repeatedly(
    () => new Promise((resolve) => void ends.push(resolve)),
    1000,
    () => undefined,
  );
  expect(ends).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(5000);
  expect(ends).toHaveLength(1);
  ends[0]?.();
  await vi.advanceTimersByTimeAsync(1000);
  expect(ends).toHaveLength(2);
  let isStopped = false;
  void repetition.stop().then(() => {
    isStopped = true;
  });
  await vi.advanceTimersByTimeAsync(5000);
  expect([ends.length, isStopped]).toEqual([2, false]);
  ends[1]?.();
  await vi.advanceTimersByTimeAsync(0);
  expect(isStopped).toBe(true);
});

test('continues after a failed run', async () => {
  let runs = 0;
  const failures: unknown[] = [];
  const repetition = repeatedly(
    async () => {
      runs += 1;
      if (runs === 1) throw new Error('the first');
    },
    1000,
    (error) => void failures.push(error),
  );
  await vi.advanceTimersByTimeAsync(2000);
  expect([runs, failures]).toEqual([3, [new Error('the first')]]);
  await repetition.stop();
});
