/** BigQuery source. It is read-only and has neither sessions nor transactions; each statement is a job. */
import type { HealthStatus, Reads, TransactionOptions } from '../../backend/backend.ts';
import type { ServerMeasures } from '../../backend/connection-counts.ts';
import type { QueryTags } from '../../backend/query-tags.ts';
import type { Catalog, CatalogScope } from '../../catalog/catalog.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { MAX_RESULT_BYTES } from '../shared/result-size.ts';
import type { Json } from '../../util/json.ts';
import { runCooperatively, type Cooperative } from '../../util/cooperative.ts';
import { answerOf, layoutOf } from './answer.ts';
import { readCatalog } from './catalog.ts';
import { cellText, type RowReader, textCells, valueCells } from './client/answers.ts';
import type { BigQueryClient, DryRun, QueryRequest, QueryResult } from './client/client.ts';
import { runSqlError, statementError, StatementCancelledError } from './errors.ts';
import { namedParameters } from './parameters.ts';
import { TEXT } from './base-type.ts';
import type { Connection, JsonRow, RunOptions, RunSqlOptions, RunSqlResult, SessionSettings, Statement } from '../../backend/connection.ts';

const CLOSE_BOUND_MS = 10_000;
const INTROSPECTION_MS = 120_000;
/** Minimum bytes billed for each table that a query reads. */
const MIN_BILLED_BYTES = 10 * 1024 * 1024;

export interface SourceOptions {
  readonly datasets: readonly string[];
  readonly rowLimit: number;
}

export class BigQuerySource implements Reads {
  readonly #client: BigQueryClient;
  readonly #options: SourceOptions;
  /** Last health check that a dry run has confirmed to be a SELECT. */
  #checkedRead: string | undefined;

  constructor(client: BigQueryClient, options: SourceOptions) {
    this.#client = client;
    this.#options = options;
  }

  async runJson(statement: Statement, values: readonly (string | null)[], options: RunOptions): Promise<JsonRow> {
    const layout = layoutOf(statement);
    const result = await this.#run(statement, values, options, textCells);
    const { processedBytes } = result;
    this.#reportBilledBytes(result, (billedBytes) => options.onCost?.({ processedBytes, billedBytes }));
    return answerOf(layout, result.rows, values);
  }

