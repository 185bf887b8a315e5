/** Tests the client against a fake server. */
import { createVerify, generateKeyPairSync } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { DEEP } from '../../../../test/support/deep.ts';
import { createOutboundClient, type OutboundClient } from '../../../http-client/client.ts';
import { type FakeResponse, type FakeServerRequest, type FakeServer, startFakeServer } from '../../../../test/support/fake-server.ts';
import { CancellationSource } from '../../../util/cancellation.ts';
import type { ResultBudget } from '../../../backend/result-budget.ts';
import { SvcError } from '../../../errors/svc-error.ts';
import type { Json, JsonObject } from '../../../util/json.ts';
import type { BigQueryStatement } from '../answer.ts';
import { BigQueryError, StatementCancelledError } from '../errors.ts';
import { BigQuerySource } from '../source.ts';
import { targetOf } from '../target.ts';
import { valueCells as valuesUpTo } from './answers.ts';
import { BigQueryClient, type ClientOptions } from './client.ts';
import { WAIT } from '../../../../test/support/wait.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const OPTIONS: ClientOptions = {
  location: undefined,
  maximumBytesBilled: undefined,
  retryBaseDelayMs: 1,
  retryLimit: 3,
  maxStatements: 10,
  waitTimeoutMs: 5_000,
};
const SELECT = { text: 'select 1', parameters: [] };
const valueCells = () => valuesUpTo(Number.POSITIVE_INFINITY);
const JOB = { jobReference: { projectId: 'p', jobId: 'job 1', location: 'EU' } };
const FIELD: JsonObject = { schema: { fields: [{ name: 'a', type: 'STRING', mode: 'NULLABLE' }] } };
const rows = (...cells: readonly Json[]): JsonObject => ({ rows: cells.map((v) => ({ f: [{ v }] })) });

let server: FakeServer;
let http: OutboundClient;
const clients: BigQueryClient[] = [];
/** Responses to calls other than token requests, in order; the last one is repeated. */
let answers: ((request: FakeServerRequest) => FakeResponse | null)[] = [];
let tokens = 0;
let lifetime = 3600;

beforeAll(async () => {
  server = await startFakeServer();
  http = createOutboundClient();
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close(50)));
  server.requests.length = 0;
  answers = [];
  tokens = 0;
  lifetime = 3600;
});
afterAll(async () => {
  await http.close();
  await server.close();
});

function client(options: Partial<ClientOptions> = {}): BigQueryClient {
  server.answer = (request) => {
    if (request.path === '/token') return { body: { access_token: `t${++tokens}`, expires_in: lifetime, token_type: 'Bearer' } };
    const next = answers.length > 1 ? answers.shift() : answers[0];
    return next?.(request) ?? null;
  };
  const account = {
    client_email: 'svc@p.example',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    private_key_id: 'k1',
    token_uri: `${server.url}/token`,
  };
  const target = targetOf(
    {
      serviceAccount: { kind: 'key', key: account },
      projectId: { kind: 'template', text: 'p' },
      datasets: { kind: 'names', names: ['d'] },
      apiEndpoint: { kind: 'template', text: `${server.url}/` },
    },
    { environment: {} },
  );
  const made = new BigQueryClient(http, target, { ...OPTIONS, ...options });
  clients.push(made);
  return made;
}

const calls = (): readonly string[] => server.requests.map(({ method, path }) => `${method} ${path.split('?')[0] as string}`);
const bodies = (): readonly JsonObject[] =>
  server.requests.filter(({ path, body }) => path !== '/token' && body !== '').map(({ body }) => JSON.parse(body) as JsonObject);
const answered =
  (body: JsonObject, status = 200): (() => FakeResponse) =>
  () => ({ status, body });
const done = (...cells: readonly Json[]): JsonObject => ({ ...JOB, ...FIELD, jobComplete: true, ...rows(...cells) });
const refusal = (reason: string, message: string, code = 400): JsonObject => ({ error: { code, message, errors: [{ reason, message }] } });

async function failure(promise: Promise<unknown>): Promise<Error> {
  return promise.then(
    () => new Error('it did not fail'),
    (error: Error) => error,
  );
}

