import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it, vi } from 'vitest';
import type { Observation } from '../observability/observation.ts';
import type { Announcement } from '../metadata-store/storage.ts';
import { type MetadataSync, startMetadataSync } from './metadata-sync.ts';
import { WAIT } from '../../test/support/wait.ts';

const running: MetadataSync[] = [];
afterEach(async () => {
  for (const each of running.splice(0)) await each.stop();
});

/** Starts a sync between a fake database and a fake state, and records what happens. */
async function follow({ interval = 600_000, listens = true } = {}) {
  const world = { stored: 1, own: 1, reachable: true, polls: 0, synchronized: 0, slow: 0 };
  const events: string[] = [];
  let notify: ((change: Announcement | null) => void) | undefined;
  const sync = await startMetadataSync({
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
        world.polls += 1;
        if (!world.reachable) throw new Error('gone');
        return world.stored;
      },
      async listen(onChange) {
        if (!listens) return undefined;
        notify = onChange;
        const stop = async (): Promise<void> => {
          notify = undefined;
        };
        return { stop };
      },
    },
  });
  running.push(sync);
  const announce = (instance: string): void => {
    world.stored += 1;
    notify?.({ version: world.stored, instance });
  };
  return { world, events, announce, miss: () => notify?.(null), sync, isListening: () => notify !== undefined };
}

it('loads announced changes, except its own', async () => {
  const { world, announce } = await follow();
  announce('other');
  await vi.waitFor(() => expect(world.own).toBe(2), WAIT);
  announce('me');
  await sleep(20);
  expect(world).toMatchObject({ own: 2, synchronized: 1 });
});

it('loads many announced changes in few steps', async () => {
  const { world, announce } = await follow();
  world.slow = 20;
  for (let i = 0; i < 50; i++) announce('other');
  await vi.waitFor(() => expect(world.own).toBe(51), WAIT);
  expect(world.synchronized).toBeLessThan(4);
});

it('polls at the start and when an announcement may have been missed', async () => {
  const { world, miss } = await follow();
  expect(world.polls).toBe(1);
  world.stored = 5;
  miss();
  await vi.waitFor(() => expect(world.own).toBe(5), WAIT);
});

it('polls at an interval without announcements', async () => {
  const { world } = await follow({ interval: 10, listens: false });
  world.stored = 5;
  await vi.waitFor(() => expect(world.own).toBe(5), WAIT);
});

it('reports an outage once, and the recovery', async () => {
  const { world, events } = await follow({ interval: 5 });
  world.reachable = false;
  await vi.waitFor(() => expect(world.polls).toBeGreaterThan(5), WAIT);
  world.reachable = true;
  await vi.waitFor(() => expect(events).toEqual(['unreachable', 'available']), WAIT);
});

it('neither polls nor listens with an interval of 0', async () => {
  const { world, isListening } = await follow({ interval: 0 });
  expect(isListening()).toBe(false);
  expect(world.polls).toBe(0);
});

it('neither polls nor listens after it was stopped', async () => {
  const { world, sync, isListening } = await follow({ interval: 5 });
  await sync.stop();
  expect(isListening()).toBe(false);
  const { polls } = world;
  await sleep(30);
  expect(world.polls).toBe(polls);
});
