/** Each operation of BigQuery sources, in the order of a source's life: one case that succeeds and two that are refused. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { backends } from '../../src/databases/index.ts';
import { describeOperations, describeSchemaOperations } from '../../src/admin-api/describe-operations.ts';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { type BigQuery, hasBigQuery, startBigQuery } from '../support/bigquery-emulator/index.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { listedOperations, operate } from '../support/source-cases.ts';
import { configurationOf } from './bigquery.ts';
import { CASES } from './operation-cases.ts';

describe.skipIf(!hasBigQuery())('operations of BigQuery', () => {
  let bigquery: BigQuery;
  let service: TestService;

  beforeAll(async () => {
    bigquery = await startBigQuery({
      datasets: { shop: {} },
      sql: `create table shop.item (id int64 not null, name string); create table shop.part (id int64, item_id int64, label string);
        create table function shop.parts_of(owner int64) as (select * from shop.part where item_id = owner);`,
    });
    service = await startTestService(
      { ENABLE_EXT_FEDERATION: 'true' },
      { SHOP: bigquery.url, KEY: JSON.stringify(bigquery.serviceAccount) },
    );
    await service.sql('create table note (id int primary key, item_id int)');
    await service.metadata('pg_track_table', { table: 'note' });
  });
  afterAll(async () => {
    await service?.stop();
    await bigquery?.stop();
  });

  const stored = (): Promise<Json> => service.metadata('export_metadata', {}, { version: 2 });
  const described = new Map([...describeOperations(backends), ...describeSchemaOperations(backends)].map((each) => [each.type, each]));

  it.each(CASES.map(([operation, args, ...refusals]) => ({ operation, args, refusals })))(
    'dwh_$operation',
    async ({ operation, args, refusals }) => {
      const { status, text, json } = await operate(service, `dwh_${operation}`, args);
      expect(status, text).toBe(200);
      if (operation === 'get_source_tables') expect(JSON.stringify(json)).toContain('{"dataset":"shop","name":"item"}');
      if (operation === 'run_sql') expect(json).toEqual({ result_type: 'TuplesOk', result: [['f0_'], ['1']] });
      const before = await stored();
      for (const [code, wrong] of refusals) {
        const answer = await operate(service, `dwh_${operation}`, wrong);
        expect(answer.json, answer.text).toMatchObject({ code });
        expect(described.get(`dwh_${operation}`)?.errors).toContainEqual({ code, status: answer.status, when: expect.any(String) });
      }
      expect(await stored()).toEqual(before);
    },
  );

  it('covers the whole list of operations', async () => {
    expect(CASES.map(([operation]) => operation).sort()).toEqual([...listedOperations('dwh'), 'run_sql'].sort());
    for (const absent of ['track_function', 'create_event_trigger', 'set_table_is_enum', 'create_insert_permission'])
      expect((await operate(service, `dwh_${absent}`, {})).json).toMatchObject({ code: 'not-supported' });
  });

  it.each<readonly [string, JsonObject, string]>([
    ['no key', { service_account: 'x' }, 'the key of the service account is not valid JSON'],
    [
      'a key of another type',
      { service_account: { client_email: 'a', private_key: 'b' } },
      '"private_key" of the service account is not a valid private key',
    ],
    ['no project', { project_id: 'a b' }, '"a b" is not a valid project ID'],
    ['no dataset', { datasets: ' , ' }, 'the configuration names no dataset'],
    ['an invalid dataset', { datasets: ['a`b'] }, '"a`b" is not a valid dataset name'],
    ['an invalid address', { api_endpoint: 'bigquery' }, 'api_endpoint is not an http or https URL'],
    ['a missing dataset', { datasets: ['none'] }, 'none'],
  ])('refuses a source with %s', async (_, wrong, reason) => {
    const own = { ...configurationOf(bigquery, 'shop'), ...wrong };
    const { status, text } = await operate(service, 'dwh_add_source', { name: 'wrong', configuration: own });
    expect(status, text).toBeGreaterThanOrEqual(400);
    expect(text.replaceAll('\\"', '"')).toContain(reason);
  });
});
