/** That the answer may be kept and used again. */
export interface CacheWish {
  /** Seconds. */
  readonly ttl: number;
  /** A kept answer is not wanted, but a new one is kept. */
  readonly refresh: boolean;
}
