/** Looks after many things at once: a timer for each would cost as much as the smallest statements do. */
export class Watch {
  readonly #everyMs: number;
  readonly #looks = new Set<() => void>();
  #timer: NodeJS.Timeout | undefined;

  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  /** @param look is called again and again, the first time within the interval; must not throw. @returns what ends it */
  add(look: () => void): () => void {
    this.#looks.add(look);
    this.#timer ??= setInterval(() => this.#turn(), this.#everyMs);
    return () => this.#looks.delete(look);
  }

  #turn(): void {
    for (const look of this.#looks) look();
    if (this.#looks.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
