import type { FieldPacket, QueryOptions, ResultSetHeader, RowDataPacket } from 'mysql2/promise';
import { taggedText } from '../../backend/query-tags.ts';
import type { Catalog, CatalogScope, QualifiedName, TableOverview } from '../../catalog/catalog.ts';
import { invariant, type SvcError } from '../../errors/svc-error.ts';
import { MAX_RESULT_BYTES, resultTooLarge, VALUE_OVERHEAD } from '../shared/result-size.ts';
import { bytesOfBuffer } from '../../util/bytes.ts';
import { CancellationSource } from '../../util/cancellation.ts';
import { readCatalog } from './catalog.ts';
import { refuseTruncation } from './truncation.ts';
import { analyzeDryRun } from './definitions/dry-run.ts';
import { runSqlError, statementError } from './errors.ts';
import { execute, type ResultReservation } from './execute.ts';
import { ALL_ROWS, type BorrowedSession, type Pool } from './pool.ts';
import { readTableOverviews } from './table-overviews.ts';
import type {
  Connection,
  DryRunAnalysis,
  JsonRow,
  RunOptions,
  RunSqlOptions,
  RunSqlResult,
  Statement,
  StatementOptions,
} from '../../backend/connection.ts';

/** Runs statements in a session that the caller has to itself. */
export class SessionConnection implements Connection {
  readonly #pool: Pool;
  readonly #session: BorrowedSession;
  readonly #database: string;
  readonly #deadline: number | undefined;

  /** @param deadline applies to statements without one, in epoch milliseconds */
  constructor(pool: Pool, session: BorrowedSession, database: string, { deadline }: { readonly deadline?: number | undefined } = {}) {
    this.#pool = pool;
    this.#deadline = deadline;
    this.#session = session;
    this.#database = database;
  }

  async runJson(statement: Statement, values: readonly (string | null)[], options: RunOptions): Promise<JsonRow> {
    return (await this.runRows(statement, values, options))[0] ?? [];
  }

