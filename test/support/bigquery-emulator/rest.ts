/** The routes of the REST API. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Access } from './access.ts';
import { TokenError } from './access.ts';
import { ApiError } from './errors.ts';
import type { Job, Jobs, QueryOptions } from './jobs.ts';
import type { Dataset, Routine, Storage, Table } from './storage.ts';
import { tableBytes } from './storage.ts';
import { fieldOf, restType } from './types.ts';
import { cellOf } from './values.ts';

export interface Request {
  readonly method: string;
  /** Path and query. */
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Answer {
  readonly status: number;
  readonly body: object;
}

interface Call {
  readonly query: URLSearchParams;
  readonly body: string;
  readonly isReadOnly: boolean;
  readonly parts: readonly string[];
}

type Handler = (call: Call) => Promise<object> | object;

const DEFAULT_TIMEOUT = 10_000;
const LONGEST_TIMEOUT = 200_000;
const DEFAULT_LIST = 50;

export class Rest {
  private readonly routes: readonly (readonly [string, RegExp, Handler])[];

  private readonly storage: Storage;
  private readonly jobs: Jobs;
  private readonly access: Access;

  constructor(storage: Storage, jobs: Jobs, access: Access) {
    this.storage = storage;
    this.jobs = jobs;
    this.access = access;

    const own: readonly (readonly [string, string, Handler])[] = [
      ['POST', 'queries', (call) => this.query(call)],
      ['GET', 'queries/([^/]+)', (call) => this.results(call)],
      ['POST', 'jobs', (call) => this.insert(call)],
      ['GET', 'jobs', (call) => this.listJobs(call)],
      ['GET', 'jobs/([^/]+)', (call) => this.resource(this.job(call))],
      ['POST', 'jobs/([^/]+)/cancel', (call) => this.cancel(call)],
      ['GET', 'datasets', (call) => this.listDatasets(call)],
      ['GET', 'datasets/([^/]+)', ({ parts: [name = ''] }) => this.dataset(this.storage.dataset(name))],
      ['GET', 'datasets/([^/]+)/tables', (call) => this.listTables(call)],
      ['GET', 'datasets/([^/]+)/tables/([^/]+)', (call) => this.table(call)],
      ['GET', 'datasets/([^/]+)/tables/([^/]+)/data', (call) => this.tableData(call)],
      ['GET', 'datasets/([^/]+)/routines', (call) => this.listRoutines(call)],
      ['GET', 'datasets/([^/]+)/routines/([^/]+)', (call) => this.routine(call)],
    ];
    this.routes = own.map(([method, path, handler]) => [method, new RegExp(`^(?:/bigquery/v2)?/projects/([^/]+)/${path}$`), handler]);
  }

  async answer(request: Request): Promise<Answer> {
    try {
      if (request.url.pathname === '/token') return this.token(request);
      const { isReadOnly } = this.access.check(request.headers.authorization);
      const path = request.url.pathname.replace(/\/$/, '');
      for (const [method, pattern, handler] of this.routes) {
        const match = request.method === method ? pattern.exec(path) : null;
        if (match === null) continue;
        const [project = '', ...parts] = match.slice(1).map(decodeURIComponent);
        if (project !== this.storage.project) {
          throw new ApiError(
            'accessDenied',
            `Access Denied: Project ${project}: User does not have bigquery.jobs.create permission in project ${project}.`,
          );
        }
        return { status: 200, body: await handler({ query: request.url.searchParams, body: request.body, isReadOnly, parts }) };
      }
      throw new ApiError('notFound', `Not Found: ${request.method} ${path}`);
    } catch (error) {
      return errorAnswer(error);
    }
  }

  private token({ method, body, headers }: Request): Answer {
    if (method !== 'POST') throw new ApiError('notFound', 'Not Found');
    const isJson = (headers['content-type'] ?? '').startsWith('application/json');
    const form = isJson ? new URLSearchParams(parsed<Record<string, string>>(body)) : new URLSearchParams(body);
    return { status: 200, body: this.access.exchange(form) };
  }

  private async query({ body, isReadOnly }: Call): Promise<object> {
    const options = parsed<
      QueryOptions & {
        readonly kind?: string;
        readonly timeoutMs?: number;
        readonly maxResults?: number;
        readonly formatOptions?: { readonly useInt64Timestamp?: boolean };
      }
    >(body);
    const job = this.jobs.start(options, isReadOnly);
    await settled(job, options.timeoutMs ?? DEFAULT_TIMEOUT);
    return this.jobs.page(job, 'bigquery#queryResponse', {
      maxResults: options.maxResults,
      useInt64Timestamp: options.formatOptions?.useInt64Timestamp === true,
    });
  }

