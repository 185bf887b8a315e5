/** Waits for calls of asynchronous actions to end: one query per interval for all subscribers of this instance. */

export interface CallWaiter {
  /** Called once the call has ended or no longer exists. */
  onDone(): void;
  /** Called if the query failed. */
  onError(error: unknown): void;
}

const INTERVAL_MS = 1000;

export class CallWaits {
  readonly #stillWaiting: (ids: readonly string[]) => Promise<ReadonlySet<string>>;
  readonly #waiters = new Map<string, Set<CallWaiter>>();
  #timer: NodeJS.Timeout | undefined;
  #isPolling = false;

  /** @param stillWaiting returns the calls that have not ended */
  constructor(stillWaiting: (ids: readonly string[]) => Promise<ReadonlySet<string>>) {
    this.#stillWaiting = stillWaiting;
  }

  /** Notifies the waiter once. Returns a function that ends the wait. */
  add(id: string, waiter: CallWaiter): () => void {
    const known = this.#waiters.get(id);
    if (known === undefined) this.#waiters.set(id, new Set([waiter]));
    else known.add(waiter);
    this.#schedule();
    return () => {
      const waiters = this.#waiters.get(id);
      if (waiters?.delete(waiter) === true && waiters.size === 0) this.#waiters.delete(id);
      if (this.#waiters.size > 0) return;
      clearTimeout(this.#timer);
      this.#timer = undefined;
    };
  }

  #schedule(): void {
    if (this.#isPolling || this.#waiters.size === 0) return;
    this.#timer ??= setTimeout(() => void this.#poll(), INTERVAL_MS);
  }

  async #poll(): Promise<void> {
    this.#timer = undefined;
    this.#isPolling = true;
    const ids = [...this.#waiters.keys()];
    try {
      const waiting = await this.#stillWaiting(ids);
      this.#notify(
        ids.filter((id) => !waiting.has(id)),
        (waiter) => waiter.onDone(),
      );
    } catch (error) {
      this.#notify(ids, (waiter) => waiter.onError(error));
    }
    this.#isPolling = false;
    this.#schedule();
  }

  #notify(ids: readonly string[], notify: (waiter: CallWaiter) => void): void {
    const waiters = ids.flatMap((id) => [...(this.#waiters.get(id) ?? [])]);
    for (const id of ids) this.#waiters.delete(id);
    for (const waiter of waiters) notify(waiter);
  }
}
