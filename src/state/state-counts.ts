import { ANSWER_BOUNDS, Histogram } from '../observability/metrics/histogram.ts';

/** What the state counts of its work, since the start: plain fields, whoever asks reads them. */
export class StateCounts {
  /** Requests that changed the metadata; that came after others had; that were refused. */
  ok = 0;
  conflict = 0;
  refused = 0;
  /** Seconds. */
  readonly changeTime = new Histogram(ANSWER_BOUNDS);
  readonly buildTime = new Histogram(ANSWER_BOUNDS);
}
