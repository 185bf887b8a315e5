/** Runs the automatic clean-up of the logs of event triggers: plans runs on their schedules, and performs those that are due. */
import type { CleanupCounts, Captures, CleanupSpec, PlannedCleanup } from '../backend/captures.ts';
import { cronTimes } from '../metadata/cron-times.ts';
import { type CleanupConfig, MAX_CLEANUP_SECONDS } from '../metadata/event-trigger.ts';
import { describeFailure } from '../errors/describe-failure.ts';
import type { Observer } from '../observability/observation.ts';
import type { Snapshots } from '../state/state.ts';
import { CancellationSource } from '../util/cancellation.ts';
import { repeatedly } from '../util/repeatedly.ts';

export interface CleanupOptions {
  readonly state: Snapshots;
  readonly observe: Observer;
  /** Interval for checking schedules, in ms. Defaults to one minute. */
  readonly interval?: number;
}

export interface Cleanups {
  /** Ends a running clean-up after its current batch. */
  stop(): Promise<void>;
}

const INTERVAL_MS = 60_000;
/** Minimum number of planned runs per trigger; with fewer, more are planned. */
const MIN_PLANNED = 5;
const PLAN_SIZE = 50;
const NOTHING: CleanupCounts = { events: 0, invocations: 0 };

export function runCleanups(options: CleanupOptions): Cleanups {
  return new ScheduledCleanups(options);
}

class ScheduledCleanups implements Cleanups {
  readonly #options: CleanupOptions;
  readonly #cancellation = new CancellationSource();
  /** Last planned schedule by source and trigger. */
  readonly #planned = new Map<string, string>();
  /** Runs in progress by source: sources do not wait for each other. */
  readonly #running = new Map<string, Promise<void>>();
  readonly #checks: ReturnType<typeof repeatedly>;

  constructor(options: CleanupOptions) {
    this.#options = options;
    const { observe, interval = INTERVAL_MS } = options;
    this.#checks = repeatedly(
      () => this.#checkAll(),
      interval,
      (error) => observe({ kind: 'unexpected', message: 'cannot clean up logs', error }),
    );
  }

  async stop(): Promise<void> {
    this.#cancellation.cancel();
    await this.#checks.stop();
    await Promise.all(this.#running.values());
  }

  #configOf(source: string, trigger: string): CleanupConfig | undefined {
    return this.#options.state.current().cache.sources.get(source)?.eventTriggers.get(trigger)?.definition.cleanupConfig;
  }

  async #checkAll(): Promise<void> {
    const { cache, connections } = this.#options.state.current();
    for (const [source, { eventTriggers }] of cache.sources) {
      const captures = connections.get(source)?.captures;
      const configs = new Map<string, CleanupConfig>();
      for (const [name, { definition }] of eventTriggers)
        if (definition.cleanupConfig !== undefined) configs.set(name, definition.cleanupConfig);
      if (captures === undefined || configs.size === 0 || this.#cancellation.aborted || this.#running.has(source)) continue;
      const done = this.#check(source, captures, configs).finally(() => this.#running.delete(source));
      this.#running.set(source, done);
    }
  }

  async #check(source: string, captures: Captures, configs: ReadonlyMap<string, CleanupConfig>): Promise<void> {
    try {
      await this.#plan(source, captures, configs);
      await this.#runDue(source, captures);
    } catch (error) {
      const message = `cannot clean up logs: ${describeFailure(error)}`;
      this.#options.observe({ kind: 'delivery-trouble', queue: `the source ${source}`, message });
    }
  }

  async #plan(source: string, captures: Captures, configs: ReadonlyMap<string, CleanupConfig>): Promise<void> {
    const ahead = await captures.plannedCleanups();
    for (const [trigger, { schedule }] of configs) {
      const key = JSON.stringify([source, trigger]);
      const before = this.#planned.get(key);
      const times = (): readonly string[] => cronTimes(schedule, new Date(), PLAN_SIZE).map((time) => time.toISOString());
      if (before !== undefined && before !== schedule) await captures.replanCleanups(trigger, times());
      else if ((ahead.get(trigger) ?? 0) < MIN_PLANNED) await captures.planCleanups(trigger, times());
      this.#planned.set(key, schedule);
    }
  }

  async #runDue(source: string, captures: Captures): Promise<void> {
    for (const due of await captures.takeDueCleanups()) {
      const config = this.#configOf(source, due.trigger);
      if (config === undefined) await captures.endCleanup(due.id, 'dead', NOTHING);
      else if (config.paused) await captures.endCleanup(due.id, 'paused', NOTHING);
      else await this.#run(source, captures, due);
    }
  }

  async #run(source: string, captures: Captures, { id, trigger }: PlannedCleanup): Promise<void> {
    // The next run continues.
    const deadline = Date.now() + MAX_CLEANUP_SECONDS * 1000;
    let counts: CleanupCounts;
    try {
      counts = await captures.cleanUp(() => this.#specOf(trigger, this.#configOf(source, trigger)), {
        signal: this.#cancellation,
        deadline,
      });
    } catch (error) {
      await captures.endCleanup(id, 'dead', NOTHING);
      throw error;
    }
    await captures.endCleanup(id, 'completed', counts);
    this.#options.observe({ kind: 'event-logs-cleaned', source, trigger, events: counts.events, invocations: counts.invocations });
  }

  /** Called before each batch, so that a pause takes effect at once. */
  #specOf(trigger: string, config: CleanupConfig | undefined): CleanupSpec | null {
    if (config === undefined || config.paused || this.#cancellation.aborted) return null;
    const { batchSize, clearOlderThan, timeout, cleanInvocationLogs } = config;
    return { trigger, batchSize, clearOlderThan, timeout, cleanInvocationLogs };
  }
}
