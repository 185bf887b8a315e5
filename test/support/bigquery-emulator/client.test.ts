/** Google's own client library reads the answers of the emulator. */
import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BigQuery, hasBigQuery, startBigQuery } from './index.ts';

interface Row {
  readonly [column: string]: unknown;
}
interface JobMetadata {
  readonly configuration: { readonly labels?: Readonly<Record<string, string>> };
  readonly status: { readonly state: string; readonly errorResult?: { readonly reason: string } };
  readonly statistics: {
    readonly totalBytesProcessed: string;
    readonly query: { readonly totalBytesBilled: string; readonly statementType: string };
  };
}
interface ClientJob {
  getQueryResults(options?: object): Promise<[Row[], ...unknown[]]>;
  getMetadata(): Promise<[JobMetadata]>;
  cancel(): Promise<unknown>;
  readonly metadata: JobMetadata;
}
interface Client {
  query(options: object, more?: object): Promise<[Row[]]>;
  createQueryJob(options: object): Promise<[ClientJob]>;
  getDatasets(): Promise<
    [{ readonly id: string; getTables(): Promise<[ClientTable[]]>; getRoutines(): Promise<[{ readonly id: string }[]]> }[]]
  >;
  dataset(id: string): { table(id: string): ClientTable };
}
interface ClientTable {
  readonly id: string;
  getMetadata(): Promise<[{ readonly schema: { readonly fields: readonly Row[] }; readonly numRows: string }]>;
  getRows(): Promise<[Row[]]>;
}
interface Packages {
  readonly BigQuery: new (options: object) => Client;
}

const require = createRequire(import.meta.url);

