import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Watch } from './watch.ts';

describe('a watch', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('looks after each thing until it ends, and has no timer when there is nothing', () => {
    const watch = new Watch(50);
    const [one, other] = [vi.fn(), vi.fn()];
    const endOne = watch.add(one);
    vi.advanceTimersByTime(30);
    const endOther = watch.add(other);
    vi.advanceTimersByTime(20);
    expect([one.mock.calls.length, other.mock.calls.length]).toEqual([1, 1]);
    endOne();
    vi.advanceTimersByTime(100);
    expect([one.mock.calls.length, other.mock.calls.length]).toEqual([1, 3]);
    endOther();
    endOther();
    vi.advanceTimersByTime(50);
    expect(vi.getTimerCount()).toBe(0);
    watch.add(one);
    vi.advanceTimersByTime(50);
    expect(one).toHaveBeenCalledTimes(2);
  });

  it('lets what it looks after end itself', () => {
    const watch = new Watch(10);
    const end = watch.add(() => end());
    vi.advanceTimersByTime(20);
    expect(vi.getTimerCount()).toBe(0);
  });
});