it('counts statements with their waiting time and cost', async () => {
  answers = [answered({ ...done('x'), totalBytesProcessed: '70', totalBytesBilled: '1000' })];
  const one = client({ maxStatements: 1 });
  await Promise.all([one.run(SELECT, {}, valueCells), one.run(SELECT, {}, valueCells)]);
  const { counts, ...now } = one.measures();
  expect(now).toEqual({ family: 'bigquery', role: 'primary', used: 0, idle: 1, maxConnections: 1, pending: 0 });
  expect([counts.queryTime.count, counts.waitTime.count, counts.processedBytes]).toEqual([2, 2, 140]);
  expect(await failure(one.run(SELECT, { deadline: 1 }, valueCells))).toBeInstanceOf(StatementCancelledError);
  expect(counts.timedOut).toBe(1);
});

it('sends the labels of a query with its job', async () => {
  answers = [answered(done('x'))];
  await client().run({ ...SELECT, labels: { operation_name: 'mine' } }, {}, valueCells);
  await client().run(SELECT, {}, valueCells);
  const sent = bodies().filter((body) => 'query' in body);
  expect(sent.map(({ labels }) => labels)).toEqual([{ operation_name: 'mine' }, undefined]);
});

describe('access tokens', () => {
  it('requests a token with a signed assertion, once for concurrent statements', async () => {
    answers = [answered(done('x'))];
    const one = client();
    await Promise.all([one.run(SELECT, {}, valueCells), one.run(SELECT, {}, valueCells)]);
    await one.run(SELECT, {}, valueCells);
    expect(tokens).toBe(1);
    const [{ body }] = server.requests.filter(({ path }) => path === '/token') as [FakeServerRequest];
    const form = new URLSearchParams(body);
    expect(form.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer');
    const [head = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.');
    const parsed = (part: string): JsonObject => JSON.parse(Buffer.from(part, 'base64url').toString()) as JsonObject;
    expect(parsed(head)).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'k1' });
    const { iat, exp, ...rest } = parsed(claims) as { iat: number; exp: number };
    expect(rest).toEqual({ iss: 'svc@p.example', scope: 'https://www.googleapis.com/auth/bigquery', aud: `${server.url}/token` });
    expect(exp - iat).toBe(3600);
    const verifier = createVerify('RSA-SHA256').update(`${head}.${claims}`);
    expect(verifier.verify(publicKey, Buffer.from(signature, 'base64url'))).toBe(true);
    expect(server.requests.at(-1)?.headers.authorization).toBe('Bearer t1');
  });

  it('replaces a token shortly before it expires, and once after a refusal', async () => {
    lifetime = 59;
    answers = [answered(done('x'))];
    const one = client();
    await one.run(SELECT, {}, valueCells);
    await one.run(SELECT, {}, valueCells);
    expect(tokens).toBe(2);
    answers = [answered(refusal('authError', 'gone', 401), 401), answered(done('y'))];
    await one.run(SELECT, {}, valueCells);
    answers = [answered(refusal('authError', 'gone', 401), 401)];
    const error = await failure(one.run(SELECT, {}, valueCells));
    expect(error).toMatchObject({ status: 401, message: 'gone' });
    expect(calls().slice(-4)).toEqual([
      'POST /token',
      'POST /bigquery/v2/projects/p/queries',
      'POST /token',
      'POST /bigquery/v2/projects/p/queries',
    ]);
  });

  it('stops waiting for a token at the deadline or on cancellation', async () => {
    const one = client();
    server.answer = () => null;
    const signal = new CancellationSource();
    const runs = [
      failure(one.run(SELECT, { deadline: Date.now() + 30 }, valueCells)),
      failure(one.dryRun(SELECT, { deadline: Date.now() + 30 })),
      failure(one.dryRun(SELECT, { signal })),
    ];
    await expect.poll(() => calls(), WAIT).toContain('POST /token');
    signal.cancel();
    expect(await Promise.all(runs)).toEqual(
      ['deadline', 'deadline', 'abort'].map((reason) => new StatementCancelledError(reason as 'abort')),
    );
    expect(calls().filter((each) => each !== 'POST /token')).toEqual([]);
  });

  it('does not wait for a token after the deadline, even if the timer fires before the clock reaches it', async () => {
    const one = client();
    server.answer = () => null;
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      expect(await failure(one.run(SELECT, { deadline: Date.now() + 30 }, valueCells))).toEqual(new StatementCancelledError('deadline'));
    } finally {
      vi.useRealTimers();
    }
  });

  it('fails a statement that gets no token', async () => {
    const one = client();
    server.answer = () => ({ status: 400, body: { error: 'invalid_grant', error_description: 'no such account' } });
    expect(await failure(one.run(SELECT, {}, valueCells))).toMatchObject({
      code: 'database-error',
      internal: 'the service account could not get an access token (status 400): no such account',
    });
  });
});

