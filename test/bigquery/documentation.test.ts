/** Follows the steps of docs/bigquery.md. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { type BigQuery, hasBigQuery, startBigQuery } from '../support/bigquery-emulator/index.ts';
import { startTestService, type TestService } from '../support/service.ts';

const PAGE = readFileSync('docs/bigquery.md', 'utf8');
const blocks = (language: string): readonly string[] =>
  [...PAGE.matchAll(new RegExp(`^\`\`\`${language} shown\\n(.*?)^\`\`\``, 'gms'))].map(([, text = '']) => text);

describe.skipIf(!hasBigQuery())('docs/bigquery.md', () => {
  let bigquery: BigQuery;
  let service: TestService;
  let folder: string;
  beforeAll(async () => {
    bigquery = await startBigQuery({
      project: 'my-project',
      location: 'EU',
      datasets: { sales: {} },
      sql: `
        create table sales.customer (id int64 not null, name string, country string);
        create table sales.orders (id int64 not null, customer_id int64, placed timestamp, total numeric);
        create table function sales.orders_above(customer int64, least numeric) as (select * from sales.orders where customer_id = customer and total >= least);
        insert into sales.customer values (1, 'Ann', 'NZ'), (2, 'Bo', 'SE');
        insert into sales.orders values (1, 1, timestamp '2024-01-01 00:00:00+00', 5), (2, 1, timestamp '2024-01-02 00:00:00+00', 7.5), (3, 2, null, 1);`,
    });
    const key = JSON.stringify(bigquery.serviceAccount);
    folder = mkdtempSync(join(tmpdir(), 'svc-key-'));
    writeFileSync(join(folder, 'key.json'), key);
    service = await startTestService(
      {},
      { SHOP_KEY: key, GOOGLE_APPLICATION_CREDENTIALS: join(folder, 'key.json'), BIGQUERY_EMULATOR_HOST: bigquery.url },
    );
  });
  afterAll(async () => {
    await service?.stop();
    await bigquery?.stop();
    rmSync(folder, { recursive: true });
  });

  /** Sends requests to the emulator; the page shows a source at Google. */
  function here(request: Json): Json {
    return JSON.parse(JSON.stringify(request), (_, value: Json) =>
      typeof value === 'object' && value !== null && 'project_id' in value ? { ...value, api_endpoint: bigquery.url } : value,
    ) as Json;
  }

  it('sets up a source with computed fields', async () => {
    const requests = blocks('json').map((text) => JSON.parse(text) as JsonObject);
    expect(requests.map(({ type }) => type)).toEqual(['bulk', 'dwh_add_source', 'dwh_add_computed_field']);
    for (const request of requests) {
      const { status, text } = await service.send('/v1/metadata', { method: 'POST', body: JSON.stringify(here(request)) });
      expect(status, text).toBe(200);
    }
  });

  it('queries rows and shows their cost', async () => {
    const [query = ''] = blocks('graphql');
    expect(await service.graphql(query)).toEqual({
      data: { sales_customer: [{ name: 'Ann', orders: [{ total: 7.5 }, { total: 5 }] }] },
    });
    expect(await service.graphql('{ sales_customer(order_by: {id: asc}) { large_orders(args: {least: 6}) { id } } }')).toEqual({
      data: { sales_customer: [{ large_orders: [{ id: 2 }] }, { large_orders: [] }] },
    });
    expect(await service.graphql('{ sales_orders(order_by: {id: asc}) { id } }', { role: 'user', session: { 'user-id': '2' } })).toEqual({
      data: { sales_orders: [{ id: 3 }] },
    });
    const explained = await service.send('/v1/graphql/explain', { method: 'POST', body: JSON.stringify({ query: { query } }) });
    expect(explained.json).toMatchObject([
      { plan: ['Bytes processed: 121', 'Bytes billed on demand, at least: 20971520', 'Tables: sales.customer, sales.orders'] },
    ]);
  });

  it('shows the documented errors', async () => {
    const add = async (name: string, configuration: JsonObject): Promise<string> => {
      const key = { from_env: 'SHOP_KEY' };
      const complete = {
        service_account: key,
        project_id: 'my-project',
        datasets: 'sales',
        api_endpoint: bigquery.url,
        retry_limit: 0,
        ...configuration,
      };
      return (
        await service.send('/v1/metadata', {
          method: 'POST',
          body: JSON.stringify({ type: 'dwh_add_source', args: { name, configuration: complete } }),
        })
      ).text;
    };
    expect(await add('a', { location: 'US' })).toContain('was not found in location US');
    expect(await add('b', { project_id: 'other' })).toContain('User does not have bigquery.jobs.create permission');
    const { private_key: pem } = bigquery.serviceAccount;
    expect(await add('c', { service_account: { ...bigquery.serviceAccount, private_key: pem.replaceAll('\n', '') } })).toContain(
      'is not a valid private key',
    );
    expect(await add('d', { service_account: { ...bigquery.serviceAccount, client_email: 'x@y.example' } })).toContain(
      'could not get an access token (status 400)',
    );
    expect(await add('e', { datasets: 'Sales' })).toContain('Not found: Dataset my-project:Sales was not found');
  });
});
