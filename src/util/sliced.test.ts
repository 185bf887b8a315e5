import { expect, test, vi } from 'vitest';
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

test('the result is the same at once and in slices', async () => {
  expect(atOnce(sum(10))).toBe(55);
  expect(await inSlices(sum(10))).toBe(55);
});

test('others get their turn between slices, and not after every step', async () => {
  let clock = 0;
  const now = vi.spyOn(performance, 'now').mockImplementation(() => clock);
  let turns = 0;
  const pauses: number[] = [];
  const others = setImmediate(function turn() {
    turns += 1;
    if (turns < 1000) setImmediate(turn);
  });
  try {
    await inSlices(
      sum(100, () => {
        clock += 1;
      }),
      () => pauses.push(turns),
    );
  } finally {
    now.mockRestore();
    clearImmediate(others);
    turns = 1000;
  }
  // Slices of four milliseconds, of a step each; in every pause somebody else had a turn.
  expect(pauses).toHaveLength(25);
  expect(new Set(pauses).size).toBe(25);
});

test('work that nobody waits for ends at its next pause', async () => {
  const gone = new Error('gone');
  const now = vi.spyOn(performance, 'now').mockReturnValue(0);
  let steps = 0;
  try {
    const work = sum(100, () => {
      steps += 1;
      now.mockReturnValue(steps * 10);
    });
    const given = inSlices(work, () => {
      if (steps === 3) throw gone;
    });
    await expect(given).rejects.toBe(gone);
  } finally {
    now.mockRestore();
  }
  expect(steps).toBe(3);
});

test('a failure in the middle is the failure of the whole', async () => {
  const failing = (): Sliced<number> =>
    sum(3, () => {
      throw new Error('no');
    });
  expect(() => atOnce(failing())).toThrow('no');
  await expect(inSlices(failing())).rejects.toThrow('no');
});