describe('queries', () => {
  it('runs a query as a job and joins its pages', async () => {
    answers = [
      answered({ ...JOB, jobComplete: false }),
      answered({ ...JOB, jobComplete: false }),
      answered({ ...done('a'), pageToken: 'p 2', totalBytesProcessed: '12' }),
      answered({ ...done('b', null), totalBytesBilled: '10485760' }),
    ];
    const result = await client({ location: 'EU', maximumBytesBilled: 5 }).run(
      { text: 'select @p1', parameters: [{ name: 'p1', parameterType: { type: 'INT64' }, parameterValue: { value: '1' } }] },
      {},
      valueCells,
    );
    expect(result).toMatchObject({ rows: [['a'], ['b'], [null]], processedBytes: 12, billedBytes: 10485760 });
    expect(bodies()[0]).toMatchObject({
      query: 'select @p1',
      useLegacySql: false,
      parameterMode: 'NAMED',
      queryParameters: [{ name: 'p1', parameterType: { type: 'INT64' }, parameterValue: { value: '1' } }],
      maximumBytesBilled: '5',
      location: 'EU',
      formatOptions: { useInt64Timestamp: true },
    });
    const pages = server.requests.slice(-3).map(({ path }) => new URL(path, server.url));
    expect(pages.map(({ pathname }) => pathname)).toEqual(Array(3).fill('/bigquery/v2/projects/p/queries/job%201'));
    expect(pages.map(({ searchParams }) => [searchParams.get('pageToken'), searchParams.get('location')])).toEqual([
      [null, 'EU'],
      [null, 'EU'],
      ['p 2', 'EU'],
    ]);
  });

  it('releases the slot of a query that is cancelled at the moment it gets one', async () => {
    answers = [answered(done('x'))];
    const one = client({ maxStatements: 1, waitTimeoutMs: 1_000 });
    const signal = new CancellationSource();
    const first = one.run(SELECT, {}, valueCells).then(() => signal.cancel());
    const second = failure(one.run(SELECT, { signal }, valueCells));
    await first;
    expect(await second).toBeInstanceOf(StatementCancelledError);
    expect((await one.run(SELECT, {}, valueCells)).rows).toEqual([['x']]);
  });

  it('fetches no more pages than needed', async () => {
    answers = [answered({ ...done('a'), pageToken: 'p 2' }), answered({ ...done('b', 'c'), pageToken: 'p 3' }), answered(done('d'))];
    expect((await client().run(SELECT, {}, valueCells, 2)).rows).toEqual([['a'], ['b'], ['c']]);
    expect(calls().filter((each) => !each.endsWith('/token'))).toHaveLength(2);
  });

  it('retries a transient failure with the same request id', async () => {
    answers = [answered({}, 503), answered(refusal('rateLimitExceeded', 'slowly', 403), 403), answered(done('x'))];
    expect((await client().run(SELECT, {}, valueCells)).rows).toEqual([['x']]);
    const ids = bodies().map(({ requestId }) => requestId);
    expect(ids).toHaveLength(3);
    expect(new Set(ids).size).toBe(1);
    answers = [answered(refusal('backendError', 'broken', 500), 500)];
    expect(await failure(client().run(SELECT, {}, valueCells))).toMatchObject({ reason: 'backendError', message: 'broken' });
    expect(bodies()).toHaveLength(3 + 4);
    answers = [answered(refusal('invalidQuery', 'Unrecognized name: a at [1:8]'), 400)];
    expect(await failure(client().run(SELECT, {}, valueCells))).toEqual(
      new BigQueryError(400, 'invalidQuery', 'Unrecognized name: a at [1:8]'),
    );
    expect(bodies()).toHaveLength(3 + 4 + 1);
  });

  it('starts another job after a transient failure of a query that only reads', async () => {
    const going = answered({ ...JOB, jobComplete: false });
    const failed = answered(refusal('jobBackendError', 'broken'), 400);
    answers = [going, failed, going, failed, answered(done('x'))];
    expect((await client().run({ ...SELECT, repeatable: true }, {}, valueCells)).rows).toEqual([['x']]);
    const ids = (): readonly Json[] => bodies().map(({ requestId }) => requestId ?? null);
    expect(new Set(ids()).size).toBe(3);
    answers = [going, failed, answered(done('x'))];
    expect(await failure(client().run(SELECT, {}, valueCells))).toMatchObject({ reason: 'jobBackendError' });
    expect(ids()).toHaveLength(4);
    answers = [failed];
    expect(await failure(client().run({ ...SELECT, repeatable: true }, {}, valueCells))).toMatchObject({ reason: 'jobBackendError' });
    expect(ids()).toHaveLength(4 + 4);
  });

  it.each(['tableUnavailable', 'timeout', 'quotaExceeded'])(
    'starts another job after a delay if a query that only reads fails with %s',
    async (reason) => {
      const failed = answered(refusal(reason, 'later', 403), 403);
      const ids = (): readonly Json[] => bodies().map(({ requestId }) => requestId ?? null);
      answers = [failed, failed, answered(done('x'))];
      expect((await client().run({ ...SELECT, repeatable: true }, {}, valueCells)).rows).toEqual([['x']]);
      expect(new Set(ids()).size).toBe(3);
      answers = [failed];
      expect(await failure(client().run(SELECT, {}, valueCells))).toMatchObject({ reason });
      expect(ids()).toHaveLength(4);
      answers = [failed, answered({ statistics: { totalBytesProcessed: '3' } })];
      expect(await client().dryRun(SELECT, {})).toMatchObject({ bytes: 3 });
    },
  );

  it('fails at once if a custom quota is exhausted, because it lasts until the next day', async () => {
    answers = [
      answered(refusal('quotaExceeded', 'Custom quota exceeded: Your usage exceeded the custom quota for QueryUsagePerDay', 403), 403),
    ];
    await failure(client().run({ ...SELECT, repeatable: true }, {}, valueCells));
    expect(bodies()).toHaveLength(1);
  });

  it('retries if the job is not found yet', async () => {
    const missing = answered(refusal('notFound', 'Not found: Job p:EU.job 1', 404), 404);
    answers = [answered({ ...JOB, jobComplete: false }), missing, missing, answered(done('x'))];
    expect((await client().run(SELECT, {}, valueCells)).rows).toEqual([['x']]);
    expect(bodies()).toHaveLength(1);
    answers = [missing];
    expect(await failure(client().run(SELECT, {}, valueCells))).toMatchObject({ reason: 'notFound' });
    expect(bodies()).toHaveLength(2);
  });

  it('does not retry a job that failed with backendError itself', async () => {
    const broken = answered(refusal('backendError', 'broken', 503), 503);
    const state = (json: JsonObject): (() => FakeResponse) => answered({ ...JOB, status: json });
    const ofJob = state({ state: 'DONE', errorResult: { reason: 'backendError', message: 'broken' } });
    const going = answered({ ...JOB, jobComplete: false });
    answers = [going, broken, ofJob, answered(done('x'))];
    expect((await client().run({ ...SELECT, repeatable: true }, {}, valueCells)).rows).toEqual([['x']]);
    expect(new Set(bodies().map(({ requestId }) => requestId)).size).toBe(2);
    answers = [going, broken, ofJob, answered(done('x'))];
    expect(await failure(client().run(SELECT, {}, valueCells))).toMatchObject({ reason: 'jobBackendError', message: 'broken' });
    // The call failed, but the job did not.
    answers = [going, broken, state({ state: 'RUNNING' }), answered(done('x'))];
    expect((await client().run(SELECT, {}, valueCells)).rows).toEqual([['x']]);
  });

  it('starts another job if the same one fails twice with backendError at its start and only reads', async () => {
    const broken = answered(refusal('backendError', 'broken', 503), 503);
    answers = [broken, broken, answered(done('x'))];
    expect((await client().run({ ...SELECT, repeatable: true }, {}, valueCells)).rows).toEqual([['x']]);
    const ids = bodies().map(({ requestId }) => requestId);
    expect(ids[1]).toBe(ids[0]);
    expect(ids[2]).not.toBe(ids[0]);
  });

  it.runIf(DEEP)('polls a running job less and less often if the server does not hold the call', async () => {
    answers = [answered({ ...JOB, jobComplete: false })];
    expect(await failure(client().run(SELECT, { deadline: Date.now() + 1_000 }, valueCells))).toBeInstanceOf(StatementCancelledError);
    expect(calls().filter((each) => each.startsWith('GET')).length).toBeLessThan(6);
  });

  it('sends a timeout for the job and the location of the source', async () => {
    const { location: _, ...reference } = JOB.jobReference;
    answers = [answered({ jobReference: reference, jobComplete: false }), answered(done('x'))];
    await client({ location: 'EU' }).run(SELECT, { deadline: Date.now() + 20_000 }, valueCells);
    const [body] = bodies();
    expect(Number(body?.['jobTimeoutMs'])).toBeGreaterThan(0);
    expect(Number(body?.['jobTimeoutMs'])).toBeLessThanOrEqual(20_000);
    expect(server.requests.at(-1)?.path).toContain('location=EU');
  });

  it('cancels the job on cancellation and at the deadline', async () => {
    answers = [answered({ ...JOB, jobComplete: false }), () => null];
    const cancellation = new CancellationSource();
    const waiting = failure(client().run(SELECT, { signal: cancellation }, valueCells));
    while (!calls().includes('GET /bigquery/v2/projects/p/queries/job%201')) await new Promise((resolve) => setTimeout(resolve, 5));
    answers = [answered({})];
    cancellation.cancel();
    expect(await waiting).toEqual(new StatementCancelledError('abort'));
    await Promise.all(clients.splice(0).map((one) => one.close(5_000)));
    expect(server.requests.at(-1)).toMatchObject({
      method: 'POST',
      path: '/bigquery/v2/projects/p/jobs/job%201/cancel?location=EU&prettyPrint=false',
    });
    answers = [answered({ ...JOB, jobComplete: false }), () => null];
    const late = failure(client().run(SELECT, { deadline: Date.now() + 300 }, valueCells));
    expect(await late).toEqual(new StatementCancelledError('deadline'));
    expect(await failure(client().run(SELECT, { deadline: Date.now() - 1 }, valueCells))).toEqual(new StatementCancelledError('deadline'));
  });

  it('cancels the job even if its name arrives after the cancellation', async () => {
    answers = [() => ({ body: { ...JOB, jobComplete: false }, delay: 100 }), answered({})];
    const cancellation = new CancellationSource();
    const one = client();
    const waiting = failure(one.run(SELECT, { signal: cancellation }, valueCells));
    while (!calls().includes('POST /bigquery/v2/projects/p/queries')) await new Promise((resolve) => setTimeout(resolve, 5));
    cancellation.cancel();
    expect(await waiting).toEqual(new StatementCancelledError('abort'));
    while (!calls().includes('POST /bigquery/v2/projects/p/jobs/job%201/cancel')) await new Promise((resolve) => setTimeout(resolve, 5));
  });

  it('waits for a free slot, up to the timeout', async () => {
    answers = [() => null];
    const one = client({ maxStatements: 1, waitTimeoutMs: 30 });
    const first = failure(one.run(SELECT, {}, valueCells));
    expect(await failure(one.run(SELECT, {}, valueCells))).toMatchObject({
      code: 'database-error',
      internal: 'timed out waiting for other statements to finish',
    });
    const closed = one.close(10);
    expect(await first).toEqual(new StatementCancelledError('abort'));
    await closed;
    expect(await failure(one.run(SELECT, {}, valueCells))).toMatchObject({ internal: 'the source is closed' });
  });

  it.each([
    ['not JSON', () => ({ body: '<html>' })],
    ['not an object', () => ({ body: '[]' })],
  ])('fails if the response is %s', async (_, answer) => {
    answers = [answer];
    expect((await failure(client().run(SELECT, {}, valueCells))).message).toBe('BigQuery returned an unexpected response (status 200)');
  });
});

