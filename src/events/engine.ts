/**
 * The delivery engine: takes events from queues under a lease, has their workers work on them, and records what
 * came of it. It knows no triggers and no webhooks. What it promises is in docs/delivery.md.
 */
import type { QueuedEvent } from '../backend/event-store.ts';
import type { Observer } from '../observability/observation.ts';
import { createHoldings, type Holdings } from './holdings.ts';
import { createPool, type SlotPool } from './pool.ts';
import { type Queue, type QueueSettings, type RunningQueue, startQueue } from './queue.ts';

export interface QueueHandle {
  /** There may be something new. */
  wake(): void;
  /** Takes nothing more, hands back what was not begun, and resolves when the rest is recorded, or cannot be in so many ms. */
  remove(graceMs: number): Promise<void>;
}

export interface EngineOptions {
  /** Of leases; a new one at every start. */
  readonly holder: string;
  /** Events that are worked on at a time. */
  readonly slots: number;
  /** Events that one fetch takes at most. */
  readonly batchSize: number;
  readonly leaseSeconds?: number;
  readonly observe: Observer;
}

export interface Engine {
  add<E extends QueuedEvent, O extends { readonly id: string }>(queue: Queue<E, O>): QueueHandle;
  /** Events that are worked on, and how many may be. */
  workers(): { readonly busy: number; readonly most: number };
  /**
   * Takes nothing more, hands back what was not begun, waits so many ms for what is worked on, then gives that up and
   * hands it back as well.
   */
  stop(graceMs: number): Promise<void>;
}

/** A dead instance keeps its events for so long: short enough for a minute, long enough for a database that restarts. */
const LEASE_SECONDS = 45;

export function createEngine(options: EngineOptions): Engine {
  const pool: SlotPool = createPool(options.slots);
  const holdings: Holdings = createHoldings();
  const settings: QueueSettings = {
    lease: { holder: options.holder, seconds: options.leaseSeconds ?? LEASE_SECONDS },
    batchSize: options.batchSize,
    observe: options.observe,
    pool,
    holdings,
  };
  const queues = new Set<RunningQueue>();
  return {
    add(queue) {
      const running = startQueue(queue, settings);
      queues.add(running);
      return {
        wake: () => running.wake(),
        async remove(graceMs) {
          await running.stop(graceMs);
          queues.delete(running);
        },
      };
    },
    workers: () => ({ busy: pool.running, most: options.slots }),
    async stop(graceMs) {
      await Promise.all([...queues].map((queue) => queue.stop(graceMs)));
      queues.clear();
    },
  };
}
