/** BigQuery's REST interface: queries as jobs that are asked for their pages, repeated where they fail in passing, and cancelled. */
import { randomUUID } from 'node:crypto';
import { ConnectionCounts, type ServerMeasures } from '../../../backend/connection-counts.ts';
import type { HttpClient } from '../../../backend/http-client.ts';
import type { ResultBudget } from '../../../backend/result-budget.ts';
import { CancellationSource, isPrompt } from '../../../util/cancellation.ts';
import { Gate } from '../../../util/gate.ts';
import { isJsonObject, type JsonObject } from '../../../util/json.ts';
import { inSlices } from '../../../util/sliced.ts';
import { BigQueryError, connectionError, hasJobFailed, isOfInterfaceOrJob, jobFailure, StatementCancelledError } from '../errors.ts';
import type { Target } from '../target.ts';
import {
  failureOf,
  type JobName,
  listOf,
  MAX_HEAD,
  numberOf,
  type Page,
  readAnswer,
  readPage,
  type ResultField,
  type RowReader,
  textOf,
} from './answers.ts';
import { type Call, pause, RestCalls, unlessOver, type Waiting, waitingOf } from './rest-call.ts';
import type { RunOptions } from '../../../backend/connection.ts';

export interface QueryParameter extends JsonObject {
  readonly name: string;
  readonly parameterType: JsonObject;
  readonly parameterValue: JsonObject;
}

export interface Query {
  readonly text: string;
  readonly parameters: readonly QueryParameter[];
  /** Of its job, as BigQuery takes them. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** It reads only: a job that has failed in passing may be followed by another one. */
  readonly repeatable?: boolean;
}

export interface Result<Cell> {
  readonly job: JobName | null;
  /** Null: the statement gives no rows. */
  readonly fields: readonly ResultField[] | null;
  readonly rows: readonly (readonly Cell[])[];
  readonly processedBytes: number | null;
  /** Null where the answer does not tell: that of a job that took longer than a call. */
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
  /** ms to wait until a statement may begin */
  readonly waitTimeoutMs: number;
}

/** ms that the server takes before it says that a job goes on. */
const FIRST_ANSWER_MS = 2_000;
const NEXT_ANSWER_MS = 10_000;
/** ms between two calls for a job that goes on, at first, where the server answers sooner; doubled each time up to `NEXT_ANSWER_MS`. */
const FIRST_GAP_MS = 100;
/** ms for an answer on top of what the server takes on purpose. */
const CALL_MS = 60_000;
const CANCEL_MS = 10_000;
const DETAILS_MS = 10_000;
/** ms; of statements that nobody has set a time for. */
const LONGEST_STATEMENT_MS = 30 * 60_000;
const ASK_MS = 100;
/** Bytes; the server's pages are smaller, unless a row is as large. */
const MAX_PAGE = 64 * 1024 * 1024;
/** Bytes of all pages of an answer. */
const MAX_ANSWER = 256 * 1024 * 1024;

interface Sized<T> {
  readonly value: T;
  /** Of the answer that it was read of. */
  readonly bytes: number;
}

export class BigQueryClient {
  private readonly target: Target;
  private readonly options: ClientOptions;
  private readonly calls: RestCalls;
  private readonly slots: Gate;
  private readonly running = new Set<CancellationSource>();
  private readonly ending = new Set<Promise<void>>();
  private isClosed = false;
  private readonly counts = new ConnectionCounts();

  constructor(http: HttpClient, target: Target, options: ClientOptions) {
    this.target = target;
    this.options = options;
    this.calls = new RestCalls(http, target, options);
    this.slots = new Gate((_, running) => running < options.maxStatements);
  }

  /** What is on its way now, and what was since the source was opened. */
  measures(): ServerMeasures {
    const { running: used, waiting: pending } = this.slots;
    const most = this.options.maxStatements;
    return { family: 'bigquery', role: 'primary', used, idle: most - used, most, pending, counts: this.counts };
  }