  private job({ query, parts: [id = ''] }: Call): Job {
    return this.jobs.get(id, query.get('location'));
  }

  private async results(call: Call): Promise<object> {
    const { query } = call;
    const job = this.job(call);
    await settled(job, numberOf(query, 'timeoutMs') ?? DEFAULT_TIMEOUT);
    return this.jobs.page(job, 'bigquery#getQueryResultsResponse', {
      maxResults: numberOf(query, 'maxResults'),
      startIndex: numberOf(query, 'startIndex'),
      pageToken: query.get('pageToken') ?? undefined,
      useInt64Timestamp: query.get('formatOptions.useInt64Timestamp') === 'true',
    });
  }

  private async insert({ body, isReadOnly }: Call): Promise<object> {
    const { configuration, jobReference } = parsed<{
      readonly configuration?: {
        readonly dryRun?: boolean;
        readonly labels?: Readonly<Record<string, string>>;
        readonly query?: QueryOptions;
      };
      readonly jobReference?: { readonly jobId?: string; readonly location?: string };
    }>(body);
    if (configuration?.query === undefined) {
      throw new ApiError('required', 'Required parameter is missing: the emulator runs jobs of the kind query only', 'configuration');
    }
    const job = this.jobs.start(
      {
        ...configuration.query,
        dryRun: configuration.dryRun === true,
        ...(configuration.labels === undefined ? {} : { labels: configuration.labels }),
        ...(jobReference?.jobId === undefined ? {} : { jobId: jobReference.jobId }),
        ...(jobReference?.location === undefined ? {} : { location: jobReference.location }),
      },
      isReadOnly,
    );
    if (configuration.dryRun === true) {
      await job.finished;
      if (job.error !== undefined) throw job.error;
    }
    return this.resource(job);
  }

  private resource(job: Job): object {
    return this.jobs.resource(job, this.access.serviceAccount.client_email);
  }

  private listJobs({ query }: Call): object {
    const all = [...this.jobs.all()].reverse().map((job) => this.resource(job));
    return { kind: 'bigquery#jobList', ...page(all, query, 'jobs') };
  }

  private async cancel(call: Call): Promise<object> {
    const job = await this.jobs.cancel(this.job(call));
    return { kind: 'bigquery#jobCancelResponse', job: this.resource(job) };
  }

  private listDatasets({ query }: Call): object {
    const { project } = this.storage;
    const all = [...this.storage.datasets.values()].map(({ name, location }) => ({
      kind: 'bigquery#dataset',
      id: `${project}:${name}`,
      datasetReference: { projectId: project, datasetId: name },
      location,
    }));
    return { kind: 'bigquery#datasetList', ...page(all, query, 'datasets') };
  }

  private dataset({ name, location, description, created }: Dataset): object {
    const { project } = this.storage;
    return {
      kind: 'bigquery#dataset',
      id: `${project}:${name}`,
      datasetReference: { projectId: project, datasetId: name },
      location,
      creationTime: String(created),
      lastModifiedTime: String(created),
      type: 'DEFAULT',
      ...(description === undefined ? {} : { description }),
    };
  }

  private tableHead(dataset: string, { name, view, created }: Table): object {
    const { project } = this.storage;
    return {
      kind: 'bigquery#table',
      id: `${project}:${dataset}.${name}`,
      tableReference: { projectId: project, datasetId: dataset, tableId: name },
      type: view === undefined ? 'TABLE' : 'VIEW',
      creationTime: String(created),
    };
  }

  private listTables({ query, parts: [dataset = ''] }: Call): object {
    const all = [...this.storage.dataset(dataset).tables.values()].map((table) => this.tableHead(dataset, table));
    return { kind: 'bigquery#tableList', totalItems: all.length, ...page(all, query, 'tables') };
  }

