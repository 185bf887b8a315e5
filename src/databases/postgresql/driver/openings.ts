/** Connections on their way to a pool, and what their failures mean for those who wait. */
import type { ConnectionCounts } from '../../../backend/connection-counts.ts';
import type { ConnectionError } from './database-error.ts';
import type { DriverSession } from './session.ts';

const RETRY_PAUSE_MS = 50;

export interface OpeningsOptions {
  readonly open: () => Promise<DriverSession>;
  /** How often opening a connection is tried again. */
  readonly retries: number;
  readonly counts: ConnectionCounts;
}

export class Openings {
  readonly #options: OpeningsOptions;
  /** Of the openings under way in the background. */
  readonly #underWay = new Set<object>();
  /** An opening failed: so will all who wait for connections since, when these openings fail as well. */
  #doubt: { readonly awaited: Set<object>; readonly since: number } | null = null;
  #opening = 0;

  constructor(options: OpeningsOptions) {
    this.#options = options;
  }

  /** How many are under way. */
  get count(): number {
    return this.#opening;
  }

  /** Opens a connection that the caller waits for; it is under way until `take` is done. Throws `ConnectionError`. */
  async first(take: (session: DriverSession) => void): Promise<void> {
    this.#opening++;
    try {
      take(await this.#openWithRetries());
    } finally {
      this.#opening--;
    }
  }

  /** Opens a connection in the background. @param failed is given the opening, for `mayGiveUp` */
  begin(take: (session: DriverSession) => void, failed: (opening: object, error: ConnectionError) => void): void {
    const opening = {};
    this.#opening++;
    this.#underWay.add(opening);
    const over = (): void => {
      this.#opening--;
      this.#underWay.delete(opening);
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

  /** A connection is there: failures mean nothing. */
  trust(): void {
    this.#doubt = null;
  }

  /**
   * Whether nothing is to be hoped for after a failure: when an opening fails, once all openings that were under way then have failed too.
   * @param arrivals how many have come to wait until now
   * @returns how many had come when the first of these failed: they wait in vain; null: there is hope
   */
  mayGiveUp(failed: object, arrivals: number): number | null {
    this.#doubt ??= { awaited: new Set(this.#underWay), since: arrivals };
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
