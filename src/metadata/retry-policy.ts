/** Number and timing of delivery attempts. */
export interface RetryPolicy {
  /** Attempts after the first. */
  readonly numRetries: number;
  readonly intervalSeconds: number;
  readonly timeoutSeconds: number;
}

/** Maximum delays and timeouts of deliveries and calls, in seconds: they are added to times in the database. */
export const MAX_DELAY_SECONDS = 366 * 24 * 60 * 60;
export const MAX_RETRIES = 1_000_000;
