import { runExchange } from './connection.ts';
import { CancelledError, ConnectionError, DatabaseError, PoolTimeoutError } from './driver/database-error.ts';
import type { Failure, WireStep } from './driver/exchange.ts';
import type { Pool } from './driver/pool.ts';
import type { DriverSession } from './driver/session.ts';

/** A server that statements run on. */
export interface Server {
  readonly pool: Pool;
  /** Named statements. */
  readonly prepare: boolean;
  /** Sent in front of each exchange, where nothing may be kept in the session. */
  readonly prelude: WireStep | null;
}

/** Time between two questions to a replica that does not answer. */
const REST_MS = 5_000;
/** So long a replica may take to answer the question whether it is there. */
const PROBE_MS = 2_000;
const PROBE: WireStep = { text: 'select 1', values: [], once: true };

/**
 * Copies of a database that answer queries in turn. A query goes only to one that has answered: whether one
 * does is asked in the background, at first and after it has failed, so that no query waits for one that is silent.
 */
export class Replicas {
  readonly #servers: readonly Server[];
  readonly #answering = new Set<Server>();
  readonly #timers = new Map<Server, NodeJS.Timeout>();
  #turn = 0;
  #closed = false;

  constructor(servers: readonly Server[]) {
    this.#servers = servers;
  }

  get pools(): readonly Pool[] {
    return this.#servers.map(({ pool }) => pool);
  }

  /** Resolves when each has been asked for the first time, and has answered or not. */
  async start(): Promise<void> {
    await Promise.all(this.#servers.map((server) => this.#ask(server)));
  }

  /** The next one that answers; null: the primary has to. */
  next(): Server | null {
    for (let i = 0; i < this.#servers.length; i++) {
      const server = this.#servers[this.#turn++ % this.#servers.length] as Server;
      if (this.#answering.has(server)) return server;
    }
    return null;
  }

  /** Leaves a replica alone until it answers again. */
  rest(server: Server): void {
    if (this.#answering.delete(server)) this.#askLater(server);
  }

  async close(boundMs: number): Promise<void> {
    this.#closed = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    await Promise.all(this.#servers.map(({ pool }) => pool.close(boundMs)));
  }

  #askLater(server: Server): void {
    if (this.#closed || this.#timers.has(server)) return;
    const timer = setTimeout(() => {
      this.#timers.delete(server);
      void this.#ask(server);
    }, REST_MS);
    timer.unref();
    this.#timers.set(server, timer);
  }

  async #ask(server: Server): Promise<void> {
    const answers = await isThere(server.pool);
    if (this.#closed) return;
    if (answers) this.#answering.add(server);
    else this.#askLater(server);
  }
}

async function isThere(pool: Pool): Promise<boolean> {
  const how = { deadline: Date.now() + PROBE_MS };
  let session: DriverSession | undefined;
  try {
    session = await pool.lend(how);
    return (await runExchange(session, 'text', [PROBE], how, () => pool.watch())).failure === null;
  } catch {
    return false;
  } finally {
    if (session !== undefined) pool.giveBack(session);
  }
}

/** Whether the primary may answer what a replica could not. */
export function isReplicasFault(failure: Failure): boolean {
  if (failure instanceof ConnectionError || failure instanceof PoolTimeoutError) return true;
  if (!(failure instanceof DatabaseError)) return false;
  // What is not there yet; then conflicts with what has to be repeated, what only a primary does, servers that stop or start.
  return failure.code.startsWith('42') || ['40001', '40P01', '25006', '57P01', '57P02', '57P03'].includes(failure.code);
}

/** Whether a replica should be left alone until it is known to answer. */
export function isOutOfReach(failure: Failure): boolean {
  // A query that took too long may be the query's fault, or that of a connection that nobody answers on any more.
  if (failure instanceof CancelledError) return failure.reason === 'deadline';
  return !(failure instanceof DatabaseError) || failure.code.startsWith('57P');
}
