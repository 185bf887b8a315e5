import type { Snapshot } from './snapshot.ts';
import type { SnapshotListener } from './state.ts';

/** Listeners for new snapshots, in the order of registration. */
export class SnapshotListeners {
  /** Keyed by token, because the same function may be registered twice. */
  readonly #listeners = new Map<symbol, SnapshotListener>();

  /** @returns function that removes the listener */
  add(listener: SnapshotListener): () => void {
    const token = Symbol();
    this.#listeners.set(token, listener);
    return () => {
      this.#listeners.delete(token);
    };
  }

  /** @param report called with the error of a listener */
  notify(current: Snapshot, before: Snapshot, report: (error: unknown) => void): void {
    for (const listener of this.#listeners.values()) {
      try {
        listener(current, before);
      } catch (error) {
        report(error);
      }
    }
  }

  clear(): void {
    this.#listeners.clear();
  }
}
