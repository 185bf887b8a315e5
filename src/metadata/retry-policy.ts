/** How often and how long a delivery is tried. */
export interface RetryPolicy {
  /** Attempts after the first. */
  readonly numRetries: number;
  readonly intervalSeconds: number;
  readonly timeoutSeconds: number;
}
