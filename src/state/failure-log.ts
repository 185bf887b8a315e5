/** Limits log records for repeated failures in the background: the first is logged, equal ones after pauses that double. */

/** Pause before an equal failure is logged again, in ms. Doubles up to an hour. */
const FIRST_PAUSE_MS = 60_000;
const MAX_PAUSE_MS = 3_600_000;

interface Logged {
  readonly message: string;
  readonly at: number;
  readonly pauseMs: number;
  readonly until: number;
}

export class FailureLog {
  /** Last failures by connection and key. */
  readonly #logged = new WeakMap<object, Map<string, Logged>>();

  /** Returns whether a failure should be logged: it is new or different, or its pause is over. */
  isDue(connection: object, key: string, message: string, now = performance.now()): boolean {
    const logged = this.#logged.get(connection) ?? new Map<string, Logged>();
    this.#logged.set(connection, logged);
    const known = logged.get(key);
    const isSame = known?.message === message;
    if (isSame && now < known.until) return false;
    const pauseMs = isSame ? Math.min(MAX_PAUSE_MS, known.pauseMs * 2) : FIRST_PAUSE_MS;
    logged.set(key, { message, at: now, pauseMs, until: now + pauseMs });
    return true;
  }

  /**
   * Forgets the failures with other keys, so that they are logged at once if they occur again.
   * @param before start of the comparison that found no others, from `performance.now()`: it says nothing about later failures
   */
  retain(connection: object, keys: ReadonlySet<string>, before: number): void {
    const logged = this.#logged.get(connection) ?? new Map<string, Logged>();
    for (const [key, { at }] of logged) if (!keys.has(key) && at < before) logged.delete(key);
  }
}
