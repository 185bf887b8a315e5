import { SvcError } from '../errors/svc-error.ts';
import type { CallOptions } from '../util/deadline.ts';

/**
 * Check for the pauses of cooperative work.
 * @param work subject of the message, such as `schemas were compared`
 * @returns a function that throws `SvcError` timeout after the deadline or a cancellation
 */
export function deadlineCheck({ signal, deadline = Number.POSITIVE_INFINITY }: CallOptions, work: string): () => void {
  return () => {
    if (signal?.aborted === true || Date.now() > deadline) throw new SvcError('timeout', `the time limit passed while ${work}`);
  };
}