describe.skipIf(!hasBigQuery())('Google’s client against the BigQuery emulator', () => {
  let bigquery: BigQuery;
  let client: Client;

  beforeAll(async () => {
    bigquery = await startBigQuery({
      datasets: { shop: {}, empty: {} },
      sql: `
        CREATE TABLE shop.item (
          id INT64 NOT NULL, name STRING OPTIONS(description = 'shown'), price NUMERIC, made TIMESTAMP, day DATE, moment DATETIME, clock TIME,
          weight FLOAT64, sold BOOL, raw BYTES, more JSON, tags ARRAY<STRING>, size STRUCT<w INT64, parts ARRAY<STRUCT<n STRING>>>
        ) OPTIONS(description = 'what is sold');
        INSERT INTO shop.item VALUES
          (1, 'bell', 12.5, '2024-01-02 03:04:05.123456+00', '2024-01-02', '2024-01-02T03:04:05', '03:04:05', 1.5, TRUE, b'abc', JSON '{"a":[1]}',
           ['x', 'y'], (7, [STRUCT('p' AS n), STRUCT('q' AS n)])),
          (2, 'kettle', NULL, NULL, NULL, NULL, NULL, CAST('nan' AS FLOAT64), FALSE, NULL, NULL, NULL, NULL);
        CREATE TABLE FUNCTION shop.cheaper(than NUMERIC) AS SELECT id, name FROM shop.item WHERE price < than;`,
    });
    const { BigQuery: ClientClass } = require('@google-cloud/bigquery') as Packages;
    const { OAuth2Client } = createRequire(require.resolve('@google-cloud/bigquery'))('google-auth-library') as {
      readonly OAuth2Client: new () => { setCredentials(credentials: object): void };
    };
    const authClient = new OAuth2Client();
    authClient.setCredentials({ access_token: bigquery.token() });
    client = new ClientClass({ projectId: bigquery.project, apiEndpoint: bigquery.url, authClient, location: 'US' });
  });
  afterAll(async () => {
    await bigquery?.stop();
  });

  test('reads values of all types and nested ones', async () => {
    const [rows] = await client.query({ query: 'SELECT * EXCEPT (more), TO_JSON_STRING(more) AS more FROM shop.item ORDER BY id' });
    expect(JSON.parse(JSON.stringify(rows))).toEqual([
      {
        id: 1,
        name: 'bell',
        price: '12.5',
        made: { value: '2024-01-02T03:04:05.123456000Z' },
        day: { value: '2024-01-02' },
        moment: { value: '2024-01-02T03:04:05' },
        clock: { value: '03:04:05' },
        weight: 1.5,
        sold: true,
        raw: { type: 'Buffer', data: [97, 98, 99] },
        more: '{"a":[1]}',
        tags: ['x', 'y'],
        size: { w: 7, parts: [{ n: 'p' }, { n: 'q' }] },
      },
      {
        id: 2,
        name: 'kettle',
        price: null,
        made: null,
        day: null,
        moment: null,
        clock: null,
        weight: null,
        sold: false,
        raw: null,
        more: 'null',
        tags: [],
        size: null,
      },
    ]);
  });

  test('binds named and positional parameters', async () => {
    const [named] = await client.query({
      query: 'SELECT id FROM shop.item WHERE name IN UNNEST(@names) AND id >= @least',
      params: { names: ['bell', 'pan'], least: 1 },
    });
    expect(named).toEqual([{ id: 1 }]);
    const [placed] = await client.query({ query: 'SELECT ? AS a, ?.b AS b', params: ['x', { b: 5 }] });
    expect(placed).toEqual([{ a: 'x', b: 5 }]);
  });

  test('runs a job, polls it and reads its rows in pages', async () => {
    bigquery.faults.pageSize = 10;
    const [job] = await client.createQueryJob({ query: 'SELECT n FROM UNNEST(GENERATE_ARRAY(1, 25)) AS n ORDER BY n', location: 'US' });
    const [rows] = await job.getQueryResults({ autoPaginate: true });
    expect(rows.map(({ n }) => n)).toEqual(Array.from({ length: 25 }, (_, index) => index + 1));
    bigquery.faults.clear();
    const [metadata] = await job.getMetadata();
    expect(metadata.status.state).toBe('DONE');
    expect(bigquery.requests.filter(({ path }) => path.includes('pageToken=')).length).toBeGreaterThanOrEqual(2);
  });

  test('reports the bytes of a dry run', async () => {
    const [job] = await client.createQueryJob({ query: 'SELECT id FROM shop.item', dryRun: true });
    expect(job.metadata.statistics.totalBytesProcessed).toBe('16');
  });

  test('lists datasets, tables and routines with their details', async () => {
    const [datasets] = await client.getDatasets();
    expect(datasets.map(({ id }) => id)).toEqual(['shop', 'empty']);
    const [tables] = (await datasets[0]?.getTables()) ?? [[]];
    expect(tables.map(({ id }) => id)).toEqual(['item']);
    const [routines] = (await datasets[0]?.getRoutines()) ?? [[]];
    expect(routines.map(({ id }) => id)).toEqual(['cheaper']);
    const [metadata] = await client.dataset('shop').table('item').getMetadata();
    expect(metadata.numRows).toBe('2');
    expect(metadata.schema.fields.slice(0, 2)).toEqual([
      { name: 'id', type: 'INTEGER', mode: 'REQUIRED' },
      { name: 'name', type: 'STRING', mode: 'NULLABLE', description: 'shown' },
    ]);
    const [rows] = await client.dataset('shop').table('item').getRows();
    expect(rows.map(({ name }) => name)).toEqual(['bell', 'kettle']);
  });

  test('reads geographies, intervals and ranges', async () => {
    const [rows] = await client.query({
      query: `SELECT ST_GEOGPOINT(1, 2) AS place, INTERVAL '1-2 3 4:5:6' YEAR TO SECOND AS span, RANGE<DATE> '[2020-01-01, UNBOUNDED)' AS days`,
    });
    expect(JSON.parse(JSON.stringify(rows))).toEqual([
      { place: { value: 'POINT(1 2)' }, span: '1-2 3 4:5:6', days: expect.objectContaining({ elementType: 'DATE' }) },
    ]);
  });

  test('reports the bytes billed, the label and the type of a job', async () => {
    const [job] = await client.createQueryJob({ query: 'SELECT id FROM shop.item', labels: { who: 'tester' } });
    await job.getQueryResults();
    const [metadata] = await job.getMetadata();
    expect(metadata).toMatchObject({
      configuration: { labels: { who: 'tester' } },
      status: { state: 'DONE' },
      statistics: { totalBytesProcessed: '16', query: { totalBytesBilled: '10485760', statementType: 'SELECT' } },
    });
    const [script] = await client.createQueryJob({ query: 'SELECT 1; SELECT 2', dryRun: true });
    expect(script.metadata.statistics.query.statementType).toBe('SCRIPT');
  });

  test('cancels a job, and receives an error for a job that costs too much', async () => {
    bigquery.faults.delayNextJobs(60_000);
    const [job] = await client.createQueryJob({ query: 'SELECT 1' });
    await job.cancel();
    const [metadata] = await job.getMetadata();
    expect(metadata.status).toMatchObject({ state: 'DONE', errorResult: { reason: 'stopped' } });
    await expect(client.query({ query: 'SELECT id FROM shop.item', maximumBytesBilled: '1000' })).rejects.toMatchObject({
      errors: [{ reason: 'bytesBilledLimitExceeded' }],
    });
  });

  test('reads the INFORMATION_SCHEMA of a dataset', async () => {
    const [rows] = await client.query({
      query:
        "SELECT column_name, data_type, is_nullable FROM `shop`.INFORMATION_SCHEMA.COLUMNS WHERE table_name = 'item' ORDER BY ordinal_position LIMIT 2",
    });
    expect(rows).toEqual([
      { column_name: 'id', data_type: 'INT64', is_nullable: 'NO' },
      { column_name: 'name', data_type: 'STRING', is_nullable: 'YES' },
    ]);
  });

  test('parses errors', async () => {
    await expect(client.query({ query: 'SELECT nope FROM shop.item' })).rejects.toMatchObject({
      code: 400,
      message: expect.stringMatching(/^Unrecognized name: nope.* at \[1:8\]$/),
      errors: [{ reason: 'invalidQuery', location: 'query' }],
    });
    await expect(client.dataset('shop').table('nope').getMetadata()).rejects.toMatchObject({ code: 404, errors: [{ reason: 'notFound' }] });
  });
});
