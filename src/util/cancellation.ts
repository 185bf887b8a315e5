/** Whether a result is still wanted; looked at from time to time. An `AbortSignal` is one. */
export interface Cancellation {
  readonly aborted: boolean;
}

/**
 * A cancellation of its own, for the price of an object: an `AbortSignal` costs as much as the rest
 * of a small request and is made only for those who must be told at once.
 */
export class CancellationSource implements Cancellation {
  aborted = false;
  #controller: AbortController | undefined;

  cancel(): void {
    this.aborted = true;
    this.#controller?.abort();
  }

  signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.aborted) this.#controller.abort();
    }
    return this.#controller.signal;
  }
}
