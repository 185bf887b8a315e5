import { ConnectionError, DatabaseError, PoolTimeoutError } from './driver/database-error.ts';
import type { Failure, Step } from './driver/exchange.ts';
import type { Pool } from './driver/pool.ts';

/** A server that statements run on. */
export interface Server {
  readonly pool: Pool;
  /** Named statements. */
  readonly prepare: boolean;
  /** Sent in front of each exchange, where nothing may be kept in the session. */
  readonly prelude: Step | null;
}

/** So long a replica that could not answer is left alone. */
const REST_MS = 5_000;

/** Copies of a database that answer queries in turn. */
export class Replicas {
  private readonly servers: readonly Server[];
  private readonly restingUntil = new Map<Server, number>();
  private turn = 0;

  constructor(servers: readonly Server[]) {
    this.servers = servers;
  }

  /** The next one that is not resting; null: the primary has to answer. */
  next(): Server | null {
    for (let i = 0; i < this.servers.length; i++) {
      const server = this.servers[this.turn++ % this.servers.length] as Server;
      const until = this.restingUntil.get(server);
      if (until === undefined) return server;
      if (Date.now() < until) continue;
      this.restingUntil.delete(server);
      return server;
    }
    return null;
  }

  rest(server: Server): void {
    this.restingUntil.set(server, Date.now() + REST_MS);
  }

  async close(boundMs: number): Promise<void> {
    await Promise.all(this.servers.map(({ pool }) => pool.close(boundMs)));
  }
}

/** Whether the primary may answer what a replica could not. */
export function isReplicasFault(failure: Failure): boolean {
  if (failure instanceof ConnectionError || failure instanceof PoolTimeoutError) return true;
  if (!(failure instanceof DatabaseError)) return false;
  // What is not there yet; then conflicts with what has to be repeated, what only a primary does, servers that stop or start.
  return failure.code.startsWith('42') || ['40001', '40P01', '25006', '57P01', '57P02', '57P03'].includes(failure.code);
}

/** Whether a replica should be left alone for a while. */
export function isOutOfReach(failure: Failure): boolean {
  return !(failure instanceof DatabaseError) || failure.code.startsWith('57P');
}
