import { SvcError } from '../../../errors/svc-error.ts';
import type { RunOptions, RunSqlResult } from '../../../backend/connection.ts';

export type Query = (text: string, values: readonly (string | null)[], how?: RunOptions) => Promise<RunSqlResult>;

/** What the queue and the log of events need of a source. */
export interface EventDatabase {
  /** The database that the source is connected to: events of sources that are connected to others are none of its own. */
  readonly name: string;
  readonly query: Query;
  /** Statements in one transaction, in a session of the pool; those without a deadline have the transaction's. */
  transact<T>(how: RunOptions, run: (query: Query) => Promise<T>): Promise<T>;
  /** Several statements of definition, one after another, in a session that ends with them. */
  define(run: (define: (text: string) => Promise<RunSqlResult>) => Promise<void>, deadline?: number): Promise<void>;
}

/** For one statement: a fetch that takes longer would bring events whose leases are over. ms */
const PATIENCE_MS = 30_000;

export function soon(): { readonly deadline: number } {
  return { deadline: Date.now() + PATIENCE_MS };
}

/** For a statement of another kind, and for all of a transaction. ms */
const PATIENCE_OF_OTHERS_MS = 60_000;
/** Of tables that may be large. ms */
const DEFINITION_MS = 10 * 60_000;

/** A database whose statements have an end: what is hung on a database must not hang with it. */
export function patient({ name, query, transact, define }: EventDatabase): EventDatabase {
  const within = (how: RunOptions = {}): RunOptions => ({ ...how, deadline: how.deadline ?? Date.now() + PATIENCE_OF_OTHERS_MS });
  return {
    name,
    query: (text, values, how) => query(text, values, within(how)),
    transact: (how, run) => transact(within(how), run),
    define: (run) => define(run, Date.now() + DEFINITION_MS),
  };
}

/** The number of rows that a statement has changed. */
export function affected({ command }: RunSqlResult): number {
  return Number(command);
}

/** Number of times that a transaction is begun again when it met another one. */
const ATTEMPTS = 5;

/** Of two transactions that wait for each other the server ends one. */
export async function again<T>(task: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await task();
    } catch (error) {
      if (attempt === ATTEMPTS || !(error instanceof SvcError) || error.code !== 'concurrent-update') throw error;
    }
  }
}

/** The tables are made with the first trigger: before there is nothing in them. */
const NO_TABLES: ReadonlySet<number> = new Set([1146, 1049]);

/** What the driver says of a statement that the server has refused; 0: it was not the server. */
export function serverErrorOf(error: unknown): { readonly errno: number; readonly message: string } {
  const cause = error instanceof SvcError ? error.cause : null;
  if (!(cause instanceof Error) || !('errno' in cause) || typeof cause.errno !== 'number' || !('sqlState' in cause)) {
    return { errno: 0, message: '' };
  }
  return { errno: cause.errno, message: cause.message };
}

export async function orNothing<T>(nothing: T, task: () => Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (error) {
    if (NO_TABLES.has(serverErrorOf(error).errno)) return nothing;
    throw error;
  }
}
