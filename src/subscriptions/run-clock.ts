import type { RunTimes } from '../observability/observation.ts';

/** Where the time of one run goes. Times are of `performance.now()`. */
export class RunClock {
  hashing = 0;
  sending = 0;
  /** Subscribers that were given an answer. */
  sent = 0;
  /** Statements that failed. */
  failures = 0;
  readonly #at = new Date();
  readonly #began = performance.now();
  readonly #cohorts: number;
  readonly #detected: number | null;
  readonly #batches: RunTimes['batches'][number][] = [];

  /** @param changedAt when a change was detected; null: it does not run because of one */
  constructor(cohorts: number, changedAt: number | null) {
    this.#cohorts = cohorts;
    this.#detected = changedAt;
  }

  batch(cohorts: number, database: number, bytes: number): void {
    this.#batches.push({ cohorts, database, bytes });
  }

  times(): RunTimes {
    return {
      at: this.#at,
      detector: this.#detected === null ? null : this.#began - this.#detected,
      database: this.#batches.reduce((sum, { database }) => sum + database, 0),
      hashing: this.hashing,
      sending: this.sending,
      total: performance.now() - this.#began,
      cohorts: this.#cohorts,
      sent: this.sent,
      failures: this.failures,
      batches: this.#batches,
    };
  }
}
