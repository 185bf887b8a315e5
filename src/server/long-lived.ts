/** Connections that stay: websockets and event streams. How many there may be, what keeps them alive, and how they end together. */
import { setTimeout as sleep } from 'node:timers/promises';
import { SvcError } from '../errors/svc-error.ts';
import { type Beating, Heartbeat } from './heartbeat.ts';

export interface LongLivedConnection extends Beating {
  /** Closes at once. */
  close(code: number, reason: string): void;
  /** Closes once the queries and mutations that run are done; subscriptions end, and nothing more is started. */
  closeSoon(code: number, reason: string): void;
  /** Without a word. */
  terminate(): void;
}

export interface LongLivedOptions {
  /** Connections at the same time. */
  readonly limit: number;
  /** ms from one sign of life to the next; 0: none are given. */
  readonly keepAlive: number;
}

/** ms; the client is looked after also where it gets no sign of life. */
const SILENT_INTERVAL = 5000;
/** As websockets call it: the service restarts. */
const RESTART = 1012;
/** Connections that are told to go at a time, and ms until the next are. */
const SLICE = 100;
const SLICE_MS = 50;
/** ms that clients have to go by themselves. */
const LAST_WAIT = 1000;

export class LongLived {
  readonly #limit: number;
  /** Whether signs of life are given at all. */
  readonly keepsAlive: boolean;
  readonly #heartbeat: Heartbeat;
  readonly #connections = new Set<LongLivedConnection>();
  #isStopping = false;
  #onEmpty: (() => void) | null = null;

  constructor({ limit, keepAlive }: LongLivedOptions) {
    this.#limit = limit;
    this.keepsAlive = keepAlive > 0;
    this.#heartbeat = new Heartbeat(keepAlive === 0 ? SILENT_INTERVAL : keepAlive);
  }

  get size(): number {
    return this.#connections.size;
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** @throws SvcError busy, status 503, when there are as many as there may be */
  checkRoom(): void {
    if (this.#connections.size < this.#limit) return;
    throw new SvcError('busy', `the limit of ${this.#limit} websockets and event streams is reached`, { status: 503, keepsStatus: true });
  }

  /** @returns to be called when it has closed */
  add(connection: LongLivedConnection): () => void {
    this.#connections.add(connection);
    const stopBeating = this.#heartbeat.add(connection);
    return () => {
      stopBeating();
      this.#connections.delete(connection);
      if (this.#connections.size === 0) this.#onEmpty?.();
    };
  }

  /** Tells all clients to connect again. */
  restart(reason: string): void {
    for (const connection of [...this.#connections]) connection.close(RESTART, reason);
  }

  /** Takes no more, lets queries and mutations end for at most `limit` ms, and closes all. */
  async stop(limit: number): Promise<void> {
    this.#isStopping = true;
    // Not all at once: each of them connects again, to the instances that stay.
    const all = [...this.#connections];
    for (let i = 0; i < all.length; i += SLICE) {
      if (i > 0) await sleep(Math.min(SLICE_MS, (limit * SLICE) / (2 * all.length)));
      for (const connection of all.slice(i, i + SLICE)) connection.closeSoon(RESTART, 'shutting server down');
    }
    if (await this.#emptied(limit)) return;
    for (const connection of [...this.#connections]) connection.close(RESTART, 'shutting server down');
    if (await this.#emptied(LAST_WAIT)) return;
    for (const connection of [...this.#connections]) connection.terminate();
  }

  /** Whether all of them are gone after so many ms. */
  async #emptied(limit: number): Promise<boolean> {
    if (this.#connections.size === 0) return true;
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), limit);
      this.#onEmpty = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  }
}
