import { expect, it, vi } from 'vitest';
import type { Captures, CleanupSpec, PlannedCleanup } from '../backend/captures.ts';
import type { CleanupConfig } from '../metadata/event-trigger.ts';
import type { Observation } from '../observability/observation.ts';
import type { Snapshot } from '../state/snapshot.ts';
import { type Cleanups, runCleanups } from './cleanups.ts';
import { WAIT } from '../../test/support/wait.ts';

const CONFIG: CleanupConfig = {
  schedule: '0 3 * * *',
  clearOlderThan: 24,
  batchSize: 10,
  timeout: 60,
  cleanInvocationLogs: true,
  paused: false,
};

/** Prepares clean-ups of a fake source, which records their calls. */
function played(config: CleanupConfig) {
  const calls: (readonly unknown[])[] = [];
  const specs: (CleanupSpec | null)[] = [];
  const state = { config, ahead: new Map<string, number>(), due: [] as PlannedCleanup[], hasHanging: false };
  const captures: Partial<Captures> = {
    plannedCleanups: async () => state.ahead,
    planCleanups: async (trigger, times) => {
      calls.push(['plan', trigger, times.length]);
      state.ahead.set(trigger, times.length);
    },
    replanCleanups: async (trigger, times) => void calls.push(['replan', trigger, times[0]?.slice(10)]),
    takeDueCleanups: async () => state.due.splice(0),
    cleanUp: async (spec) => {
      specs.push(spec());
      state.config = { ...state.config, paused: true };
      specs.push(spec());
      return { events: 3, invocations: 4 };
    },
    endCleanup: async (id, status, counts) => void calls.push(['end', id, status, counts.events]),
  };
  let letGo: () => void = () => undefined;
  const hanging = { plannedCleanups: () => new Promise((_resolve, reject) => (letGo = () => reject(new Error('the database is away')))) };
  const triggers = () => ({ eventTriggers: new Map([['t', { definition: { cleanupConfig: state.config } }]]) });
  const snapshot = () => ({
    cache: { sources: new Map([...(state.hasHanging ? (['hangs'] as const) : []), 'default'].map((name) => [name, triggers()])) },
    connections: new Map<string, object>([
      ['hangs', { captures: hanging }],
      ['default', { captures }],
    ]),
  });
  const observations: Observation[] = [];
  const start = (): Cleanups =>
    runCleanups({
      state: { current: () => snapshot() as unknown as Snapshot, onSnapshot: () => () => undefined },
      observe: (o) => void observations.push(o),
      interval: 10,
    });
  return { calls, specs, state, captures, observations, start, letGo: () => letGo() };
}

it('plans runs when few are left, and again when the schedule changes', async () => {
  const { calls, state, start } = played(CONFIG);
  const cleanups = start();
  await vi.waitFor(() => expect(calls).toEqual([['plan', 't', 50]]), WAIT);
  state.config = { ...CONFIG, schedule: '30 4 * * *' };
  await vi.waitFor(() => expect(calls[1]).toEqual(['replan', 't', 'T04:30:00.000Z']), WAIT);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(calls).toHaveLength(2);
  state.ahead.set('t', 4);
  await vi.waitFor(() => expect(calls[2]).toEqual(['plan', 't', 50]), WAIT);
  await cleanups.stop();
});

it('runs due clean-ups, and stops when they are paused', async () => {
  const { calls, specs, state, observations, start } = played(CONFIG);
  state.ahead.set('t', 50);
  state.due = [{ id: '1', trigger: 't' }];
  const cleanups = start();
  await vi.waitFor(() => expect(calls).toEqual([['end', '1', 'completed', 3]]), WAIT);
  expect(specs).toEqual([{ trigger: 't', clearOlderThan: 24, batchSize: 10, timeout: 60, cleanInvocationLogs: true }, null]);
  expect(observations).toEqual([{ kind: 'event-logs-cleaned', source: 'default', trigger: 't', events: 3, invocations: 4 }]);
  state.due = [
    { id: '2', trigger: 't' },
    { id: '3', trigger: 'gone' },
  ];
  await vi.waitFor(
    () =>
      expect(calls.slice(1)).toEqual([
        ['end', '2', 'paused', 0],
        ['end', '3', 'dead', 0],
      ]),
    WAIT,
  );
  await cleanups.stop();
});

it('runs sources independently, and marks a failed run as dead', async () => {
  const { calls, state, captures, observations, start, letGo } = played(CONFIG);
  state.hasHanging = true;
  state.ahead.set('t', 50);
  state.due = [{ id: '1', trigger: 't' }];
  captures.cleanUp = () => Promise.reject(new Error('the disk is full'));
  const cleanups = start();
  await vi.waitFor(() => expect(calls).toEqual([['end', '1', 'dead', 0]]), WAIT);
  await vi.waitFor(() => expect(observations).toMatchObject([{ kind: 'delivery-trouble', queue: 'the source default' }]), WAIT);
  let isStopped = false;
  void cleanups.stop().then(() => {
    isStopped = true;
  });
  letGo();
  await vi.waitFor(() => expect(isStopped).toBe(true), WAIT);
});
