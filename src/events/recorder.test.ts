import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createRecorder } from './recorder.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('writes an outcome half a second after the database is back, however long it was away', async () => {
  let isAway = true;
  const written: string[] = [];
  const recorder = createRecorder<string>({
    gather: () => 0,
    async record(outcomes) {
      if (isAway) throw new Error('the database is away');
      written.push(...outcomes);
    },
    failed: () => undefined,
    isRefusal: () => false,
    sizeOf: () => 0,
    leftOut: () => undefined,
  });
  recorder.add('delivered');
  // Later than an attempt whose pause has been doubled to seconds.
  await vi.advanceTimersByTimeAsync(3_200);
  isAway = false;
  await vi.advanceTimersByTimeAsync(500);
  expect(written).toEqual(['delivered']);
  recorder.stop();
});
