import { expect, test } from 'vitest';
import { atOnce, inSlices, type Sliced } from './sliced.ts';

function* sum(steps: number, step: () => void = () => {}): Sliced<number> {
  let total = 0;
  for (let i = 1; i <= steps; i += 1) {
    step();
    total += i;
    yield;
  }
  return total;
}

function busy(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

test('the result is the same at once and in slices', async () => {
  expect(atOnce(sum(10))).toBe(55);
  expect(await inSlices(sum(10))).toBe(55);
});

test('others get their turn between slices, and not after every step', async () => {
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 0);
  await inSlices(sum(100, () => busy(1)));
  clearInterval(timer);
  expect(turns).toBeGreaterThan(4);
  expect(turns).toBeLessThan(50);
});

test('a failure in the middle is the failure of the whole', async () => {
  const failing = (): Sliced<number> =>
    sum(3, () => {
      throw new Error('no');
    });
  expect(() => atOnce(failing())).toThrow('no');
  await expect(inSlices(failing())).rejects.toThrow('no');
});
