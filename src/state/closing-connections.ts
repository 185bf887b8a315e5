import type { Source } from '../backend/backend.ts';

/** Connections that the current snapshot no longer uses. They close after a delay, because older requests may still use them. */
export class ClosingConnections {
  readonly #delayMs: number;
  readonly #report: (error: unknown) => void;
  readonly #timers = new Map<Source, NodeJS.Timeout>();

  constructor(delayMs: number, report: (error: unknown) => void) {
    this.#delayMs = delayMs;
    this.#report = report;
  }

  add(connection: Source): void {
    const timer = setTimeout(() => {
      this.#timers.delete(connection);
      connection.close().catch(this.#report);
    }, this.#delayMs);
    this.#timers.set(connection, timer);
  }

  /** Closes these connections and the waiting ones now. */
  async closeAll(others: Iterable<Source>): Promise<void> {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    await Promise.allSettled([...this.#timers.keys(), ...others].map((connection) => connection.close()));
  }
}
