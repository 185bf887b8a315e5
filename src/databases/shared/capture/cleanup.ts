/** Removal of old events, batch by batch. */
import type { Captures, CleanupCounts, CleanupSpec } from '../../../backend/captures.ts';
import type { RunOptions } from '../../../backend/connection.ts';
import { SvcError } from '../../../errors/svc-error.ts';

/** Planned runs of automatic clean-ups. */
export type CleanupPlan = Pick<
  Captures,
  'plannedCleanups' | 'planCleanups' | 'forgetCleanups' | 'replanCleanups' | 'takeDueCleanups' | 'endCleanup'
>;

/** Maximum number of rows that one statement removes, so that it locks them only for a moment. */
const MAX_BATCH = 2_000;

/** Maximum pause between two batches, in milliseconds. */
const MAX_PAUSE_MS = 100;

/** See `Captures.cleanUp`. @param batch removes events of one batch */
export async function cleanUp(
  specOf: () => CleanupSpec | null,
  options: RunOptions,
  batch: (spec: CleanupSpec, options: RunOptions) => Promise<CleanupCounts>,
): Promise<CleanupCounts> {
  let [events, invocations] = [0, 0];
  for (let spec = specOf(); spec !== null; spec = specOf()) {
    const began = performance.now();
    const deadline = Math.min(options.deadline ?? Number.POSITIVE_INFINITY, Date.now() + spec.timeout * 1_000);
    try {
      const removed = await batch({ ...spec, batchSize: Math.min(spec.batchSize, MAX_BATCH) }, { ...options, deadline });
      if (removed.events === 0) break;
      events += removed.events;
      invocations += removed.invocations;
      // As long as the batch, so that other statements have the database for at least half of the time.
      const pause = Math.min(MAX_PAUSE_MS, performance.now() - began);
      await new Promise((resolve) => setTimeout(resolve, pause));
    } catch (error) {
      if (error instanceof SvcError && error.code === 'timeout' && options.signal?.aborted !== true) break;
      throw error;
    }
  }
  return { events, invocations };
}
