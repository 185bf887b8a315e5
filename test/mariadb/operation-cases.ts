/** Cases for each operation of MariaDB sources, in the order of a source's life: one that succeeds and two that are refused. */
import type { Json, JsonObject } from '../../src/util/json.ts';
import { type Case, sharedCases } from '../support/source-cases.ts';

const S = { source: 'shop' };
const on = (foreign_key_constraint_on: Json): JsonObject => ({ using: { foreign_key_constraint_on } });
const OF = sharedCases({
  table: (name) => name,
  using: {
    parts: on({ table: 'part', column: 'item_id' }),
    item: on('item_id'),
    noParts: on({ table: 'part', column: 'label' }),
    noItem: on('label'),
  },
});
const { item: ITEM, missingSource: MISSING_SOURCE } = OF;
const configuration = { connection_info: { connection_string: { from_env: 'SHOP' } } };

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
  ...OF.named,
  ...OF.related,
  [
    'set_relationship_comment',
    { ...ITEM, name: 'parts', comment: 'its parts' },
    ['not-exists', { ...ITEM, name: 'none', comment: null }],
    ['not-exists', { ...S, table: 'none', name: 'parts', comment: 'x' }],
  ],
  OF.renamed,
  OF.seen,
  OF.permission('insert', { check: { id: { _gt: 0 } }, columns: '*' }, { check: { none: { _eq: 1 } }, columns: '*' }),
  OF.permission('update', { columns: ['name'], filter: {} }, { columns: ['none'], filter: {} }),
  OF.permission('delete', { filter: { id: { _gt: 1 } } }, { filter: 1 }),
  OF.commented,
  ...OF.joined,
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
  OF.unjoined,
  ...['insert', 'update', 'delete', 'select'].map(OF.forbidden),
  ...OF.ended,
  [
    'untrack_tables',
    { tables: [{ ...S, table: 'keyless' }] },
    ['invalid-configuration', { tables: [{ ...S, table: 'none' }] }],
    ['parse-failed', {}],
  ],
  OF.dropped,
];
