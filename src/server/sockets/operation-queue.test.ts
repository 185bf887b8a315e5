import { expect, it } from 'vitest';
import { OperationQueue } from './operation-queue.ts';

/** Queues operations, `w…` exclusively, and lists those that run. */
function play(queue: OperationQueue): { enter(name: string): void; leave(name: string): Promise<void>; running: Set<string> } {
  const running = new Set<string>();
  return {
    running,
    enter(name) {
      const turn = queue.acquire(name.startsWith('w'));
      if (turn === null) running.add(name);
      else void turn.then(() => running.add(name));
    },
    async leave(name) {
      running.delete(name);
      queue.release();
      await Promise.resolve();
    },
  };
}

it('runs reads concurrently up to the limit', async () => {
  const { enter, leave, running } = play(new OperationQueue(2));
  for (const name of ['r1', 'r2', 'r3']) enter(name);
  expect([...running]).toEqual(['r1', 'r2']);
  await leave('r1');
  expect([...running]).toEqual(['r2', 'r3']);
});

it('runs a write alone and in order', async () => {
  const { enter, leave, running } = play(new OperationQueue(4));
  for (const name of ['r1', 'w1', 'r2', 'r3', 'w2', 'r4']) enter(name);
  expect([...running]).toEqual(['r1']);
  await leave('r1');
  expect([...running]).toEqual(['w1']);
  await leave('w1');
  expect([...running]).toEqual(['r2', 'r3']);
  await leave('r2');
  await leave('r3');
  expect([...running]).toEqual(['w2']);
  await leave('w2');
  expect([...running]).toEqual(['r4']);
});

it('starts no operations while paused', async () => {
  const queue = new OperationQueue(4);
  const { enter, leave, running } = play(queue);
  enter('r1');
  queue.pause(true);
  enter('r2');
  await leave('r1');
  expect([...running]).toEqual([]);
  queue.pause(false);
  await Promise.resolve();
  expect([...running]).toEqual(['r2']);
});
