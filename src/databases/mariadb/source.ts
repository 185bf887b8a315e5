import type {
  CatalogFingerprint,
  HealthStatus,
  MutationOptions,
  MutationStatement,
  Source,
  TransactionOptions,
} from '../../backend/backend.ts';
import type { Captures } from '../../backend/captures.ts';
import type { ServerMeasures } from '../../backend/connection-counts.ts';
import { type QueryTags, taggedText } from '../../backend/query-tags.ts';
import type { Catalog, CatalogScope, QualifiedName, TableOverview } from '../../catalog/catalog.ts';
import { mariadbCaptures } from './capture/captures.ts';
import type { BodyOptions } from './capture/triggers.ts';
import type { SourceQuery } from './capture/work.ts';
import { readCatalogFingerprint } from './catalog-fingerprint.ts';
import { SessionConnection } from './connection.ts';
import { mayAbortPattern } from './truncation.ts';
import { analyzeDryRun } from './definitions/dry-run.ts';
import { refuseWritable } from './definitions/read-only.ts';
import { isDeadlock, statementError, StatementCancelledError } from './errors.ts';
import { command } from './execute.ts';
import { type BorrowedSession, type Pool, refuseCancelled } from './pool.ts';
import { runStatements } from './transaction.ts';
import type {
  Connection,
  DryRunAnalysis,
  JsonRow,
  RunOptions,
  RunSqlOptions,
  RunSqlResult,
  SessionSettings,
  Statement,
  StatementOptions,
} from '../../backend/connection.ts';

const CLOSE_BOUND_MS = 10_000;
/** Maximum attempts of a transaction that deadlocks. */
const MAX_ATTEMPTS = 4;

const ISOLATION = {
  'read-committed': 'read committed',
  'repeatable-read': 'repeatable read',
  serializable: 'serializable',
} as const;

export class MariadbSource implements Source {
  readonly captures: Captures;
  readonly #pool: Pool;
  readonly #database: string;

  constructor(pool: Pool, database: string, options: Pick<BodyOptions, 'stringifyNumericTypes'>) {
    this.#pool = pool;
    this.#database = database;
    this.captures = mariadbCaptures(
      {
        name: database,
        query: (text, values, options) => this.query(text, values, options),
        transact: (options, run) => this.#transact(options, run),
        define: (run, deadline) => this.session((connection) => run((text) => connection.runSql(text, { deadline }))),
      },
      options,
    );
  }

  runJson(statement: Statement, values: readonly (string | null)[], options: RunOptions): Promise<JsonRow> {
    return this.#reading(options, (connection) => connection.runJson(statement, values, options));
  }

  runRows(
    statement: Pick<Statement, 'text' | 'repeatable'>,
    values: readonly (string | null)[],
    options: RunOptions,
  ): Promise<readonly JsonRow[]> {
    return this.#reading(options, (connection) => connection.runRows(statement, values, options));
  }

  explain(statement: Statement, values: readonly (string | null)[], options: RunOptions): Promise<readonly string[]> {
    return this.#reading(options, (connection) => connection.explain(statement, values, options));
  }

  query(text: string, values: readonly (string | null)[], options: StatementOptions = {}): Promise<RunSqlResult> {
    return this.#pooled(options, (connection) => connection.query(text, values, options));
  }

  introspect(scope?: CatalogScope, options: RunOptions = {}): Promise<Catalog> {
    return this.#pooled(options, (connection) => connection.introspect(scope, options));
  }

  tableOverviews(tables?: readonly QualifiedName[], options: RunOptions = {}): Promise<readonly TableOverview[]> {
    return this.#pooled(options, (connection) => connection.tableOverviews(tables, options));
  }

