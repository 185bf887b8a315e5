import { expect, it } from 'vitest';
import { Lane } from './lane.ts';

/** Enters operations, `w…` exclusively, and keeps a list of those that run. */
function play(lane: Lane): { enter(name: string): void; leave(name: string): Promise<void>; running: Set<string> } {
  const running = new Set<string>();
  return {
    running,
    enter(name) {
      const turn = lane.enter(name.startsWith('w'));
      if (turn === null) running.add(name);
      else void turn.then(() => running.add(name));
    },
    async leave(name) {
      running.delete(name);
      lane.leave();
      await Promise.resolve();
    },
  };
}

it('runs reads side by side, up to a number', async () => {
  const { enter, leave, running } = play(new Lane(2));
  for (const name of ['r1', 'r2', 'r3']) enter(name);
  expect([...running]).toEqual(['r1', 'r2']);
  await leave('r1');
  expect([...running]).toEqual(['r2', 'r3']);
});

it('lets nobody overtake a write, and runs it alone', async () => {
  const { enter, leave, running } = play(new Lane(4));
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

it('gives no turns while it is held', async () => {
  const lane = new Lane(4);
  const { enter, leave, running } = play(lane);
  enter('r1');
  lane.hold(true);
  enter('r2');
  await leave('r1');
  expect([...running]).toEqual([]);
  lane.hold(false);
  await Promise.resolve();
  expect([...running]).toEqual(['r2']);
});
