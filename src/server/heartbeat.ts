/** Calls each of very many, over and over at the same interval, a part of them at a time. */

export interface Beating {
  beat(): void;
}

const SLOTS = 20;

export class Heartbeat {
  readonly #interval: number;
  readonly #slots: readonly Set<Beating>[] = Array.from({ length: SLOTS }, () => new Set<Beating>());
  #timer: NodeJS.Timeout | undefined;
  #size = 0;
  /** The slot that was called last. */
  #at = 0;

  /** @param interval ms from one call of each to its next */
  constructor(interval: number) {
    this.#interval = interval;
  }

  /** It is called for the first time a whole interval from now. @returns ends it */
  add(beating: Beating): () => void {
    const slot = this.#slots[this.#at] as Set<Beating>;
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
    for (const beating of this.#slots[this.#at] as Set<Beating>) beating.beat();
  }
}
