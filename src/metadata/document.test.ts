import { expect, test } from 'vitest';
import { testKind, testKinds } from '../../test/support/kinds.ts';
import { nameKey } from '../catalog/catalog.ts';
import type { Json } from '../util/json.ts';
import { ROOT } from '../util/path.ts';
import { decodeDocument } from './document.ts';
import { EMPTY_METADATA, metadataCodec } from './metadata.ts';
import { insertPermissionCodec, updatePermissionCodec } from './permission.ts';
import { NO_CUSTOMIZATION, sourceCustomizationCodec } from './source.ts';
import { tableCodec } from './table.ts';
import { NO_TABLE_CONFIGURATION, tableConfigurationCodec } from './table-configuration.ts';

const codec = metadataCodec(testKinds);
const configuration = { connection_info: { database_url: { from_env: 'URL' } } };

function exported(json: Json): Json {
  return codec.encode(codec.decode(json, ROOT));
}

test('an exported document has sorted lists, listed key order and no empty keys', () => {
  const json = {
    network: { tls_allowlist: [] },
    cron_triggers: [{ name: 'c', webhook: 'http://c', schedule: '* * * * *', include_in_metadata: true }],
    remote_schemas: [
      { name: 'r', definition: { url: 'http://r', timeout_seconds: 60, headers: [], forward_client_headers: false }, permissions: [] },
      {
        definition: { forward_client_headers: true, url_from_env: 'Q', customization: { field_names: [] } },
        name: 'q',
        comment: null,
        permissions: [
          { role: 'v', definition: { schema: 'type Query { v: Int }' } },
          { role: 'u', definition: { schema: 'type Query { u: Int }' } },
        ],
      },
    ],
    unknown_to_us: 1,
    inherited_roles: [
      { role_set: ['b', 'a'], role_name: 'z' },
      { role_name: 'y', role_set: ['a', 'b'] },
    ],
    graphql_schema_introspection: { disabled_for_roles: [] },
    sources: [
      {
        customization: { root_fields: { namespace: null, prefix: '' }, type_names: {} },
        configuration,
        functions: [],
        tables: [
          { table: 'b', event_triggers: [], is_enum: false, configuration: {} },
          {
            table: { schema: 'public', name: 'a' },
            select_permissions: [
              { role: 'v', permission: { columns: '*', filter: {}, query_root_fields: ['select_aggregate', 'select'] } },
              { role: 'u', permission: { filter: {}, columns: ['y', 'x'], limit: 0, allow_aggregations: false }, comment: null },
            ],
            object_relationships: [{ using: { manual_configuration: { remote_table: 'b', column_mapping: { x: 'y' } } }, name: 'o' }],
            configuration: {
              custom_column_names: { x: 'ex', y: 'why' },
              column_config: { y: { custom_name: 'wye' }, z: {} },
              identifier: 'ay',
            },
          },
        ],
        name: 'default',
      },
    ],
    version: 3,
  };
  expect(JSON.stringify(exported(json as unknown as Json), null, 1)).toMatchSnapshot();
});

test('an empty setting of a source counts as absent', () => {
  expect(
    sourceCustomizationCodec.decode({ root_fields: { namespace: '', suffix: null }, type_names: null, naming_convention: null }, ROOT),
  ).toBe(NO_CUSTOMIZATION);
  expect(tableConfigurationCodec.decode({ custom_root_fields: { select: null }, column_config: { a: {} }, comment: null }, ROOT)).toBe(
    NO_TABLE_CONFIGURATION,
  );
});

test('comments of root fields distinguish null and empty from absent', () => {
  const fields = (json: Json) =>
    tableConfigurationCodec.decode({ custom_root_fields: { select: json } }, ROOT).customRootFields.get('select');
  expect(fields({ name: 'a' })).toEqual({ name: 'a' });
  expect(fields({ comment: null })).toEqual({ comment: null });
  expect(fields({ name: 'a', comment: '' })).toEqual({ name: 'a', comment: '' });
});

test('custom_name takes precedence over identifier', () => {
  expect(tableConfigurationCodec.decode({ custom_name: 'a', identifier: 'b' }, ROOT).customName).toBe('a');
});

