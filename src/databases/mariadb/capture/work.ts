import { SvcError } from '../../../errors/svc-error.ts';
import type { RunOptions, RunSqlResult } from '../../../backend/connection.ts';

export type SourceQuery = (text: string, values: readonly (string | null)[], options?: RunOptions) => Promise<RunSqlResult>;

/** Operations of a source that the queue and the log of events need. */
export interface EventDatabase {
  /** Connected database. Events belong to the sources connected to it. */
  readonly name: string;
  readonly query: SourceQuery;
  /** Runs statements in one transaction of a pooled session; statements without a deadline have the deadline of the transaction. */
  transact<T>(options: RunOptions, run: (query: SourceQuery) => Promise<T>): Promise<T>;
  /** Runs several DDL statements in a session of its own. */
  define(run: (define: (text: string) => Promise<RunSqlResult>) => Promise<void>, deadline?: number): Promise<void>;
}

/** Timeout of a queue statement, in ms: a fetch that takes longer would return events whose leases have expired. */
const STATEMENT_TIMEOUT_MS = 30_000;

/** Deadline for a queue statement that starts now. */
export function shortDeadline(): { readonly deadline: number } {
  return { deadline: Date.now() + STATEMENT_TIMEOUT_MS };
}

/** Default timeout of other statements, and of a whole transaction, in ms. */
const DEFAULT_TIMEOUT_MS = 60_000;
/** Timeout of DDL on tables that may be large, in ms. */
const DEFINITION_MS = 10 * 60_000;

/** Adds default timeouts to all statements: a database that hangs must not block its caller. */
export function timeLimited({ name, query, transact, define }: EventDatabase): EventDatabase {
  const within = (options: RunOptions = {}): RunOptions => ({ ...options, deadline: options.deadline ?? Date.now() + DEFAULT_TIMEOUT_MS });
  return {
    name,
    query: (text, values, options) => query(text, values, within(options)),
    transact: (options, run) => transact(within(options), run),
    define: (run) => define(run, Date.now() + DEFINITION_MS),
  };
}

/** Returns the number of rows that a statement has changed. */
export function affected({ command }: RunSqlResult): number {
  return Number(command);
}

/** Maximum attempts of a transaction that deadlocks. */
const ATTEMPTS = 5;

/** Repeats a transaction that the server ends because of a deadlock. */
export async function retryDeadlocks<T>(task: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await task();
    } catch (error) {
      if (attempt === ATTEMPTS || !(error instanceof SvcError) || error.code !== 'concurrent-update') throw error;
    }
  }
}

/** Errors for tables and databases that do not exist. */
const NO_TABLES: ReadonlySet<number> = new Set([1146, 1049]);

/** Returns the driver's error of a statement that the server refused; `errno` is 0 for other errors. */
export function serverErrorOf(error: unknown): { readonly errno: number; readonly message: string } {
  const cause = error instanceof SvcError ? error.cause : null;
  if (!(cause instanceof Error) || !('errno' in cause) || typeof cause.errno !== 'number' || !('sqlState' in cause)) {
    return { errno: 0, message: '' };
  }
  return { errno: cause.errno, message: cause.message };
}

export function isMissing(error: unknown): boolean {
  return NO_TABLES.has(serverErrorOf(error).errno);
}
