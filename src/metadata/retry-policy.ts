/** How often and how long a delivery is tried. */
export interface RetryPolicy {
  /** Attempts after the first. */
  readonly numRetries: number;
  readonly intervalSeconds: number;
  readonly timeoutSeconds: number;
}

/** Seconds that deliveries and calls wait, at most: they are added to times in the database. */
export const LONGEST_S = 366 * 24 * 60 * 60;
export const MOST_RETRIES = 1_000_000;
