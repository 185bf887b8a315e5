import { type Intake, intakeRefusal } from '../backend/intake.ts';
import type { SvcError } from '../errors/svc-error.ts';

/** Holds what databases answer to one operation. */
export class AnswerLimit implements Intake {
  readonly #most: number;
  #taken = 0;

  /** @param most bytes; Infinity: as many as come */
  constructor(most: number) {
    this.#most = most;
  }

  /** What is kept now. */
  get taken(): number {
    return this.#taken;
  }

  take(bytes: number): boolean {
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
  }

  refusal(isDone: boolean): SvcError {
    return intakeRefusal(`the answer has more than ${this.#most} bytes`, isDone);
  }
}
