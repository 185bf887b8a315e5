/** Deadlines for the statements of event capture: a database that hangs must not block its caller. */
import type { Source, TransactionOptions } from '../../../backend/backend.ts';
import type { Connection, RunOptions } from '../../../backend/connection.ts';

/** Statements inside or outside a transaction. */
export type Statements = Pick<Connection, 'query' | 'runSql'>;

export interface TimeLimitedDatabase extends Statements {
  transaction<T>(how: TransactionOptions, run: (connection: Statements) => Promise<T>): Promise<T>;
}

/** Default timeout of a statement, and of a whole transaction, in ms. */
const STATEMENT_TIMEOUT_MS = 60_000;

function within(how: RunOptions): RunOptions {
  return how.deadline === undefined ? { ...how, deadline: Date.now() + STATEMENT_TIMEOUT_MS } : how;
}

/** Adds the default timeout to statements without a deadline. */
export function timeLimitedStatements(connection: Statements): Statements {
  return {
    query: (text, values, how = {}) => connection.query(text, values, within(how)),
    runSql: (text, how) => connection.runSql(text, within(how)),
  };
}

/** Adds the default timeout to statements and transactions; all statements of a transaction share its deadline. */
export function timeLimited(source: Pick<Source, 'query' | 'runSql' | 'transaction'>): TimeLimitedDatabase {
  return {
    ...timeLimitedStatements(source),
    transaction: ({ deadline = Date.now() + STATEMENT_TIMEOUT_MS, ...how }, run) =>
      source.transaction({ ...how, deadline }, (connection) =>
        run({
          query: (text, values, own = {}) => connection.query(text, values, { deadline, ...own }),
          runSql: (text, own) => connection.runSql(text, { deadline, ...own }),
        }),
      ),
  };
}
