/** An attempt counts once even if the answers to its recording are lost, with every kind of queue. */
import { expect, vi } from 'vitest';
import type { DeliveryOutcome, EventStore, QueuedEvent } from '../../src/backend/event-store.ts';
import { createEngine } from '../../src/events/engine.ts';
import { WAIT } from './wait.ts';

/** As many answers as arrive while the event is due again. */
const LOST = 3;

/**
 * Processes the only event of the queue, which succeeds at the second attempt, while the first answers to recordings are lost.
 * @param counted the number of recorded attempts, and of attempt records
 */
export async function countsAttemptsOnce<E extends QueuedEvent>(
  store: EventStore<E, DeliveryOutcome>,
  queue: string,
  counted: () => Promise<readonly [attempts: number, records: number]>,
): Promise<void> {
  const attempts: number[] = [];
  let lost = 0;
  const unlucky: EventStore<E, DeliveryOutcome> = {
    fetch: (request) => store.fetch(request),
    renew: (lease, ids) => store.renew(lease, ids),
    release: (lease, ids) => store.release(lease, ids),
    async record(lease, outcomes) {
      const recorded = await store.record(lease, outcomes);
      lost += 1;
      if (lost <= LOST) throw new Error('the answer is lost');
      return recorded;
    },
  };
  const engine = createEngine({ holder: 'us', workers: 4, batchSize: 10, observe: () => undefined });
  engine.add<E, DeliveryOutcome>({
    name: 'unlucky',
    store: () => unlucky,
    triggerQueues: () => [{ name: queue }],
    pollInterval: 20,
    async process({ id, tries }) {
      attempts.push(tries);
      const invocation = { status: 200, request: '{}', response: '{}' };
      return { id, result: attempts.length > 1 ? { kind: 'delivered' } : { kind: 'retry', seconds: 0 }, invocation };
    },
  });
  try {
    await vi.waitFor(() => expect([lost > LOST, attempts.length > 1]).toEqual([true, true]), WAIT);
    await vi.waitFor(async () => expect(await counted()).toEqual([attempts.length, attempts.length]), WAIT);
  } finally {
    await engine.stop(1000);
  }
  expect(attempts).toEqual([0, 1]);
  expect(await counted()).toEqual([2, 2]);
}
