import type { CatalogMark, HealthStatus, MutationOptions, MutationStatement, Source, TransactionOptions } from '../../backend/backend.ts';
import type { Captures } from '../../backend/captures.ts';
import type { ServerMeasures } from '../../backend/connection-counts.ts';
import { type QueryTags, taggedText } from '../../backend/query-tags.ts';
import type { Catalog, CatalogScope, QualifiedName, SurveyedTable } from '../../catalog/catalog.ts';
import { mariadbCaptures } from './capture/captures.ts';
import type { BodyOptions } from './capture/triggers.ts';
import type { Query } from './capture/work.ts';
import { readMark } from './catalog-mark.ts';
import { SessionConnection } from './connection.ts';
import { mayBeGivenUp } from './cut.ts';
import { foresightOf } from './definitions/foresee.ts';
import { refuseWritable } from './definitions/read-only.ts';
import { isDeadlock, statementError, StatementCancelledError } from './errors.ts';
import { command } from './execute.ts';
import { type Lent, type Pool, refuseLate } from './pool.ts';
import { runStatements } from './transaction.ts';
import type {
  Connection,
  Foresight,
  JsonRow,
  RunOptions,
  RunSqlOptions,
  RunSqlResult,
  SessionSettings,
  Statement,
  StatementOptions,
} from '../../backend/connection.ts';

const CLOSE_BOUND_MS = 10_000;
/** Of a transaction that the server gives up because another one waits for it. */
const MOST_ATTEMPTS = 4;

const ISOLATION = {
  'read-committed': 'read committed',
  'repeatable-read': 'repeatable read',
  serializable: 'serializable',
} as const;

export class MariadbSource implements Source {
  readonly captures: Captures;
  private readonly pool: Pool;
  private readonly database: string;

  constructor(pool: Pool, database: string, options: Pick<BodyOptions, 'stringifyNumericTypes'>) {
    this.pool = pool;
    this.database = database;
    this.captures = mariadbCaptures(
      {
        name: database,
        query: (text, values, how) => this.query(text, values, how),
        transact: (how, run) => this.transact(how, run),
        define: (run, deadline) => this.session((connection) => run((text) => connection.runSql(text, { deadline }))),
      },
      options,
    );
  }

  runJson(statement: Statement, values: readonly (string | null)[], how: RunOptions): Promise<JsonRow> {
    return this.reading(how, (connection) => connection.runJson(statement, values, how));
  }

  runRows(
    statement: Pick<Statement, 'text' | 'repeatable'>,
    values: readonly (string | null)[],
    how: RunOptions,
  ): Promise<readonly JsonRow[]> {
    return this.reading(how, (connection) => connection.runRows(statement, values, how));
  }

  explain(statement: Statement, values: readonly (string | null)[], how: RunOptions): Promise<readonly string[]> {
    return this.reading(how, (connection) => connection.explain(statement, values, how));
  }

  query(text: string, values: readonly (string | null)[], how: StatementOptions = {}): Promise<RunSqlResult> {
    return this.pooled(how, (connection) => connection.query(text, values, how));
  }

  introspect(scope?: CatalogScope, how: RunOptions = {}): Promise<Catalog> {
    return this.pooled(how, (connection) => connection.introspect(scope, how));
  }

  survey(tables?: readonly QualifiedName[], how: RunOptions = {}): Promise<readonly SurveyedTable[]> {
    return this.pooled(how, (connection) => connection.survey(tables, how));
  }

  catalogMark(before: CatalogMark | null, how: RunOptions = {}): Promise<CatalogMark> {
    return this.pooled(how, (connection) => readMark((text, values) => connection.query(text, values, how), before, Date.now()));
  }

  foresee(sql: string, before: Catalog): Foresight {
    return foresightOf(sql, before, this.database);
  }

  runSql(sql: string, how: RunSqlOptions): Promise<RunSqlResult> {
    return this.session((connection) => connection.runSql(sql, how));
  }

  async runMutation(statements: readonly MutationStatement[], how: MutationOptions): Promise<readonly JsonRow[]> {
    const lent = await this.caught(() => this.pool.lend(how));
    try {
      return await this.caught(() => this.pool.run(lent, how, () => this.written(lent, statements, how)));
    } finally {
      this.pool.giveBack(lent);
    }
  }

  /** One statement alone is a transaction by itself. */
  private async written(lent: Lent, statements: readonly MutationStatement[], how: MutationOptions): Promise<readonly JsonRow[]> {
    const { connection } = lent;
    const before = (): void => refuseLate(how);
    await this.pool.tell(lent, how.settings);
    const tagged = how.tags === undefined ? statements : statements.map((each) => withTags(each, how.tags));
    const [first] = statements;
    // What is given up is only known when it is done.
    const isSure = first !== undefined && !mayBeGivenUp(first.statement.text);
    const isAlone = statements.length === 1 && isSure && first.flow?.rows === undefined && how.isolation === undefined;
    const { intake } = how;
    for (let attempt = 1; ; attempt++) {
      const keeping = intake === undefined ? undefined : { intake, isDone: isAlone, taken: 0 };
      try {
        if (isAlone) return await runStatements(connection, tagged, before, keeping);
        if (how.isolation !== undefined) await connection.query(`set transaction isolation level ${ISOLATION[how.isolation]}`);
        await command(connection, 'start transaction');
        const rows = await runStatements(connection, tagged, before, keeping);
        await command(connection, 'commit');
        return rows;
      } catch (failure) {
        if (!isAlone) await this.pool.rollBack(lent);
        if (attempt >= MOST_ATTEMPTS || !isDeadlock(failure)) throw failure;
        intake?.giveBack(keeping?.taken ?? 0);
      }
    }
  }

