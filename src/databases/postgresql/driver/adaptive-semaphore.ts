import { Semaphore } from '../../../util/semaphore.ts';

/** Minimum number of concurrent transactions. */
const MIN_CONCURRENT = 5;
/** Throughput that determines the number of concurrent transactions, per millisecond. */
const PER_MS = 4;
/** Maximum wait: running transactions may be waiting for a lock. */
const MAX_WAIT_MS = 5;
/** Weight of the newest duration in the average. */
const WEIGHT = 1 / 32;

/**
 * Limits concurrent short transactions. More of them would not raise the throughput, because the server would switch between more
 * processes. If they take long, because the server is remote or its disk is slow, the limit is higher.
 */
export class AdaptiveSemaphore {
  /** Duration in milliseconds, as a moving average. */
  #duration = 0;
  #timer: NodeJS.Timeout | null = null;
  /** Tickets are arrival times. */
  readonly #semaphore = new Semaphore<number>((_, running) => running < Math.max(MIN_CONCURRENT, Math.ceil(this.#duration * PER_MS)));

  /** Returns `null` to start at once, otherwise a promise to wait for. Each caller must `release`. */
  acquire(): Promise<void> | null {
    const wait = this.#semaphore.acquire(performance.now());
    if (wait !== null) this.#timer ??= setTimeout(() => this.#admitOverdue(), MAX_WAIT_MS);
    return wait;
  }

  /** @param duration of the transaction in milliseconds; `null` if it did not run */
  release(duration: number | null): void {
    if (duration !== null) this.#duration += (duration - this.#duration) * WEIGHT;
    this.#semaphore.release();
  }

  #admitOverdue(): void {
    this.#timer = null;
    const now = performance.now();
    for (let since = this.#semaphore.next; since !== undefined; since = this.#semaphore.next) {
      const left = since + MAX_WAIT_MS - now;
      if (left > 0) {
        this.#timer = setTimeout(() => this.#admitOverdue(), left);
        return;
      }
      this.#semaphore.grantNext();
    }
  }
}
