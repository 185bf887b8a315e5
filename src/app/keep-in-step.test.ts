import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it, vi } from 'vitest';
import type { Observation } from '../observability/observation.ts';
import type { Announcement } from '../metadata-store/storage.ts';
import { type KeepingInStep, keepInStep } from './keep-in-step.ts';
import { WAIT } from '../../test/support/wait.ts';

const running: KeepingInStep[] = [];
afterEach(async () => {
  for (const each of running.splice(0)) await each.stop();
});

/** A database with a version, a state that takes it over, and what happened. */
async function follow({ interval = 600_000, listens = true } = {}) {
  const world = { stored: 1, own: 1, reachable: true, looks: 0, synchronized: 0, slow: 0 };
  const events: string[] = [];
  let hear: ((change: Announcement | null) => void) | undefined;
  const keeping = await keepInStep({
    instanceId: 'me',
    interval,
    observe: (o: Observation) => void events.push(o.kind === 'source' ? o.event : o.kind),
    state: {
      current: () => ({ resourceVersion: world.own }) as never,
      async synchronize() {
        await sleep(world.slow);
        world.synchronized += 1;
        world.own = world.stored;
      },
    },
    storage: {
      async currentVersion() {
        world.looks += 1;
        if (!world.reachable) throw new Error('gone');
        return world.stored;
      },
      async listen(onChange) {
        if (!listens) return undefined;
        hear = onChange;
        const stop = async (): Promise<void> => {
          hear = undefined;
        };
        return { stop };
      },
    },
  });
  running.push(keeping);
  const announce = (instance: string): void => {
    world.stored += 1;
    hear?.({ version: world.stored, instance });
  };
  return { world, events, announce, miss: () => hear?.(null), keeping, isListening: () => hear !== undefined };
}

it('takes over what it hears of, but not what it did itself', async () => {
  const { world, announce } = await follow();
  announce('other');
  await vi.waitFor(() => expect(world.own).toBe(2), WAIT);
  announce('me');
  await sleep(20);
  expect(world).toMatchObject({ own: 2, synchronized: 1 });
});

it('takes over many changes in few steps', async () => {
  const { world, announce } = await follow();
  world.slow = 20;
  for (let i = 0; i < 50; i++) announce('other');
  await vi.waitFor(() => expect(world.own).toBe(51), WAIT);
  expect(world.synchronized).toBeLessThan(4);
});

it('looks when it may have missed something, and at the start', async () => {
  const { world, miss } = await follow();
  expect(world.looks).toBe(1);
  world.stored = 5;
  miss();
  await vi.waitFor(() => expect(world.own).toBe(5), WAIT);
});

it('looks now and then, whether it hears anything or not', async () => {
  const { world } = await follow({ interval: 10, listens: false });
  world.stored = 5;
  await vi.waitFor(() => expect(world.own).toBe(5), WAIT);
});

it('reports an outage once, and its end', async () => {
  const { world, events } = await follow({ interval: 5 });
  world.reachable = false;
  await vi.waitFor(() => expect(world.looks).toBeGreaterThan(5), WAIT);
  world.reachable = true;
  await vi.waitFor(() => expect(events).toEqual(['unreachable', 'available']), WAIT);
});

it('does nothing without an interval', async () => {
  const { world, isListening } = await follow({ interval: 0 });
  expect(isListening()).toBe(false);
  expect(world.looks).toBe(0);
});

it('does nothing after it stopped', async () => {
  const { world, keeping, isListening } = await follow({ interval: 5 });
  await keeping.stop();
  expect(isListening()).toBe(false);
  const { looks } = world;
  await sleep(30);
  expect(world.looks).toBe(looks);
});
