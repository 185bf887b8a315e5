import { taggedText } from '../../backend/query-tags.ts';
import type { Catalog, CatalogScope, QualifiedName, SurveyedTable } from '../../catalog/catalog.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { placedStatements } from '../../model/split-statements.ts';
import { MOST_RESULT_BYTES, resultTooLarge } from '../shared/result-size.ts';
import { readCatalog } from './catalog.ts';
import { CancelledError, DatabaseError } from './driver/database-error.ts';
import { WireExchange, type WireStep, type TextResult } from './driver/exchange.ts';
import { cancelReason, type DriverSession } from './driver/session.ts';
import { localSettings, STANDARD_STRINGS, WITHOUT_SETTINGS } from './session-settings.ts';
import { commitError, runSqlError, statementError } from './errors.ts';
import { surveyTables } from './survey.ts';
import type {
  Connection,
  JsonRow,
  RunOptions,
  RunSqlOptions,
  RunSqlResult,
  Statement,
  StatementOptions,
} from '../../backend/connection.ts';

/** The bound of the protocol's 16-bit count. */
const MAX_PARAMETERS = 65_535;

const EXPLAIN = 'explain (format text) ';

const NO_ROW: JsonRow = [];
/** A connection that is not even rolled back in so long is given up. */
const ROLLBACK_MS = 10_000;

