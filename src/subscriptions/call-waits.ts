/** Waits for the ends of calls of asynchronous actions: one question for all subscribers of this instance, now and then. */

export interface CallWaiter {
  /** The call is over, or is not there any more. */
  over(): void;
  /** It could not be asked. */
  failed(error: unknown): void;
}

const INTERVAL_MS = 1000;

export class CallWaits {
  readonly #stillWaiting: (ids: readonly string[]) => Promise<ReadonlySet<string>>;
  readonly #waiters = new Map<string, Set<CallWaiter>>();
  #timer: NodeJS.Timeout | undefined;
  #isAsking = false;

  /** @param stillWaiting those of some calls whose handlers have yet to answer */
  constructor(stillWaiting: (ids: readonly string[]) => Promise<ReadonlySet<string>>) {
    this.#stillWaiting = stillWaiting;
  }

  /** Tells once. @returns ends the wait */
  add(id: string, waiter: CallWaiter): () => void {
    const known = this.#waiters.get(id);
    if (known === undefined) this.#waiters.set(id, new Set([waiter]));
    else known.add(waiter);
    this.#plan();
    return () => {
      const waiters = this.#waiters.get(id);
      if (waiters?.delete(waiter) === true && waiters.size === 0) this.#waiters.delete(id);
      if (this.#waiters.size > 0) return;
      clearTimeout(this.#timer);
      this.#timer = undefined;
    };
  }

  #plan(): void {
    if (this.#isAsking || this.#waiters.size === 0) return;
    this.#timer ??= setTimeout(() => void this.#ask(), INTERVAL_MS);
  }

  async #ask(): Promise<void> {
    this.#timer = undefined;
    this.#isAsking = true;
    const asked = [...this.#waiters.keys()];
    try {
      const waiting = await this.#stillWaiting(asked);
      this.#tell(
        asked.filter((id) => !waiting.has(id)),
        (waiter) => waiter.over(),
      );
    } catch (error) {
      this.#tell(asked, (waiter) => waiter.failed(error));
    }
    this.#isAsking = false;
    this.#plan();
  }

  #tell(ids: readonly string[], tell: (waiter: CallWaiter) => void): void {
    const told = ids.flatMap((id) => [...(this.#waiters.get(id) ?? [])]);
    for (const id of ids) this.#waiters.delete(id);
    for (const waiter of told) tell(waiter);
  }
}
