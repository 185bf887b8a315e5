interface Waiter<T> {
  readonly ticket: T;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** Admits work as far as a rule allows it. The rest waits in a queue, first in, first out. */
export class Semaphore<T = void> {
  readonly #mayAcquire: (ticket: T, running: number) => boolean;
  readonly #queue: Waiter<T>[] = [];
  #running = 0;

  /**
   * @param mayAcquire decides whether work with this ticket may start in addition to the running work; if it returns true, the work starts
   */
  constructor(mayAcquire: (ticket: T, running: number) => boolean) {
    this.#mayAcquire = mayAcquire;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#queue.length;
  }

  /** Ticket at the head of the queue; `undefined` if the queue is empty. */
  get next(): T | undefined {
    return this.#queue[0]?.ticket;
  }

  /**
   * Returns `null` if the work may start at once, otherwise a promise that resolves when it may. The caller must `release` in either case.
   * @param onWait called if the work has to wait, with a function that ends the wait with an error
   */
  acquire(ticket: T, onWait?: (cancel: (error: Error) => void) => void): Promise<void> | null {
    if (this.#queue.length === 0 && this.#mayAcquire(ticket, this.#running)) {
      this.#running += 1;
      return null;
    }
    return new Promise((resolve, reject) => {
      const waiter = { ticket, resolve, reject };
      this.#queue.push(waiter);
      onWait?.((error) => {
        const at = this.#queue.indexOf(waiter);
        if (at < 0) return;
        this.#queue.splice(at, 1);
        reject(error);
      });
    });
  }

  release(): void {
    this.#running -= 1;
    this.grant();
  }

  /** Starts the waiting work that the rule allows by now. */
  grant(): void {
    for (let next = this.#queue[0]; next !== undefined && this.#mayAcquire(next.ticket, this.#running); next = this.#queue[0])
      this.grantNext();
  }

  /** Starts the work at the head of the queue, whatever the rule says. */
  grantNext(): void {
    this.#running += 1;
    this.#queue.shift()?.resolve();
  }

  /** Rejects all waiting work. */
  rejectAll(error: Error): void {
    for (const { reject } of this.#queue.splice(0)) reject(error);
  }
}
