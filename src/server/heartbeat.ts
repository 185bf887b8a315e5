/** Calls many listeners at one interval, in groups that are spread over it. */

export interface HeartbeatListener {
  beat(): void;
}

const SLOTS = 20;

export class Heartbeat {
  readonly #interval: number;
  readonly #slots: readonly Set<HeartbeatListener>[] = Array.from({ length: SLOTS }, () => new Set<HeartbeatListener>());
  #timer: NodeJS.Timeout | undefined;
  #size = 0;
  /** Index of the slot that was called last. */
  #at = 0;

  /** @param interval time between two calls of a listener, in ms */
  constructor(interval: number) {
    this.#interval = interval;
  }

  /** Adds a listener; the first call comes after a whole interval. Returns a function that removes it. */
  add(beating: HeartbeatListener): () => void {
    const slot = this.#slots[this.#at] as Set<HeartbeatListener>;
    slot.add(beating);
    this.#size += 1;
    this.#timer ??= setInterval(() => this.#next(), this.#interval / SLOTS).unref();
    return () => {
      if (!slot.delete(beating)) return;
      this.#size -= 1;
      if (this.#size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  #next(): void {
    this.#at = (this.#at + 1) % SLOTS;
    for (const beating of this.#slots[this.#at] as Set<HeartbeatListener>) beating.beat();
  }
}