/**
 * Statements in a session that the caller has for itself. With `begin`, the first exchange opens
 * a transaction; `prelude` follows it when nothing may be kept in the session.
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
   * @param how `deadline` of statements that have none of their own, and of the end of the transaction; epoch milliseconds. `oneByOne`:
   * the statements of a text of SQL are sent one after the other.
   */
  constructor(
    session: DriverSession,
    watch: () => void,
    prelude: WireStep | null,
    begin: WireStep | null,
    how: { readonly deadline?: number | undefined; readonly oneByOne?: boolean } = {},
  ) {
    this.#deadline = how.deadline;
    this.#oneByOne = how.oneByOne === true;
    this.#session = session;
    this.#watch = watch;
    this.#prelude = prelude;
    this.#begin = begin;
    this.#inTransaction = begin !== null;
  }

  readonly #inTransaction: boolean;

  async runJson(statement: Statement, values: readonly (string | null)[], how: RunOptions): Promise<JsonRow> {
    return this.#json(taggedText(statement.text, how.tags), values, how);
  }

  async runRows(statement: Pick<Statement, 'text'>, values: readonly (string | null)[], how: RunOptions): Promise<readonly JsonRow[]> {
    const rows: JsonRow[] = [];
    try {
      await this.#exchange('json', [{ text: statement.text, values }], how, rows);
      return rows;
    } catch (failure) {
      throw statementError(failure, { text: statement.text, values, prepared: this.#session.prepare });
    }
  }

  async explain(statement: Statement, values: readonly (string | null)[], how: RunOptions): Promise<readonly string[]> {
    const result = await this.#rows({ text: EXPLAIN + statement.text, values, once: true }, how);
    return result.rows.map((row) => row[0] ?? '');
  }

  async query(text: string, values: readonly (string | null)[], how: StatementOptions = {}): Promise<RunSqlResult> {
    const { settings = [] } = how;
    return runSqlResult(await this.#rows({ text, values }, how, settings.length === 0 ? [] : [localSettings(settings)]));
  }

  async runSql(sql: string, how: RunSqlOptions): Promise<RunSqlResult> {
    if (sql.includes('\0'))
      throw new SvcError('postgres-error', 'query execution failed', { internal: 'the text contains a NUL character' });
    // Whatever the text does to the session's settings must not be seen by others.
    this.#session.tainted = true;
    const { mostBytes = MOST_RESULT_BYTES } = how;
    const statements = this.#oneByOne ? placedStatements(sql) : [];
    const parts = statements.length > 1 ? statements : [{ text: sql, at: 0 }];
    let last: TextResult | undefined;
    let before = 0;
    try {
      // Nor do the service's own settings hold for it.
      if (this.#session.prepare || this.#inTransaction) {
        const isStandard = this.#inTransaction && how.standardStrings === true;
        await this.#exchange('json', isStandard ? [WITHOUT_SETTINGS, STANDARD_STRINGS] : [WITHOUT_SETTINGS], how);
      }
      for (const { text } of parts) {
        const done = await this.#exchange('simple', [{ text, values: [] }], { ...how, mostBytes });
        // It ended before it was stopped.
        if (done.bytes > mostBytes) throw resultTooLarge(mostBytes);
        last = done.results.at(-1);
        before++;
      }
      return runSqlResult(last ?? { columns: null, rows: [], command: '' });
    } catch (failure) {
      if (failure instanceof CancelledError && failure.reason === 'size' && failure.told === null) throw resultTooLarge(mostBytes, failure);
      if (failure instanceof DatabaseError) {
        const skipped = [...sql.slice(0, parts[before]?.at)].length;
        const position = failure.position === null ? null : skipped + Number(failure.position);
        how.onFailure?.({ done: before + failure.done, position });
      }
      throw runSqlError(failure, sql);
    }
  }

  introspect(scope?: CatalogScope, how: RunOptions = {}): Promise<Catalog> {
    return readCatalog((text, values) => this.#json(text, values, how), scope);
  }

  survey(tables?: readonly QualifiedName[], how: RunOptions = {}): Promise<readonly SurveyedTable[]> {
    return surveyTables((text, values) => this.query(text, values, how), tables);
  }

  async commit(): Promise<void> {
    if (this.#begin !== null) return; // nothing was run
    try {
      const done = await this.#exchange('text', [{ text: 'commit', values: [] }], {});
      if (done.results[0]?.command === 'ROLLBACK')
        throw new SvcError('unexpected', 'the transaction was rolled back because a statement in it failed');
    } catch (failure) {
      throw commitError(failure, { text: 'commit', values: [], prepared: this.#session.prepare });
    }
  }

  /** Never throws: a session that cannot be cleaned is not used again. */
  async rollback(): Promise<void> {
    if (this.#begin !== null || this.#session.isClosed) return;
    try {
      await this.#exchange('text', [{ text: 'rollback', values: [] }], { deadline: Date.now() + ROLLBACK_MS });
    } catch {
      this.#session.tainted = true;
    }
  }

  /** No statement is taken any more: the session goes to somebody else. */
  finish(): void {
    this.#over = true;
  }

  async #json(text: string, values: readonly (string | null)[], how: RunOptions): Promise<JsonRow> {
    try {
      return (await this.#exchange('json', [{ text, values }], how)).rows.at(-1) ?? NO_ROW;
    } catch (failure) {
      throw statementError(failure, { text, values, prepared: this.#session.prepare });
    }
  }

  /** @param first steps before it, in its transaction */
  async #rows(step: WireStep, how: RunOptions, first: readonly WireStep[] = []): Promise<TextResult> {
    try {
      return (await this.#exchange('text', [...first, step], how)).results.at(-1) as TextResult;
    } catch (failure) {
      throw statementError(failure, { text: step.text, values: step.values, prepared: this.#session.prepare && step.once !== true });
    }
  }

  async #exchange(
    mode: 'json' | 'text' | 'simple',
    own: readonly WireStep[],
    how: RunSqlOptions,
    collected: JsonRow[] | null = null,
  ): Promise<WireExchange> {
    if (this.#over) throw new Error('the transaction is over');
    // A cancel request that is still under way could hit this statement.
    while (this.#session.cancelsOpen > 0 && !this.#session.isClosed) await new Promise((resolve) => setTimeout(resolve, 2));
    const steps: WireStep[] = [];
    if (mode !== 'simple') {
      if (this.#begin !== null) steps.push(this.#begin);
      if (this.#prelude !== null && (this.#begin !== null || !this.#inTransaction)) steps.push(this.#prelude);
      this.#begin = null;
      steps.push(...own);
    }
    const within = how.deadline === undefined && this.#deadline !== undefined ? { ...how, deadline: this.#deadline } : how;
    const done = await runExchange(this.#session, mode, mode === 'simple' ? own : steps, within, this.#watch, collected);
    if (done.failure !== null) throw done.failure;
    return done;
  }
}

/** Sends one exchange; resolves with it at its end, also when it failed. */
export function runExchange(
  session: DriverSession,
  mode: 'json' | 'text' | 'simple',
  steps: readonly WireStep[],
  how: RunSqlOptions,
  watch: () => void,
  collected: JsonRow[] | null = null,
): Promise<WireExchange> {
  checkParameters(steps);
  return new Promise((resolve) => {
    const exchange = new WireExchange(mode, steps, resolve);
    exchange.collected = collected;
    exchange.intake = how.intake ?? null;
    if (how.maxRows !== undefined) exchange.maxRows = how.maxRows;
    if (how.mostBytes !== undefined) exchange.mostBytes = how.mostBytes;
    startExchange(session, exchange, how, watch);
  });
}

/** Sends an exchange whose parameters have been checked; where it is too late for it, it is settled at once. */
export function startExchange(session: DriverSession, exchange: WireExchange, how: RunOptions, watch: () => void): void {
  if (how.signal !== undefined || how.deadline !== undefined) {
    exchange.signal = how.signal;
    if (how.deadline !== undefined) exchange.deadline = how.deadline;
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

/** Throws `SvcError` for more parameters than a message can carry. */
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
