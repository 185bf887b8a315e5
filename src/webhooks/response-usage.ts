import type { SvcError } from '../errors/svc-error.ts';

/** Running total of the responses of other servers to one client request, in bytes. */
export interface ResponseUsage {
  bytes: number;
  /** Result budget that the responses count against until the request is answered; absent if they do not count. */
  readonly memory?: ResultBudget | undefined;
}

interface ResultBudget {
  take(bytes: number): boolean;
  /** @param isDone true if the request has made its changes */
  refusal(isDone: boolean): SvcError;
}

/** Counts the bytes of the responses to one call as they arrive. */
export class ResponseCounter {
  readonly #usage: ResponseUsage;
  readonly #limit: number;
  #isServiceFull = false;

  /** @param limit maximum size of all responses for the request together, in bytes */
  constructor(usage: ResponseUsage, limit: number) {
    this.#usage = usage;
    this.#limit = limit;
  }

  /** Counts the bytes and returns false if they exceed a limit. */
  readonly onBytes = (bytes: number): boolean => {
    this.#usage.bytes += bytes;
    if (this.#usage.bytes > this.#limit) return false;
    this.#isServiceFull = this.#usage.memory?.take(bytes) === false;
    return !this.#isServiceFull;
  };

  /** Returns the error if the result budget of the service is exhausted, `null` if a response was rejected for another reason. */
  refusal(isDone: boolean): SvcError | null {
    return this.#isServiceFull ? (this.#usage.memory?.refusal(isDone) ?? null) : null;
  }
}