  private table({ parts: [dataset = '', name = ''] }: Call): object {
    const table = this.storage.table(dataset, name);
    const { columns, description, view, rows, created, primaryKey } = table;
    return {
      ...this.tableHead(dataset, table),
      lastModifiedTime: String(created),
      location: this.storage.location,
      schema: { fields: columns.map((column) => fieldOf(column.name, column.type, column.mode, column.description)) },
      numRows: String(rows.length),
      numBytes: String(tableBytes(table)),
      numLongTermBytes: '0',
      ...(description === undefined ? {} : { description }),
      ...(view === undefined ? {} : { view: { query: view, useLegacySql: false } }),
      ...(primaryKey.length === 0 ? {} : { tableConstraints: { primaryKey: { columns: primaryKey } } }),
    };
  }

  private tableData({ query, parts: [dataset = '', name = ''] }: Call): object {
    const { columns, rows, view } = this.storage.table(dataset, name);
    if (view !== undefined) throw new ApiError('invalid', `Cannot list a table of type VIEW.`);
    const format = { useInt64Timestamp: query.get('formatOptions.useInt64Timestamp') === 'true' };
    const all = rows.map((row) => ({ f: columns.map(({ type }, index) => cellOf(type, row[index] ?? {}, format)) }));
    return {
      kind: 'bigquery#tableDataList',
      totalRows: String(all.length),
      ...page(all, query, 'rows', 'pageToken', Number.MAX_SAFE_INTEGER),
    };
  }

  private routineHead(dataset: string, { name, kind, created, parameters, returnType, returnColumns, description }: Routine): object {
    return {
      routineReference: { projectId: this.storage.project, datasetId: dataset, routineId: name },
      routineType: kind,
      language: 'SQL',
      creationTime: String(created),
      lastModifiedTime: String(created),
      arguments: parameters.map((parameter) => ({
        name: parameter.name,
        ...(parameter.type === undefined ? { argumentKind: 'ANY_TYPE' } : { dataType: restType(parameter.type) }),
      })),
      ...(returnType === undefined ? {} : { returnType: restType(returnType) }),
      ...(returnColumns === undefined
        ? {}
        : { returnTableType: { columns: returnColumns.map(({ name: column, type }) => ({ name: column, type: restType(type) })) } }),
      ...(description === undefined ? {} : { description }),
    };
  }

  private listRoutines({ query, parts: [dataset = ''] }: Call): object {
    const all = [...this.storage.dataset(dataset).routines.values()].map((routine) => this.routineHead(dataset, routine));
    return page(all, query, 'routines');
  }

  private routine({ parts: [dataset = '', name = ''] }: Call): object {
    const routine = this.storage.dataset(dataset).routines.get(name);
    if (routine === undefined) {
      throw new ApiError('notFound', `Not found: Routine ${this.storage.project}:${dataset}.${name}`);
    }
    return { ...this.routineHead(dataset, routine), definitionBody: routine.body };
  }
}

/** An error response. */
export function errorAnswer(error: unknown): Answer {
  if (error instanceof TokenError) return { status: 400, body: { error: error.error, error_description: error.message } };
  const shown =
    error instanceof ApiError
      ? error
      : new ApiError(
          'internalError',
          `An internal error of the emulator: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
        );
  // A cancelled job is not an error of the request for its rows.
  return { status: shown.code === 200 ? 400 : shown.code, body: shown.body() };
}

function parsed<Body>(text: string): Body {
  try {
    const value = JSON.parse(text) as Body;
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // reported below
  }
  throw new ApiError('parseError', 'Invalid JSON payload received.');
}

function numberOf(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  if (!/^\d+$/.test(text)) throw new ApiError('invalid', `Invalid value for: ${name} is not a valid value`, name);
  return Number(text);
}

/** A list split into pages. */
function page(all: readonly object[], query: URLSearchParams, field: string, tokenField = 'nextPageToken', most = DEFAULT_LIST): object {
  const first = Number(Buffer.from(query.get('pageToken') ?? '', 'base64url').toString() || (query.get('startIndex') ?? 0));
  if (!Number.isSafeInteger(first)) throw new ApiError('invalid', 'Invalid value for: pageToken', 'pageToken');
  const size = Math.max(numberOf(query, 'maxResults') ?? most, 1);
  const next = first + size;
  return {
    ...(all.length === 0 ? {} : { [field]: all.slice(first, next) }),
    ...(next < all.length ? { [tokenField]: Buffer.from(String(next)).toString('base64url') } : {}),
  };
}

async function settled({ finished }: Job, timeout: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const waited = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.min(timeout, LONGEST_TIMEOUT));
  });
  await Promise.race([finished, waited]);
  clearTimeout(timer);
}