  session<T>(run: (connection: Connection) => Promise<T>, settings: SessionSettings = []): Promise<T> {
    return this.apart(async (lent) => {
      await this.pool.tell(lent, settings);
      return run(new SessionConnection(this.pool, lent, this.database));
    });
  }

  /** Statements that define something commit what came before them, as they do in any session of the server. */
  transaction<T>(
    { readOnly = false, isolation, settings = [], deadline, idleMs }: TransactionOptions,
    run: (connection: Connection) => Promise<T>,
  ): Promise<T> {
    return this.apart(async (lent) => {
      const { connection } = lent;
      try {
        await this.pool.tell(lent, settings);
        if (isolation !== undefined) await connection.query(`set session transaction isolation level ${ISOLATION[isolation]}`);
        // Of the session: that of a transaction ends with it, and a definition ends any.
        if (readOnly) await connection.query('set session transaction read only');
        if (idleMs !== undefined) await connection.query(`set session idle_transaction_timeout = ${Math.ceil(idleMs / 1000)}`);
        await connection.query('start transaction');
        const result = await run(new SessionConnection(this.pool, lent, this.database, { deadline }));
        await this.pool.run(lent, { deadline }, () => connection.query('commit'));
        return result;
      } catch (failure) {
        await this.pool.rollBack(lent);
        throw failure;
      }
    });
  }

  /** Statements in one transaction, in a session of the pool. */
  private async transact<T>(how: RunOptions, run: (query: Query) => Promise<T>): Promise<T> {
    const lent = await this.caught(() => this.pool.lend(how));
    const connection = new SessionConnection(this.pool, lent, this.database);
    const control = (text: string): Promise<unknown> => this.caught(() => this.pool.run(lent, how, () => lent.connection.query(text)));
    try {
      await control('start transaction');
      const result = await run((text, values, own) => connection.query(text, values, { ...how, ...own }));
      await control('commit');
      return result;
    } catch (failure) {
      if (!lent.tainted) await this.pool.rollBack(lent);
      throw failure;
    } finally {
      this.pool.giveBack(lent);
    }
  }

  async health(sql: string, timeoutMs: number): Promise<HealthStatus> {
    const how: RunOptions = { deadline: Date.now() + timeoutMs };
    let lent: Lent | undefined;
    try {
      lent = await this.pool.lend(how);
      const { connection } = lent;
      // The text is the administrator's.
      lent.tainted = true;
      refuseWritable(sql);
      await this.pool.run(lent, how, async () => {
        await connection.query('set session transaction read only');
        await connection.query(sql);
      });
      return { status: 'OK' };
    } catch (failure) {
      if (failure instanceof StatementCancelledError) return { status: 'TIMEOUT' };
      return { status: 'ERROR', message: failure instanceof Error ? failure.message : String(failure) };
    } finally {
      if (lent !== undefined) this.pool.giveBack(lent);
    }
  }

  measures(): readonly ServerMeasures[] {
    return [this.pool.measures()];
  }

  close(): Promise<void> {
    return this.pool.close(CLOSE_BOUND_MS);
  }

  private async pooled<T>(how: RunOptions, run: (connection: SessionConnection) => Promise<T>): Promise<T> {
    const lent = await this.caught(() => this.pool.lend(how));
    try {
      return await run(new SessionConnection(this.pool, lent, this.database));
    } finally {
      this.pool.giveBack(lent);
    }
  }

  /** A session where nobody finds, in a view that calls a function, who has written in it before. */
  private async reading<T>(how: RunOptions, run: (connection: SessionConnection) => Promise<T>): Promise<T> {
    const lent = await this.caught(() => this.pool.lend(how));
    try {
      if (this.pool.isTold(lent)) await this.caught(() => this.pool.run(lent, how, () => this.pool.tell(lent, [])));
      return await run(new SessionConnection(this.pool, lent, this.database));
    } finally {
      this.pool.giveBack(lent);
    }
  }

  /** In a session of its own, which takes several statements in one text. */
  private async apart<T>(run: (lent: Lent) => Promise<T>): Promise<T> {
    const lent = await this.caught(() => this.pool.open());
    try {
      return await this.caught(() => run(lent));
    } finally {
      this.pool.giveBack(lent);
    }
  }

  private async caught<T>(task: () => Promise<T>): Promise<T> {
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
