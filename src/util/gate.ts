interface Waiting<T> {
  readonly ticket: T;
  readonly enter: () => void;
  readonly fail: (error: Error) => void;
}

/** Lets work in as far as a rule allows it; the rest waits, in the order in which it came. */
export class Gate<T = void> {
  readonly #mayEnter: (ticket: T, running: number) => boolean;
  readonly #waiting: Waiting<T>[] = [];
  #running = 0;

  /** @param mayEnter whether work of this ticket enters beside so many that run; where it is true the work has entered */
  constructor(mayEnter: (ticket: T, running: number) => boolean) {
    this.#mayEnter = mayEnter;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** The ticket that is next; undefined if no work waits. */
  get next(): T | undefined {
    return this.#waiting[0]?.ticket;
  }

  /**
   * Returns null when the work has entered, else what resolves when it has; `leave` is due in either case.
   * @param onWait called where the work has to wait, with what ends the wait by an error
   */
  enter(ticket: T, onWait?: (giveUp: (error: Error) => void) => void): Promise<void> | null {
    if (this.#waiting.length === 0 && this.#mayEnter(ticket, this.#running)) {
      this.#running += 1;
      return null;
    }
    return new Promise((enter, fail) => {
      const waiting = { ticket, enter, fail };
      this.#waiting.push(waiting);
      onWait?.((error) => {
        const at = this.#waiting.indexOf(waiting);
        if (at < 0) return;
        this.#waiting.splice(at, 1);
        fail(error);
      });
    });
  }

  leave(): void {
    this.#running -= 1;
    this.advance();
  }

  /** Lets in what the rule allows by now. */
  advance(): void {
    for (let next = this.#waiting[0]; next !== undefined && this.#mayEnter(next.ticket, this.#running); next = this.#waiting[0])
      this.admit();
  }

  /** Lets the next one in, whatever the rule says. */
  admit(): void {
    this.#running += 1;
    this.#waiting.shift()?.enter();
  }

  /** Ends all waits by an error. */
  refuse(error: Error): void {
    for (const { fail } of this.#waiting.splice(0)) fail(error);
  }
}
