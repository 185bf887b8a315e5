/** What is tried of every operation of BigQuery sources: what succeeds, and two ways to be refused, in the order of a source's life. */
import type { JsonObject } from '../../src/util/json.ts';

export type Refused = readonly [code: string, args: JsonObject];
export type Case = readonly [operation: string, args: JsonObject, one: Refused, other: Refused];

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
