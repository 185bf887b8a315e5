import { taggedText } from '../../backend/query-tags.ts';
import type { Catalog, CatalogScope, QualifiedName, TableOverview } from '../../catalog/catalog.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { placedStatements } from '../../model/split-statements.ts';
import { MAX_RESULT_BYTES, resultTooLarge } from '../shared/result-size.ts';
import { readCatalog } from './catalog.ts';
import { CancelledError, DatabaseError } from './driver/database-error.ts';
import { WireExchange, type WireStep, type TextResult } from './driver/exchange.ts';
import { cancelReason, type DriverSession } from './driver/session.ts';
import { localSettings, STANDARD_STRINGS, WITHOUT_SETTINGS } from './session-settings.ts';
import { commitError, runSqlError, statementError } from './errors.ts';
import { readTableOverviews } from './table-overviews.ts';
import type {
  Connection,
  JsonRow,
  RunOptions,
  RunSqlOptions,
  RunSqlResult,
  Statement,
  StatementOptions,
} from '../../backend/connection.ts';

/** Maximum of the protocol's 16-bit count. */
const MAX_PARAMETERS = 65_535;

const EXPLAIN = 'explain (format text) ';

const NO_ROW: JsonRow = [];
/** Timeout for a rollback, after which the connection is closed. */
const ROLLBACK_MS = 10_000;

/**
 * A session for exclusive use. With `begin`, the first exchange opens a transaction. `prelude` has the settings of each transaction if the
 * session cannot keep them.
 */
export class SessionConnection implements Connection {
  readonly #session: DriverSession;
  readonly #watch: () => void;
  readonly #prelude: WireStep | null;
  readonly #deadline: number | undefined;
  readonly #oneByOne: boolean;
  #begin: WireStep | null;
  #over = false;

  /**
   * @param options `deadline` in epoch milliseconds, for statements without one and for the end of the transaction; `oneByOne` sends the
   * statements of SQL one by one
   */
  constructor(
    session: DriverSession,
    watch: () => void,
    prelude: WireStep | null,
    begin: WireStep | null,
    options: { readonly deadline?: number | undefined; readonly oneByOne?: boolean } = {},
  ) {
    this.#deadline = options.deadline;
    this.#oneByOne = options.oneByOne === true;
    this.#session = session;
    this.#watch = watch;
    this.#prelude = prelude;
    this.#begin = begin;
    this.#inTransaction = begin !== null;
  }

  readonly #inTransaction: boolean;

  async runJson(statement: Statement, values: readonly (string | null)[], options: RunOptions): Promise<JsonRow> {
    return this.#json(taggedText(statement.text, options.tags), values, options);
  }

