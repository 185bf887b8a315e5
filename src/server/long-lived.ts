/** Websockets and event streams: their limit, keep-alive and shutdown. */
import { setTimeout as sleep } from 'node:timers/promises';
import { SvcError } from '../errors/svc-error.ts';
import { type HeartbeatListener, Heartbeat } from './heartbeat.ts';

export interface LongLivedConnection extends HeartbeatListener {
  /** Closes at once. */
  close(code: number, reason: string): void;
  /** Ends subscriptions and closes once running queries and mutations are done; starts nothing more. */
  closeSoon(code: number, reason: string): void;
  /** Closes without a closing handshake. */
  terminate(): void;
}

export interface LongLivedOptions {
  /** Maximum number of connections. */
  readonly limit: number;
  /** Interval of keep-alive messages, in ms; 0 for none. */
  readonly keepAlive: number;
}

/** Interval for checking clients if no keep-alive messages are sent, in ms. */
const SILENT_INTERVAL = 5000;
/** Close code of websockets for a restart of the service. */
const RESTART = 1012;
/** Number of connections that are closed together at shutdown, and the time between two such groups, in ms. */
const SLICE = 100;
const SLICE_MS = 50;
/** Time for clients to close their connections, in ms. */
const LAST_WAIT = 1000;

export class LongLived {
  readonly #limit: number;
  /** True if keep-alive messages are sent. */
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

  /** @throws SvcError busy, status 503, if the limit is reached */
  checkLimit(): void {
    if (this.#connections.size < this.#limit) return;
    throw new SvcError('busy', `the limit of ${this.#limit} websockets and event streams is reached`, { status: 503, keepsStatus: true });
  }

  /** Adds a connection. Returns a function to call when it has closed. */
  add(connection: LongLivedConnection): () => void {
    this.#connections.add(connection);
    const stopBeating = this.#heartbeat.add(connection);
    return () => {
      stopBeating();
      this.#connections.delete(connection);
      if (this.#connections.size === 0) this.#onEmpty?.();
    };
  }

  /** Closes all connections, so that clients connect again. */
  restart(reason: string): void {
    for (const connection of [...this.#connections]) connection.close(RESTART, reason);
  }

  /** Rejects new connections, lets queries and mutations finish for at most `limit` ms, and closes all connections. */
  async stop(limit: number): Promise<void> {
    this.#isStopping = true;
    // In groups: all of these clients reconnect to the remaining instances.
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

  /** Resolves with true once all connections are closed, with false after `limit` ms. */
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
