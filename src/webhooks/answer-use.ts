import type { SvcError } from '../errors/svc-error.ts';

/** Bytes that other servers have answered to one request of a client; it grows. */
export interface AnswerUse {
  bytes: number;
  /** Result budget in which the answers count until the request is answered; absent if they do not count. */
  readonly memory?: ResultBudget | undefined;
}

interface ResultBudget {
  take(bytes: number): boolean;
  /** @param isDone the changes of the request were made */
  refusal(isDone: boolean): SvcError;
}

/** Counts the bytes of the answers to one call as they come. */
export class AnswerIntake {
  readonly #use: AnswerUse;
  readonly #most: number;
  #isServiceFull = false;

  /** @param most bytes of all answers to the request together */
  constructor(use: AnswerUse, most: number) {
    this.#use = use;
    this.#most = most;
  }

  /** @returns false if there is no room for them */
  readonly take = (bytes: number): boolean => {
    this.#use.bytes += bytes;
    if (this.#use.bytes > this.#most) return false;
    this.#isServiceFull = this.#use.memory?.take(bytes) === false;
    return !this.#isServiceFull;
  };

  /** The error if the answers of all requests together have no room for these; `null` if that is not why they were refused. */
  refusal(isDone: boolean): SvcError | null {
    return this.#isServiceFull ? (this.#use.memory?.refusal(isDone) ?? null) : null;
  }
}
