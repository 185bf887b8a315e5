/** Connections that are being opened for a pool, and the consequences of their failures for waiting statements. */
import type { ConnectionCounts } from '../../../backend/connection-counts.ts';
import type { ConnectionError } from './database-error.ts';
import type { DriverSession } from './session.ts';

const RETRY_PAUSE_MS = 50;

export interface OpeningsOptions {
  readonly open: () => Promise<DriverSession>;
  /** Number of retries for opening a connection. */
  readonly retries: number;
  readonly counts: ConnectionCounts;
}

export class Openings {
  readonly #options: OpeningsOptions;
  /** Openings in the background. */
  readonly #pending = new Set<object>();
  /** Set after a failed opening: if the other pending openings fail too, all statements that were waiting fail. */
  #doubt: { readonly awaited: Set<object>; readonly since: number } | null = null;
  #opening = 0;

  constructor(options: OpeningsOptions) {
    this.#options = options;
  }

  /** Number of connections that are being opened. */
  get count(): number {
    return this.#opening;
  }

  /** Opens a connection for which the caller waits. It is counted until `take` returns. @throws ConnectionError */
  async first(take: (session: DriverSession) => void): Promise<void> {
    this.#opening++;
    try {
      take(await this.#openWithRetries());
    } finally {
      this.#opening--;
    }
  }

  /** Opens a connection in the background. @param failed called with the opening, for `failedSince` */
  begin(take: (session: DriverSession) => void, failed: (opening: object, error: ConnectionError) => void): void {
    const opening = {};
    this.#opening++;
    this.#pending.add(opening);
    const over = (): void => {
      this.#opening--;
      this.#pending.delete(opening);
    };
    this.#openWithRetries().then(
      (session) => {
        over();
        this.#doubt = null;
        take(session);
      },
      (error: ConnectionError) => {
        over();
        failed(opening, error);
      },
    );
  }

  /** Ignores failures, because a connection is open. */
  trust(): void {
    this.#doubt = null;
  }

  /**
   * Returns which statements fail after a failed opening: those that were waiting at the first failure, once all openings that were pending
   * at that time have failed.
   * @param arrivals number of statements that have ever waited
   * @returns that number at the first failure; `null` while an opening is pending
   */
  failedSince(failed: object, arrivals: number): number | null {
    this.#doubt ??= { awaited: new Set(this.#pending), since: arrivals };
    this.#doubt.awaited.delete(failed);
    if (this.#doubt.awaited.size > 0) return null;
    const { since } = this.#doubt;
    this.#doubt = null;
    return since;
  }

  async #openWithRetries(): Promise<DriverSession> {
    const { open, retries, counts } = this.#options;
    for (let attempt = 0; ; attempt++) {
      const began = performance.now();
      try {
        const session = await open();
        counts.initTime.observe((performance.now() - began) / 1000);
        return session;
      } catch (error) {
        counts.errors += 1;
        if (attempt >= retries) throw error;
        await new Promise((resolve) => setTimeout(resolve, RETRY_PAUSE_MS));
      }
    }
  }
}
