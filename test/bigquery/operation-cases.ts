/** Cases for each operation of BigQuery sources, in the order of a source's life: one that succeeds and two that are refused. */
import type { JsonObject } from '../../src/util/json.ts';
import { type Case, sharedCases } from '../support/source-cases.ts';

const S = { source: 'shop' };
const table = (name: string): JsonObject => ({ dataset: 'shop', name });
const byHand = (name: string, column_mapping: JsonObject): JsonObject => ({
  using: { manual_configuration: { remote_table: table(name), column_mapping } },
});
const OF = sharedCases({
  table,
  using: {
    parts: byHand('part', { id: 'item_id' }),
    item: byHand('item', { item_id: 'id' }),
    noParts: { using: { foreign_key_constraint_on: { table: table('part'), column: 'item_id' } } },
    noItem: byHand('item', { label: 'id' }),
  },
});
const { item: ITEM, part: PART, none: NONE, missingSource: MISSING_SOURCE } = OF;
const configuration = {
  service_account: { from_env: 'KEY' },
  project_id: 'svc-test',
  datasets: 'shop',
  api_endpoint: { from_env: 'SHOP' },
};
const computed = (argument: string, column: string, returned = 'part'): JsonObject => ({
  definition: { function: table('parts_of'), argument_mapping: { [argument]: column }, return_table: table(returned) },
});

export const CASES: readonly Case[] = [
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
  ...OF.named,
  ...OF.related,
  [
    'set_relationship_comment',
    { ...ITEM, relationship: 'parts', comment: 'its parts' },
    ['not-exists', { ...ITEM, relationship: 'none', comment: null }],
    ['not-exists', { ...NONE, relationship: 'parts', comment: 'x' }],
  ],
  OF.renamed,
  OF.seen,
  OF.commented,
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
  ...OF.joined,
  [
    'run_sql',
    { ...S, sql: 'select 1' },
    ['database-error', { ...S, sql: 'no sql' }],
    ['not-supported', { ...S, sql: 'drop table shop.part', check_metadata_consistency: true }],
  ],
  OF.unjoined,
  OF.forbidden('select'),
  ...OF.ended,
  ['untrack_tables', { tables: [PART] }, ['invalid-configuration', { tables: [NONE] }], ['parse-failed', {}]],
  OF.dropped,
];
