/** What is tried of every operation of MariaDB sources: what succeeds, and two ways to be refused, in the order of a source's life. */
import type { Json, JsonObject } from '../../src/util/json.ts';

export type Refused = readonly [code: string, args: JsonObject];
export type Case = readonly [operation: string, args: JsonObject, one: Refused, other: Refused];

const S = { source: 'shop' };
const ITEM = { ...S, table: 'item' };
const configuration = { connection_info: { connection_string: { from_env: 'SHOP' } } };
const MISSING_SOURCE: Refused = ['not-exists', { source: 'none', table: 'item' }];
const on = (foreign_key_constraint_on: Json): JsonObject => ({ using: { foreign_key_constraint_on } });
const toNotes = (relationship_type: string): JsonObject => ({
  to_source: { source: 'default', table: 'note', relationship_type, field_mapping: { id: 'item_id' } },
});
const permission = (kind: string, own: JsonObject, wrong: JsonObject): readonly Case[] => [
  [
    `create_${kind}_permission`,
    { ...ITEM, role: 'user', permission: own },
    ['already-exists', { ...ITEM, role: 'user', permission: own }],
    [kind === 'delete' ? 'parse-failed' : 'invalid-configuration', { ...ITEM, role: 'other', permission: wrong }],
  ],
];
const dropped = (kind: string): Case => [
  `drop_${kind}_permission`,
  { ...ITEM, role: 'user' },
  ['permission-denied', { ...ITEM, role: 'nobody' }],
  ['not-exists', { ...S, table: 'none', role: 'user' }],
];