  /**
   * Counts the billed bytes. A job that took longer than one call does not report them in its response, so they are fetched.
   * @param onBytes called at once or later; with `null` if they are not available
   */
  #reportBilledBytes(
    { job, billedBytes }: Pick<QueryResult<never>, 'job' | 'billedBytes'>,
    onBytes: (bytes: number | null) => void = () => undefined,
  ): void {
    if (billedBytes !== null || job === null) onBytes(billedBytes);
    else this.#client.billedBytes(job, onBytes);
  }

  async explain(statement: Statement, values: readonly (string | null)[], options: RunOptions): Promise<readonly string[]> {
    try {
      return planLines(await this.#client.dryRun(this.#queryOf(statement, values), options));
    } catch (failure) {
      throw statementError(failure, statement.text, values);
    }
  }

  async runSql(text: string, options: RunSqlOptions): Promise<RunSqlResult> {
    const { maxRows } = options;
    try {
      const result = await this.#runText({ text, parameters: [] }, options);
      if (maxRows === undefined || result.rows.length <= maxRows) return result;
      return { ...result, rows: result.rows.slice(0, maxRows), isCut: true };
    } catch (failure) {
      throw runSqlError(failure, text);
    }
  }

  async query(text: string, values: readonly (string | null)[], options: RunOptions = {}): Promise<RunSqlResult> {
    const parameters = values.map((value, i) => ({
      name: `p${i + 1}`,
      parameterType: { type: TEXT.name },
      parameterValue: { value },
    }));
    try {
      return await this.#runText({ text, parameters }, options);
    } catch (failure) {
      throw statementError(failure, text, values);
    }
  }

  introspect(scope?: CatalogScope, { signal, deadline = Number.POSITIVE_INFINITY }: RunOptions = {}): Promise<Catalog> {
    const options: RunOptions = { signal, deadline: Math.min(deadline, Date.now() + INTROSPECTION_MS) };
    return readCatalog(async (text) => (await this.query(text, [], options)).rows, this.#options.datasets, scope);
  }

  transaction<T>({ readOnly = false, deadline }: TransactionOptions, run: (connection: Connection) => Promise<T>): Promise<T> {
    return run(this.#connection(readOnly, deadline));
  }

  session<T>(run: (connection: Connection) => Promise<T>, _settings?: SessionSettings): Promise<T> {
    return run(this.#connection(false, undefined));
  }

  async health(sql: string, timeoutMs: number): Promise<HealthStatus> {
    const options = { deadline: Date.now() + timeoutMs };
    try {
      if (this.#checkedRead !== sql) {
        const kind = await this.#statementType(sql, options);
        if (kind !== 'SELECT') return { status: 'ERROR', message: `the health check must be a single SELECT, not ${kind}` };
        this.#checkedRead = sql;
      }
      await this.#runText({ text: sql, parameters: [] }, options);
      return { status: 'OK' };
    } catch (failure) {
      if (failure instanceof StatementCancelledError) return { status: 'TIMEOUT' };
      const message = failure instanceof SvcError && typeof failure.internal === 'string' ? failure.internal : (failure as Error).message;
      return { status: 'ERROR', message };
    }
  }

  measures(): readonly ServerMeasures[] {
    return [this.#client.measures()];
  }

  close(): Promise<void> {
    return this.#client.close(CLOSE_BOUND_MS);
  }

  async #runText(query: QueryRequest, options: RunSqlOptions): Promise<RunSqlResult> {
    const { maxRows, maxBytes: mostBytes = MAX_RESULT_BYTES } = options;
    const result = await this.#client.run(query, options, () => valueCells(mostBytes), maxRows);
    this.#reportBilledBytes(result);
    return runCooperatively(textsOf(result));
  }

  async #run<Cell>(
    statement: Statement,
    values: readonly (string | null)[],
    options: RunOptions,
    readRow: RowReader<Cell>,
  ): Promise<QueryResult<Cell>> {
    try {
      const { tags } = options;
      const query: QueryRequest = { ...this.#queryOf(statement, values), repeatable: true };
      return await this.#client.run(tags === undefined ? query : { ...query, labels: labelsOf(tags) }, options, () => readRow);
    } catch (failure) {
      throw statementError(failure, statement.text, values);
    }
  }

  #queryOf(statement: Statement, values: readonly (string | null)[]) {
    const layout = layoutOf(statement);
    const all = namedParameters(statement.parameters, values, this.#options.rowLimit);
    return { text: statement.text, parameters: layout.kind === 'keys' ? all.filter((_, i) => i !== layout.placeholderName) : all };
  }

  /** @param deadline of statements without one of their own, in epoch milliseconds */
  #connection(readOnly: boolean, deadline: number | undefined): Connection {
    const within = <H extends RunOptions>(options: H): H =>
      options.deadline === undefined && deadline !== undefined ? { ...options, deadline } : options;
    return {
      runJson: (statement, values, options) => this.runJson(statement, values, within(options)),
      explain: (statement, values, options) => this.explain(statement, values, within(options)),
      runSql: async (sql, options) => {
        if (readOnly) await this.#requireRead(sql, within(options));
        return this.runSql(sql, within(options));
      },
      query: (text, values, options) => this.query(text, values, within(options ?? {})),
      introspect: (scope, options) => this.introspect(scope, within(options ?? {})),
    };
  }

  async #requireRead(text: string, options: RunOptions): Promise<void> {
    let kind: string;
    try {
      kind = await this.#statementType(text, options);
    } catch (failure) {
      throw runSqlError(failure, text);
    }
    if (kind === 'SELECT') return;
    throw new SvcError('database-error', 'query execution failed', {
      internal: {
        statement: text,
        arguments: [],
        error: { message: `read-only SQL must be a single SELECT, not ${kind}` },
      },
    });
  }

  /** Determines the type of a statement by a dry run, as BigQuery has no read-only transactions: `SELECT`, `INSERT`, … */
  async #statementType(text: string, options: RunOptions): Promise<string> {
    return (await this.#client.dryRun({ text, parameters: [] }, options)).statement ?? 'a script';
  }
}

function planLines({ bytes, tables }: DryRun): readonly string[] {
  const billed = bytes === null ? null : Math.max(bytes, MIN_BILLED_BYTES * tables.length);
  return [
    `Bytes processed: ${bytes ?? 'unknown'}`,
    `Bytes billed on demand, at least: ${billed ?? 'unknown'}`,
    ...(tables.length === 0 ? [] : [`Tables: ${tables.join(', ')}`]),
  ];
}

function* textsOf({ fields, rows, affectedRows }: QueryResult<Json>): Cooperative<RunSqlResult> {
  // The result of every statement is `TuplesOk`, as for other data warehouses.
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

/** Maximum characters of the value of a label. */
const LABEL_LENGTH = 63;

/** Converts tags to labels, which allow only lower-case letters, digits, `_` and `-`. */
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
