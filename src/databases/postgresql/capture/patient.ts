/** A database whose statements have an end: what is hung on a database must not hang with it. */
import type { Source, TransactionOptions } from '../../../backend/backend.ts';
import type { Connection, RunOptions } from '../../../backend/connection.ts';

/** In a transaction or not. */
export type Statements = Pick<Connection, 'query' | 'runSql'>;

export interface PatientDatabase extends Statements {
  transaction<T>(how: TransactionOptions, run: (connection: Statements) => Promise<T>): Promise<T>;
}

/** For a statement, and for all of a transaction. ms */
const PATIENCE_MS = 60_000;

function within(how: RunOptions): RunOptions {
  return how.deadline === undefined ? { ...how, deadline: Date.now() + PATIENCE_MS } : how;
}

/** Statements that have an end, by what they say themselves or after a minute. */
export function patientStatements(connection: Statements): Statements {
  return {
    query: (text, values, how = {}) => connection.query(text, values, within(how)),
    runSql: (text, how) => connection.runSql(text, within(how)),
  };
}

/** The same with transactions, each of which has one end for all that is in it. */
export function patient(source: Pick<Source, 'query' | 'runSql' | 'transaction'>): PatientDatabase {
  return {
    ...patientStatements(source),
    transaction: ({ deadline = Date.now() + PATIENCE_MS, ...how }, run) =>
      source.transaction({ ...how, deadline }, (connection) =>
        run({
          query: (text, values, own = {}) => connection.query(text, values, { deadline, ...own }),
          runSql: (text, own) => connection.runSql(text, { deadline, ...own }),
        }),
      ),
  };
}
