/** Client of BigQuery's REST API: runs queries as jobs, reads their pages, retries transient failures and cancels abandoned jobs. */
import { randomUUID } from 'node:crypto';
import { ConnectionCounts, type ServerMeasures } from '../../../backend/connection-counts.ts';
import type { HttpClient } from '../../../backend/http-client.ts';
import type { ResultBudget } from '../../../backend/result-budget.ts';
import { CancellationSource, isPrompt } from '../../../util/cancellation.ts';
import { Semaphore } from '../../../util/semaphore.ts';
import { isJsonObject, type JsonObject, objectOf, objectsIn } from '../../../util/json.ts';
import { runCooperatively } from '../../../util/cooperative.ts';
import {
  BigQueryError,
  connectionError,
  isTransientJobFailure,
  isAmbiguousFailure,
  jobFailure,
  StatementCancelledError,
} from '../errors.ts';
import type { BigQueryTarget } from '../target.ts';
import {
  failureOf,
  type JobName,
  MAX_HEAD,
  finiteNumber,
  type ResultPage,
  readAnswer,
  readPage,
  type ResultField,
  type RowReader,
  nonEmptyString,
} from './answers.ts';
import { type RestCall, onEarlyEnd, pause, RestCalls, raceCancellation, type CallScope, callScope } from './rest-call.ts';
import type { RunOptions } from '../../../backend/connection.ts';

export interface BigQueryParameter extends JsonObject {
  readonly name: string;
  readonly parameterType: JsonObject;
  readonly parameterValue: JsonObject;
}

export interface QueryRequest {
  readonly text: string;
  readonly parameters: readonly BigQueryParameter[];
  /** Labels of the job. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** The query only reads, so a job that failed transiently may be replaced by another one. */
  readonly repeatable?: boolean;
}

export interface QueryResult<Cell> {
  readonly job: JobName | null;
  /** `null` if the statement returns no rows. */
  readonly fields: readonly ResultField[] | null;
  readonly rows: readonly (readonly Cell[])[];
  readonly processedBytes: number | null;
  /** `null` if the response lacks it, because the job took longer than one call. */
  readonly billedBytes: number | null;
  readonly affectedRows: number | null;
}

export interface DryRun {
  readonly bytes: number | null;
  /** `SELECT`, `CREATE_TABLE`, … */
  readonly statement: string | null;
  /** `dataset.table` */
  readonly tables: readonly string[];
}

export interface ClientOptions {
  readonly location: string | undefined;
  readonly maximumBytesBilled: number | undefined;
  readonly retryBaseDelayMs: number;
  readonly retryLimit: number;
  readonly maxStatements: number;
  /** Maximum time that a statement waits to start, in ms. */
  readonly waitTimeoutMs: number;
}

/** ms after which the server reports that a job is still running. */
const FIRST_ANSWER_MS = 2_000;
const NEXT_ANSWER_MS = 10_000;
/** Initial ms between two calls for a running job if the server answers sooner; doubles up to `NEXT_ANSWER_MS`. */
const FIRST_GAP_MS = 100;
/** ms for a call, in addition to the time for which the server holds it. */
const CALL_MS = 60_000;
const CANCEL_MS = 10_000;
const DETAILS_MS = 10_000;
/** Maximum duration of a statement, in ms. */
const MAX_STATEMENT_MS = 30 * 60_000;
/** ms between two checks of a signal that does not notify. */
const POLL_MS = 100;
/** Maximum bytes of a page. The server's pages are smaller, unless a single row is as large. */
const MAX_PAGE_BYTES = 64 * 1024 * 1024;
/** Maximum bytes of all pages of a result. */
const MAX_RESULT_BYTES = 256 * 1024 * 1024;

interface Sized<T> {
  readonly value: T;
  /** Size of the response from which it was read. */
  readonly bytes: number;
}

export class BigQueryClient {
  readonly #target: BigQueryTarget;
  readonly #options: ClientOptions;
  readonly #calls: RestCalls;
  readonly #gate: Semaphore;
  readonly #running = new Set<CancellationSource>();
  readonly #pendingTasks = new Set<Promise<void>>();
  #isClosed = false;
  readonly #counts = new ConnectionCounts();

  constructor(http: HttpClient, target: BigQueryTarget, options: ClientOptions) {
    this.#target = target;
    this.#options = options;
    this.#calls = new RestCalls(http, target, options);
    this.#gate = new Semaphore((_, running) => running < options.maxStatements);
  }

