/** Query jobs, which run independently of the requests that poll them. */
import { randomUUID } from 'node:crypto';
import type { Parameters } from './engine.ts';
import { ApiError, invalidQuery } from './errors.ts';
import { type Executor, type Result, schemaOf } from './execution.ts';
import type { Faults } from './faults.ts';
import { engineType, type ParameterType, typeOfParameter } from './types.ts';
import { type Cell, cellOf, type ParameterValue, parameterValue } from './values.ts';

/** The fields that jobs.query and jobs.insert have in common. */
export interface QueryOptions {
  readonly query?: string;
  readonly useLegacySql?: boolean;
  readonly parameterMode?: string;
  readonly queryParameters?: readonly {
    readonly name?: string;
    readonly parameterType?: ParameterType;
    readonly parameterValue?: ParameterValue;
  }[];
  readonly defaultDataset?: { readonly datasetId?: string; readonly projectId?: string };
  readonly maximumBytesBilled?: string | number;
  readonly dryRun?: boolean;
  readonly location?: string;
  readonly jobId?: string;
  /** A repeated id returns the same job. */
  readonly requestId?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

export interface PageOptions {
  readonly maxResults?: number | undefined;
  readonly pageToken?: string | undefined;
  readonly startIndex?: number | undefined;
  readonly useInt64Timestamp: boolean;
}

export interface Job {
  readonly id: string;
  readonly options: QueryOptions;
  readonly created: number;
  readonly abort: AbortController;
  /** Settles when the job has finished, with or without an error. */
  readonly finished: Promise<void>;
  started: number;
  ended: number | undefined;
  result: Result | undefined;
  error: ApiError | undefined;
}

const MEBIBYTE = 1024 * 1024;
const MOST_CHARACTERS = 1024 * 1024;
const MOST_PARAMETERS = 10_000;
/** Rows of the first page; the remaining rows follow in further pages. */
const PAGE_BYTES = 10 * MEBIBYTE;
/** Locations whose jobs are found without a location parameter. */
const LARGE_LOCATIONS: readonly string[] = ['US', 'EU'];
const LEAST_PER_TABLE = 10 * MEBIBYTE;

/** Bytes billed: whole mebibytes, at least ten per table. */
export function billedBytes(processed: number, tables: number): number {
  return Math.max(Math.ceil(processed / MEBIBYTE) * MEBIBYTE, tables * LEAST_PER_TABLE);
}

export class Jobs {
  private readonly jobs = new Map<string, Job>();
  private readonly byRequest = new Map<string, Job>();

  private readonly executor: Executor;
  private readonly faults: Faults;
  private readonly project: string;
  private readonly location: string;

  constructor(executor: Executor, faults: Faults, project: string, location: string) {
    this.executor = executor;
    this.faults = faults;
    this.project = project;
    this.location = location;
  }

  all(): readonly Job[] {
    return [...this.jobs.values()];
  }

  /** Starts a job. @throws ApiError for invalid options */
  start(options: QueryOptions, isReadOnly: boolean): Job {
    if (options.useLegacySql !== false) {
      throw new ApiError(
        'invalidQuery',
        'The emulator speaks GoogleSQL only: useLegacySql must be false, as it is true without words',
        'query',
      );
    }
    if (typeof options.query !== 'string' || options.query.trim() === '') {
      throw new ApiError('required', 'Required parameter is missing: query', 'query');
    }
    if (options.query.length > MOST_CHARACTERS) {
      throw invalidQuery(
        'The query is too large. The maximum standard SQL query length is 1024.00K characters, including comments and white space characters.',
      );
    }
    if (options.location !== undefined && options.location.toLowerCase() !== this.location.toLowerCase()) {
      const dataset = this.executor.storage.datasets.keys().next().value;
      if (dataset !== undefined) {
        throw new ApiError('notFound', `Not found: Dataset ${this.project}:${dataset} was not found in location ${options.location}`);
      }
    }
    const same = options.requestId === undefined ? undefined : this.byRequest.get(options.requestId);
    if (same !== undefined) return same;
    const id = options.jobId ?? `job_${randomUUID().replaceAll('-', '')}`;
    if (this.jobs.has(id)) throw new ApiError('duplicate', `Already Exists: Job ${this.project}:${this.location}.${id}`);
    const parameters = parametersOf(options);
    const abort = new AbortController();
    const delay = options.dryRun === true ? 0 : this.faults.takeJobDelay();
    const job: Job = {
      id,
      options,
      created: Date.now(),
      abort,
      finished: Promise.resolve(),
      started: Date.now(),
      ended: undefined,
      result: undefined,
      error: undefined,
    };
    const running = this.run(job, parameters, isReadOnly, delay);
    Object.assign(job, { finished: running });
    if (options.dryRun !== true) this.jobs.set(id, job);
    if (options.requestId !== undefined && options.dryRun !== true) this.byRequest.set(options.requestId, job);
    return job;
  }

