import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Heartbeat } from './heartbeat.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('calls each listener once per interval, spread over time', () => {
  const heartbeat = new Heartbeat(1000);
  const times: number[][] = [];
  for (let i = 0; i < 10; i++) {
    const calls: number[] = [];
    times.push(calls);
    heartbeat.add({ beat: () => calls.push(Date.now()) });
    vi.advanceTimersByTime(100);
  }
  vi.advanceTimersByTime(3000);
  for (const calls of times) {
    expect(calls.length).toBeGreaterThanOrEqual(3);
    expect(calls.slice(1).map((time, i) => time - (calls[i] as number))).toEqual(calls.slice(1).map(() => 1000));
  }
  expect(new Set(times.map(([first = 0]) => first % 1000)).size).toBe(10);
});

it('has no timer without listeners', () => {
  const heartbeat = new Heartbeat(1000);
  let calls = 0;
  const end = heartbeat.add({ beat: () => calls++ });
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(1000);
  end();
  end();
  vi.advanceTimersByTime(5000);
  expect([calls, vi.getTimerCount()]).toEqual([1, 0]);
});