test('encodes insert columns only if they were set, and the check of updates always', () => {
  expect(insertPermissionCodec.encode(insertPermissionCodec.decode({ check: {} }, ROOT))).toEqual({ check: {} });
  expect(insertPermissionCodec.encode(insertPermissionCodec.decode({ check: {}, columns: '*' }, ROOT))).toEqual({
    check: {},
    columns: '*',
  });
  expect(updatePermissionCodec.encode(updatePermissionCodec.decode({ columns: [], filter: {} }, ROOT))).toEqual({
    columns: [],
    filter: {},
    check: null,
  });
});

test('encodes one foreign key column as a text, several as a list', () => {
  const using = (column: Json) => {
    const entry = tableCodec(testKind).encode(
      tableCodec(testKind).decode(
        { table: 't', object_relationships: [{ name: 'r', using: { foreign_key_constraint_on: column } }] },
        ROOT,
      ),
    );
    return JSON.stringify(
      (entry as unknown as { object_relationships: [{ using: { foreign_key_constraint_on: Json } }] }).object_relationships[0].using
        .foreign_key_constraint_on,
    );
  };
  expect(using(['a'])).toBe('"a"');
  expect(using(['a', 'b'])).toBe('["a","b"]');
  expect(using({ table: 'u', columns: ['a'] })).toBe('{"column":"a","table":{"schema":"public","name":"u"}}');
  expect(using({ columns: ['a', 'b'], table: 'u' })).toBe('{"columns":["a","b"],"table":{"schema":"public","name":"u"}}');
});

const current = codec.decode(
  {
    version: 3,
    sources: [
      { name: 'default', kind: 'postgres', tables: [{ table: 'old' }], configuration, customization: { type_names: { prefix: 'p_' } } },
      { name: 'second', tables: [], configuration },
    ],
    inherited_roles: [{ role_name: 'r', role_set: ['a', 'b'] }],
    network: { tls_allowlist: [{ host: 'h' }] },
    query_collections: [{ name: 'old', definition: { queries: [{ name: 'q', query: '{ a }' }] } }],
    rest_endpoints: [{ name: 'e', url: 'a/:id', methods: ['GET'], definition: { query: { collection_name: 'old', query_name: 'q' } } }],
    actions: [{ name: 'old', definition: { handler: 'http://h', output_type: 'Int' } }],
    graphql_schema_introspection: { disabled_for_roles: ['x'] },
  },
  ROOT,
);

test('a document without sources replaces the contents of the default source', () => {
  const json: Json = {
    tables: [{ table: 'new' }],
    functions: ['f', { schema: 's', name: 'g' }, { function: 'h', configuration: { exposed_as: 'query' } }],
    cron_triggers: [{ name: 'c', webhook: 'http://c', schedule: '* * * * *', include_in_metadata: true }],
    query_collections: [{ name: 'new', definition: { queries: [] } }],
    actions: [{ name: 'fresh', definition: { handler: 'http://h', output_type: 'S' } }],
    custom_types: { scalars: [{ name: 'S' }] },
  };
  const after = decodeDocument(json, ROOT, testKinds, current);
  expect([...after.sources.keys()]).toEqual(['default']);
  const source = after.sources.get('default');
  expect(source?.kind).toBe('pg');
  expect(source?.customization.typeNames.prefix).toBe('p_');
  expect([...(source?.tables.keys() ?? [])]).toEqual([nameKey({ schema: 'public', name: 'new' })]);
  expect([...(source?.functions.values() ?? [])].map((fn) => [fn.function.name, fn.configuration.exposedAs])).toEqual([
    ['f', undefined],
    ['g', undefined],
    ['h', 'query'],
  ]);
  expect(after.inheritedRoles.size).toBe(0);
  expect(after.introspection.disabledForRoles).toEqual(['x']);
  expect(after.network.tlsAllowlist.size).toBe(0);
  expect([...after.queryCollections.keys()]).toEqual(['new']);
  expect([...after.restEndpoints.keys()]).toEqual(['e']);
  expect([...after.actions.keys()]).toEqual(['fresh']);
  expect(after.customTypes.scalars).toEqual([{ name: 'S' }]);
  expect(after.unknownKeys).toBeUndefined();
  expect([...after.cronTriggers.keys()]).toEqual(['c']);
  expect(() => decodeDocument({ tables: [], network: { tls_allowlist: [{ host: 'h' }] } }, ROOT, testKinds, current)).toThrow(
    'has no "network"',
  );
});

test('a document with sources and no version is read as version 3', () => {
  expect(decodeDocument({ sources: [] }, ROOT, testKinds, current)).toEqual(EMPTY_METADATA);
});