  /**
   * The rows of a query.
   * @param reader what its cells become; made anew whenever the query is run again
   * @param mostRows pages behind so many rows are not asked for; absent: all are
   * @throws BigQueryError, StatementCancelledError, SvcError
   */
  run<Cell>(query: Query, how: RunOptions, reader: () => RowReader<Cell>, mostRows = Number.POSITIVE_INFINITY): Promise<Result<Cell>> {
    return this.waited(how, async (waiting) => {
      const isAgain = (error: BigQueryError): boolean => query.repeatable === true && hasJobFailed(error);
      const pages = await this.calls.repeated(waiting, isAgain, () => this.pages(query, reader(), waiting, mostRows, how.intake));
      const last = <T>(of: (page: Page<Cell>) => T | null): T | null => pages.reduce<T | null>((found, each) => of(each) ?? found, null);
      const processedBytes = last((each) => each.processedBytes);
      const billedBytes = last((each) => each.billedBytes);
      this.counts.processedBytes += processedBytes ?? 0;
      this.counts.billedBytes += billedBytes ?? 0;
      return {
        job: last(({ job }) => job),
        fields: last(({ fields }) => fields),
        rows: pages.flatMap((each) => each.rows),
        processedBytes,
        billedBytes,
        affectedRows: last(({ affectedRows }) => affectedRows),
      };
    });
  }

  /** A job and all that is wanted of its answer. */
  private async pages<Cell>(
    query: Query,
    readRow: RowReader<Cell>,
    waiting: Waiting,
    mostRows: number,
    intake: ResultBudget | undefined,
  ): Promise<readonly Page<Cell>[]> {
    const first = await this.begin(query, readRow, waiting);
    const pages = [first.value];
    let { value: page, bytes } = first;
    let rows = page.rows.length;
    const { job } = page;
    let taken = 0;
    let gap = FIRST_GAP_MS;
    const take = (more: number): void => {
      if (intake === undefined) return;
      if (!intake.take(more)) throw intake.refusal(false);
      taken += more;
    };
    try {
      take(bytes);
      while (!page.isComplete || (page.next !== null && rows <= mostRows)) {
        if (job === null) throw new BigQueryError(0, '', 'a job that goes on has no name');
        const asked = Date.now();
        const next = await this.page(job, page.isComplete ? page.next : null, readRow, waiting);
        page = next.value;
        if (!page.isComplete) {
          await pause(gap - (Date.now() - asked), waiting.cancellation);
          gap = Math.min(gap * 2, NEXT_ANSWER_MS);
        }
        bytes += next.bytes;
        rows += page.rows.length;
        take(next.bytes);
        if (bytes > MAX_ANSWER) throw new BigQueryError(0, 'responseTooLarge', `the answer has more than ${MAX_ANSWER} bytes`);
        pages.push(page);
      }
    } catch (error) {
      if (job !== null && error instanceof StatementCancelledError) this.cancelLater(job);
      // It may be run again.
      intake?.giveBack(taken);
      throw error;
    }
    return pages;
  }

  /** What a query would read, without running it. @throws as `run` */
  dryRun(query: Query, how: RunOptions): Promise<DryRun> {
    return this.waited(how, async (waiting) => {
      const { location } = this.options;
      const body: JsonObject = {
        // It is asked what is too much as well, and labels are not part of the query here.
        configuration: { dryRun: true, query: textBody(query) },
        ...(location === undefined ? {} : { jobReference: { projectId: this.target.project, location } }),
      };
      const path = `/projects/${encodeURIComponent(this.target.project)}/jobs`;
      const call: Call<JsonObject> = { path, method: 'POST', body, timeout: CALL_MS, most: MAX_HEAD, read: readAnswer };
      const json = await this.calls.repeated(waiting, hasJobFailed, async () => {
        const answer = await this.calls.call(call, waiting);
        const failed = errorOfJob(answer);
        if (failed !== null) throw failed;
        return answer;
      });
      const statistics = isJsonObject(json['statistics']) ? json['statistics'] : {};
      const ofQuery = isJsonObject(statistics['query']) ? statistics['query'] : {};
      const tables = listOf(ofQuery['referencedTables']).map(
        (each) => `${textOf(each['datasetId']) ?? ''}.${textOf(each['tableId']) ?? ''}`,
      );
      return {
        bytes: numberOf(ofQuery['totalBytesProcessed']) ?? numberOf(statistics['totalBytesProcessed']),
        statement: textOf(ofQuery['statementType']),
        tables,
      };
    });
  }

  /**
   * Asks what a job that has ended is billed for.
   * @param told is given it later; null: it cannot be found out
   */
  billedBytes(job: JobName, told: (bytes: number | null) => void): void {
    const asked = this.calls.call(
      { ...this.placeOf('jobs', job), method: 'GET', body: null, timeout: DETAILS_MS, most: MAX_HEAD, read: readAnswer },
      waitingOf(new CancellationSource(), Date.now() + DETAILS_MS),
    );
    this.end(
      asked.then(
        ({ statistics }) => {
          const query = isJsonObject(statistics) ? statistics['query'] : undefined;
          const bytes = isJsonObject(query) ? numberOf(query['totalBytesBilled']) : null;
          this.counts.billedBytes += bytes ?? 0;
          told(bytes);
        },
        () => told(null),
      ),
    );
  }

