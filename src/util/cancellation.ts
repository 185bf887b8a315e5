/** Whether a result is still wanted; looked at from time to time. An `AbortSignal` is one. */
export interface Cancellation {
  readonly aborted: boolean;
}

/**
 * A cancellation of its own, for the price of an object: an `AbortSignal` costs as much as the rest
 * of a small request and is made only for those who know nothing else.
 */
export class CancellationSource implements Cancellation {
  readonly #parent: Cancellation | undefined;
  #cancelled = false;
  #controller: AbortController | undefined;
  readonly #listeners = new Listeners();
  /** While somebody listens: the parent's word counts too. */
  #leaveParent: (() => void) | undefined;

  /** @param parent what it is a part of, and cancelled with */
  constructor(parent?: Cancellation) {
    this.#parent = parent;
  }

  get aborted(): boolean {
    return this.#cancelled || this.#parent?.aborted === true;
  }

  cancel(): void {
    if (this.#cancelled) return;
    this.#cancelled = true;
    this.#leaveParent?.();
    this.#listeners.call();
  }

  signal(): AbortSignal {
    if (this.#controller === undefined) {
      const controller = new AbortController();
      this.#controller = controller;
      if (this.aborted) controller.abort();
      else this.onCancel(() => controller.abort());
    }
    return this.#controller.signal;
  }

  /** @param listener hears of it once, unless it has happened already. @returns forgets it */
  onCancel(listener: () => void): () => void {
    if (this.aborted) return () => undefined;
    if (isPrompt(this.#parent)) this.#leaveParent ??= onCancel(this.#parent, () => this.cancel());
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      if (!this.#listeners.isEmpty) return;
      this.#leaveParent?.();
      this.#leaveParent = undefined;
    };
  }
}

/** Mostly none or one. */
class Listeners {
  #set: Set<() => void> | undefined;

  get isEmpty(): boolean {
    return this.#set === undefined || this.#set.size === 0;
  }

  add(listener: () => void): void {
    this.#set ??= new Set();
    this.#set.add(listener);
  }

  delete(listener: () => void): void {
    this.#set?.delete(listener);
  }

  /** For the last time. */
  call(): void {
    const all = [...(this.#set ?? [])];
    this.#set = undefined;
    for (const listener of all) listener();
  }
}

/** Those that can say at once that it has happened. */
export type PromptCancellation = AbortSignal | CancellationSource;

/** As `CancellationSource.onCancel`. */
export function onCancel(cancellation: PromptCancellation, listener: () => void): () => void {
  if (cancellation instanceof CancellationSource) return cancellation.onCancel(listener);
  cancellation.addEventListener('abort', listener, { once: true });
  return () => cancellation.removeEventListener('abort', listener);
}

/** Whether it tells at once when it happens, and need not be asked. */
export function isPrompt(cancellation: Cancellation | undefined): cancellation is PromptCancellation {
  return cancellation instanceof CancellationSource || cancellation instanceof AbortSignal;
}