  measures(): ServerMeasures {
    const { running: used, waiting: pending } = this.#gate;
    const most = this.#options.maxStatements;
    return { family: 'bigquery', role: 'primary', used, idle: most - used, maxConnections: most, pending, counts: this.#counts };
  }

  /**
   * Runs a query and returns its rows.
   * @param reader makes the reader of cells; called for each attempt
   * @param maxRows stops fetching pages once it has more rows than this
   * @throws BigQueryError, StatementCancelledError, SvcError
   */
  run<Cell>(
    query: QueryRequest,
    options: RunOptions,
    reader: () => RowReader<Cell>,
    maxRows = Number.POSITIVE_INFINITY,
  ): Promise<QueryResult<Cell>> {
    return this.#runStatement(options, async (scope) => {
      const isRetryable = (error: BigQueryError): boolean => query.repeatable === true && isTransientJobFailure(error);
      const pages = await this.#calls.retried(scope, isRetryable, () =>
        this.#readPages(query, reader(), scope, maxRows, options.resultBudget),
      );
      const last = <T>(read: (page: ResultPage<Cell>) => T | null): T | null =>
        pages.reduce<T | null>((found, each) => read(each) ?? found, null);
      const processedBytes = last((page) => page.processedBytes);
      const billedBytes = last((page) => page.billedBytes);
      this.#counts.processedBytes += processedBytes ?? 0;
      this.#counts.billedBytes += billedBytes ?? 0;
      return {
        job: last(({ job }) => job),
        fields: last(({ fields }) => fields),
        rows: pages.flatMap((page) => page.rows),
        processedBytes,
        billedBytes,
        affectedRows: last(({ affectedRows }) => affectedRows),
      };
    });
  }

  /** Starts a job and reads its pages. */
  async #readPages<Cell>(
    query: QueryRequest,
    readRow: RowReader<Cell>,
    scope: CallScope,
    maxRows: number,
    budget: ResultBudget | undefined,
  ): Promise<readonly ResultPage<Cell>[]> {
    const first = await this.#startJob(query, readRow, scope);
    const pages = [first.value];
    let { value: page, bytes } = first;
    let rows = page.rows.length;
    const { job } = page;
    let taken = 0;
    let gap = FIRST_GAP_MS;
    const take = (more: number): void => {
      if (budget === undefined) return;
      if (!budget.take(more)) throw budget.refusal(false);
      taken += more;
    };
    try {
      take(bytes);
      while (!page.isComplete || (page.next !== null && rows <= maxRows)) {
        if (job === null) throw new BigQueryError(0, '', 'BigQuery returned no name for a running job');
        const requestedAt = Date.now();
        const next = await this.#fetchPage(job, page.isComplete ? page.next : null, readRow, scope);
        page = next.value;
        if (!page.isComplete) {
          await pause(gap - (Date.now() - requestedAt), scope.cancellation);
          gap = Math.min(gap * 2, NEXT_ANSWER_MS);
        }
        bytes += next.bytes;
        rows += page.rows.length;
        take(next.bytes);
        if (bytes > MAX_RESULT_BYTES) throw new BigQueryError(0, 'responseTooLarge', `the result exceeds ${MAX_RESULT_BYTES} bytes`);
        pages.push(page);
      }
    } catch (error) {
      if (job !== null && error instanceof StatementCancelledError) this.#cancelLater(job);
      // A retry takes them again.
      budget?.release(taken);
      throw error;
    }
    return pages;
  }

  /** Reports what a query would read, without running it. @throws as `run` */
  dryRun(query: QueryRequest, options: RunOptions): Promise<DryRun> {
    return this.#runStatement(options, async (scope) => {
      const { location } = this.#options;
      const body: JsonObject = {
        // Without the limit of billed bytes, because the dry run also reports queries beyond it. Labels would not be part of `query` here.
        configuration: { dryRun: true, query: textBody(query) },
        ...(location === undefined ? {} : { jobReference: { projectId: this.#target.project, location } }),
      };
      const path = `/projects/${encodeURIComponent(this.#target.project)}/jobs`;
      const call: RestCall<JsonObject> = { path, method: 'POST', body, timeout: CALL_MS, maxBytes: MAX_HEAD, read: readAnswer };
      const json = await this.#calls.retried(scope, isTransientJobFailure, async () => {
        const answer = await this.#calls.call(call, scope);
        const failed = jobError(answer);
        if (failed !== null) throw failed;
        return answer;
      });
      const statistics = objectOf(json['statistics']);
      const queryStatistics = objectOf(statistics['query']);
      const tables = objectsIn(queryStatistics['referencedTables']).map(
        (table) => `${nonEmptyString(table['datasetId']) ?? ''}.${nonEmptyString(table['tableId']) ?? ''}`,
      );
      return {
        bytes: finiteNumber(queryStatistics['totalBytesProcessed']) ?? finiteNumber(statistics['totalBytesProcessed']),
        statement: nonEmptyString(queryStatistics['statementType']),
        tables,
      };
    });
  }

  /**
   * Fetches the billed bytes of a finished job.
   * @param onBytes called later; with `null` if they cannot be fetched
   */
  billedBytes(job: JobName, onBytes: (bytes: number | null) => void): void {
    this.#track(
      this.#jobDetails(job, callScope(new CancellationSource(), Date.now() + DETAILS_MS)).then(
        ({ statistics }) => {
          const query = isJsonObject(statistics) ? statistics['query'] : undefined;
          const bytes = isJsonObject(query) ? finiteNumber(query['totalBytesBilled']) : null;
          this.#counts.billedBytes += bytes ?? 0;
          onBytes(bytes);
        },
        () => onBytes(null),
      ),
    );
  }

  /** Cancels running statements and waits for pending calls, at most `boundMs`. */
  async close(boundMs: number): Promise<void> {
    this.#isClosed = true;
    for (const cancellation of this.#running) cancellation.cancel();
    let timer: NodeJS.Timeout | undefined;
    const bound = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, boundMs);
    });
    await Promise.race([Promise.allSettled([...this.#pendingTasks]), bound]);
    clearTimeout(timer);
  }

  /**
   * Starts a job once, however often the call is retried. If the statement is cancelled before the job's name is known, the job is
   * cancelled later.
   */
  async #startJob<Cell>(query: QueryRequest, readRow: RowReader<Cell>, scope: CallScope): Promise<Sized<ResultPage<Cell>>> {
    const body = {
      ...this.#queryBody(query),
      // BigQuery stops the job itself at the deadline, in case the cancellation does not reach it.
      jobTimeoutMs: String(Math.max(Math.ceil(scope.deadline - Date.now()), 1)),
      timeoutMs: FIRST_ANSWER_MS,
      requestId: randomUUID(),
      formatOptions: { useInt64Timestamp: true },
      ...(this.#options.location === undefined ? {} : { location: this.#options.location }),
    };
    const path = `/projects/${encodeURIComponent(this.#target.project)}/queries`;
    // The response names the job, so the call itself is not cancelled.
    const timeout = FIRST_ANSWER_MS + CALL_MS;
    const ownScope = { cancellation: new CancellationSource(), deadline: Date.now() + timeout, check: () => scope.check() };
    scope.check();
    let failures = 0;
    // With the same `requestId`, the second response concerns the same job: if it fails again, the job failed and not the call.
    const interpretError = (error: BigQueryError): BigQueryError =>
      isAmbiguousFailure(error) && query.repeatable === true && ++failures > 1 ? jobFailure(error) : error;
    const started = this.#calls.call(
      { path, method: 'POST', body, timeout, maxBytes: MAX_PAGE_BYTES, interpretError, read: pageReader(readRow) },
      ownScope,
    );
    try {
      return await raceCancellation(scope, started);
    } catch (error) {
      if (error instanceof StatementCancelledError) {
        this.#track(
          started.then(
            ({ value: page }) => {
              if (page.job !== null && (!page.isComplete || page.next !== null)) this.#cancelLater(page.job);
            },
            () => undefined,
          ),
        );
      }
      throw error;
    }
  }

  #fetchPage<Cell>(job: JobName, token: string | null, readRow: RowReader<Cell>, scope: CallScope): Promise<Sized<ResultPage<Cell>>> {
    const { path, search } = this.#jobResource('queries', job);
    const call: RestCall<Sized<ResultPage<Cell>>> = {
      path,
      search: {
        ...search,
        timeoutMs: String(NEXT_ANSWER_MS),
        'formatOptions.useInt64Timestamp': 'true',
        ...(token === null ? {} : { pageToken: token }),
      },
      method: 'GET',
      body: null,
      timeout: NEXT_ANSWER_MS + CALL_MS,
      maxBytes: MAX_PAGE_BYTES,
      retriesNotFound: true,
      interpretError: (error) => (isAmbiguousFailure(error) ? this.#failureOfJob(job, error, scope) : error),
      read: pageReader(readRow),
    };
    return this.#calls.call(call, scope);
  }

  /** Returns the failure of the job if it has one, else that of the call that requested its rows. */
  async #failureOfJob(job: JobName, error: BigQueryError, scope: CallScope): Promise<BigQueryError> {
    try {
      return jobError(await this.#jobDetails(job, scope, false)) ?? error;
    } catch (failure) {
      if (failure instanceof BigQueryError) return error;
      throw failure;
    }
  }

  #jobDetails(job: JobName, scope: CallScope, isRetried = true): Promise<JsonObject> {
    const resource = this.#jobResource('jobs', job);
    const call = { ...resource, method: 'GET', body: null, timeout: DETAILS_MS, maxBytes: MAX_HEAD, isRetried, read: readAnswer } as const;
    return this.#calls.call(call, scope);
  }

  /** Cancels a job in the background; failures are ignored. */
  #cancelLater(job: JobName): void {
    const { path, search } = this.#jobResource('jobs', job);
    const call = { path: `${path}/cancel`, search, method: 'POST', body: {}, timeout: CANCEL_MS, maxBytes: MAX_HEAD } as const;
    const ignore = (): void => undefined;
    const scope = callScope(new CancellationSource(), Date.now() + CANCEL_MS);
    this.#track(this.#calls.call({ ...call, retriesNotFound: true, read: readAnswer }, scope).then(ignore, ignore));
  }

  #track(task: Promise<void>): void {
    const tracked = task.finally(() => this.#pendingTasks.delete(tracked));
    this.#pendingTasks.add(tracked);
  }

  /** Path and query of a job. Without a location, BigQuery finds jobs only in the US and the EU. */
  #jobResource(
    collection: 'jobs' | 'queries',
    { projectId, jobId, location = this.#options.location }: JobName,
  ): Pick<RestCall<never>, 'path' | 'search'> {
    return {
      path: `/projects/${encodeURIComponent(projectId)}/${collection}/${encodeURIComponent(jobId)}`,
      search: location === undefined ? {} : { location },
    };
  }

  #queryBody(query: QueryRequest): JsonObject {
    const { maximumBytesBilled } = this.#options;
    const { labels } = query;
    return {
      ...textBody(query),
      ...(maximumBytesBilled === undefined ? {} : { maximumBytesBilled: String(maximumBytesBilled) }),
      ...(labels === undefined ? {} : { labels }),
    };
  }

  /** Runs a statement as soon as fewer than `maxStatements` run, within its deadline. */
  async #runStatement<T>(options: RunOptions, run: (scope: CallScope) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw connectionError('the source is closed');
    const cancellation = new CancellationSource(options.signal);
    const deadline = Math.min(options.deadline ?? Number.POSITIVE_INFINITY, Date.now() + MAX_STATEMENT_MS);
    let isOver = false;
    const isAborted = (): boolean => options.signal?.aborted === true || this.#isClosed;
    const scope = callScope(cancellation, deadline, isAborted, () => isOver);
    const end = (): void => {
      isOver = true;
      cancellation.cancel();
    };
    const timer = setTimeout(end, Math.max(deadline - Date.now(), 0));
    this.#running.add(cancellation);
    const isFree = this.#gate.running < this.#options.maxStatements;
    const notifies = options.signal === undefined || isPrompt(options.signal);
    const watch = notifies ? undefined : setInterval(() => options.signal?.aborted === true && cancellation.cancel(), POLL_MS);
    const enteredAt = performance.now();
    try {
      scope.check();
      await this.#waitForSlot(scope);
      const startedAt = performance.now();
      this.#counts.waitTime.observe(isFree ? 0 : (startedAt - enteredAt) / 1000);
      try {
        return await run(scope);
      } finally {
        this.#gate.release();
        this.#counts.queryTime.observe((performance.now() - startedAt) / 1000);
      }
    } catch (error) {
      this.#countFailure(error);
      throw error;
    } finally {
      clearTimeout(timer);
      clearInterval(watch);
      this.#running.delete(cancellation);
    }
  }

  #countFailure(error: unknown): void {
    if (error instanceof StatementCancelledError) {
      if (error.reason === 'deadline') this.#counts.timedOut += 1;
      else this.#counts.cancelled += 1;
    } else if (error instanceof BigQueryError && error.status === 599) this.#counts.errors += 1;
  }

  async #waitForSlot(scope: CallScope): Promise<void> {
    let stop = (): void => undefined;
    const { waitTimeoutMs } = this.#options;
    try {
      await this.#gate.acquire(undefined, (fail) => {
        const late = (): void => {
          this.#counts.timeouts += 1;
          fail(connectionError('timed out waiting for other statements to finish'));
        };
        const timer = Number.isFinite(waitTimeoutMs) ? setTimeout(late, waitTimeoutMs) : undefined;
        const unsubscribe = onEarlyEnd(scope, fail);
        stop = () => {
          clearTimeout(timer);
          unsubscribe();
        };
      });
    } finally {
      stop();
    }
  }
}

function textBody({ text, parameters }: QueryRequest): JsonObject {
  return {
    query: text,
    useLegacySql: false,
    ...(parameters.length === 0 ? {} : { parameterMode: 'NAMED', queryParameters: parameters }),
  };
}

/** Failure of a job as `jobs.get` reports it. */
function jobError({ status }: JsonObject): BigQueryError | null {
  const failed = isJsonObject(status) ? status['errorResult'] : undefined;
  return isJsonObject(failed) ? jobFailure(failureOf(failed, 0)) : null;
}

function pageReader<Cell>(readRow: RowReader<Cell>): RestCall<Sized<ResultPage<Cell>>>['read'] {
  return async (status, body) => ({ value: await runCooperatively(readPage(status, body, readRow)), bytes: body.length });
}
