/** A source of BigQuery: it reads. There are no sessions and transactions; every statement is a job of its own. */
import type { HealthStatus, Reads, TransactionOptions } from '../../backend/backend.ts';
import type { ServerMeasures } from '../../backend/connection-counts.ts';
import type { QueryTags } from '../../backend/query-tags.ts';
import type { Catalog, CatalogScope } from '../../catalog/catalog.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { MOST_RESULT_BYTES } from '../shared/result-size.ts';
import type { Json } from '../../util/json.ts';
import { inSlices, type Sliced } from '../../util/sliced.ts';
import { answerOf, layoutOf } from './answer.ts';
import { readCatalog } from './catalog.ts';
import { cellText, type RowReader, textCells, valueCells } from './client/answers.ts';
import type { BigQueryClient, DryRun, Query, Result } from './client/client.ts';
import { runSqlError, statementError, StatementCancelledError } from './errors.ts';
import { queryParameters } from './parameters.ts';
import { TEXT } from './type-of.ts';
import type { Connection, JsonRow, RunOptions, RunSqlOptions, RunSqlResult, SessionSettings, Statement } from '../../backend/connection.ts';

const CLOSE_BOUND_MS = 10_000;
const INTROSPECTION_MS = 120_000;
/** Bytes that are billed of each table that a query reads, at least. */
const LEAST_BILLED = 10 * 1024 * 1024;

export interface SourceOptions {
  readonly datasets: readonly string[];
  readonly rowLimit: number;
}

export class BigQuerySource implements Reads {
  private readonly client: BigQueryClient;
  private readonly options: SourceOptions;
  /** The last health check that was found to read only. */
  private knownRead: string | undefined;

  constructor(client: BigQueryClient, options: SourceOptions) {
    this.client = client;
    this.options = options;
  }

  async runJson(statement: Statement, values: readonly (string | null)[], how: RunOptions): Promise<JsonRow> {
    const layout = layoutOf(statement);
    const result = await this.run(statement, values, how, textCells);
    const { processedBytes } = result;
    this.bill(result, (billedBytes) => how.onCost?.({ processedBytes, billedBytes }));
    return answerOf(layout, result.rows, values);
  }

  /**
   * Has it counted what a job is billed for, whoever wants to know: of one that took longer than a call its answer does not tell.
   * @param told is given it, at once or later; null: it cannot be found out
   */
  private bill(
    { job, billedBytes }: Pick<Result<never>, 'job' | 'billedBytes'>,
    told: (bytes: number | null) => void = () => undefined,
  ): void {
    if (billedBytes !== null || job === null) told(billedBytes);
    else this.client.billedBytes(job, told);
  }

  async explain(statement: Statement, values: readonly (string | null)[], how: RunOptions): Promise<readonly string[]> {
    try {
      return planLines(await this.client.dryRun(this.queryOf(statement, values), how));
    } catch (failure) {
      throw statementError(failure, statement.text, values);
    }
  }

  async runSql(text: string, how: RunSqlOptions): Promise<RunSqlResult> {
    const { maxRows } = how;
    try {
      const result = await this.texts({ text, parameters: [] }, how);
      if (maxRows === undefined || result.rows.length <= maxRows) return result;
      return { ...result, rows: result.rows.slice(0, maxRows), isCut: true };
    } catch (failure) {
      throw runSqlError(failure, text);
    }
  }

  async query(text: string, values: readonly (string | null)[], how: RunOptions = {}): Promise<RunSqlResult> {
    const parameters = values.map((value, i) => ({
      name: `p${i + 1}`,
      parameterType: { type: TEXT.name },
      parameterValue: { value },
    }));
    try {
      return await this.texts({ text, parameters }, how);
    } catch (failure) {
      throw statementError(failure, text, values);
    }
  }

  introspect(scope?: CatalogScope, { signal, deadline = Number.POSITIVE_INFINITY }: RunOptions = {}): Promise<Catalog> {
    const how: RunOptions = { signal, deadline: Math.min(deadline, Date.now() + INTROSPECTION_MS) };
    return readCatalog(async (text) => (await this.query(text, [], how)).rows, this.options.datasets, scope);
  }

  transaction<T>({ readOnly = false, deadline }: TransactionOptions, run: (connection: Connection) => Promise<T>): Promise<T> {
    return run(this.connection(readOnly, deadline));
  }

  session<T>(run: (connection: Connection) => Promise<T>, _settings?: SessionSettings): Promise<T> {
    return run(this.connection(false, undefined));
  }