  async runRows({ text }: Pick<Statement, 'text'>, values: readonly (string | null)[], options: RunOptions): Promise<readonly JsonRow[]> {
    const { connection } = this.#session;
    const tagged = taggedText(text, options.tags);
    const reservation: ResultReservation | undefined =
      options.resultBudget === undefined ? undefined : { budget: options.resultBudget, isDone: false, bytes: 0 };
    try {
      return await this.#pool.run(this.#session, this.#within(options), async () => {
        const { rows, warns } = await execute(connection, tagged, values, reservation);
        if (options.tags?.isUnique === true) connection.unprepare(tagged);
        if (warns) await refuseTruncation(connection);
        return (rows ?? []).map((row) => row.map((cell) => (cell === null ? null : [bytesOfBuffer(cell, 0, cell.length)])));
      });
    } catch (failure) {
      throw statementError(failure, { text, values });
    }
  }

  async explain(statement: Statement, values: readonly (string | null)[], options: RunOptions): Promise<readonly string[]> {
    const { rows } = await this.query(`explain format=json ${statement.text}`, values, options);
    return rows.flatMap((row) => (row[0] ?? '').split('\n'));
  }

  async runSql(text: string, options: RunSqlOptions): Promise<RunSqlResult> {
    // The text may change session settings.
    this.#session.tainted = true;
    const { maxRows, maxBytes: mostBytes = MAX_RESULT_BYTES } = options;
    const stop = new CancellationSource(options.signal);
    let bytes = 0;
    let refused: SvcError | null = null;
    const take = (value: string | null): string | null => {
      if (refused !== null) return null;
      const more = (value === null ? 0 : Buffer.byteLength(value)) + VALUE_OVERHEAD;
      bytes += more;
      if (bytes > mostBytes) refused = resultTooLarge(mostBytes);
      else if (options.resultBudget?.take(more) === false) refused = options.resultBudget.refusal(false);
      if (refused === null) return value;
      stop.cancel();
      return null;
    };
    try {
      return await this.#pool.run(this.#session, { ...this.#within(options), signal: stop }, async () => {
        // The server then sends no more rows; statements with a limit of their own are cut below.
        if (maxRows !== undefined) await this.#session.connection.query(`set session sql_select_limit = ${maxRows + 1}`);
        const [results, fields] = await this.#session.connection.query<RowDataPacket[][]>({
          sql: text,
          rowsAsArray: true,
          typeCast: (field: { string(): string | null }) => take(field.string()),
        } as QueryOptions);
        if (refused !== null) throw refused;
        const result = resultOf(results as unknown as Result, fields as FieldPacket[] | undefined);
        return maxRows === undefined || result.rows.length <= maxRows
          ? result
          : { ...result, rows: result.rows.slice(0, maxRows), isCut: true };
      });
    } catch (failure) {
      throw refused ?? runSqlError(failure, text);
    }
  }

  async query(text: string, values: readonly (string | null)[], options: StatementOptions = {}): Promise<RunSqlResult> {
    invariant(options.settings === undefined, 'settings of a statement are of PostgreSQL alone');
    try {
      return await this.#pool.run(this.#session, this.#within(options), async () => {
        const [results, fields] = await this.#session.connection.execute<RowDataPacket[][]>({
          sql: text,
          values: [...values],
          rowsAsArray: true,
        } as QueryOptions);
        return resultOf(results as unknown as Result, fields as FieldPacket[] | undefined);
      });
    } catch (failure) {
      throw statementError(failure, { text, values });
    }
  }

  async introspect(scope?: CatalogScope, options: RunOptions = {}): Promise<Catalog> {
    await this.#liftRowLimits(options);
    return readCatalog((text, values) => this.query(text, values, options), this.#database, scope);
  }

  async tableOverviews(tables?: readonly QualifiedName[], options: RunOptions = {}): Promise<readonly TableOverview[]> {
    await this.#liftRowLimits(options);
    return readTableOverviews((text, values) => this.query(text, values, options), this.#database, tables);
  }

  analyzeDryRun(sql: string, before: Catalog): DryRunAnalysis {
    return analyzeDryRun(sql, before, this.#database);
  }

  /** Lifts row limits that SQL of administrators may have set: truncated introspection would look like dropped tables. */
  async #liftRowLimits(options: RunOptions): Promise<void> {
    if (this.#session.tainted) await this.query(`set session ${ALL_ROWS}`, [], options);
  }

  #within(options: RunOptions): RunOptions {
    return options.deadline === undefined && this.#deadline !== undefined ? { ...options, deadline: this.#deadline } : options;
  }
}

type Cell = string | number | Buffer | null;
type Result = ResultSetHeader | readonly (readonly Cell[])[];

/** Returns the last result; several statements give a list of results and a list of their columns. */
function resultOf(
  results: Result | readonly Result[],
  fields: readonly (FieldPacket | readonly FieldPacket[] | undefined)[] | undefined,
): RunSqlResult {
  const isSeveral = Array.isArray(results) && fields?.some((each) => each === undefined || Array.isArray(each)) === true;
  const result = (isSeveral ? (results as readonly Result[]).at(-1) : results) as Result;
  const columns = (isSeveral ? fields.at(-1) : fields) as readonly FieldPacket[] | undefined;
  if (columns === undefined || !Array.isArray(result)) {
    return { kind: 'CommandOk', columns: [], rows: [], command: String((result as ResultSetHeader).affectedRows) };
  }
  const rows = (result as readonly (readonly Cell[])[]).map((row) =>
    row.map((cell) => (cell === null ? null : Buffer.isBuffer(cell) ? cell.toString() : String(cell))),
  );
  return { kind: 'TuplesOk', columns: columns.map(({ name }) => name), rows, command: String(rows.length) };
}
