/** What a test can order to go wrong. */

export type FaultKind = 'backendError' | 'internalError' | 'rateLimitExceeded' | 'quotaExceeded' | 'drop' | 'hang';

interface Fault {
  readonly kind: FaultKind;
  readonly on: RegExp;
  /** Requests that match and are still let through. */
  skip: number;
  left: number;
}

export class Faults {
  /** ms before each job begins its work */
  jobDelay = 0;
  /** ms before each answer */
  latency = 0;
  /** The most rows of an answer, whatever is asked for. */
  pageSize: number | undefined;
  private faults: Fault[] = [];
  private nextDelays: number[] = [];

  /**
   * Requests fail.
   * @param on what matches `METHOD /path` of those that are counted
   * @param after how many of them are let through before
   */
  fail(
    kind: FaultKind,
    { on = /./, after = 0, times = 1 }: { readonly on?: RegExp; readonly after?: number; readonly times?: number } = {},
  ): void {
    this.faults.push({ kind, on, skip: after, left: times });
  }

  /** The next jobs take that much longer, one after the other. */
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
