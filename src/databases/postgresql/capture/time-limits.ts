/** Deadlines for the statements of event capture: a database that hangs must not block its caller. */
import type { Source, TransactionOptions } from '../../../backend/backend.ts';
import type { Connection, RunOptions } from '../../../backend/connection.ts';

/** Statements inside or outside a transaction. */
export type Statements = Pick<Connection, 'query' | 'runSql'>;

export interface TimeLimitedDatabase extends Statements {
  transaction<T>(options: TransactionOptions, run: (connection: Statements) => Promise<T>): Promise<T>;
}

/** Default timeout of a statement, and of a whole transaction, in ms. */
const STATEMENT_TIMEOUT_MS = 60_000;

function within(options: RunOptions): RunOptions {
  return options.deadline === undefined ? { ...options, deadline: Date.now() + STATEMENT_TIMEOUT_MS } : options;
}

/** Adds the default timeout to statements without a deadline. */
export function timeLimitedStatements(connection: Statements): Statements {
  return {
    query: (text, values, options = {}) => connection.query(text, values, within(options)),
    runSql: (text, options) => connection.runSql(text, within(options)),
  };
}

/** Adds the default timeout to statements and transactions; all statements of a transaction share its deadline. */
export function timeLimited(source: Pick<Source, 'query' | 'runSql' | 'transaction'>): TimeLimitedDatabase {
  return {
    ...timeLimitedStatements(source),
    transaction: ({ deadline = Date.now() + STATEMENT_TIMEOUT_MS, ...options }, run) =>
      source.transaction({ ...options, deadline }, (connection) =>
        run({
          query: (text, values, own = {}) => connection.query(text, values, { deadline, ...own }),
          runSql: (text, own) => connection.runSql(text, { deadline, ...own }),
        }),
      ),
  };
}
