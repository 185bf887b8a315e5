/**
 * The order in which the queries and mutations of one connection run. Queries run side by side; a mutation runs alone, after
 * everything that came before it and before everything that came after: so each sees what the client may expect it to see.
 */
export class Lane {
  readonly #most: number;
  #running = 0;
  #isExclusive = false;
  #isHeld = false;
  readonly #waiting: { readonly exclusive: boolean; readonly enter: () => void }[] = [];

  /** @param most operations at the same time */
  constructor(most: number) {
    this.#most = most;
  }

  /** Operations that run or wait. */
  get size(): number {
    return this.#running + this.#waiting.length;
  }

  /** @returns null when it is the turn of the operation, else what resolves when it is. `leave` is due in either case */
  enter(exclusive: boolean): Promise<void> | null {
    if (this.#waiting.length === 0 && this.#mayRun(exclusive)) {
      this.#run(exclusive);
      return null;
    }
    return new Promise((enter) => void this.#waiting.push({ exclusive, enter }));
  }

  leave(): void {
    this.#running -= 1;
    this.#isExclusive = false;
    this.#advance();
  }

  /** While it is held nobody's turn comes: the client has not taken the answers that it has. */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    if (!isHeld) this.#advance();
  }

  #mayRun(exclusive: boolean): boolean {
    return !this.#isHeld && !this.#isExclusive && this.#running < (exclusive ? 1 : this.#most);
  }

  #run(exclusive: boolean): void {
    this.#running += 1;
    this.#isExclusive = exclusive;
  }

  #advance(): void {
    for (let next = this.#waiting[0]; next !== undefined && this.#mayRun(next.exclusive); next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#run(next.exclusive);
      next.enter();
    }
  }
}
