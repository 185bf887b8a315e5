/** Faults that a test can inject. */

export type FaultKind = 'backendError' | 'internalError' | 'rateLimitExceeded' | 'quotaExceeded' | 'drop' | 'hang';

interface Fault {
  readonly kind: FaultKind;
  readonly on: RegExp;
  /** Matching requests that still succeed. */
  skip: number;
  left: number;
}

export class Faults {
  /** Delay before each job starts, in ms. */
  jobDelay = 0;
  /** Delay before each response, in ms. */
  latency = 0;
  /** Maximum number of rows in a response, regardless of the request. */
  pageSize: number | undefined;
  private faults: Fault[] = [];
  private nextDelays: number[] = [];

  /**
   * Makes requests fail.
   * @param on matches `METHOD /path` of the requests to count
   * @param after number of matching requests that still succeed
   */
  fail(
    kind: FaultKind,
    { on = /./, after = 0, times = 1 }: { readonly on?: RegExp; readonly after?: number; readonly times?: number } = {},
  ): void {
    this.faults.push({ kind, on, skip: after, left: times });
  }

  /** Delays the next jobs, one entry per job, in ms. */
  delayNextJobs(...ms: readonly number[]): void {
    this.nextDelays.push(...ms);
  }

  clear(): void {
    this.jobDelay = 0;
    this.latency = 0;
    this.pageSize = undefined;
    this.faults = [];
    this.nextDelays = [];
  }

  takeJobDelay(): number {
    return this.nextDelays.shift() ?? this.jobDelay;
  }

  take(request: string): FaultKind | undefined {
    for (const fault of this.faults) {
      if (fault.left === 0 || !fault.on.test(request)) continue;
      if (fault.skip > 0) {
        fault.skip -= 1;
        continue;
      }
      fault.left -= 1;
      return fault.kind;
    }
    return undefined;
  }
}