  async runRows(statement: Pick<Statement, 'text'>, values: readonly (string | null)[], options: RunOptions): Promise<readonly JsonRow[]> {
    const rows: JsonRow[] = [];
    try {
      await this.#exchange('json', [{ text: statement.text, values }], options, rows);
      return rows;
    } catch (failure) {
      throw statementError(failure, { text: statement.text, values, prepared: this.#session.prepare });
    }
  }

  async explain(statement: Statement, values: readonly (string | null)[], options: RunOptions): Promise<readonly string[]> {
    const result = await this.#rows({ text: EXPLAIN + statement.text, values, once: true }, options);
    return result.rows.map((row) => row[0] ?? '');
  }

  async query(text: string, values: readonly (string | null)[], options: StatementOptions = {}): Promise<RunSqlResult> {
    const { settings = [] } = options;
    return runSqlResult(await this.#rows({ text, values }, options, settings.length === 0 ? [] : [localSettings(settings)]));
  }

  async runSql(sql: string, options: RunSqlOptions): Promise<RunSqlResult> {
    if (sql.includes('\0'))
      throw new SvcError('postgres-error', 'query execution failed', { internal: 'the text contains a NUL character' });
    // The SQL may change settings of the session, which must not affect other requests.
    this.#session.tainted = true;
    const { maxBytes = MAX_RESULT_BYTES } = options;
    const statements = this.#oneByOne ? placedStatements(sql) : [];
    const parts = statements.length > 1 ? statements : [{ text: sql, at: 0 }];
    let last: TextResult | undefined;
    let before = 0;
    try {
      // The settings of the service do not apply to SQL of administrators.
      if (this.#session.prepare || this.#inTransaction) {
        const isStandard = this.#inTransaction && options.standardStrings === true;
        await this.#exchange('json', isStandard ? [WITHOUT_SETTINGS, STANDARD_STRINGS] : [WITHOUT_SETTINGS], options);
      }
      for (const { text } of parts) {
        const done = await this.#exchange('simple', [{ text, values: [] }], { ...options, maxBytes });
        // The statement may end before it is cancelled.
        if (done.bytes > maxBytes) throw resultTooLarge(maxBytes);
        last = done.results.at(-1);
        before++;
      }
      return runSqlResult(last ?? { columns: null, rows: [], command: '' });
    } catch (failure) {
      if (failure instanceof CancelledError && failure.reason === 'size' && failure.clientError === null)
        throw resultTooLarge(maxBytes, failure);
      if (failure instanceof DatabaseError) {
        const skipped = [...sql.slice(0, parts[before]?.at)].length;
        const position = failure.position === null ? null : skipped + Number(failure.position);
        options.onFailure?.({ completed: before + failure.completed, position });
      }
      throw runSqlError(failure, sql);
    }
  }

  introspect(scope?: CatalogScope, options: RunOptions = {}): Promise<Catalog> {
    return readCatalog((text, values) => this.#json(text, values, options), scope);
  }

  tableOverviews(tables?: readonly QualifiedName[], options: RunOptions = {}): Promise<readonly TableOverview[]> {
    return readTableOverviews((text, values) => this.query(text, values, options), tables);
  }

  async commit(): Promise<void> {
    if (this.#begin !== null) return; // no statement ran
    try {
      const done = await this.#exchange('text', [{ text: 'commit', values: [] }], {});
      if (done.results[0]?.command === 'ROLLBACK')
        throw new SvcError('unexpected', 'the transaction was rolled back because a statement in it failed');
    } catch (failure) {
      throw commitError(failure, { text: 'commit', values: [], prepared: this.#session.prepare });
    }
  }

  /** Never throws: a session that cannot be rolled back is not reused. */
  async rollback(): Promise<void> {
    if (this.#begin !== null || this.#session.isClosed) return;
    try {
      await this.#exchange('text', [{ text: 'rollback', values: [] }], { deadline: Date.now() + ROLLBACK_MS });
    } catch {
      this.#session.tainted = true;
    }
  }

  /** Refuses further statements: the session returns to the pool. */
  finish(): void {
    this.#over = true;
  }

  async #json(text: string, values: readonly (string | null)[], options: RunOptions): Promise<JsonRow> {
    try {
      return (await this.#exchange('json', [{ text, values }], options)).rows.at(-1) ?? NO_ROW;
    } catch (failure) {
      throw statementError(failure, { text, values, prepared: this.#session.prepare });
    }
  }

  /** @param first earlier steps in the same transaction */
  async #rows(step: WireStep, options: RunOptions, first: readonly WireStep[] = []): Promise<TextResult> {
    try {
      return (await this.#exchange('text', [...first, step], options)).results.at(-1) as TextResult;
    } catch (failure) {
      throw statementError(failure, { text: step.text, values: step.values, prepared: this.#session.prepare && step.once !== true });
    }
  }

  async #exchange(
    mode: 'json' | 'text' | 'simple',
    own: readonly WireStep[],
    options: RunSqlOptions,
    collected: JsonRow[] | null = null,
  ): Promise<WireExchange> {
    if (this.#over) throw new Error('the transaction is over');
    // A pending cancel request could cancel this statement.
    while (this.#session.cancelsOpen > 0 && !this.#session.isClosed) await new Promise((resolve) => setTimeout(resolve, 2));
    const steps: WireStep[] = [];
    if (mode !== 'simple') {
      if (this.#begin !== null) steps.push(this.#begin);
      if (this.#prelude !== null && (this.#begin !== null || !this.#inTransaction)) steps.push(this.#prelude);
      this.#begin = null;
      steps.push(...own);
    }
    const within = options.deadline === undefined && this.#deadline !== undefined ? { ...options, deadline: this.#deadline } : options;
    const done = await runExchange(this.#session, mode, mode === 'simple' ? own : steps, within, this.#watch, collected);
    if (done.failure !== null) throw done.failure;
    return done;
  }
}

/** Sends one exchange and resolves with it at its end, also after a failure. */
export function runExchange(
  session: DriverSession,
  mode: 'json' | 'text' | 'simple',
  steps: readonly WireStep[],
  options: RunSqlOptions,
  watch: () => void,
  collected: JsonRow[] | null = null,
): Promise<WireExchange> {
  checkParameters(steps);
  return new Promise((resolve) => {
    const exchange = new WireExchange(mode, steps, resolve);
    exchange.collected = collected;
    exchange.resultBudget = options.resultBudget ?? null;
    if (options.maxRows !== undefined) exchange.maxRows = options.maxRows;
    if (options.maxBytes !== undefined) exchange.maxBytes = options.maxBytes;
    startExchange(session, exchange, options, watch);
  });
}

/** Sends an exchange with checked parameters, or settles it if it is cancelled or its deadline has passed. */
export function startExchange(session: DriverSession, exchange: WireExchange, options: RunOptions, watch: () => void): void {
  if (options.signal !== undefined || options.deadline !== undefined) {
    exchange.signal = options.signal;
    if (options.deadline !== undefined) exchange.deadline = options.deadline;
    const late = cancelReason(exchange, Date.now());
    if (late !== null) {
      exchange.failure = new CancelledError(late);
      exchange.settled = true;
      exchange.settle(exchange);
      return;
    }
    watch();
  }
  session.send(exchange);
}

/** @throws SvcError for more parameters than a message can have */
export function checkParameters(steps: readonly WireStep[]): void {
  for (const step of steps) {
    if (step.values.length > MAX_PARAMETERS)
      throw new SvcError('bad-request', `a statement takes at most ${MAX_PARAMETERS} parameters, this one needs ${step.values.length}`);
  }
}

function runSqlResult(result: TextResult): RunSqlResult {
  return {
    kind: result.columns === null ? 'CommandOk' : 'TuplesOk',
    columns: result.columns ?? [],
    rows: result.rows,
    command: result.command,
    ...(result.isCut === true ? { isCut: true } : {}),
  };
}
