/** A private BigQuery for a test: the REST API over HTTP, SQL by Google's ZetaSQL. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Access, type ServiceAccount } from './access.ts';
import { Engine, hasEngine } from './engine.ts';
import { ApiError } from './errors.ts';
import { Executor } from './execution.ts';
import { Faults } from './faults.ts';
import { Jobs } from './jobs.ts';
import { type Answer, errorAnswer, Rest } from './rest.ts';
import { type DatasetFixture, Storage } from './storage.ts';

export type { ServiceAccount } from './access.ts';
export type { DatasetFixture, TableFixture } from './storage.ts';

export interface BigQueryOptions {
  readonly project?: string;
  readonly location?: string;
  /** Tables by dataset; an empty object for an empty dataset. */
  readonly datasets?: Readonly<Record<string, DatasetFixture>>;
  /** Statements that run after the datasets are created: CREATE TABLE, VIEW, FUNCTION, TABLE FUNCTION, INSERT and so on. */
  readonly sql?: string;
  /** 0 for a free port. */
  readonly port?: number;
  readonly host?: string;
}

export interface SeenRequest {
  readonly method: string;
  /** Including the query. */
  readonly path: string;
  readonly body: string;
}

export interface BigQuery {
  /** Base URL of the API, without a path. */
  readonly url: string;
  readonly project: string;
  readonly location: string;
  /** Key file of the service account; `token_uri` points to this server. */
  readonly serviceAccount: ServiceAccount;
  readonly faults: Faults;
  /** In order, token requests included. */
  readonly requests: SeenRequest[];
  /** Number of requests that the client closed before the response. */
  readonly dropped: SeenRequest[];
  /** Ids of cancelled jobs. */
  cancelledJobs(): readonly string[];
  /** A valid token, issued without a request. */
  token(options?: { readonly isReadOnly?: boolean; readonly seconds?: number }): string;
  /** Revokes all tokens. */
  expireTokens(): void;
  /** Sets the lifetime of new tokens, in seconds. */
  setTokenLifetime(seconds: number): void;
  /** Runs statements as fixtures, without a request. @throws Error */
  run(sql: string): Promise<void>;
  stop(): Promise<void>;
}

const MAX_BODY = 20 * 1024 * 1024;

/** For tests that need the emulator: `describe.skipIf(!hasBigQuery())`. */
export function hasBigQuery(): boolean {
  const isThere = hasEngine();
  if (!isThere) {
    const command = 'npm ci --prefix test/support/bigquery-emulator';
    if (process.env['SVC_TEST_REQUIRE_BIGQUERY'] === '1') throw new Error(`the emulator of BigQuery is not installed: ${command}`);
    process.stderr.write(`the emulator of BigQuery is not installed (${command}): its tests are skipped\n`);
  }
  return isThere;
}

/** Shared in this process: each emulator has its own catalogs in it. */
let sharedEngine: Promise<Engine> | undefined;

async function runningEngine(): Promise<Engine> {
  sharedEngine ??= Engine.start();
  const known = sharedEngine;
  const isRunning = await known.then(
    (engine) => engine.isRunning(),
    () => false,
  );
  if (isRunning) return known;
  // Replaces an engine that a previous test made crash.
  if (sharedEngine === known) sharedEngine = Engine.start();
  return sharedEngine;
}

/** @throws Error if the engine is not installed or the fixtures are invalid */
export async function startBigQuery({
  project = 'svc-test',
  location = 'US',
  datasets = {},
  sql,
  port = 0,
  host = '127.0.0.1',
}: BigQueryOptions = {}): Promise<BigQuery> {
  const engine = await runningEngine();
  const storage = new Storage(engine, project, location);
  for (const [name, tables] of Object.entries(datasets)) {
    storage.addDataset(name);
    for (const [table, fixture] of Object.entries(tables)) storage.addFixture(name, table, fixture);
  }
  const executor = new Executor(engine, storage);
  const run = async (text: string): Promise<void> => {
    await executor.run({
      sql: text,
      parameters: { list: [], isPositional: false },
      defaultDataset: undefined,
      dryRun: false,
      isReadOnly: false,
      check: () => undefined,
      signal: new AbortController().signal,
    });
  };
  if (sql !== undefined) await run(sql);
  const faults = new Faults();
  const jobs = new Jobs(executor, faults, project, location);
  const requests: SeenRequest[] = [];
  const dropped: SeenRequest[] = [];
  let rest: Rest | undefined;

  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await bodyOf(incoming);
    const seen = { method: incoming.method ?? 'GET', path: incoming.url ?? '/', body };
    requests.push(seen);
    response.once('close', () => {
      if (!response.writableEnded) dropped.push(seen);
    });
    const fault = faults.take(`${seen.method} ${seen.path}`);
    if (fault === 'drop') {
      incoming.socket.destroy();
      return;
    }
    if (fault === 'hang') return;
    if (faults.latency > 0) await new Promise((resolve) => setTimeout(resolve, faults.latency));
    const url = new URL(seen.path, 'http://bigquery');
    const answer: Answer =
      fault === undefined
        ? await (rest as Rest).answer({ method: seen.method, url, headers: incoming.headers, body })
        : errorAnswer(new ApiError(fault, FAULT_TEXTS[fault]));
    // All of Google's APIs pretty-print by default.
    const text = JSON.stringify(answer.body, null, url.searchParams.get('prettyPrint') === 'false' ? 0 : 2);
    response.writeHead(answer.status, {
      'content-type': 'application/json; charset=UTF-8',
      'content-length': Buffer.byteLength(text),
      ...(answer.status === 401 ? { 'www-authenticate': 'Bearer realm="https://accounts.google.com/"' } : {}),
    });
    response.end(text);
  };
  const server = createServer((incoming, response) => {
    serve(incoming, response).catch((error: Error) => response.destroy(error));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the emulator has no port');
  const url = `http://${host}:${address.port}`;
  const access = new Access(project, `${url}/token`);
  rest = new Rest(storage, jobs, access);
  return {
    url,
    project,
    location,
    serviceAccount: access.serviceAccount,
    faults,
    requests,
    dropped,
    cancelledJobs: () =>
      jobs
        .all()
        .filter(({ error }) => error?.reason === 'stopped')
        .map(({ id }) => id),
    token: ({ isReadOnly = false, seconds } = {}) => access.grant(isReadOnly, seconds),
    expireTokens: () => access.expireAll(),
    setTokenLifetime: (seconds) => {
      access.lifetime = seconds;
    },
    run,
    async stop() {
      jobs.stop();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await storage.forget();
    },
  };
}

const FAULT_TEXTS = {
  backendError: 'Error encountered during execution. Retrying may solve the problem.',
  internalError: 'An internal error occurred and the request could not be completed.',
  rateLimitExceeded: 'Exceeded rate limits: too many api requests per user per method for this user_method',
  quotaExceeded: 'Quota exceeded: Your project exceeded quota for concurrent queries.',
} as const;

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_BODY) throw new Error('the body is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
