/** Runs the automatic clean-ups of the logs of event triggers: plans them by their schedules, and does those that are due. */
import type { CleanupCounts, Captures, CleanupSpec, PlannedCleanup } from '../backend/captures.ts';
import { cronTimes } from '../metadata/cron-times.ts';
import { type CleanupConfig, LONGEST_CLEANUP_S } from '../metadata/event-trigger.ts';
import { describeFailure } from '../errors/describe-failure.ts';
import type { Observer } from '../observability/observation.ts';
import type { Snapshots } from '../state/state.ts';
import { CancellationSource } from '../util/cancellation.ts';
import { repeatedly } from '../util/repeatedly.ts';

export interface CleanupOptions {
  readonly state: Snapshots;
  readonly observe: Observer;
  /** ms between looks; a minute where nothing is said */
  readonly interval?: number;
}

export interface Cleanups {
  /** Ends a run that is under way after its batch. */
  stop(): Promise<void>;
}

const INTERVAL_MS = 60_000;
/** Fewer than so many runs ahead: more are planned. */
const FEWEST_AHEAD = 5;
const PLANNED_AT_ONCE = 50;
const NOTHING: CleanupCounts = { events: 0, invocations: 0 };

export function runCleanups({ state, observe, interval = INTERVAL_MS }: CleanupOptions): Cleanups {
  const cancellation = new CancellationSource();
  /** By source and trigger: the schedule that was planned last. */
  const planned = new Map<string, string>();

  const configOf = (source: string, trigger: string): CleanupConfig | undefined =>
    state.current().cache.sources.get(source)?.eventTriggers.get(trigger)?.definition.cleanupConfig;

  /** By source: none waits for another. */
  const underWay = new Map<string, Promise<void>>();

  async function look(): Promise<void> {
    const { cache, connections } = state.current();
    for (const [source, { eventTriggers }] of cache.sources) {
      const captures = connections.get(source)?.captures;
      const configs = new Map<string, CleanupConfig>();
      for (const [name, { definition }] of eventTriggers)
        if (definition.cleanupConfig !== undefined) configs.set(name, definition.cleanupConfig);
      if (captures === undefined || configs.size === 0 || cancellation.aborted || underWay.has(source)) continue;
      const done = lookAt(source, captures, configs).finally(() => underWay.delete(source));
      underWay.set(source, done);
    }
  }

  async function lookAt(source: string, captures: Captures, configs: ReadonlyMap<string, CleanupConfig>): Promise<void> {
    try {
      await plan(source, captures, configs);
      await runDue(source, captures);
    } catch (error) {
      const message = `logs cannot be cleaned up: ${describeFailure(error)}`;
      observe({ kind: 'delivery-trouble', queue: `the source ${source}`, message });
    }
  }

  async function plan(source: string, captures: Captures, configs: ReadonlyMap<string, CleanupConfig>): Promise<void> {
    const ahead = await captures.plannedCleanups();
    for (const [trigger, { schedule }] of configs) {
      const key = JSON.stringify([source, trigger]);
      const before = planned.get(key);
      const times = (): readonly string[] => cronTimes(schedule, new Date(), PLANNED_AT_ONCE).map((time) => time.toISOString());
      if (before !== undefined && before !== schedule) await captures.replanCleanups(trigger, times());
      else if ((ahead.get(trigger) ?? 0) < FEWEST_AHEAD) await captures.planCleanups(trigger, times());
      planned.set(key, schedule);
    }
  }

  async function runDue(source: string, captures: Captures): Promise<void> {
    for (const due of await captures.takeDueCleanups()) {
      const config = configOf(source, due.trigger);
      if (config === undefined) await captures.endCleanup(due.id, 'dead', NOTHING);
      else if (config.paused) await captures.endCleanup(due.id, 'paused', NOTHING);
      else await run(source, captures, due);
    }
  }

  async function run(source: string, captures: Captures, { id, trigger }: PlannedCleanup): Promise<void> {
    // What is left then is for the next run.
    const deadline = Date.now() + LONGEST_CLEANUP_S * 1000;
    let counts: CleanupCounts;
    try {
      counts = await captures.cleanUp(() => specOf(trigger, configOf(source, trigger)), { signal: cancellation, deadline });
    } catch (error) {
      await captures.endCleanup(id, 'dead', NOTHING);
      throw error;
    }
    await captures.endCleanup(id, 'completed', counts);
    observe({ kind: 'event-logs-cleaned', source, trigger, events: counts.events, invocations: counts.invocations });
  }

  /** Asked before each batch: a pause counts at once. */
  function specOf(trigger: string, config: CleanupConfig | undefined): CleanupSpec | null {
    if (config === undefined || config.paused || cancellation.aborted) return null;
    const { batchSize, clearOlderThan, timeout, cleanInvocationLogs } = config;
    return { trigger, batchSize, clearOlderThan, timeout, cleanInvocationLogs };
  }

  const looks = repeatedly(look, interval, (error) => observe({ kind: 'unexpected', message: 'logs cannot be cleaned up', error }));
  return {
    async stop() {
      cancellation.cancel();
      await looks.stop();
      await Promise.all(underWay.values());
    },
  };
}