  /** Cancels what runs, and waits for that up to a bound. */
  async close(boundMs: number): Promise<void> {
    this.isClosed = true;
    for (const cancellation of this.running) cancellation.cancel();
    let timer: NodeJS.Timeout | undefined;
    const bound = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, boundMs);
    });
    await Promise.race([Promise.allSettled([...this.ending]), bound]);
    clearTimeout(timer);
  }

  /** The job is begun once, however often it is asked for; a job that nobody waits for any more is cancelled. */
  private async begin<Cell>(query: Query, readRow: RowReader<Cell>, waiting: Waiting): Promise<Sized<Page<Cell>>> {
    const body = {
      ...this.queryBody(query),
      // BigQuery itself ends what goes on after the statement's time, should the cancellation not reach it.
      jobTimeoutMs: String(Math.max(Math.ceil(waiting.deadline - Date.now()), 1)),
      timeoutMs: FIRST_ANSWER_MS,
      requestId: randomUUID(),
      formatOptions: { useInt64Timestamp: true },
      ...(this.options.location === undefined ? {} : { location: this.options.location }),
    };
    const path = `/projects/${encodeURIComponent(this.target.project)}/queries`;
    // Its name comes with the answer: the call itself is not given up.
    const timeout = FIRST_ANSWER_MS + CALL_MS;
    const apart = { cancellation: new CancellationSource(), deadline: Date.now() + timeout, check: () => waiting.check() };
    waiting.check();
    let failures = 0;
    // With the same `requestId` the second answer is that of the same job: it is the job that failed.
    const meant = (error: BigQueryError): BigQueryError =>
      isOfInterfaceOrJob(error) && query.repeatable === true && ++failures > 1 ? jobFailure(error) : error;
    const begun = this.calls.call({ path, method: 'POST', body, timeout, most: MAX_PAGE, meant, read: pageReader(readRow) }, apart);
    try {
      return await unlessOver(waiting, begun);
    } catch (error) {
      if (error instanceof StatementCancelledError) {
        const ended = begun.then(
          ({ value: page }) => {
            if (page.job !== null && (!page.isComplete || page.next !== null)) this.cancelLater(page.job);
          },
          () => undefined,
        );
        this.end(ended);
      }
      throw error;
    }
  }

  private page<Cell>(job: JobName, token: string | null, readRow: RowReader<Cell>, waiting: Waiting): Promise<Sized<Page<Cell>>> {
    const place = this.placeOf('queries', job);
    const search = {
      ...place.search,
      timeoutMs: String(NEXT_ANSWER_MS),
      'formatOptions.useInt64Timestamp': 'true',
      ...(token === null ? {} : { pageToken: token }),
    };
    const meant = (error: BigQueryError): BigQueryError | Promise<BigQueryError> =>
      isOfInterfaceOrJob(error) ? this.failureOfJob(job, error, waiting) : error;
    const timeout = NEXT_ANSWER_MS + CALL_MS;
    const call = { ...place, search, method: 'GET', body: null, timeout, most: MAX_PAGE, ofJob: true, meant } as const;
    return this.calls.call({ ...call, read: pageReader(readRow) }, waiting);
  }

  /** Returns the failure of a job where it has one, else that of the call that asked for its rows. */
  private async failureOfJob(job: JobName, error: BigQueryError, waiting: Waiting): Promise<BigQueryError> {
    const call = {
      ...this.placeOf('jobs', job),
      method: 'GET',
      body: null,
      timeout: DETAILS_MS,
      most: MAX_HEAD,
      isRepeated: false,
    } as const;
    try {
      return errorOfJob(await this.calls.call({ ...call, read: readAnswer }, waiting)) ?? error;
    } catch (failure) {
      if (failure instanceof BigQueryError) return error;
      throw failure;
    }
  }

  /** Nobody waits for it: what fails is not told. */
  private cancelLater(job: JobName): void {
    const { path, search } = this.placeOf('jobs', job);
    const waiting = waitingOf(new CancellationSource(), Date.now() + CANCEL_MS);
    this.end(
      this.calls
        .call(
          { path: `${path}/cancel`, search, method: 'POST', body: {}, timeout: CANCEL_MS, most: MAX_HEAD, ofJob: true, read: readAnswer },
          waiting,
        )
        .then(
          () => undefined,
          () => undefined,
        ),
    );
  }

  private end(task: Promise<void>): void {
    const tracked = task.finally(() => this.ending.delete(tracked));
    this.ending.add(tracked);
  }

  /** The address of a job: one without a location is only found in the US and the EU. */
  private placeOf(
    collection: 'jobs' | 'queries',
    { projectId, jobId, location = this.options.location }: JobName,
  ): Pick<Call<never>, 'path' | 'search'> {
    return {
      path: `/projects/${encodeURIComponent(projectId)}/${collection}/${encodeURIComponent(jobId)}`,
      search: location === undefined ? {} : { location },
    };
  }

  private queryBody(query: Query): JsonObject {
    const { maximumBytesBilled } = this.options;
    const { labels } = query;
    return {
      ...textBody(query),
      ...(maximumBytesBilled === undefined ? {} : { maximumBytesBilled: String(maximumBytesBilled) }),
      ...(labels === undefined ? {} : { labels }),
    };
  }

  /** A statement with its place, its time and its cancellation. */
  private async waited<T>(how: RunOptions, run: (waiting: Waiting) => Promise<T>): Promise<T> {
    if (this.isClosed) throw connectionError('the source was closed');
    const cancellation = new CancellationSource(how.signal);
    const deadline = Math.min(how.deadline ?? Number.POSITIVE_INFINITY, Date.now() + LONGEST_STATEMENT_MS);
    let isOver = false;
    const isAborted = (): boolean => how.signal?.aborted === true || this.isClosed;
    const waiting = waitingOf(cancellation, deadline, isAborted, () => isOver);
    const end = (): void => {
      isOver = true;
      cancellation.cancel();
    };
    const timer = setTimeout(end, Math.max(deadline - Date.now(), 0));
    this.running.add(cancellation);
    const isFree = this.slots.running < this.options.maxStatements;
    // Who does not tell that the result is no more wanted is asked from time to time.
    const isTold = how.signal === undefined || isPrompt(how.signal);
    const watch = isTold ? undefined : setInterval(() => how.signal?.aborted === true && cancellation.cancel(), ASK_MS);
    const asked = performance.now();
    try {
      waiting.check();
      await this.enter(waiting);
      const began = performance.now();
      this.counts.waitTime.observe(isFree ? 0 : (began - asked) / 1000);
      try {
        return await run(waiting);
      } finally {
        this.slots.leave();
        this.counts.queryTime.observe((performance.now() - began) / 1000);
      }
    } catch (error) {
      this.noteFailure(error);
      throw error;
    } finally {
      clearTimeout(timer);
      clearInterval(watch);
      this.running.delete(cancellation);
    }
  }

  private noteFailure(error: unknown): void {
    if (error instanceof StatementCancelledError) {
      if (error.reason === 'deadline') this.counts.late += 1;
      else this.counts.abandoned += 1;
    } else if (error instanceof BigQueryError && error.status === 599) this.counts.errors += 1;
  }

  private async enter(waiting: Waiting): Promise<void> {
    let stop = (): void => undefined;
    const { waitTimeoutMs } = this.options;
    try {
      await this.slots.enter(undefined, (giveUp) => {
        const late = (): void => {
          this.counts.timeouts += 1;
          giveUp(connectionError('no statement more could begin in time'));
        };
        const timer = Number.isFinite(waitTimeoutMs) ? setTimeout(late, waitTimeoutMs) : undefined;
        const forget = waiting.cancellation.onCancel(() => {
          try {
            waiting.check();
          } catch (error) {
            giveUp(error as Error);
          }
        });
        stop = () => {
          clearTimeout(timer);
          forget();
        };
      });
    } finally {
      stop();
    }
  }
}

function textBody({ text, parameters }: Query): JsonObject {
  return {
    query: text,
    useLegacySql: false,
    ...(parameters.length === 0 ? {} : { parameterMode: 'NAMED', queryParameters: parameters }),
  };
}

/** The failure of a job as `jobs.get` shows it. */
function errorOfJob({ status }: JsonObject): BigQueryError | null {
  const failed = isJsonObject(status) ? status['errorResult'] : undefined;
  return isJsonObject(failed) ? jobFailure(failureOf(failed, 0)) : null;
}

function pageReader<Cell>(readRow: RowReader<Cell>): Call<Sized<Page<Cell>>>['read'] {
  return async (status, body) => ({ value: await inSlices(readPage(status, body, readRow)), bytes: body.length });
}
