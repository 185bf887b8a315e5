import type { HealthStatus, Reads, TransactionOptions } from '../../../src/backend/backend.ts';
import type { Connection, JsonRow, RunOptions, RunSqlOptions, RunSqlResult, Statement } from '../../../src/backend/connection.ts';
import type { ServerMeasures } from '../../../src/backend/connection-counts.ts';
import type { Catalog, CatalogScope } from '../../../src/catalog/catalog.ts';
import { bytesOfText } from '../../../src/util/bytes.ts';
import { readCatalog } from './catalog.ts';
import type { Engine, Query, Rows } from './engine.ts';
import { runSqlError, statementError } from './errors.ts';
import { requireReads } from './sql-text.ts';

/** SQLite source. Its data never changes, so it needs neither transactions nor sessions. */
export class SqliteSource implements Reads {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  async runJson({ text }: Statement, values: readonly (string | null)[], options: RunOptions): Promise<JsonRow> {
    const { rows } = await this.#run({ text, values }, options);
    return (rows[0] ?? []).map((cell) => {
      if (cell === null) return null;
      const bytes = bytesOfText(cell);
      if (options.resultBudget?.take(bytes.length) === false) throw options.resultBudget.refusal(false);
      return [bytes];
    });
  }

  async explain({ text }: Statement, values: readonly (string | null)[], options: RunOptions): Promise<readonly string[]> {
    const { rows } = await this.#run({ text: `explain query plan ${text}`, values }, options);
    return rows.map((row) => row.at(-1) ?? '');
  }

  async runSql(text: string, { maxRows, maxBytes: mostBytes, ...options }: RunSqlOptions): Promise<RunSqlResult> {
    requireReads(text);
    const bounds = { ...(maxRows === undefined ? {} : { maxRows }), ...(mostBytes === undefined ? {} : { maxBytes: mostBytes }) };
    try {
      const { columns, rows, isCut } = await this.#engine.run({ text, values: [], ...bounds }, options);
      return { kind: 'TuplesOk', columns, rows, command: `SELECT ${rows.length}`, ...(isCut ? { isCut } : {}) };
    } catch (failure) {
      throw runSqlError(failure, text);
    }
  }

  async query(text: string, values: readonly (string | null)[], options: RunOptions = {}): Promise<RunSqlResult> {
    const { columns, rows } = await this.#run({ text, values }, options);
    return { kind: 'TuplesOk', columns, rows, command: `SELECT ${rows.length}` };
  }

  introspect(scope?: CatalogScope, options: RunOptions = {}): Promise<Catalog> {
    return readCatalog(async (text) => (await this.query(text, [], options)).rows, scope);
  }

  transaction<T>({ deadline, signal }: TransactionOptions, run: (connection: Connection) => Promise<T>): Promise<T> {
    const within = <H extends RunOptions>(options: H): H => ({ deadline, signal, ...options });
    return run({
      runJson: (statement, values, options) => this.runJson(statement, values, within(options)),
      explain: (statement, values, options) => this.explain(statement, values, within(options)),
      runSql: (sql, options) => this.runSql(sql, within(options)),
      query: (text, values, options) => this.query(text, values, within(options ?? {})),
      introspect: (scope, options) => this.introspect(scope, within(options ?? {})),
    });
  }

  session<T>(run: (connection: Connection) => Promise<T>): Promise<T> {
    return run(this);
  }

  async health(sql: string, timeoutMs: number): Promise<HealthStatus> {
    const deadline = Date.now() + timeoutMs;
    try {
      await this.runSql(sql, { deadline });
      return { status: 'OK' };
    } catch (failure) {
      return Date.now() >= deadline ? { status: 'TIMEOUT' } : { status: 'ERROR', message: (failure as Error).message };
    }
  }

  measures(): readonly ServerMeasures[] {
    return [this.#engine.measures()];
  }

  close(): Promise<void> {
    return this.#engine.close();
  }

  async #run(query: Query, options: RunOptions): Promise<Rows> {
    try {
      return await this.#engine.run(query, options);
    } catch (failure) {
      throw statementError(failure, query.text, query.values);
    }
  }
}
