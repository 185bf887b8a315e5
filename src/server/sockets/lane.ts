import { Gate } from '../../util/gate.ts';

/**
 * The order in which the queries and mutations of one connection run. Queries run side by side; a mutation runs alone, after
 * everything that came before it and before everything that came after: so each sees what the client may expect it to see.
 */
export class Lane {
  #isExclusive = false;
  #isHeld = false;
  readonly #gate: Gate<boolean>;

  /** @param most operations at the same time */
  constructor(most: number) {
    this.#gate = new Gate((exclusive, running) => {
      if (this.#isHeld || this.#isExclusive || running >= (exclusive ? 1 : most)) return false;
      this.#isExclusive = exclusive;
      return true;
    });
  }

  /** Operations that run or wait. */
  get size(): number {
    return this.#gate.running + this.#gate.waiting;
  }

  /** @returns null when it is the turn of the operation, else what resolves when it is. `leave` is due in either case */
  enter(exclusive: boolean): Promise<void> | null {
    return this.#gate.enter(exclusive);
  }

  leave(): void {
    this.#isExclusive = false;
    this.#gate.leave();
  }

  /** While it is held nobody's turn comes: the client has not taken the answers that it has. */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    if (!isHeld) this.#gate.advance();
  }
}
