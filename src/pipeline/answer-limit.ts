import { type ResultBudget, intakeRefusal } from '../backend/result-budget.ts';
import type { SvcError } from '../errors/svc-error.ts';
import type { MemoryHold } from './result-memory.ts';

/** Bounds what databases answer to one operation, and takes it from the result budget of the service. */
export class AnswerLimit implements ResultBudget {
  readonly #most: number;
  readonly #hold: MemoryHold | undefined;
  #taken = 0;
  #isServiceFull = false;

  /**
   * @param most bytes; Infinity: as many as come
   * @param hold of the request; absent if its answers do not count
   */
  constructor(most: number, hold?: MemoryHold) {
    this.#most = most;
    this.#hold = hold;
  }

  /** What is kept now. */
  get taken(): number {
    return this.#taken;
  }

  take(bytes: number): boolean {
    if (this.#taken + bytes > this.#most) return false;
    if (this.#hold?.take(bytes) === false) {
      this.#isServiceFull = true;
      return false;
    }
    this.#taken += bytes;
    return true;
  }

  print(bytes: number): boolean {
    if (this.#taken + bytes > this.#most) return false;
    this.#taken += bytes;
    return true;
  }

  /** What is there already, whether it is too much or not. */
  keep(bytes: number): void {
    this.#taken += bytes;
  }

  giveBack(bytes: number): void {
    this.#taken -= bytes;
    this.#hold?.giveBack(bytes);
  }

  refusal(isDone: boolean): SvcError {
    if (this.#isServiceFull && this.#hold !== undefined) return this.#hold.refusal(isDone);
    return intakeRefusal(`the answer has more than ${this.#most} bytes`, isDone);
  }
}
