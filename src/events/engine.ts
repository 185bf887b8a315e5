/**
 * The delivery engine: takes events from queues under a lease, has them processed, and records the outcomes. It does not depend on
 * triggers and webhooks. docs/delivery.md describes its guarantees.
 */
import type { QueuedEvent } from '../backend/event-store.ts';
import type { Observer } from '../observability/observation.ts';
import { createEventMemory } from './event-memory.ts';
import { type EventQueueSettings, type Queue, type RunningQueue, startQueue } from './queue.ts';
import { createWorkerPool } from './worker-pool.ts';

export interface QueueHandle {
  /** Called when there may be new events. */
  wake(): void;
  /** Takes no more events, hands back those that have not started, and resolves when the others are recorded, or after `graceMs`. */
  remove(graceMs: number): Promise<void>;
}

export interface EngineOptions {
  /** Holder of leases, new at every start. */
  readonly holder: string;
  /** Maximum number of events that are processed concurrently. */
  readonly workers: number;
  /** Maximum number of events per fetch. */
  readonly batchSize: number;
  readonly leaseSeconds?: number;
  readonly observe: Observer;
}

export interface Engine {
  add<E extends QueuedEvent, O extends { readonly id: string }>(queue: Queue<E, O>): QueueHandle;
  /** Number of running events, and the maximum. */
  workers(): { readonly busy: number; readonly total: number };
  /**
   * Takes no more events, hands back those that have not started, waits `graceMs` for running ones, then cancels these and hands them
   * back, too.
   */
  stop(graceMs: number): Promise<void>;
}

/** Default lease: short enough to free the events of a dead instance within a minute, long enough for a database restart. */
const LEASE_SECONDS = 45;

export function createEngine(options: EngineOptions): Engine {
  const pool = createWorkerPool(options.workers);
  const settings: EventQueueSettings = {
    lease: { holder: options.holder, seconds: options.leaseSeconds ?? LEASE_SECONDS },
    batchSize: options.batchSize,
    observe: options.observe,
    pool,
    memory: createEventMemory(),
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
    workers: () => ({ busy: pool.running, total: options.workers }),
    async stop(graceMs) {
      await Promise.all([...queues].map((queue) => queue.stop(graceMs)));
      queues.clear();
    },
  };
}
