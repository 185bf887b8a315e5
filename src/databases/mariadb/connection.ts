import type { FieldPacket, QueryOptions, ResultSetHeader, RowDataPacket } from 'mysql2/promise';
import { taggedText } from '../../backend/query-tags.ts';
import type { Catalog, CatalogScope, QualifiedName, SurveyedTable } from '../../catalog/catalog.ts';
import { invariant, type SvcError } from '../../errors/svc-error.ts';
import { MOST_RESULT_BYTES, resultTooLarge, VALUE_OVERHEAD } from '../shared/result-size.ts';
import { bytesOfBuffer } from '../../util/bytes.ts';
import { CancellationSource } from '../../util/cancellation.ts';
import { readCatalog } from './catalog.ts';
import { refuseCut } from './cut.ts';
import { foresightOf } from './definitions/foresee.ts';
import { runSqlError, statementError } from './errors.ts';
import { execute, type Keeping } from './execute.ts';
import { ALL_ROWS, type Lent, type Pool } from './pool.ts';
import { surveyTables } from './survey.ts';
import type {
  Connection,
  Foresight,
  JsonRow,
  RunOptions,
  RunSqlOptions,
  RunSqlResult,
  Statement,
  StatementOptions,
} from '../../backend/connection.ts';

/** Statements in a session that the caller has for itself. */
export class SessionConnection implements Connection {
  private readonly pool: Pool;
  private readonly lent: Lent;
  private readonly database: string;
  private readonly deadline: number | undefined;

  /** `deadline`: of statements that have none of their own; epoch milliseconds. */
  constructor(pool: Pool, lent: Lent, database: string, { deadline }: { readonly deadline?: number | undefined } = {}) {
    this.pool = pool;
    this.deadline = deadline;
    this.lent = lent;
    this.database = database;
  }

  async runJson(statement: Statement, values: readonly (string | null)[], how: RunOptions): Promise<JsonRow> {
    return (await this.runRows(statement, values, how))[0] ?? [];
  }

  async runRows({ text }: Pick<Statement, 'text'>, values: readonly (string | null)[], how: RunOptions): Promise<readonly JsonRow[]> {
    const { connection } = this.lent;
    const tagged = taggedText(text, how.tags);
    const keeping: Keeping | undefined = how.intake === undefined ? undefined : { intake: how.intake, isDone: false, taken: 0 };
    try {
      return await this.pool.run(this.lent, this.within(how), async () => {
        const { rows, warns } = await execute(connection, tagged, values, keeping);
        if (how.tags?.isUnique === true) connection.unprepare(tagged);
        if (warns) await refuseCut(connection);
        return (rows ?? []).map((row) => row.map((cell) => (cell === null ? null : [bytesOfBuffer(cell, 0, cell.length)])));
      });
    } catch (failure) {
      throw statementError(failure, { text, values });
    }
  }

  async explain(statement: Statement, values: readonly (string | null)[], how: RunOptions): Promise<readonly string[]> {
    const { rows } = await this.query(`explain format=json ${statement.text}`, values, how);
    return rows.flatMap((row) => (row[0] ?? '').split('\n'));
  }

  async runSql(text: string, how: RunSqlOptions): Promise<RunSqlResult> {
    // Whatever the text does to the session's settings must not be seen by others.
    this.lent.tainted = true;
    const { maxRows, mostBytes = MOST_RESULT_BYTES } = how;
    const stop = new CancellationSource(how.signal);
    let bytes = 0;
    let refused: SvcError | null = null;
    const take = (value: string | null): string | null => {
      if (refused !== null) return null;
      const more = (value === null ? 0 : Buffer.byteLength(value)) + VALUE_OVERHEAD;
      bytes += more;
      if (bytes > mostBytes) refused = resultTooLarge(mostBytes);
      else if (how.intake?.take(more) === false) refused = how.intake.refusal(false);
      if (refused === null) return value;
      stop.cancel();
      return null;
    };
    try {
      return await this.pool.run(this.lent, { ...this.within(how), signal: stop }, async () => {
        // The server sends no more; what has a limit of its own is cut here.
        if (maxRows !== undefined) await this.lent.connection.query(`set session sql_select_limit = ${maxRows + 1}`);
        const [results, fields] = await this.lent.connection.query<RowDataPacket[][]>({
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

  async query(text: string, values: readonly (string | null)[], how: StatementOptions = {}): Promise<RunSqlResult> {
    invariant(how.settings === undefined, 'settings of a statement are of PostgreSQL alone');
    try {
      return await this.pool.run(this.lent, this.within(how), async () => {
        const [results, fields] = await this.lent.connection.execute<RowDataPacket[][]>({
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

  async introspect(scope?: CatalogScope, how: RunOptions = {}): Promise<Catalog> {
    await this.wantAllRows(how);
    return readCatalog((text, values) => this.query(text, values, how), this.database, scope);
  }

  async survey(tables?: readonly QualifiedName[], how: RunOptions = {}): Promise<readonly SurveyedTable[]> {
    await this.wantAllRows(how);
    return surveyTables((text, values) => this.query(text, values, how), this.database, tables);
  }

  foresee(sql: string, before: Catalog): Foresight {
    return foresightOf(sql, before, this.database);
  }

  /** SQL of administrators may have limited them for its session: what is cut then would look as if it had been dropped. */
  private async wantAllRows(how: RunOptions): Promise<void> {
    if (this.lent.tainted) await this.query(`set session ${ALL_ROWS}`, [], how);
  }

  private within(how: RunOptions): RunOptions {
    return how.deadline === undefined && this.deadline !== undefined ? { ...how, deadline: this.deadline } : how;
  }
}

type Cell = string | number | Buffer | null;
type Result = ResultSetHeader | readonly (readonly Cell[])[];

/** Of several statements the last result: then there is a list of results, and of the columns of each. */
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