export const CASES: readonly Case[] = [
  [
    'add_source',
    { name: 'shop', configuration },
    ['already-exists', { name: 'shop', configuration }],
    ['invalid-configuration', { name: 'other', configuration: { connection_info: { connection_string: { from_env: 'NONE' } } } }],
  ],
  [
    'update_source',
    { name: 'shop', configuration, customization: { root_fields: { namespace: 'shop' } } },
    ['not-exists', { name: 'none', configuration }],
    ['parse-failed', { name: 'shop', configuration: { connection_info: { database_url: 'x' } } }],
  ],
  ['get_source_tables', { ...S, details: true }, ['not-exists', { source: 'none' }], ['parse-failed', { source: 1 }]],
  ['get_table_info', { ...ITEM, details: true }, MISSING_SOURCE, ['parse-failed', S]],
  ['track_table', ITEM, ['already-tracked', ITEM], ['invalid-configuration', { ...S, table: 'none' }]],
  [
    'track_tables',
    {
      tables: [
        { ...S, table: 'part' },
        { ...S, table: 'keyless' },
      ],
    },
    ['invalid-configuration', { tables: [{ ...S, table: 'none' }] }],
    ['parse-failed', { tables: {} }],
  ],
  [
    'set_table_customization',
    { ...S, table: 'item', configuration: { custom_name: 'thing', column_config: { name: { custom_name: 'title' } } } },
    ['not-exists', { ...S, table: 'none', configuration: {} }],
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
    { ...S, table: 'part', name: 'item', ...on('item_id') },
    ['already-exists', { ...S, table: 'part', name: 'item', ...on('item_id') }],
    ['invalid-configuration', { ...S, table: 'part', name: 'other', ...on('label') }],
  ],
  [
    'create_array_relationship',
    { ...ITEM, name: 'parts', ...on({ table: 'part', column: 'item_id' }) },
    ['already-exists', { ...ITEM, name: 'name', ...on({ table: 'part', column: 'item_id' }) }],
    ['invalid-configuration', { ...ITEM, name: 'others', ...on({ table: 'part', column: 'label' }) }],
  ],
  [
    'set_relationship_comment',
    { ...ITEM, name: 'parts', comment: 'its parts' },
    ['not-exists', { ...ITEM, name: 'none', comment: null }],
    ['not-exists', { ...S, table: 'none', name: 'parts', comment: 'x' }],
  ],
  [
    'rename_relationship',
    { ...ITEM, name: 'parts', new_name: 'pieces' },
    ['not-exists', { ...ITEM, name: 'parts', new_name: 'x' }],
    ['already-exists', { ...ITEM, name: 'pieces', new_name: 'name' }],
  ],
  ...permission(
    'select',
    { columns: ['id', 'name'], filter: { pieces: { label: { _eq: 'X-Svc-User-Id' } } } },
    { columns: ['none'], filter: {} },
  ),
  ...permission('insert', { check: { id: { _gt: 0 } }, columns: '*' }, { check: { none: { _eq: 1 } }, columns: '*' }),
  ...permission('update', { columns: ['name'], filter: {} }, { columns: ['none'], filter: {} }),
  ...permission('delete', { filter: { id: { _gt: 1 } } }, { filter: 1 }),
  [
    'set_permission_comment',
    { ...ITEM, role: 'user', type: 'select', comment: 'c' },
    ['permission-denied', { ...ITEM, role: 'nobody', type: 'select', comment: 'c' }],
    ['parse-failed', { ...ITEM, role: 'user', type: 'all', comment: 'c' }],
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
    'create_event_trigger',
    { ...ITEM, name: 'made', webhook: 'http://127.0.0.1:9/', insert: { columns: '*' }, enable_manual: true },
    ['already-exists', { ...ITEM, name: 'made', webhook: 'http://127.0.0.1:9/', insert: { columns: '*' } }],
    ['parse-failed', { ...ITEM, name: 'none', webhook: 'http://127.0.0.1:9/' }],
  ],
  [
    'invoke_event_trigger',
    { ...S, name: 'made', payload: { n: 1 } },
    ['not-exists', { ...S, name: 'none', payload: {} }],
    ['parse-failed', { ...S, name: 'made' }],
  ],
  [
    'get_event_logs',
    { ...S, name: 'made', after: '$event', since: '2024-05-01T00:00:00Z', status: 'pending' },
    ['not-exists', { source: 'none', name: 'made' }],
    ['parse-failed', { ...S, name: 'made', status: 'odd' }],
  ],
  [
    'get_event_invocation_logs',
    { ...S, name: 'made' },
    ['not-exists', { source: 'none', name: 'made' }],
    ['parse-failed', { ...S, name: 'made', limit: -1 }],
  ],
  ['get_dead_events', S, ['not-exists', { source: 'none' }], ['data-exception', { ...S, created_from: 'yesterday' }]],
  ['redeliver_events', S, ['not-exists', { source: 'none' }], ['parse-failed', { ...S, status: 'odd' }]],
  ['redeliver_event', { ...S, event_id: '$event' }, ['not-exists', { ...S, event_id: 'none' }], ['parse-failed', S]],
  ['get_event_by_id', { ...S, event_id: '$event' }, ['not-exists', { ...S, event_id: 'none' }], ['parse-failed', { ...S, event_id: 1 }]],
  [
    'delete_event_trigger',
    { ...S, name: 'made' },
    ['not-exists', { ...S, name: 'made' }],
    ['not-exists', { source: 'none', name: 'made' }],
  ],
  [
    'run_sql',
    { ...S, sql: 'select 1' },
    ['database-error', { ...S, sql: 'no sql' }],
    ['dependency-error', { ...S, sql: 'drop table part' }],
  ],
  [
    'delete_remote_relationship',
    { ...ITEM, name: 'notes' },
    ['not-exists', { ...ITEM, name: 'notes' }],
    ['not-exists', { ...S, table: 'none', name: 'notes' }],
  ],
  ...['insert', 'update', 'delete', 'select'].map(dropped),
  [
    'drop_relationship',
    { ...ITEM, relationship: 'pieces' },
    ['not-exists', { ...ITEM, relationship: 'pieces' }],
    ['not-exists', { ...S, table: 'none', relationship: 'item' }],
  ],
  ['untrack_table', { ...S, table: 'item', cascade: true }, ['already-untracked', ITEM], MISSING_SOURCE],
  [
    'untrack_tables',
    { tables: [{ ...S, table: 'keyless' }] },
    ['invalid-configuration', { tables: [{ ...S, table: 'none' }] }],
    ['parse-failed', {}],
  ],
  ['drop_source', { name: 'shop', cascade: true }, ['not-exists', { name: 'shop' }], ['parse-failed', {}]],
];
