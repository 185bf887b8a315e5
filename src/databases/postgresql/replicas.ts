import { runExchange } from './connection.ts';
import { CancelledError, ConnectionError, DatabaseError, PoolTimeoutError } from './driver/database-error.ts';
import type { Failure, WireStep } from './driver/exchange.ts';
import type { Pool } from './driver/pool.ts';
import type { DriverSession } from './driver/session.ts';

/** A server on which statements run. */
export interface Server {
  readonly pool: Pool;
  /** True if statements are prepared. */
  readonly prepare: boolean;
  /** Settings before each exchange, if the session cannot keep them. */
  readonly prelude: WireStep | null;
}

/** Interval between probes of a replica that does not answer. */
const PROBE_INTERVAL_MS = 5_000;
/** Timeout for a probe. */
const PROBE_TIMEOUT_MS = 2_000;
const PROBE: WireStep = { text: 'select 1', values: [], once: true };

/**
 * Read replicas, used round robin. Only replicas that have answered get queries: they are probed in the background at the start and after a
 * failure, so that no query waits for a silent replica.
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

  /** Resolves after the first probe of each replica, with or without an answer. */
  async start(): Promise<void> {
    await Promise.all(this.#servers.map((server) => this.#probe(server)));
  }

  /** Returns the next replica that answers; `null` if only the primary does. */
  next(): Server | null {
    for (let i = 0; i < this.#servers.length; i++) {
      const server = this.#servers[this.#turn++ % this.#servers.length] as Server;
      if (this.#answering.has(server)) return server;
    }
    return null;
  }

  /** Sends no queries to a replica until it answers again. */
  rest(server: Server): void {
    if (this.#answering.delete(server)) this.#probeLater(server);
  }

  async close(boundMs: number): Promise<void> {
    this.#closed = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    await Promise.all(this.#servers.map(({ pool }) => pool.close(boundMs)));
  }

  #probeLater(server: Server): void {
    if (this.#closed || this.#timers.has(server)) return;
    const timer = setTimeout(() => {
      this.#timers.delete(server);
      void this.#probe(server);
    }, PROBE_INTERVAL_MS);
    timer.unref();
    this.#timers.set(server, timer);
  }

  async #probe(server: Server): Promise<void> {
    const answers = await isAnswering(server.pool);
    if (this.#closed) return;
    if (answers) this.#answering.add(server);
    else this.#probeLater(server);
  }
}

async function isAnswering(pool: Pool): Promise<boolean> {
  const options = { deadline: Date.now() + PROBE_TIMEOUT_MS };
  let session: DriverSession | undefined;
  try {
    session = await pool.acquire(options);
    return (await runExchange(session, 'text', [PROBE], options, () => pool.watch())).failure === null;
  } catch {
    return false;
  } finally {
    if (session !== undefined) pool.release(session);
  }
}

/** Returns whether the primary may succeed where a replica failed. */
export function mayPrimarySucceed(failure: Failure): boolean {
  if (failure instanceof ConnectionError || failure instanceof PoolTimeoutError) return true;
  if (!(failure instanceof DatabaseError)) return false;
  // Objects that are not replicated yet; conflicts with replication, statements for the primary only, servers that stop or start.
  return failure.code.startsWith('42') || ['40001', '40P01', '25006', '57P01', '57P02', '57P03'].includes(failure.code);
}

/** Returns whether a replica should get no queries until it answers again. */
export function isOutOfReach(failure: Failure): boolean {
  // A timeout may be due to the query or to a dead connection.
  if (failure instanceof CancelledError) return failure.reason === 'deadline';
  return !(failure instanceof DatabaseError) || failure.code.startsWith('57P');
}
