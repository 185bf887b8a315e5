import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Catalog } from '../../catalog/catalog.ts';
import { followCatalogs } from './follow-catalogs.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const holding = (version: number): Catalog => ({ tables: new Map(), functions: new Map(), version });

it('tells of what has changed, takes what is left out for the same, and looks less often while nothing happens', async () => {
  let [looks, version, isLeftOut] = [0, 1, false];
  const told: (readonly string[])[] = [];
  const following = followCatalogs(
    async () => {
      looks += 1;
      return new Map(isLeftOut ? [] : [['default', holding(version)]]);
    },
    async (names) => void told.push(names),
    () => undefined,
  );
  const after = async (seconds: number): Promise<number> => {
    const before = looks;
    await vi.advanceTimersByTimeAsync(seconds * 1000);
    return looks - before;
  };
  await following.settle();
  expect(await after(4)).toBe(2);
  version = 2;
  await after(2);
  isLeftOut = true;
  await after(4);
  isLeftOut = false;
  await after(2);
  expect(told).toEqual([['default']]);
  await after(150);
  expect(await after(80)).toBe(10);
  version = 3;
  await after(8);
  expect(told).toEqual([['default'], ['default']]);
  expect(await after(10)).toBe(5);
  await following.stop();
  expect(await after(20)).toBe(0);
});
