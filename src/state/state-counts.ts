import { ANSWER_BOUNDS, Histogram } from '../observability/metrics/histogram.ts';

/** Counters of the state since the start. */
export class StateCounts {
  /** Requests that changed the metadata. */
  ok = 0;
  /** Requests that failed because another change came first. */
  conflict = 0;
  refused = 0;
  /** In seconds. */
  readonly changeTime = new Histogram(ANSWER_BOUNDS);
  readonly buildTime = new Histogram(ANSWER_BOUNDS);
}
