/** Cancellation that is polled. An `AbortSignal` is one. */
export interface Cancellation {
  readonly aborted: boolean;
}

/**
 * Cancellation that costs only an object. An `AbortSignal` costs as much as the rest of a small request, and is created only for APIs that
 * need one.
 */
export class CancellationSource implements Cancellation {
  readonly #parent: Cancellation | undefined;
  #cancelled = false;
  #controller: AbortController | undefined;
  readonly #listeners = new Listeners();
  /** Removes the listener of the parent, which exists only while this source has listeners. */
  #leaveParent: (() => void) | undefined;

  /** @param parent cancels this source too */
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

  /** @param listener called once, unless it is cancelled already @returns a function that removes the listener */
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

/** Set of listeners, allocated on first use: most sources have none. */
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

  /** Calls and removes all listeners. */
  call(): void {
    const all = [...(this.#set ?? [])];
    this.#set = undefined;
    for (const listener of all) listener();
  }
}

/** Cancellation that notifies listeners instead of being polled. */
export type PromptCancellation = AbortSignal | CancellationSource;

/** Like `CancellationSource.onCancel`. */
export function onCancel(cancellation: PromptCancellation, listener: () => void): () => void {
  if (cancellation instanceof CancellationSource) return cancellation.onCancel(listener);
  cancellation.addEventListener('abort', listener, { once: true });
  return () => cancellation.removeEventListener('abort', listener);
}

export function isPrompt(cancellation: Cancellation | undefined): cancellation is PromptCancellation {
  return cancellation instanceof CancellationSource || cancellation instanceof AbortSignal;
}
