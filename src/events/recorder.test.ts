import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createRecorder } from './recorder.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('writes an outcome within half a second after an outage of any duration', async () => {
  let isAway = true;
  const written: string[] = [];
  const recorder = createRecorder<string>({
    gather: () => 0,
    async record(outcomes) {
      if (isAway) throw new Error('the database is away');
      written.push(...outcomes);
    },
    onFailure: () => undefined,
    isRefusal: () => false,
    sizeOf: () => 0,
    onDropped: () => undefined,
  });
  recorder.add('delivered');
  // After an attempt whose pause would have doubled to seconds.
  await vi.advanceTimersByTimeAsync(3_200);
  isAway = false;
  await vi.advanceTimersByTimeAsync(500);
  expect(written).toEqual(['delivered']);
  recorder.stop();
});
