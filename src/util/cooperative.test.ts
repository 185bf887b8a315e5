import { expect, test, vi } from 'vitest';
import { runSync, runCooperatively, type Cooperative } from './cooperative.ts';

function* sum(steps: number, step: () => void = () => {}): Cooperative<number> {
  let total = 0;
  for (let i = 1; i <= steps; i += 1) {
    step();
    total += i;
    yield;
  }
  return total;
}

test('runSync and runCooperatively return the same result', async () => {
  expect(runSync(sum(10))).toBe(55);
  expect(await runCooperatively(sum(10))).toBe(55);
});

test('runCooperatively yields to the event loop every few milliseconds, not after every step', async () => {
  let clock = 0;
  const now = vi.spyOn(performance, 'now').mockImplementation(() => clock);
  let turns = 0;
  const pauses: number[] = [];
  const others = setImmediate(function turn() {
    turns += 1;
    if (turns < 1000) setImmediate(turn);
  });
  try {
    await runCooperatively(
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
  // A slice lasts four milliseconds, a step one. Other work ran in every pause.
  expect(pauses).toHaveLength(25);
  expect(new Set(pauses).size).toBe(25);
});

test('an error of onResume ends the work at its next pause', async () => {
  const gone = new Error('gone');
  const now = vi.spyOn(performance, 'now').mockReturnValue(0);
  let steps = 0;
  try {
    const work = sum(100, () => {
      steps += 1;
      now.mockReturnValue(steps * 10);
    });
    const given = runCooperatively(work, () => {
      if (steps === 3) throw gone;
    });
    await expect(given).rejects.toBe(gone);
  } finally {
    now.mockRestore();
  }
  expect(steps).toBe(3);
});

test('an error of the work is passed on', async () => {
  const failing = (): Cooperative<number> =>
    sum(3, () => {
      throw new Error('no');
    });
  expect(() => runSync(failing())).toThrow('no');
  await expect(runCooperatively(failing())).rejects.toThrow('no');
});
