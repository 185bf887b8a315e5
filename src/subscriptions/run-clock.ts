import type { RunTimes } from '../observability/observation.ts';

/** Timings of one run, by `performance.now()`. */
export class RunClock {
  hashing = 0;
  sending = 0;
  /** Number of subscribers that got an answer. */
  sent = 0;
  /** Number of failed statements. */
  failures = 0;
  readonly #at = new Date();
  readonly #began = performance.now();
  readonly #cohorts: number;
  readonly #detected: number | null;
  readonly #batches: RunTimes['batches'][number][] = [];

  /** @param changedAt time of the detected change; `null` if no change caused the run */
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
