/** The emulator's REST API: tokens, jobs, pages, billing and injected faults. */
import { createPrivateKey } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { rsaPair, token } from '../tokens.ts';
import { type BigQuery, hasBigQuery, startBigQuery } from './index.ts';

const READ = 'https://www.googleapis.com/auth/bigquery.readonly';
const WRITE = 'https://www.googleapis.com/auth/bigquery';

interface Body {
  readonly [key: string]: unknown;
  readonly error?: { readonly code: number; readonly status: string; readonly errors: readonly { readonly reason: string }[] };
  readonly rows?: readonly { readonly f: readonly { readonly v: unknown }[] }[];
  readonly jobReference?: { readonly jobId: string };
  readonly statistics?: { readonly totalBytesProcessed: string };
}

describe.skipIf(!hasBigQuery())('the REST API of the BigQuery emulator', () => {
  let bigquery: BigQuery;
  let bearer: string;

  beforeAll(async () => {
    bigquery = await startBigQuery({
      datasets: {
        ds: {
          item: {
            description: 'what is sold',
            primaryKey: ['id'],
            fields: [
              { name: 'id', type: 'INTEGER', mode: 'REQUIRED' },
              { name: 'name', type: 'STRING', description: 'shown' },
              { name: 'parts', type: 'RECORD', mode: 'REPEATED', fields: [{ name: 'n', type: 'NUMERIC' }] },
              { name: 'more', type: 'JSON' },
            ],
            rows: [
              { id: 1, name: 'bell', parts: [{ n: '1.50' }], more: { b: 1, a: [true] } },
              { id: 2, name: null },
              { id: 3, name: 'kettle' },
            ],
          },
        },
        other: {},
      },
      sql: 'CREATE TABLE FUNCTION ds.named(what STRING) RETURNS TABLE<id INT64> AS SELECT id FROM ds.item WHERE name = what',
    });
    bearer = bigquery.token();
  });
  afterEach(() => {
    bigquery.faults.clear();
    bigquery.requests.length = 0;
    bigquery.dropped.length = 0;
  });
  afterAll(async () => {
    await bigquery?.stop();
  });

  async function call(
    method: string,
    path: string,
    body?: object,
    authorization = `Bearer ${bearer}`,
  ): Promise<{ status: number; body: Body }> {
    const answer = await fetch(`${bigquery.url}/bigquery/v2/${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...(authorization === '' ? {} : { authorization }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: (await answer.json()) as Body };
  }
  const own = (method: string, path: string, body?: object): Promise<{ status: number; body: Body }> =>
    call(method, `projects/svc-test/${path}`, body);
  const query = (sql: string, more: object = {}): Promise<{ status: number; body: Body }> =>
    own('POST', 'queries', { query: sql, useLegacySql: false, ...more });
  const cells = (body: Body): readonly unknown[] => (body.rows ?? []).flatMap(({ f }) => f.map(({ v }) => v));
  const reasonOf = (body: Body): string | undefined => body.error?.errors[0]?.reason;

  test('pretty-prints responses by default', async () => {
    const text = async (search: string): Promise<string> =>
      (
        await fetch(`${bigquery.url}/bigquery/v2/projects/svc-test/datasets${search}`, { headers: { authorization: `Bearer ${bearer}` } })
      ).text();
    expect((await text('')).split('\n').length).toBeGreaterThan(10);
    const short = await text('?prettyPrint=false');
    expect(short.split('\n')).toHaveLength(1);
    expect(JSON.parse(short)).toEqual(JSON.parse(await text('')));
  });

  describe('tokens of the BigQuery emulator', () => {
    interface Changes {
      readonly claims?: object;
      readonly header?: object;
      readonly algorithm?: string;
    }
    function assertion({ claims = {}, header = {}, algorithm = 'RS256' }: Changes = {}): string {
      const { client_email: iss, token_uri: aud, private_key: pem } = bigquery.serviceAccount;
      const iat = Math.floor(Date.now() / 1000);
      return token(algorithm, algorithm === 'RS256' ? createPrivateKey(pem) : pem, {
        header,
        claims: { iss, aud, scope: WRITE, iat, exp: iat + 3600, ...claims },
      });
    }
    async function exchange(
      signed: string,
      grant = 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    ): Promise<{ status: number; body: Body }> {
      const answer = await fetch(bigquery.serviceAccount.token_uri, {
        method: 'POST',
        body: new URLSearchParams({ grant_type: grant, assertion: signed }),
      });
      return { status: answer.status, body: (await answer.json()) as Body };
    }

    test("issues a token for an assertion signed with the account's key", async () => {
      const { status, body } = await exchange(assertion());
      expect([status, body]).toMatchObject([200, { token_type: 'Bearer', expires_in: 3599 }]);
      const answer = await call('GET', 'projects/svc-test/datasets', undefined, `Bearer ${String(body['access_token'])}`);
      expect(answer.status).toBe(200);
    });

    test('restricts a token to its scope', async () => {
      const { body } = await exchange(assertion({ claims: { scope: READ } }));
      const authorization = `Bearer ${String(body['access_token'])}`;
      const run = (sql: string): Promise<{ status: number; body: Body }> =>
        call('POST', 'projects/svc-test/queries', { query: sql, useLegacySql: false }, authorization);
      expect((await run('SELECT 1 AS x')).status).toBe(200);
      expect(reasonOf((await run('CREATE TABLE ds.x (a INT64)')).body)).toBe('accessDenied');
    });

    test.each<[string, string, Changes]>([
      ['another audience', 'invalid_grant', { claims: { aud: 'https://elsewhere.example/token' } }],
      ['another account', 'invalid_grant', { claims: { iss: 'nobody@example.com' } }],
      ['no scope', 'invalid_scope', { claims: { scope: '' } }],
      ['a foreign scope', 'invalid_scope', { claims: { scope: `${WRITE} https://www.googleapis.com/auth/nothing` } }],
      ['its end behind it', 'invalid_grant', { claims: { iat: 1_600_000_000, exp: 1_600_003_600 } }],
      ['more than an hour', 'invalid_grant', { claims: { exp: Math.floor(Date.now() / 1000) + 7200 } }],
      ['no end', 'invalid_grant', { claims: { exp: undefined } }],
      ['another key id', 'invalid_grant', { header: { kid: 'other' } }],
      ['another algorithm', 'invalid_grant', { algorithm: 'HS256' }],
    ])('rejects %s', async (_, error, changes) => {
      expect(await exchange(assertion(changes))).toMatchObject({ status: 400, body: { error } });
    });

    test("rejects another key's signature, another grant type and malformed assertions", async () => {
      const { client_email: iss, token_uri: aud } = bigquery.serviceAccount;
      const iat = Math.floor(Date.now() / 1000);
      const forged = token('RS256', rsaPair().privateKey, { claims: { iss, aud, scope: WRITE, iat, exp: iat + 60 } });
      expect(await exchange(forged)).toMatchObject({
        status: 400,
        body: { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' },
      });
      expect(await exchange(assertion(), 'password')).toMatchObject({ status: 400, body: { error: 'unsupported_grant_type' } });
      expect(await exchange('a.b')).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    });

    test('requires an unexpired token for every request', async () => {
      for (const authorization of ['', 'Bearer nothing', `Basic ${bearer}`]) {
        const { status, body } = await call('GET', 'projects/svc-test/datasets', undefined, authorization);
        expect([status, body.error]).toMatchObject([401, { code: 401, status: 'UNAUTHENTICATED', errors: [{ reason: 'authError' }] }]);
      }
      const short = bigquery.token({ seconds: 0 });
      expect((await call('GET', 'projects/svc-test/datasets', undefined, `Bearer ${short}`)).status).toBe(401);
      bigquery.expireTokens();
      expect((await own('GET', 'datasets')).status).toBe(401);
      bearer = bigquery.token();
    });

    test('rejects a token for another project', async () => {
      const { status, body } = await call('POST', 'projects/other/queries', { query: 'SELECT 1', useLegacySql: false });
      expect([status, reasonOf(body)]).toEqual([403, 'accessDenied']);
    });
  });

  test('returns fixtures unchanged', async () => {
    const { body } = await query('SELECT id, name, parts, more FROM ds.item ORDER BY id LIMIT 2');
    expect(body).toMatchObject({
      jobComplete: true,
      totalRows: '2',
      schema: {
        fields: [
          { name: 'id', type: 'INTEGER' },
          { name: 'name', type: 'STRING' },
          { name: 'parts', type: 'RECORD', mode: 'REPEATED', fields: [{ name: 'n', type: 'NUMERIC' }] },
          { name: 'more', type: 'JSON' },
        ],
      },
      rows: [
        { f: [{ v: '1' }, { v: 'bell' }, { v: [{ v: { f: [{ v: '1.5' }] } }] }, { v: '{"b":1,"a":[true]}' }] },
        { f: [{ v: '2' }, { v: null }, { v: [] }, { v: null }] },
      ],
    });
  });

  test('returns timestamps in seconds or microseconds', async () => {
    const sql = "SELECT TIMESTAMP '2024-01-02 03:04:05.123456+00' AS a, TIMESTAMP '1969-12-31 23:59:59.5+00' AS b";
    expect(cells((await query(sql)).body)).toEqual(['1.704164645123456E9', '-5.0E-1']);
    const whole = await query(sql, { formatOptions: { useInt64Timestamp: true } });
    expect(cells(whole.body)).toEqual(['1704164645123456', '-500000']);
  });

  test('splits a result into pages', async () => {
    bigquery.faults.pageSize = 2;
    const first = await query('SELECT id FROM ds.item ORDER BY id');
    expect([cells(first.body), first.body['totalRows']]).toEqual([['1', '2'], '3']);
    const job = first.body.jobReference?.jobId ?? '';
    const next = await own('GET', `queries/${job}?pageToken=${String(first.body['pageToken'])}`);
    expect([cells(next.body), next.body['pageToken']]).toEqual([['3'], undefined]);
    expect((await own('GET', `queries/${job}?pageToken=x`)).status).toBe(400);
    bigquery.faults.clear();
    const asked = await query('SELECT id FROM ds.item ORDER BY id', { maxResults: 1 });
    expect(cells(asked.body)).toEqual(['1']);
    expect((await own('GET', 'queries/nothing')).status).toBe(404);
  });

  test('splits a result that exceeds the response limit', async () => {
    const long = await query("SELECT REPEAT('x', 1000000) AS x FROM UNNEST(GENERATE_ARRAY(1, 12))");
    expect([long.body.rows?.length, long.body['totalRows']]).toEqual([10, '12']);
    const rest = await own('GET', `queries/${long.body.jobReference?.jobId ?? ''}?pageToken=${String(long.body['pageToken'])}`);
    expect([rest.body.rows?.length, rest.body['pageToken']]).toEqual([2, undefined]);
    expect((await query(`SELECT 1 AS x -- ${'y'.repeat(1024 * 1024)}`)).status).toBe(400);
  });

  test('finds a job in its location only', async () => {
    const { body } = await query('SELECT 1 AS x');
    const job = body.jobReference?.jobId ?? '';
    const statuses = async (path: string): Promise<readonly number[]> =>
      Promise.all(['', '?location=us', '?location=EU'].map(async (where) => (await own('GET', `${path}/${job}${where}`)).status));
    expect(await statuses('queries')).toEqual([200, 200, 404]);
    expect(await statuses('jobs')).toEqual([200, 200, 404]);
    const small = await startBigQuery({ location: 'europe-west1' });
    const authorization = `Bearer ${small.token()}`;
    const ask = async (method: string, path: string, sent?: object): Promise<Response> =>
      fetch(`${small.url}/bigquery/v2/projects/svc-test/${path}`, {
        method,
        headers: { authorization },
        ...(sent === undefined ? {} : { body: JSON.stringify(sent) }),
      });
    const begun = (await (await ask('POST', 'queries', { query: 'SELECT 1 AS x', useLegacySql: false })).json()) as Body;
    expect((await ask('GET', `queries/${begun.jobReference?.jobId ?? ''}`)).status).toBe(404);
    expect((await ask('GET', `queries/${begun.jobReference?.jobId ?? ''}?location=europe-west1`)).status).toBe(200);
    await small.stop();
  });

  test('returns an incomplete slow job and cancels it', async () => {
    bigquery.faults.delayNextJobs(150, 60_000);
    const slow = await query('SELECT id FROM ds.item ORDER BY id', { timeoutMs: 1 });
    expect([slow.body['jobComplete'], slow.body.rows]).toEqual([false, undefined]);
    const done = await own('GET', `queries/${slow.body.jobReference?.jobId ?? ''}?timeoutMs=20000`);
    expect([done.body['jobComplete'], cells(done.body)]).toEqual([true, ['1', '2', '3']]);
    const hung = await query('SELECT id FROM ds.item', { timeoutMs: 1 });
    const job = hung.body.jobReference?.jobId ?? '';
    expect((await own('GET', `jobs/${job}`)).body).toMatchObject({ status: { state: 'RUNNING' } });
    expect((await own('POST', `jobs/${job}/cancel`)).body).toMatchObject({ job: { status: { state: 'DONE' } } });
    expect(bigquery.cancelledJobs()).toEqual([job]);
    expect(reasonOf((await own('GET', `queries/${job}`)).body)).toBe('stopped');
  });

  test('deduplicates repeated requests by id', async () => {
    const first = await query('SELECT 1 AS x', { requestId: 'r1' });
    const second = await query('SELECT 1 AS x', { requestId: 'r1' });
    expect(second.body.jobReference).toEqual(first.body.jobReference);
  });

  test('counts the bytes of the columns read and enforces the maximum billed', async () => {
    const dry = (sql: string): Promise<{ status: number; body: Body }> =>
      own('POST', 'jobs', { configuration: { dryRun: true, query: { query: sql, useLegacySql: false, maximumBytesBilled: '1' } } });
    expect((await dry('SELECT id FROM ds.item')).body.statistics?.totalBytesProcessed).toBe('24');
    expect((await dry('SELECT id, name FROM ds.item')).body.statistics?.totalBytesProcessed).toBe('38');
    expect((await dry('SELECT COUNT(*) AS n FROM ds.item')).body.statistics?.totalBytesProcessed).toBe('0');
    expect((await dry('SELECT 1 AS x')).body.statistics?.totalBytesProcessed).toBe('0');
    expect(await dry('SELECT nope FROM ds.item')).toMatchObject({ status: 400 });
    const refused = await query('SELECT id FROM ds.item', { maximumBytesBilled: '10485759' });
    expect([refused.status, reasonOf(refused.body)]).toEqual([400, 'bytesBilledLimitExceeded']);
    const paid = await query('SELECT id FROM ds.item', { maximumBytesBilled: '10485760' });
    expect([paid.status, paid.body['totalBytesProcessed'], paid.body['totalBytesBilled']]).toEqual([200, '24', '10485760']);
  });

  test('reports the error of a failed job', async () => {
    const { status, body } = await own('POST', 'jobs', {
      configuration: { query: { query: 'SELECT nope FROM ds.item', useLegacySql: false } },
    });
    expect(status).toBe(200);
    const job = body.jobReference?.jobId ?? '';
    expect((await own('GET', `queries/${job}`)).status).toBe(400);
    expect((await own('GET', `jobs/${job}`)).body).toMatchObject({
      status: { state: 'DONE', errorResult: { reason: 'invalidQuery', location: 'query' } },
    });
  });

  test('lists resources in pages', async () => {
    const first = await own('GET', 'datasets?maxResults=1');
    expect(first.body['datasets']).toMatchObject([{ datasetReference: { datasetId: 'ds' } }]);
    const second = await own('GET', `datasets?maxResults=1&pageToken=${String(first.body['nextPageToken'])}`);
    expect([second.body['datasets'], second.body['nextPageToken']]).toMatchObject([
      [{ datasetReference: { datasetId: 'other' } }],
      undefined,
    ]);
    expect((await own('GET', 'datasets/ds/routines/named')).body).toMatchObject({
      routineType: 'TABLE_VALUED_FUNCTION',
      arguments: [{ name: 'what', dataType: { typeKind: 'STRING' } }],
      returnTableType: { columns: [{ name: 'id', type: { typeKind: 'INT64' } }] },
      definitionBody: 'SELECT id FROM ds.item WHERE name = what',
    });
    for (const path of ['datasets/nope', 'datasets/ds/tables/nope', 'datasets/ds/routines/nope', 'jobs/nope', 'nope']) {
      expect((await own('GET', path)).status).toBe(404);
    }
  });

  test('returns INFORMATION_SCHEMA', async () => {
    const columns = await query(
      "SELECT TO_JSON_STRING(STRUCT(column_name, data_type, is_nullable)) AS x FROM ds.INFORMATION_SCHEMA.COLUMNS WHERE table_name = 'item' ORDER BY ordinal_position",
    );
    expect(cells(columns.body).map((text) => Object.values(JSON.parse(String(text))))).toEqual([
      ['id', 'INT64', 'NO'],
      ['name', 'STRING', 'YES'],
      ['parts', 'ARRAY<STRUCT<n NUMERIC>>', 'NO'],
      ['more', 'JSON', 'YES'],
    ]);
    const texts = await query(
      `SELECT option_value AS x FROM \`ds.INFORMATION_SCHEMA.TABLE_OPTIONS\`
       UNION ALL SELECT description FROM ds.INFORMATION_SCHEMA.COLUMN_FIELD_PATHS WHERE field_path = 'name'
       UNION ALL SELECT CONCAT(routine_name, ' ', routine_type) FROM ds.INFORMATION_SCHEMA.ROUTINES
       UNION ALL SELECT CONCAT(parameter_name, ' ', data_type) FROM ds.INFORMATION_SCHEMA.PARAMETERS
       UNION ALL SELECT column_name FROM ds.INFORMATION_SCHEMA.KEY_COLUMN_USAGE
       UNION ALL SELECT schema_name FROM INFORMATION_SCHEMA.SCHEMATA WHERE schema_name = 'other'`,
    );
    expect(cells(texts.body)).toEqual(['"what is sold"', 'shown', 'named TABLE FUNCTION', 'what STRING', 'id', 'other']);
    expect((await query('SELECT 1 AS x FROM ds.INFORMATION_SCHEMA.NOTHING')).status).toBe(404);
    expect((await query('SELECT 1 AS x FROM nope.INFORMATION_SCHEMA.TABLES')).status).toBe(404);
  });

  test('persists writes', async () => {
    const script = await query(`
      CREATE OR REPLACE TABLE ds.note (id INT64 NOT NULL, text STRING);
      INSERT INTO ds.note (id) VALUES (1), (2);
      UPDATE ds.note SET text = 'two' WHERE id = 2;
      INSERT INTO ds.note SELECT id + 10, text FROM ds.note;
      DELETE FROM ds.note WHERE id = 1;
      SELECT CONCAT(id, ' ', IFNULL(text, 'none')) AS x FROM ds.note ORDER BY id;`);
    expect([script.body.error, cells(script.body)]).toEqual([undefined, ['2 two', '11 none', '12 two']]);
    expect((await query('INSERT INTO ds.note (text) VALUES (NULL)')).status).toBe(400);
    expect((await query('CREATE TABLE ds.more (id INT64 DEFAULT (1))')).status).toBe(400);
    expect(await query('CREATE TABLE ds.note (id INT64)')).toMatchObject({ status: 409 });
    expect((await query('CREATE TABLE ds.copy AS SELECT id AS n FROM ds.note; SELECT SUM(n) AS x FROM ds.copy')).body).toMatchObject({
      rows: [{ f: [{ v: '25' }] }],
    });
    expect((await query('DROP TABLE ds.copy; DROP TABLE IF EXISTS ds.copy')).status).toBe(200);
    expect((await query('DROP TABLE ds.copy')).status).toBe(404);
    expect((await query('DROP SCHEMA ds')).status).toBe(400);
  });

  test('injects faults', async () => {
    bigquery.faults.fail('backendError', { on: /queries/, after: 1, times: 2 });
    const statuses: number[] = [];
    for (let time = 0; time < 4; time += 1) statuses.push((await query('SELECT 1 AS x')).status);
    expect(statuses).toEqual([200, 503, 503, 200]);
    bigquery.faults.fail('rateLimitExceeded');
    const limited = await query('SELECT 1 AS x');
    expect([limited.status, reasonOf(limited.body)]).toEqual([403, 'rateLimitExceeded']);
    bigquery.faults.fail('drop');
    await expect(query('SELECT 1 AS x')).rejects.toThrow();
    bigquery.faults.fail('hang');
    await expect(
      fetch(`${bigquery.url}/bigquery/v2/projects/svc-test/datasets`, {
        headers: { authorization: `Bearer ${bearer}` },
        signal: AbortSignal.timeout(50),
      }),
    ).rejects.toThrow();
    expect((await query('SELECT 1 AS x')).status).toBe(200);
    expect(bigquery.dropped.map(({ path }) => path)).toContain('/bigquery/v2/projects/svc-test/datasets');
  });
});