it('fetches the billed bytes of a long job later', async () => {
  answers = [answered({ statistics: { query: { totalBytesBilled: '10485760' } } })];
  const one = client();
  const job = { projectId: 'p', jobId: 'job 1', location: 'EU' };
  const ask = (): Promise<number | null> => new Promise((told) => one.billedBytes(job, told));
  expect(await ask()).toBe(10_485_760);
  expect(server.requests.at(-1)?.path).toBe('/bigquery/v2/projects/p/jobs/job%201?location=EU&prettyPrint=false');
  for (const answer of [answered({}), answered(refusal('notFound', 'gone', 404), 404)]) {
    answers = [answer];
    expect(await ask()).toBeNull();
  }
});

it('counts the billed bytes of long jobs without a callback', async () => {
  const job = { statistics: { query: { totalBytesBilled: '10485760' } } };
  answers = [(request) => ({ body: request.path.includes('/jobs/') ? job : { ...done('1'), totalBytesProcessed: '70' } })];
  const one = client();
  const source = new BigQuerySource(one, { rowLimit: 1, datasets: [] });
  const statement: BigQueryStatement = { ...SELECT, repeatable: true, columns: 1, layout: { kind: 'root', isList: false } };
  await source.runJson(statement, [], {});
  await source.runSql('select 1', {});
  await source.query('select 1', []);
  await vi.waitFor(() => expect(one.measures().counts.billedBytes).toBe(3 * 10_485_760), WAIT);
  expect(one.measures().counts.processedBytes).toBe(3 * 70);
});

