/** Waiting for what may never come. */
import type { Cancellation } from './cancellation.ts';

/** How long something is waited for: until then (epoch milliseconds), and as long as nobody has turned away. */
export interface Patience {
  readonly signal?: Cancellation | undefined;
  readonly deadline?: number | undefined;
}

export type Lateness = 'abort' | 'deadline';

/** A cancellation that has to be asked is asked so often. */
const LOOK_EVERY_MS = 20;

/** Why nobody waits any more; null: somebody does. */
export function latenessOf({ signal, deadline }: Patience): Lateness | null {
  if (signal?.aborted === true) return 'abort';
  return deadline !== undefined && Date.now() >= deadline ? 'deadline' : null;
}

/**
 * What the work gives, or sooner an error that nobody waits any more: the work goes on alone then.
 * @param late the error
 * @param discard is given what the work gives too late; its failures are nobody's affair then
 */
export function unlessLate<T>(
  patience: Patience,
  work: Promise<T>,
  late: (reason: Lateness) => Error,
  discard: (result: T) => void,
): Promise<T> {
  const { signal, deadline } = patience;
  if (signal === undefined && deadline === undefined) return work;
  return new Promise((resolve, reject) => {
    let isLate = false;
    const look = (): void => {
      const reason = latenessOf(patience);
      if (reason === null) return;
      isLate = true;
      clearInterval(looking);
      reject(late(reason));
    };
    const looking = setInterval(look, LOOK_EVERY_MS);
    work.then(
      (result) => {
        clearInterval(looking);
        if (isLate) discard(result);
        else resolve(result);
      },
      (error: unknown) => {
        clearInterval(looking);
        reject(error as Error);
      },
    );
    look();
  });
}
