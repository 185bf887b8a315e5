import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Catalog } from '../../catalog/catalog.ts';
import { followCatalogs } from './follow-catalogs.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const holding = (version: number): Catalog => ({ tables: new Map(), functions: new Map(), version });

it('reports changed sources, treats omitted ones as unchanged, and polls less often while idle', async () => {
  let [polls, version, isOmitted] = [0, 1, false];
  const reported: (readonly string[])[] = [];
  const following = followCatalogs(
    async () => {
      polls += 1;
      return new Map(isOmitted ? [] : [['default', holding(version)]]);
    },
    async (names) => void reported.push(names),
    () => undefined,
  );
  const after = async (seconds: number): Promise<number> => {
    const before = polls;
    await vi.advanceTimersByTimeAsync(seconds * 1000);
    return polls - before;
  };
  await following.settle();
  expect(await after(4)).toBe(2);
  version = 2;
  await after(2);
  isOmitted = true;
  await after(4);
  isOmitted = false;
  await after(2);
  expect(reported).toEqual([['default']]);
  await after(150);
  expect(await after(80)).toBe(10);
  version = 3;
  await after(8);
  expect(reported).toEqual([['default'], ['default']]);
  expect(await after(10)).toBe(5);
  await following.stop();
  expect(await after(20)).toBe(0);
});
