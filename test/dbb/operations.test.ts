/** Every operation of MariaDB sources: one that succeeds, and two that are refused, in the order of a source's life. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { hasMariadb, startMariadb, type TestMariadb } from '../support/mariadb.ts';
import { type Answer, startTestService, type TestService } from '../support/service.ts';

type Refused = readonly [code: string, args: JsonObject];
type Case = readonly [operation: string, args: JsonObject, one: Refused, other: Refused];

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

const CASES: readonly Case[] = [
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

describe.skipIf(!hasMariadb())('operations of MariaDB', () => {
  let server: TestMariadb;
  let service: TestService;
  let event = '';

  beforeAll(async () => {
    server = await startMariadb();
    await server.run(`create database shop; use shop; create table item (id int primary key, name varchar(9));
      create table part (id int primary key, item_id int, label varchar(9), foreign key (item_id) references item (id)); create table keyless (a int);
      insert into item values (1, 'a'), (2, 'b')`);
    service = await startTestService({ ENABLE_EXT_FEDERATION: 'true' }, { SHOP: server.url('shop') });
    await service.sql('create table note (id int primary key, item_id int)');
    await service.metadata('pg_track_table', { table: 'note' });
  });
  afterAll(async () => {
    await service?.stop();
    await server?.stop();
  });

  async function isSubgraph(): Promise<void> {
    const variables: JsonObject = {
      of: [
        { __typename: 'thing', id: 2 },
        { __typename: 'thing', id: 9 },
      ],
    };
    const { data } = await service.graphql(
      'query($of: [_Any!]!) { _entities(representations: $of) { ... on thing { id title } } _service { sdl } }',
      {
        variables,
      },
    );
    expect(data).toMatchObject({
      _entities: [{ id: 2, title: 'b' }, null],
      _service: { sdl: expect.stringContaining('type thing @key(fields: "id")') },
    });
  }

  const operate = (type: string, args: JsonObject): Promise<Answer> =>
    service.send(type.endsWith('run_sql') ? '/v2/query' : '/v1/metadata', {
      method: 'POST',
      body: JSON.stringify({ type, args }).replace('$event', event),
    });

  it.each(CASES.map(([operation, args, ...refusals]) => ({ operation, args, refusals })))(
    'dbb_$operation',
    async ({ operation, args, refusals }) => {
      // An event may be on its way just now.
      const isBusy = ({ json: said }: Answer): boolean => (said as JsonObject | null)?.['code'] === 'busy';
      let answered = await operate(`dbb_${operation}`, args);
      for (; isBusy(answered); answered = await operate(`dbb_${operation}`, args)) await new Promise((resolve) => setTimeout(resolve, 20));
      const { status, text, json } = answered;
      expect(status, text).toBe(200);
      if (operation === 'invoke_event_trigger') event = String((json as JsonObject)['event_id']);
      if (operation === 'set_ext_federation_config') await isSubgraph();
      if (operation === 'get_source_tables')
        expect(json).toContainEqual(expect.objectContaining({ kind: 'table', tracked: false, estimated_rows: expect.any(Number) }));
      if (operation === 'get_table_info')
        expect(json).toMatchObject({ kind: 'table', unique_keys: [], columns: [{ generated: false }, {}] });
      for (const [code, wrong] of refusals) {
        const answer = await operate(`dbb_${operation}`, wrong);
        expect([answer.status >= 400, answer.json], answer.text).toMatchObject([true, { code }]);
      }
    },
  );

  it('are all in the list', async () => {
    const known = CASES.map(([operation]) => operation);
    const reference = await import('node:fs/promises').then((fs) => fs.readFile('docs/reference/metadata-api.md', 'utf8'));
    const listed = new Set([...reference.matchAll(/`dbb_([a-z_]+)`/g)].map(([, name]) => name));
    expect([...listed].filter((name) => name !== undefined && !known.includes(name)).sort()).toEqual([]);
    for (const absent of ['track_function', 'add_computed_field', 'set_table_is_enum'])
      expect((await operate(`dbb_${absent}`, {})).json).toMatchObject({ code: expect.stringMatching(/not-supported|parse-failed/) });
  });
});
