import { expect, test, vi } from 'vitest';
import { AdaptiveSemaphore } from './adaptive-semaphore.ts';

/** Collects admitted numbers in order. */
function admissions(semaphore: AdaptiveSemaphore) {
  const admitted: number[] = [];
  return {
    admitted,
    enter(name: number): void {
      const wait = semaphore.acquire();
      if (wait === null) admitted.push(name);
      else void wait.then(() => admitted.push(name));
    },
  };
}
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('admits a few at once, and the others in order as soon as one is released', async () => {
  const semaphore = new AdaptiveSemaphore();
  const { admitted, enter } = admissions(semaphore);
  for (let i = 0; i < 8; i++) enter(i);
  expect(admitted).toEqual([0, 1, 2, 3, 4]);
  semaphore.release(0.5);
  enter(8);
  semaphore.release(0.5);
  await settled();
  expect(admitted).toEqual([0, 1, 2, 3, 4, 5, 6]);
  semaphore.release(null);
  semaphore.release(null);
  await settled();
  expect(admitted).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
});

test('admits a waiting transaction after the maximum wait', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  try {
    const semaphore = new AdaptiveSemaphore();
    const { admitted, enter } = admissions(semaphore);
    for (let i = 0; i < 7; i++) enter(i);
    await vi.advanceTimersByTimeAsync(4);
    enter(7);
    expect(admitted.length).toBe(5);
    await vi.advanceTimersByTimeAsync(1);
    expect(admitted).toEqual([0, 1, 2, 3, 4, 5, 6]);
    await vi.advanceTimersByTimeAsync(4);
    expect(admitted).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  } finally {
    vi.useRealTimers();
  }
});

test('admits more at once if transactions are slow', () => {
  const semaphore = new AdaptiveSemaphore();
  for (let i = 0; i < 500; i++) {
    expect(semaphore.acquire()).toBe(null);
    semaphore.release(10);
  }
  const waits = Array.from({ length: 45 }, () => semaphore.acquire());
  expect(waits.filter((wait) => wait === null).length).toBe(40);
});
