/** Whether a result is still wanted; looked at from time to time. An `AbortSignal` is one. */
export interface Cancellation {
  readonly aborted: boolean;
}

/**
 * A cancellation of its own, for the price of an object: an `AbortSignal` costs as much as the rest
 * of a small request and is made only for those who must be told at once.
 */
export class CancellationSource implements Cancellation {
  readonly #parent: Cancellation | undefined;
  #cancelled = false;
  #controller: AbortController | undefined;

  /** @param parent what it is a part of, and cancelled with */
  constructor(parent?: Cancellation) {
    this.#parent = parent;
  }

  get aborted(): boolean {
    return this.#cancelled || this.#parent?.aborted === true;
  }

  cancel(): void {
    this.#cancelled = true;
    this.#controller?.abort();
  }

  signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.aborted) this.#controller.abort();
      else signalOf(this.#parent)?.addEventListener('abort', () => this.cancel(), { once: true });
    }
    return this.#controller.signal;
  }
}

/** Undefined where nobody can be told at once. */
export function signalOf(cancellation: Cancellation | undefined): AbortSignal | undefined {
  if (cancellation instanceof AbortSignal) return cancellation;
  return cancellation instanceof CancellationSource ? cancellation.signal() : undefined;
}