  private async run(job: Job, parameters: Parameters, isReadOnly: boolean, delay: number): Promise<void> {
    try {
      if (delay > 0) await pause(delay, job.abort.signal);
      const defaultDataset = job.options.defaultDataset?.datasetId;
      if (defaultDataset !== undefined) this.executor.storage.dataset(defaultDataset);
      const limit = job.options.maximumBytesBilled;
      job.result = await this.executor.run({
        sql: job.options.query ?? '',
        parameters,
        defaultDataset,
        dryRun: job.options.dryRun === true,
        isReadOnly,
        signal: job.abort.signal,
        check: (bytes, tables) => {
          const billed = billedBytes(bytes, tables);
          if (limit !== undefined && job.options.dryRun !== true && billed > Number(limit)) {
            throw new ApiError(
              'bytesBilledLimitExceeded',
              `Query exceeded limit for bytes billed: ${limit}. ${billed} or higher required.`,
            );
          }
        },
      });
      if (job.abort.signal.aborted) throw job.abort.signal.reason;
    } catch (error) {
      job.result = undefined;
      job.error =
        error instanceof ApiError
          ? error
          : new ApiError(
              'internalError',
              `An internal error of the emulator: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
            );
    }
    job.ended = Date.now();
  }

  /** @param location the requested location. @throws ApiError if it is missing or different */
  get(id: string, location: string | null): Job {
    const found = this.jobs.get(id);
    const isHere = location === null ? LARGE_LOCATIONS.includes(this.location) : location.toLowerCase() === this.location.toLowerCase();
    if (found === undefined || !isHere) throw new ApiError('notFound', `Not found: Job ${this.project}:${location ?? 'US'}.${id}`);
    return found;
  }

  async cancel(job: Job): Promise<Job> {
    if (job.ended === undefined) job.abort.abort(new ApiError('stopped', 'Job execution was cancelled: User requested cancellation'));
    await job.finished;
    return job;
  }

  stop(): void {
    for (const { abort } of this.jobs.values()) abort.abort(new ApiError('stopped', 'The emulator stops'));
  }

  /** A job in the format of jobs.get and jobs.insert. */
  resource(job: Job, principal: string): object {
    const { result, error, options } = job;
    const bytes = result?.bytes ?? 0;
    const billed = billedBytes(bytes, result?.tables.length ?? 0);
    const isDry = options.dryRun === true;
    return {
      kind: 'bigquery#job',
      id: `${this.project}:${this.location}.${job.id}`,
      jobReference: this.reference(job),
      user_email: principal,
      configuration: {
        jobType: 'QUERY',
        ...(isDry ? { dryRun: true } : {}),
        ...(options.labels === undefined ? {} : { labels: options.labels }),
        query: {
          query: options.query,
          useLegacySql: false,
          priority: 'INTERACTIVE',
          ...(options.parameterMode === undefined ? {} : { parameterMode: options.parameterMode }),
          ...(options.maximumBytesBilled === undefined ? {} : { maximumBytesBilled: String(options.maximumBytesBilled) }),
        },
      },
      status: {
        state: job.ended === undefined ? 'RUNNING' : 'DONE',
        ...(error === undefined ? {} : { errorResult: error.proto, errors: [error.proto] }),
      },
      statistics: {
        creationTime: String(job.created),
        startTime: String(job.started),
        ...(job.ended === undefined || isDry ? {} : { endTime: String(job.ended) }),
        totalBytesProcessed: String(bytes),
        query: {
          statementType: result?.statementType ?? 'SELECT',
          totalBytesProcessed: String(bytes),
          totalBytesProcessedAccuracy: 'PRECISE',
          totalBytesBilled: isDry ? '0' : String(billed),
          cacheHit: false,
          ...(isDry ? {} : { totalSlotMs: '1', billingTier: 1 }),
          referencedTables: (result?.tables ?? []).map(({ dataset, table }) => ({
            projectId: this.project,
            datasetId: dataset,
            tableId: table,
          })),
          ...(result?.columns === undefined ? {} : { schema: schemaOf(result.columns) }),
          ...(result?.affected === undefined ? {} : { numDmlAffectedRows: String(result.affected) }),
        },
      },
    };
  }

  reference(job: Job): object {
    return { projectId: this.project, jobId: job.id, location: this.location };
  }

  /** A page of the result, or the incomplete state. @throws ApiError with the error of a failed job */
  page(job: Job, kind: 'bigquery#queryResponse' | 'bigquery#getQueryResultsResponse', options: PageOptions): object {
    const head = { kind, jobReference: this.reference(job) };
    if (job.ended === undefined) return { ...head, jobComplete: false };
    if (job.error !== undefined) throw job.error;
    const result = job.result as Result;
    const billed = billedBytes(result.bytes, result.tables.length);
    const done = {
      ...head,
      jobComplete: true,
      cacheHit: false,
      totalBytesProcessed: String(result.bytes),
      ...(kind === 'bigquery#queryResponse'
        ? { totalBytesBilled: job.options.dryRun === true ? '0' : String(billed), queryId: job.id }
        : {}),
      ...(result.affected === undefined ? {} : { numDmlAffectedRows: String(result.affected) }),
    };
    if (result.columns === undefined) return done;
    const schema = schemaOf(result.columns);
    if (job.options.dryRun === true) return { ...done, schema, totalRows: '0' };
    const first = options.pageToken === undefined ? (options.startIndex ?? 0) : pageStart(options.pageToken, job.id);
    const size = Math.min(options.maxResults ?? Number.MAX_SAFE_INTEGER, this.faults.pageSize ?? Number.MAX_SAFE_INTEGER);
    const columns = result.columns;
    const rows: { readonly f: readonly Cell[] }[] = [];
    let bytes = 0;
    for (const row of result.rows.slice(first, first + size)) {
      const shown = { f: columns.map(({ type }, index) => cellOf(type, row[index] ?? {}, options)) };
      bytes += JSON.stringify(shown).length;
      if (bytes > PAGE_BYTES && rows.length > 0) break;
      rows.push(shown);
    }
    const next = first + rows.length;
    return {
      ...done,
      schema,
      totalRows: String(result.rows.length),
      ...(rows.length === 0 ? {} : { rows }),
      ...(next < result.rows.length && size > 0 ? { pageToken: Buffer.from(`${job.id} ${next}`).toString('base64url') } : {}),
    };
  }
}

function pageStart(token: string, job: string): number {
  const match = /^(\S+) (\d+)$/.exec(Buffer.from(token, 'base64url').toString());
  if (match?.[1] !== job) throw new ApiError('invalid', `Invalid value for: pageToken`, 'pageToken');
  return Number(match[2]);
}

/** @throws ApiError */
function parametersOf({ parameterMode, queryParameters = [] }: QueryOptions): Parameters {
  if (queryParameters.length > MOST_PARAMETERS) throw invalidQuery(`Too many query parameters: at most ${MOST_PARAMETERS}`);
  const mode = parameterMode?.toUpperCase();
  const named = queryParameters.filter(({ name }) => name !== undefined && name !== '').length;
  if (named > 0 && named < queryParameters.length) throw mixed();
  if (mode !== undefined && mode !== 'NAMED' && mode !== 'POSITIONAL') {
    throw new ApiError('invalid', `Invalid value for: parameterMode: ${parameterMode}`, 'parameterMode');
  }
  const isPositional = mode === 'POSITIONAL' || (mode === undefined && queryParameters.length > 0 && named === 0);
  if (isPositional && named > 0) throw mixed();
  if (!isPositional && named < queryParameters.length) throw mixed();
  const names = new Set<string>();
  const list = queryParameters.map(({ name = '', parameterType, parameterValue: value }, index) => {
    const shown = name === '' ? `at position ${index + 1}` : name;
    const lower = name.toLowerCase();
    if (!isPositional && names.has(lower)) throw new ApiError('invalidQuery', `Duplicate parameter name: ${name}`, 'query');
    names.add(lower);
    try {
      const type = typeOfParameter(parameterType ?? {});
      return { name, type: engineType(type), value: parameterValue(type, value ?? {}) };
    } catch (error) {
      throw new ApiError('invalid', `Query parameter ${shown}: ${error instanceof Error ? error.message : String(error)}`, 'query');
    }
  });
  return { list, isPositional };
}

function mixed(): ApiError {
  return new ApiError('invalidQuery', 'Invalid query parameters: named and positional parameters cannot be mixed', 'query');
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        reject(signal.reason as Error);
      },
      { once: true },
    );
  });
}
