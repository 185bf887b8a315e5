import { SvcError } from '../errors/svc-error.ts';
import type { RunOptions } from '../backend/connection.ts';

/** How long what takes time is wanted: until then, and as long as nobody has turned away. Absent: as long as it takes. */
export type Wanted = Pick<RunOptions, 'signal' | 'deadline'>;

/**
 * For work in slices, whose pauses ask it.
 * @param work as the message calls it: `schemas were compared`
 * @returns throws `SvcError` timeout where nobody waits any longer
 */
export function whileWanted({ signal, deadline = Number.POSITIVE_INFINITY }: Wanted, work: string): () => void {
  return () => {
    if (signal?.aborted === true || Date.now() > deadline) throw new SvcError('timeout', `the time limit passed while ${work}`);
  };
}