  catalogFingerprint(before: CatalogFingerprint | null, options: RunOptions = {}): Promise<CatalogFingerprint> {
    return this.#pooled(options, (connection) =>
      readCatalogFingerprint((text, values) => connection.query(text, values, options), before, Date.now()),
    );
  }

  analyzeDryRun(sql: string, before: Catalog): DryRunAnalysis {
    return analyzeDryRun(sql, before, this.#database);
  }

  runSql(sql: string, options: RunSqlOptions): Promise<RunSqlResult> {
    return this.session((connection) => connection.runSql(sql, options));
  }

  runMutation(statements: readonly MutationStatement[], options: MutationOptions): Promise<readonly JsonRow[]> {
    return this.#withSession(options, (session) =>
      this.#caught(() => this.#pool.run(session, options, () => this.#written(session, statements, options))),
    );
  }

  /** Runs a mutation in a transaction. A single statement needs none. */
  async #written(
    session: BorrowedSession,
    statements: readonly MutationStatement[],
    options: MutationOptions,
  ): Promise<readonly JsonRow[]> {
    const { connection } = session;
    const before = (): void => refuseCancelled(options);
    await this.#pool.setVariables(session, options.settings);
    const tagged = options.tags === undefined ? statements : statements.map((each) => withTags(each, options.tags));
    const [first] = statements;
    // An aborted pattern is detected only after the statement has run.
    const isSure = first !== undefined && !mayAbortPattern(first.statement.text);
    const isSingle = statements.length === 1 && isSure && first.flow?.rows === undefined && options.isolation === undefined;
    const { resultBudget: budget } = options;
    for (let attempt = 1; ; attempt++) {
      const reservation = budget === undefined ? undefined : { budget, isDone: isSingle, bytes: 0 };
      try {
        if (isSingle) return await runStatements(connection, tagged, before, reservation);
        if (options.isolation !== undefined) await connection.query(`set transaction isolation level ${ISOLATION[options.isolation]}`);
        await command(connection, 'start transaction');
        const rows = await runStatements(connection, tagged, before, reservation);
        await command(connection, 'commit');
        return rows;
      } catch (failure) {
        if (!isSingle) await this.#pool.rollBack(session);
        if (attempt >= MAX_ATTEMPTS || !isDeadlock(failure)) throw failure;
        budget?.release(reservation?.bytes ?? 0);
      }
    }
  }

  session<T>(run: (connection: Connection) => Promise<T>, settings: SessionSettings = []): Promise<T> {
    return this.#inOwnSession(async (session) => {
      await this.#pool.setVariables(session, settings);
      return run(new SessionConnection(this.#pool, session, this.#database));
    });
  }

  /** DDL commits the preceding statements implicitly, as always in MariaDB. */
  transaction<T>(
    { readOnly = false, isolation, settings = [], deadline, idleMs }: TransactionOptions,
    run: (connection: Connection) => Promise<T>,
  ): Promise<T> {
    return this.#inOwnSession(async (session) => {
      const { connection } = session;
      try {
        await this.#pool.setVariables(session, settings);
        if (isolation !== undefined) await connection.query(`set session transaction isolation level ${ISOLATION[isolation]}`);
        // Set for the session: DDL ends the transaction and with it the transaction's own settings.
        if (readOnly) await connection.query('set session transaction read only');
        if (idleMs !== undefined) await connection.query(`set session idle_transaction_timeout = ${Math.ceil(idleMs / 1000)}`);
        await connection.query('start transaction');
        const result = await run(new SessionConnection(this.#pool, session, this.#database, { deadline }));
        await this.#pool.run(session, { deadline }, () => connection.query('commit'));
        return result;
      } catch (failure) {
        await this.#pool.rollBack(session);
        throw failure;
      }
    });
  }

  /** Runs statements in one transaction of a pooled session. */
  #transact<T>(options: RunOptions, run: (query: SourceQuery) => Promise<T>): Promise<T> {
    return this.#withSession(options, async (session) => {
      const connection = new SessionConnection(this.#pool, session, this.#database);
      const control = (text: string): Promise<unknown> =>
        this.#caught(() => this.#pool.run(session, options, () => session.connection.query(text)));
      try {
        await control('start transaction');
        const result = await run((text, values, own) => connection.query(text, values, { ...options, ...own }));
        await control('commit');
        return result;
      } catch (failure) {
        if (!session.tainted) await this.#pool.rollBack(session);
        throw failure;
      }
    });
  }

  async health(sql: string, timeoutMs: number): Promise<HealthStatus> {
    const options: RunOptions = { deadline: Date.now() + timeoutMs };
    let session: BorrowedSession | undefined;
    try {
      session = await this.#pool.acquire(options);
      const { connection } = session;
      // The text comes from an administrator.
      session.tainted = true;
      refuseWritable(sql);
      await this.#pool.run(session, options, async () => {
        await connection.query('set session transaction read only');
        await connection.query(sql);
      });
      return { status: 'OK' };
    } catch (failure) {
      if (failure instanceof StatementCancelledError) return { status: 'TIMEOUT' };
      return { status: 'ERROR', message: failure instanceof Error ? failure.message : String(failure) };
    } finally {
      if (session !== undefined) this.#pool.release(session);
    }
  }

  measures(): readonly ServerMeasures[] {
    return [this.#pool.measures()];
  }

  close(): Promise<void> {
    return this.#pool.close(CLOSE_BOUND_MS);
  }

  #pooled<T>(options: RunOptions, run: (connection: SessionConnection) => Promise<T>): Promise<T> {
    return this.#withSession(options, (session) => run(new SessionConnection(this.#pool, session, this.#database)));
  }

  /** Runs in a session without variables of a previous writer, which views with function calls could read. */
  #reading<T>(options: RunOptions, run: (connection: SessionConnection) => Promise<T>): Promise<T> {
    return this.#withSession(options, async (session) => {
      if (this.#pool.hasVariables(session))
        await this.#caught(() => this.#pool.run(session, options, () => this.#pool.setVariables(session, [])));
      return run(new SessionConnection(this.#pool, session, this.#database));
    });
  }

  async #withSession<T>(options: RunOptions, run: (session: BorrowedSession) => Promise<T>): Promise<T> {
    const session = await this.#caught(() => this.#pool.acquire(options));
    try {
      return await run(session);
    } finally {
      this.#pool.release(session);
    }
  }

  /** Runs in a session outside the pool. */
  async #inOwnSession<T>(run: (session: BorrowedSession) => Promise<T>): Promise<T> {
    const session = await this.#caught(() => this.#pool.open());
    try {
      return await this.#caught(() => run(session));
    } finally {
      this.#pool.release(session);
    }
  }

  async #caught<T>(task: () => Promise<T>): Promise<T> {
    try {
      return await task();
    } catch (failure) {
      throw statementError(failure, { text: '', values: [] });
    }
  }
}

function withTags(each: MutationStatement, tags: QueryTags | undefined): MutationStatement {
  const { statement, once = false } = each;
  return { ...each, statement: { ...statement, text: taggedText(statement.text, tags) }, once: once || tags?.isUnique === true };
}
