import type { Cancellation } from './cancellation.ts';

/** Limits of one call, both optional: a cancellation, and a deadline in epoch milliseconds. */
export interface CallOptions {
  readonly signal?: Cancellation | undefined;
  readonly deadline?: number | undefined;
}

export type StopReason = 'abort' | 'deadline';

/** Interval for polling a cancellation, in ms. */
const POLL_MS = 20;

/** Reason why the caller no longer waits, or `null`. */
export function stopReasonOf({ signal, deadline }: CallOptions): StopReason | null {
  if (signal?.aborted === true) return 'abort';
  return deadline !== undefined && Date.now() >= deadline ? 'deadline' : null;
}

/**
 * Resolves with the result of `work`, or rejects as soon as the caller cancels or its deadline passes. The work itself is not
 * interrupted.
 * @param late makes the error
 * @param discard called with a result that arrives too late; errors that arrive too late are ignored
 */
export function withDeadline<T>(
  options: CallOptions,
  work: Promise<T>,
  late: (reason: StopReason) => Error,
  discard: (result: T) => void,
): Promise<T> {
  if (options.signal === undefined && options.deadline === undefined) return work;
  return new Promise((resolve, reject) => {
    let isLate = false;
    const poll = (): void => {
      const reason = stopReasonOf(options);
      if (reason === null) return;
      isLate = true;
      clearInterval(polling);
      reject(late(reason));
    };
    const polling = setInterval(poll, POLL_MS);
    work.then(
      (result) => {
        clearInterval(polling);
        if (isLate) discard(result);
        else resolve(result);
      },
      (error: unknown) => {
        clearInterval(polling);
        reject(error as Error);
      },
    );
    poll();
  });
}
