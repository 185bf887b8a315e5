import { type ResultBudget, budgetExceeded } from '../backend/result-budget.ts';
import type { SvcError } from '../errors/svc-error.ts';
import type { MemoryReservation } from './result-memory.ts';

/** Limits the database results of one operation, and counts them against the result budget of the service. */
export class OperationBudget implements ResultBudget {
  readonly #limit: number;
  readonly #reservation: MemoryReservation | undefined;
  #used = 0;
  #isServiceFull = false;

  /**
   * @param limit in bytes; Infinity for none
   * @param reservation of the request; absent if its results do not count
   */
  constructor(limit: number, reservation?: MemoryReservation) {
    this.#limit = limit;
    this.#reservation = reservation;
  }

  /** Bytes in use. */
  get used(): number {
    return this.#used;
  }

  take(bytes: number): boolean {
    if (this.#used + bytes > this.#limit) return false;
    if (this.#reservation?.take(bytes) === false) {
      this.#isServiceFull = true;
      return false;
    }
    this.#used += bytes;
    return true;
  }

  print(bytes: number): boolean {
    if (this.#used + bytes > this.#limit) return false;
    this.#used += bytes;
    return true;
  }

  /** Counts bytes that are in memory already, even beyond the limit. */
  add(bytes: number): void {
    this.#used += bytes;
  }

  release(bytes: number): void {
    this.#used -= bytes;
    this.#reservation?.free(bytes);
  }

  refusal(isDone: boolean): SvcError {
    if (this.#isServiceFull && this.#reservation !== undefined) return this.#reservation.refusal(isDone);
    return budgetExceeded(`the response exceeds ${this.#limit} bytes`, isDone);
  }
}
