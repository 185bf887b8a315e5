/** Every operation of BigQuery sources: one that succeeds, and two that are refused, in the order of a source's life. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/util/json.ts';
import { type BigQuery, hasBigQuery, startBigQuery } from '../support/bigquery-emulator/index.ts';
import { type Answer, startTestService, type TestService } from '../support/service.ts';
import { configurationOf } from './bigquery.ts';

type Refused = readonly [code: string, args: JsonObject];
type Case = readonly [operation: string, args: JsonObject, one: Refused, other: Refused];

const S = { source: 'shop' };
const table = (name: string): JsonObject => ({ dataset: 'shop', name });
const ITEM = { ...S, table: table('item') };
const PART = { ...S, table: table('part') };
const NONE = { ...S, table: table('none') };
const MISSING_SOURCE: Refused = ['not-exists', { source: 'none', table: table('item') }];
const configuration = {
  service_account: { from_env: 'KEY' },
  project_id: 'svc-test',
  datasets: 'shop',
  api_endpoint: { from_env: 'SHOP' },
};
const byHand = (name: string, column_mapping: JsonObject): JsonObject => ({
  using: { manual_configuration: { remote_table: table(name), column_mapping } },
});
const toNotes = (relationship_type: string): JsonObject => ({
  to_source: { source: 'default', table: 'note', relationship_type, field_mapping: { id: 'item_id' } },
});
const computed = (argument: string, column: string, returned = 'part'): JsonObject => ({
  definition: { function: table('parts_of'), argument_mapping: { [argument]: column }, return_table: table(returned) },
});
const CASES: readonly Case[] = [
  [
    'add_source',
    { name: 'shop', configuration },
    ['already-exists', { name: 'shop', configuration }],
    ['invalid-configuration', { name: 'other', configuration: { ...configuration, service_account: { from_env: 'NO_KEY' } } }],
  ],
  [
    'update_source',
    { name: 'shop', configuration: { ...configuration, global_select_limit: 100 }, customization: { root_fields: { suffix: '_x' } } },
    ['not-exists', { name: 'none', configuration }],
    ['parse-failed', { name: 'shop', configuration: { ...configuration, dataset: 'shop' } }],
  ],
  ['get_source_tables', S, ['not-exists', { source: 'none' }], ['parse-failed', { source: 1 }]],
  ['get_table_info', ITEM, MISSING_SOURCE, ['parse-failed', { ...S, table: 'item' }]],
  ['track_table', ITEM, ['already-tracked', ITEM], ['invalid-configuration', NONE]],
  ['track_tables', { tables: [PART] }, ['invalid-configuration', { tables: [NONE] }], ['parse-failed', { tables: {} }]],
  [
    'set_table_customization',
    { ...ITEM, configuration: { custom_name: 'thing', column_config: { name: { custom_name: 'title' } } } },
    ['not-exists', { ...NONE, configuration: {} }],
    ['parse-failed', { ...ITEM, configuration: { column_config: 1 } }],
  ],
  [
    'set_ext_federation_config',
    { ...ITEM, ext_federation_config: { enable: 'v1' } },
    ['parse-failed', { ...ITEM, ext_federation_config: { enable: 'v9' } }],
    MISSING_SOURCE,
  ],
  ['suggest_relationships', S, ['not-exists', { source: 'none' }], ['parse-failed', { source: [] }]],
  [
    'create_object_relationship',
    { ...PART, name: 'item', ...byHand('item', { item_id: 'id' }) },
    ['already-exists', { ...PART, name: 'item', ...byHand('item', { item_id: 'id' }) }],
    ['invalid-configuration', { ...PART, name: 'other', ...byHand('item', { label: 'id' }) }],
  ],
  [
    'create_array_relationship',
    { ...ITEM, name: 'parts', ...byHand('part', { id: 'item_id' }) },
    ['already-exists', { ...ITEM, name: 'name', ...byHand('part', { id: 'item_id' }) }],
    [
      'invalid-configuration',
      { ...ITEM, name: 'others', using: { foreign_key_constraint_on: { table: table('part'), column: 'item_id' } } },
    ],
  ],
  [
    'set_relationship_comment',
    { ...ITEM, relationship: 'parts', comment: 'its parts' },
    ['not-exists', { ...ITEM, relationship: 'none', comment: null }],
    ['not-exists', { ...NONE, relationship: 'parts', comment: 'x' }],
  ],
  [
    'rename_relationship',
    { ...ITEM, name: 'parts', new_name: 'pieces' },
    ['not-exists', { ...ITEM, name: 'parts', new_name: 'x' }],
    ['already-exists', { ...ITEM, name: 'pieces', new_name: 'name' }],
  ],
  [
    'create_select_permission',
    { ...ITEM, role: 'user', permission: { columns: ['id', 'name'], filter: { pieces: { label: { _eq: 'X-Svc-User-Id' } } } } },
    ['already-exists', { ...ITEM, role: 'user', permission: { columns: ['id'], filter: {} } }],
    ['invalid-configuration', { ...ITEM, role: 'other', permission: { columns: ['none'], filter: {} } }],
  ],
  [
    'set_permission_comment',
    { ...ITEM, role: 'user', type: 'select', comment: 'c' },
    ['permission-denied', { ...ITEM, role: 'nobody', type: 'select', comment: 'c' }],
    ['parse-failed', { ...ITEM, role: 'user', type: 'all', comment: 'c' }],
  ],
  [
    'add_computed_field',
    { ...ITEM, name: 'own_parts', ...computed('owner', 'id') },
    ['already-exists', { ...ITEM, name: 'own_parts', ...computed('owner', 'id') }],
    ['invalid-configuration', { ...ITEM, name: 'others', ...computed('nothing', 'id') }],
  ],
  [
    'drop_computed_field',
    { ...ITEM, name: 'own_parts' },
    ['not-exists', { ...ITEM, name: 'own_parts' }],
    ['not-exists', { ...NONE, name: 'own_parts' }],
  ],
  [
    'create_remote_relationship',
    { ...ITEM, name: 'notes', definition: toNotes('array') },
    ['already-exists', { ...ITEM, name: 'notes', definition: toNotes('array') }],
    [
      'invalid-configuration',
      {
        ...ITEM,
        name: 'more',
        definition: { to_source: { source: 'none', table: 'x', relationship_type: 'array', field_mapping: { id: 'y' } } },
      },
    ],
  ],
  [
    'update_remote_relationship',
    { ...ITEM, name: 'notes', definition: toNotes('object') },
    ['not-exists', { ...ITEM, name: 'none', definition: toNotes('object') }],
    ['parse-failed', { ...ITEM, name: 'notes', definition: {} }],
  ],
  [
    'run_sql',
    { ...S, sql: 'select 1' },
    ['database-error', { ...S, sql: 'no sql' }],
    ['not-supported', { ...S, sql: 'drop table shop.part', check_metadata_consistency: true }],
  ],
  [
    'delete_remote_relationship',
    { ...ITEM, name: 'notes' },
    ['not-exists', { ...ITEM, name: 'notes' }],
    ['not-exists', { ...NONE, name: 'notes' }],
  ],
  [
    'drop_select_permission',
    { ...ITEM, role: 'user' },
    ['permission-denied', { ...ITEM, role: 'nobody' }],
    ['not-exists', { ...NONE, role: 'user' }],
  ],
  [
    'drop_relationship',
    { ...ITEM, relationship: 'pieces' },
    ['not-exists', { ...ITEM, relationship: 'pieces' }],
    ['not-exists', { ...NONE, relationship: 'item' }],
  ],
  ['untrack_table', { ...ITEM, cascade: true }, ['already-untracked', ITEM], MISSING_SOURCE],
  ['untrack_tables', { tables: [PART] }, ['invalid-configuration', { tables: [NONE] }], ['parse-failed', {}]],
  ['drop_source', { name: 'shop', cascade: true }, ['not-exists', { name: 'shop' }], ['parse-failed', {}]],
];

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

  const operate = (type: string, args: JsonObject): Promise<Answer> =>
    service.send(type.endsWith('run_sql') ? '/v2/query' : '/v1/metadata', { method: 'POST', body: JSON.stringify({ type, args }) });

  it.each(CASES.map(([operation, args, ...refusals]) => ({ operation, args, refusals })))(
    'dwh_$operation',
    async ({ operation, args, refusals }) => {
      const { status, text, json } = await operate(`dwh_${operation}`, args);
      expect(status, text).toBe(200);
      if (operation === 'get_source_tables') expect(JSON.stringify(json)).toContain('{"dataset":"shop","name":"item"}');
      if (operation === 'run_sql') expect(json).toEqual({ result_type: 'TuplesOk', result: [['f0_'], ['1']] });
      for (const [code, wrong] of refusals) {
        const answer = await operate(`dwh_${operation}`, wrong);
        expect([answer.status >= 400, answer.json], answer.text).toMatchObject([true, { code }]);
      }
    },
  );

  it('are all in the list', async () => {
    const known = CASES.map(([operation]) => operation);
    const reference = readFileSync('docs/reference/metadata-api.md', 'utf8');
    const listed = new Set([...reference.matchAll(/^## dwh_([a-z_]+)$/gm)].map(([, name]) => name));
    expect([...listed].filter((name) => name !== undefined && !known.includes(name)).sort()).toEqual([]);
    for (const absent of ['track_function', 'create_event_trigger', 'set_table_is_enum', 'create_insert_permission'])
      expect((await operate(`dwh_${absent}`, {})).json).toMatchObject({ code: 'not-supported' });
  });

  it.each<readonly [string, JsonObject, string]>([
    ['no key', { service_account: 'x' }, 'the key of the service account is no JSON'],
    [
      'a key of others',
      { service_account: { client_email: 'a', private_key: 'b' } },
      '"private_key" of the service account is no private key',
    ],
    ['no project', { project_id: 'a b' }, '"a b" is no id of a project'],
    ['no dataset', { datasets: ' , ' }, 'the configuration names no dataset'],
    ['a wrong dataset', { datasets: ['a`b'] }, '"a`b" is no name of a dataset'],
    ['a wrong address', { api_endpoint: 'bigquery' }, 'api_endpoint is no http or https URL'],
    ['a dataset that is not there', { datasets: ['none'] }, 'none'],
  ])('a source with %s is refused', async (_, wrong, reason) => {
    const own = { ...configurationOf(bigquery, 'shop'), ...wrong };
    const { status, text } = await operate('dwh_add_source', { name: 'wrong', configuration: own });
    expect(status, text).toBeGreaterThanOrEqual(400);
    expect(text.replaceAll('\\"', '"')).toContain(reason);
  });
});
