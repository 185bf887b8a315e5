import type { RunTimes } from '../observability/observation.ts';

/** What administrators are told of subscriptions. */
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
  /** Cohorts that the database takes so long for that they run apart from the others. */
  readonly slow: number;
  /** `change`: it runs when rows may have changed; `interval`: it runs every `refetchIntervalMs`. */
  readonly waitsFor: 'change' | 'interval';
  readonly reason: string;
  readonly refetchIntervalMs: number;
  readonly batchSize: number;
  readonly runs: number;
  /** Of the last run; null: there was none. */
  readonly last: RunTimes | null;
}
