/** `@cached`: the answer may be cached. */
export interface CacheDirective {
  /** Time to live, in seconds. */
  readonly ttl: number;
  /** If true, a cached answer is replaced. */
  readonly refresh: boolean;
}
