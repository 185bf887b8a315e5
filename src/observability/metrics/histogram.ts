/** Counts values by size; `observe` is cheap enough for every request. */
export class Histogram {
  /** Upper bounds, ascending. */
  readonly bounds: readonly number[];
  /** Number of values in each bucket, not cumulative; the last bucket has no upper bound. */
  readonly counts: Float64Array;
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    const { bounds } = this;
    let i = 0;
    while (i < bounds.length && value > (bounds[i] as number)) i++;
    this.counts[i] = (this.counts[i] as number) + 1;
    this.sum += value;
  }

  get count(): number {
    let count = 0;
    for (const each of this.counts) count += each;
    return count;
  }
}

/** Bounds in seconds, for responses to clients. */
export const ANSWER_BOUNDS = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10] as const;
/** Bounds for queries of the service's own. */
export const FETCH_BOUNDS = [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100] as const;
/** Bounds for event deliveries, which may wait long. */
export const DELIVERY_BOUNDS = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100] as const;
/** Bounds for subscriptions, and other times with a wide range. */
export const WIDE_BOUNDS = [0.0001, 0.01, 0.1, 0.3, 1, 3, 10, 30, 100] as const;
/** Bounds for the wait for a connection. */
export const WAIT_BOUNDS = [0.0001, 0.001, 0.01, 0.1, 1, 10] as const;