it('refuses SQL of administrators whose rows are too large together', async () => {
  answers = [answered({ ...done('a'.repeat(400), 'b'.repeat(400)), pageToken: 'p 2' }), answered(done('c'.repeat(400)))];
  const source = new BigQuerySource(client(), { rowLimit: 1, datasets: [] });
  const refused = { code: 'bad-request', message: 'the rows are larger than 1000 bytes in total: request fewer rows, or set max_rows' };
  expect(await failure(source.runSql('select 1', { maxBytes: 1_000 }))).toMatchObject(refused);
  answers = [answered({ ...done('a'.repeat(400), 'b'.repeat(400)), pageToken: 'p 2' }), answered(done('c'.repeat(400)))];
  const first = await source.runSql('select 1', { maxBytes: 1_000, maxRows: 1 });
  expect(first).toMatchObject({ rows: [['a'.repeat(400)]], isCut: true });
});

it('counts rows from zero when a failed job is replaced', async () => {
  const first = answered({ ...done('a'.repeat(400), 'b'.repeat(400)), pageToken: 'p 2' });
  const failed = answered(refusal('jobBackendError', 'broken'), 400);
  const query = { ...SELECT, repeatable: true };
  answers = [first, failed, first, answered(done('c'))];
  const { rows } = await client().run(query, {}, () => valuesUpTo(1_000));
  expect(rows.map(([cell]) => String(cell).length)).toEqual([400, 400, 1]);
});

