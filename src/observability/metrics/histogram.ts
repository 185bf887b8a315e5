/** Counts observations by size: a few additions, so that it may stand where every request passes. */
export class Histogram {
  /** Upper bounds, ascending. */
  readonly bounds: readonly number[];
  /** How many were in each bucket alone; the last one is of those beyond all bounds. */
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

/** Seconds. Answers to clients. */
export const ANSWER_BOUNDS = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10] as const;
/** Queries of the service for itself. */
export const FETCH_BOUNDS = [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100] as const;
/** Deliveries, which may wait for long. */
export const DELIVERY_BOUNDS = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100] as const;
/** Subscriptions, and what is very quick or very slow. */
export const WIDE_BOUNDS = [0.0001, 0.01, 0.1, 0.3, 1, 3, 10, 30, 100] as const;
/** Waits for a connection. */
export const WAIT_BOUNDS = [0.0001, 0.001, 0.01, 0.1, 1, 10] as const;
