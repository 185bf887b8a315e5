import { expect, it } from 'vitest';
import { createTurns } from './turns.ts';

/** A task that ends when it is told to. */
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

it('runs so many at once, in the order in which they came', async () => {
  const turns = createTurns(2);
  const begun: number[] = [];
  const tasks = [0, 1, 2, 3].map((name) => task(begun, name));
  const done = Promise.all(tasks.map(({ run }) => turns(run)));
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

it('begins none of those that wait once one has failed, and goes on afterwards', async () => {
  const turns = createTurns(1);
  const begun: number[] = [];
  const tasks = [0, 1, 2].map((name) => task(begun, name));
  const done = Promise.allSettled(tasks.map(({ run }) => turns(run)));
  await settle();
  tasks[0]?.end(new Error('broken'));
  expect((await done).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(begun).toEqual([0]);
  const later = task(begun, 3);
  const result = turns(later.run);
  await settle();
  later.end();
  expect(await result).toBe(3);
});