it('fails a query whose result exceeds the budget of the caller', async () => {
  let left = 0;
  const intake: ResultBudget = {
    take: (bytes) => {
      if (bytes > left) return false;
      left -= bytes;
      return true;
    },
    release: (bytes) => {
      left += bytes;
    },
    print: () => true,
    refusal: () => new SvcError('bad-request', 'too much'),
  };
  const failed = answered(refusal('jobBackendError', 'broken'), 400);
  const first = answered({ ...done('a'.repeat(400)), pageToken: 'p 2' });
  const query = { ...SELECT, repeatable: true };
  answers = [first, failed, first, answered(done('c'))];
  // Enough for both pages, but not for a failed attempt as well.
  left = 1_000;
  expect((await client().run(query, { resultBudget: intake }, valueCells)).rows).toHaveLength(2);
  answers = [first, answered(done('c'.repeat(400)))];
  left = 1_000;
  expect(await failure(client().run(query, { resultBudget: intake }, valueCells))).toMatchObject({ message: 'too much' });
  expect(left).toBe(1_000);
});

it('reports what a dry run would read', async () => {
  answers = [
    answered({
      statistics: {
        totalBytesProcessed: '9',
        query: { totalBytesProcessed: '7', statementType: 'SELECT', referencedTables: [{ projectId: 'p', datasetId: 'd', tableId: 't' }] },
      },
    }),
  ];
  const one = client({ location: 'EU', maximumBytesBilled: 5 });
  expect(await one.dryRun({ ...SELECT, labels: { a: 'b' } }, {})).toEqual({ bytes: 7, statement: 'SELECT', tables: ['d.t'] });
  expect(calls().at(-1)).toBe('POST /bigquery/v2/projects/p/jobs');
  expect(bodies()).toEqual([
    {
      configuration: { dryRun: true, query: { query: 'select 1', useLegacySql: false } },
      jobReference: { projectId: 'p', location: 'EU' },
    },
  ]);
  answers = [answered({ status: { errorResult: { reason: 'invalidQuery', message: 'no' } } })];
  expect(await failure(one.dryRun(SELECT, {}))).toEqual(new BigQueryError(0, 'invalidQuery', 'no'));
});
