import { Semaphore } from '../../util/semaphore.ts';

/**
 * Orders the queries and mutations of one connection. Queries run concurrently; a mutation runs alone, after everything received before it
 * and before everything received after it, so that each operation sees the effects that the client expects.
 */
export class OperationQueue {
  #isExclusive = false;
  #isPaused = false;
  readonly #semaphore: Semaphore<boolean>;

  /** @param limit maximum number of concurrent operations */
  constructor(limit: number) {
    this.#semaphore = new Semaphore((exclusive, running) => {
      if (this.#isPaused || this.#isExclusive || running >= (exclusive ? 1 : limit)) return false;
      this.#isExclusive = exclusive;
      return true;
    });
  }

  /** Running and waiting operations. */
  get size(): number {
    return this.#semaphore.running + this.#semaphore.waiting;
  }

  /** Returns `null` if the operation may run at once, otherwise a promise. The caller must `release` in either case. */
  acquire(exclusive: boolean): Promise<void> | null {
    return this.#semaphore.acquire(exclusive);
  }

  release(): void {
    this.#isExclusive = false;
    this.#semaphore.release();
  }

  /** Starts no operations while paused: the client has unread answers. */
  pause(isPaused: boolean): void {
    this.#isPaused = isPaused;
    if (!isPaused) this.#semaphore.grant();
  }
}
