/** Statements as jobs of BigQuery: polling, paging, cancellation, retries and costs. */
import { request } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { hasBigQuery } from '../support/bigquery-emulator/index.ts';
import { type BigQueryService, configurationOf, startBigQueryService } from './bigquery.ts';
import { WAIT } from '../support/wait.ts';

const TABLES = `
create table shop.many (n int64, text string);
insert into shop.many (n, text) select n, repeat('ü"', 200) from unnest(generate_array(1, 300)) as n;`;
const MANY = '{ shop_many(order_by: {n: asc}) { n } }';
const dataset = 'shop';

describe.skipIf(!hasBigQuery())('jobs of BigQuery', () => {
  let both: BigQueryService;
  beforeAll(async () => {
    both = await startBigQueryService(TABLES, { ENABLED_LOG_TYPES: 'startup,http-log,query-log', GRAPHQL_REQUEST_TIMEOUT: '20' });
    await both.service.metadata('dwh_add_source', { name: 'w', configuration: configurationOf(both.bigquery, dataset) });
    await both.service.metadata('dwh_track_table', { source: 'w', table: { dataset, name: 'many' } });
  });
  beforeEach(() => {
    both.bigquery.faults.clear();
    both.bigquery.requests.length = 0;
  });
  afterAll(() => both?.stop());

  const calls = (): readonly string[] =>
    both.bigquery.requests.flatMap(({ method, path }) => {
      const [, called] = /^[^?]*svc-test([^?]*)/.exec(path) ?? [];
      return called === undefined ? [] : [`${method} ${called.replace(/job_\w+/, 'JOB')}`];
    });
  const numbers = async (): Promise<Json> => {
    const { data, errors } = await both.service.graphql(MANY);
    expect(errors).toBeUndefined();
    return ((data as JsonObject)['shop_many'] as readonly JsonObject[]).map(({ n }) => n ?? null);
  };
  const ALL = Array.from({ length: 300 }, (_, i) => i + 1);

  it('polls a job until it is complete', async () => {
    both.bigquery.faults.delayNextJobs(2_300);
    expect(await numbers()).toEqual(ALL);
    expect(calls().slice(0, 2)).toEqual(['POST /queries', 'GET /queries/JOB']);
  });

  it('reports the cost of jobs, however long they took', async () => {
    both.bigquery.faults.delayNextJobs(2_300);
    const before = both.service.observations.length;
    await numbers();
    const costs = (): Json[] =>
      both.service.observations
        .slice(before)
        .flatMap((each) =>
          each.kind === 'query-cost'
            ? [{ source: each.source, processed: each.processedBytes, billed: each.billedBytes, id: each.requestId }]
            : [],
        );
    await vi.waitFor(() => expect(costs()).toHaveLength(1), WAIT);
    const logged = both.service.observations.slice(before).find((each) => each.kind === 'query') as
      | { readonly requestId?: string }
      | undefined;
    expect(costs()).toEqual([{ source: 'w', processed: 2400, billed: 10_485_760, id: logged?.requestId ?? expect.any(String) }]);
  });

  it('joins the pages of a result', async () => {
    both.bigquery.faults.pageSize = 70;
    expect(await numbers()).toEqual(ALL);
    expect(calls()).toEqual(['POST /queries', ...Array<string>(4).fill('GET /queries/JOB')]);
    const long = (await both.service.graphql('{ shop_many(limit: 2) { text } }')) as { data: { shop_many: { text: string }[] } };
    expect(long.data.shop_many[0]?.text).toBe('ü"'.repeat(200));
  });

  it('cancels jobs when the client disconnects', async () => {
    both.bigquery.faults.delayNextJobs(60_000);
    const before = both.bigquery.cancelledJobs().length;
    const body = JSON.stringify({ query: MANY });
    const out = request(`${both.service.url}/v1/graphql`, { method: 'POST', headers: { 'content-type': 'application/json' } });
    out.on('error', () => undefined);
    out.end(body);
    await vi.waitFor(() => expect(calls()).toContain('POST /queries'), WAIT);
    out.destroy();
    await vi.waitFor(() => expect(both.bigquery.cancelledJobs()).toHaveLength(before + 1), WAIT);
    expect(calls().at(-1)).toBe('POST /jobs/JOB/cancel');
  });

  it('cancels jobs at the deadline', async () => {
    const permission = { columns: '*', filter: {} };
    await both.service.metadata('dwh_create_select_permission', {
      source: 'w',
      table: { dataset, name: 'many' },
      role: 'some',
      permission,
    });
    await both.service.metadata('set_api_limits', { disabled: false, time_limit: { global: 3 } });
    both.bigquery.faults.delayNextJobs(60_000);
    const before = both.bigquery.cancelledJobs().length;
    try {
      expect(JSON.stringify((await both.service.graphql(MANY, { role: 'some' }))['errors'])).toMatch(/time-limit-exceeded|"timeout"/);
    } finally {
      await both.service.metadata('remove_api_limits', {});
    }
    await vi.waitFor(() => expect(both.bigquery.cancelledJobs()).toHaveLength(before + 1), WAIT);
  });

  it('restarts jobs that failed transiently, also with a new token', async () => {
    both.bigquery.faults.fail('rateLimitExceeded', { on: /POST .*queries/, times: 2 });
    expect(await numbers()).toEqual(ALL);
    both.bigquery.faults.fail('drop', { on: /POST .*queries/ });
    expect(await numbers()).toEqual(ALL);
    both.bigquery.expireTokens();
    expect(await numbers()).toEqual(ALL);
    both.bigquery.faults.fail('backendError', { on: /queries/, times: 1_000 });
    expect(JSON.stringify((await both.service.graphql(MANY))['errors'])).toContain('BigQuery is busy or unavailable');
  });

  it('reads only the needed views of the catalog, because each is billed', async () => {
    const views = (): readonly string[] =>
      both.bigquery.requests.flatMap(({ body }) => /INFORMATION_SCHEMA\.(\w+)/.exec(body)?.[1] ?? []).sort();
    const ofTables = ['COLUMNS', 'COLUMN_FIELD_PATHS', 'TABLES', 'TABLE_OPTIONS'];
    await both.service.metadata('reload_metadata', { reload_sources: ['w'] });
    expect(views()).toEqual([...ofTables, 'PARAMETERS', 'ROUTINES'].sort());
    both.bigquery.requests.length = 0;
    await both.service.metadata('dwh_untrack_table', { source: 'w', table: { dataset, name: 'many' } });
    await both.service.metadata('dwh_track_table', { source: 'w', table: { dataset, name: 'many' } });
    expect(views()).toEqual(ofTables.sort());
  });

  it('limits the number of concurrent jobs', async () => {
    await both.service.metadata('dwh_add_source', {
      name: 'narrow',
      configuration: configurationOf(both.bigquery, dataset),
      customization: { root_fields: { prefix: 'n_' }, type_names: { prefix: 'n_' } },
    });
    await both.service.metadata('dwh_track_table', { source: 'narrow', table: { dataset, name: 'many' } });
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => both.service.graphql('{ n_shop_many(limit: 1, order_by: {n: asc}) { n } }')),
    );
    for (const answer of answers) expect(answer).toEqual({ data: { n_shop_many: [{ n: 1 }] } });
  });

  describe('health checks', () => {
    const health = async (): Promise<JsonObject> => (await both.service.send('/healthz/sources')).json as JsonObject;
    const check = (sql: string, timeout = 10): JsonObject => ({ test: { sql }, interval: 600, retries: 0, timeout });
    const add = (name: string, health_check: JsonObject): Promise<Json> =>
      both.service.metadata('dwh_add_source', { name, configuration: configurationOf(both.bigquery, dataset), health_check });
    const timestamp = expect.any(String);

    it('reports the health of a source', async () => {
      await add('good', check('select 1'));
      await add('bad', check('select nonsense'));
      await add('writes', check('insert into shop.many (n) values (0)'));
      await add('script', check('select 1; drop table shop.many'));
      expect(await health()).toEqual({
        good: { status: 'OK', error: null, timestamp },
        bad: { status: 'ERROR', error: { message: expect.stringContaining('Unrecognized name: nonsense'), extra: null }, timestamp },
        writes: { status: 'ERROR', error: { message: 'the health check must be a single SELECT, not INSERT', extra: null }, timestamp },
        script: { status: 'ERROR', error: { message: expect.stringContaining('must be a single SELECT'), extra: null }, timestamp },
      });
      expect(await numbers()).toEqual(ALL);
    });

    it('reports a source that does not answer', async () => {
      both.bigquery.faults.jobDelay = 60_000;
      // Opening the source takes seven statements.
      both.bigquery.faults.delayNextJobs(0, 0, 0, 0, 0, 0, 0);
      await add('slow', check('select 2', 1));
      expect((await health())['slow']).toEqual({ status: 'TIMEOUT', error: null, timestamp });
    });
  });
});
