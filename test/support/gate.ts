/** Statements that wait in the database until the test opens the gate, which makes concurrency deterministic without a clock. */
import pg from 'pg';
import { expect } from 'vitest';
import { WAIT } from './wait.ts';

const KEY = 4711;

/** SQL that waits while the gate is closed. */
export const AT_GATE = `pg_advisory_xact_lock_shared(${KEY})`;

export interface Gate {
  shut(): Promise<void>;
  open(): Promise<void>;
  /** Number of statements that wait at the gate. */
  waiting(): Promise<number>;
  /** Resolves when that many statements wait. */
  untilWaiting(count: number): Promise<void>;
  /** Opens the gate for good. */
  end(): Promise<void>;
}

/** The gate of the database at `url`, initially open. */
export async function gateOf(url: string): Promise<Gate> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const waiting = async (): Promise<number> => {
    const { rows } = await client.query<{ count: number }>(
      `select count(*)::int as count from pg_locks
       where locktype = 'advisory' and not granted and objid = ${KEY} and database = (select oid from pg_database where datname = current_database())`,
    );
    return rows[0]?.count ?? 0;
  };
  return {
    shut: async () => void (await client.query(`select pg_advisory_lock(${KEY})`)),
    open: async () => void (await client.query(`select pg_advisory_unlock(${KEY})`)),
    waiting,
    untilWaiting: async (count) => void (await expect.poll(waiting, WAIT).toBe(count)),
    end: () => client.end(),
  };
}
