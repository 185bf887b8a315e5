/** Analysis of SQL of administrators by its text, without a connection. Types only. */

import type { SqlStatement } from '../model/split-statements.ts';

export type { SqlStatement };

export interface SqlText {
  /** Returns whether the catalog may differ after the SQL. True also for SQL that only contains a word of definitions. */
  mayChangeCatalog(sql: string): boolean;
  /**
   * Refuses SQL with effects that a read-only transaction of the database does not prevent. Called before each read-only transaction
   * with SQL of administrators. Absent if the source itself decides, such as by a dry run.
   * @throws SvcError bad-request
   */
  requireReads?(sql: string): void;
  /** Returns the statements in their order, without empty ones. Absent if `runSql` never calls `onFailure`. */
  statements?(sql: string): readonly SqlStatement[];
  /**
   * Returns the first statement that begins or ends a transaction; `undefined` if there is none. Present if and only if a rollback undoes
   * definitions; otherwise they commit implicitly.
   */
  transactionControl?(sql: string): SqlStatement | undefined;
}
