import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SharedInterval } from './shared-interval.ts';

describe('SharedInterval', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('runs each check until it is removed, and has no timer without checks', () => {
    const interval = new SharedInterval(50);
    const [one, other] = [vi.fn(), vi.fn()];
    const endOne = interval.add(one);
    vi.advanceTimersByTime(30);
    const endOther = interval.add(other);
    vi.advanceTimersByTime(20);
    expect([one.mock.calls.length, other.mock.calls.length]).toEqual([1, 1]);
    endOne();
    vi.advanceTimersByTime(100);
    expect([one.mock.calls.length, other.mock.calls.length]).toEqual([1, 3]);
    endOther();
    endOther();
    vi.advanceTimersByTime(50);
    expect(vi.getTimerCount()).toBe(0);
    interval.add(one);
    vi.advanceTimersByTime(50);
    expect(one).toHaveBeenCalledTimes(2);
  });

  it('lets a check remove itself', () => {
    const interval = new SharedInterval(10);
    const end = interval.add(() => end());
    vi.advanceTimersByTime(20);
    expect(vi.getTimerCount()).toBe(0);
  });
});