  async health(sql: string, timeoutMs: number): Promise<HealthStatus> {
    const how = { deadline: Date.now() + timeoutMs };
    try {
      if (this.knownRead !== sql) {
        const kind = await this.kindOf(sql, how);
        if (kind !== 'SELECT') return { status: 'ERROR', message: `the check is ${kind}: only a single SELECT is run` };
        this.knownRead = sql;
      }
      await this.texts({ text: sql, parameters: [] }, how);
      return { status: 'OK' };
    } catch (failure) {
      if (failure instanceof StatementCancelledError) return { status: 'TIMEOUT' };
      const message = failure instanceof SvcError && typeof failure.internal === 'string' ? failure.internal : (failure as Error).message;
      return { status: 'ERROR', message };
    }
  }

  measures(): readonly ServerMeasures[] {
    return [this.client.measures()];
  }

  close(): Promise<void> {
    return this.client.close(CLOSE_BOUND_MS);
  }

  private async texts(query: Query, how: RunSqlOptions): Promise<RunSqlResult> {
    const { maxRows, mostBytes = MOST_RESULT_BYTES } = how;
    const result = await this.client.run(query, how, () => valueCells(mostBytes), maxRows);
    this.bill(result);
    return inSlices(textsOf(result));
  }

  private async run<Cell>(
    statement: Statement,
    values: readonly (string | null)[],
    how: RunOptions,
    readRow: RowReader<Cell>,
  ): Promise<Result<Cell>> {
    try {
      const { tags } = how;
      const query: Query = { ...this.queryOf(statement, values), repeatable: true };
      return await this.client.run(tags === undefined ? query : { ...query, labels: labelsOf(tags) }, how, () => readRow);
    } catch (failure) {
      throw statementError(failure, statement.text, values);
    }
  }

  private queryOf(statement: Statement, values: readonly (string | null)[]) {
    const layout = layoutOf(statement);
    const all = queryParameters(statement.parameters, values, this.options.rowLimit);
    return { text: statement.text, parameters: layout.kind === 'keys' ? all.filter((_, i) => i !== layout.holeName) : all };
  }

  /** @param deadline of statements that have none of their own; epoch milliseconds */
  private connection(readOnly: boolean, deadline: number | undefined): Connection {
    const within = <H extends RunOptions>(how: H): H => (how.deadline === undefined && deadline !== undefined ? { ...how, deadline } : how);
    return {
      runJson: (statement, values, how) => this.runJson(statement, values, within(how)),
      explain: (statement, values, how) => this.explain(statement, values, within(how)),
      runSql: async (sql, how) => {
        if (readOnly) await this.requireRead(sql, within(how));
        return this.runSql(sql, within(how));
      },
      query: (text, values, how) => this.query(text, values, within(how ?? {})),
      introspect: (scope, how) => this.introspect(scope, within(how ?? {})),
    };
  }

  private async requireRead(text: string, how: RunOptions): Promise<void> {
    let kind: string;
    try {
      kind = await this.kindOf(text, how);
    } catch (failure) {
      throw runSqlError(failure, text);
    }
    if (kind === 'SELECT') return;
    throw new SvcError('database-error', 'query execution failed', {
      internal: {
        statement: text,
        arguments: [],
        error: { message: `the SQL is to be read only, but it is ${kind}: a single SELECT is` },
      },
    });
  }

  /** What BigQuery takes the text for, as there are no read-only transactions: `SELECT`, `INSERT`, … @throws as the client */
  private async kindOf(text: string, how: RunOptions): Promise<string> {
    return (await this.client.dryRun({ text, parameters: [] }, how)).statement ?? 'a script';
  }
}

function planLines({ bytes, tables }: DryRun): readonly string[] {
  const billed = bytes === null ? null : Math.max(bytes, LEAST_BILLED * tables.length);
  return [
    `Bytes processed: ${bytes ?? 'unknown'}`,
    `Bytes billed on demand, at least: ${billed ?? 'unknown'}`,
    ...(tables.length === 0 ? [] : [`Tables: ${tables.join(', ')}`]),
  ];
}

function* textsOf({ fields, rows, affectedRows }: Result<Json>): Sliced<RunSqlResult> {
  // Every statement is told with rows, as those of a warehouse are.
  if (fields === null) return { kind: 'TuplesOk', columns: [], rows: [], command: String(affectedRows ?? 0) };
  const texts: (string | null)[][] = [];
  for (const row of rows) {
    const cells: (string | null)[] = [];
    for (const [i, field] of fields.entries()) cells.push(yield* cellText(field, row[i] ?? null));
    texts.push(cells);
    yield;
  }
  return { kind: 'TuplesOk', columns: fields.map(({ name }) => name), rows: texts, command: String(rows.length) };
}

/** Characters of a value of a label. */
const LABEL_LENGTH = 63;

/** Labels have lower-case letters, digits, `_` and `-` only. */
function labelsOf({ labels }: QueryTags): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...labels].map(([name, value]) => [
      name,
      value
        .toLowerCase()
        .replace(/[^a-z0-9_-]/g, '_')
        .slice(0, LABEL_LENGTH),
    ]),
  );
}
