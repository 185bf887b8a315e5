import type { RunTimes } from '../observability/observation.ts';

/** Report on a poller, for administrators. */
export interface PollerReport {
  readonly id: string;
  readonly kind: 'live-query' | 'streaming';
  readonly source: string;
  readonly role: string;
  /** The document of the first subscriber. */
  readonly query: string;
  readonly sql: string;
  readonly cohorts: number;
  readonly subscribers: number;
  /** Cohorts whose last run failed. */
  readonly failing: number;
  /** Cohorts that are so slow that they run alone. */
  readonly slow: number;
  /** `change`: it runs when rows may have changed; `interval`: it runs every `refetchIntervalMs`. */
  readonly waitsFor: 'change' | 'interval';
  readonly reason: string;
  readonly refetchIntervalMs: number;
  readonly batchSize: number;
  readonly runs: number;
  /** Timings of the last run; `null` before the first one. */
  readonly last: RunTimes | null;
}
