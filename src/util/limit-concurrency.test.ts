import { expect, it } from 'vitest';
import { limitConcurrency } from './limit-concurrency.ts';

/** A task that ends on demand. */
function task(begun: number[], name: number) {
  let end: (error?: Error) => void = () => undefined;
  const run = () => {
    begun.push(name);
    return new Promise<number>((resolve, reject) => {
      end = (error) => (error === undefined ? resolve(name) : reject(error));
    });
  };
  return { run, end: (error?: Error) => end(error) };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

it('runs at most as many tasks as the limit, in order', async () => {
  const limited = limitConcurrency(2);
  const begun: number[] = [];
  const tasks = [0, 1, 2, 3].map((name) => task(begun, name));
  const done = Promise.all(tasks.map(({ run }) => limited(run)));
  await settle();
  expect(begun).toEqual([0, 1]);
  tasks[1]?.end();
  await settle();
  expect(begun).toEqual([0, 1, 2]);
  for (const i of [0, 2]) tasks[i]?.end();
  await settle();
  tasks[3]?.end();
  expect(await done).toEqual([0, 1, 2, 3]);
});

it('rejects waiting tasks when one fails, and runs later ones', async () => {
  const limited = limitConcurrency(1);
  const begun: number[] = [];
  const tasks = [0, 1, 2].map((name) => task(begun, name));
  const done = Promise.allSettled(tasks.map(({ run }) => limited(run)));
  await settle();
  tasks[0]?.end(new Error('broken'));
  expect((await done).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(begun).toEqual([0]);
  const later = task(begun, 3);
  const result = limited(later.run);
  await settle();
  later.end();
  expect(await result).toBe(3);
});
