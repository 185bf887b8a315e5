/** Runs many checks in one interval: a timer for each would cost as much as the smallest statements. */
export class SharedInterval {
  readonly #intervalMs: number;
  readonly #checks = new Set<() => void>();
  #timer: NodeJS.Timeout | undefined;

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs;
  }

  /** @param check called repeatedly, the first time within the interval; must not throw @returns a function that removes the check */
  add(check: () => void): () => void {
    this.#checks.add(check);
    this.#timer ??= setInterval(() => this.#run(), this.#intervalMs);
    return () => this.#checks.delete(check);
  }

  #run(): void {
    for (const check of this.#checks) check();
    if (this.#checks.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
