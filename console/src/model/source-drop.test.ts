import { describe, expect, it } from 'vitest';
import type { JsonObject } from './json.ts';
import { sourceDrop } from './source-drop.ts';

const ITEM = { schema: 'public', name: 'item' };
const TO_SHOP = { to_source: { source: 'shop', table: ITEM, relationship_type: 'array', field_mapping: { id: 'id' } } };

const METADATA: JsonObject = {
  version: 3,
  sources: [
    {
      name: 'shop',
      kind: 'pg',
      configuration: { connection_info: { database_url: { from_env: 'SHOP' } } },
      customization: { root_fields: { prefix: 'shop_' } },
      query_tags: { format: 'sqlcommenter' },
      tables: [
        {
          table: ITEM,
          object_relationships: [{ name: 'owner', using: { foreign_key_constraint_on: 'owner_id' } }],
          select_permissions: [{ role: 'reader', permission: { columns: ['id'], filter: { owner: { id: { _eq: 1 } } } } }],
          event_triggers: [{ name: 'itemed', definition: { insert: { columns: '*' } }, webhook: 'http://x' }],
        },
        { table: { schema: 'public', name: 'owner' }, is_enum: true },
      ],
      functions: [{ function: 'f', permissions: [{ role: 'reader' }] }],
    },
    {
      name: 'other',
      kind: 'dbb',
      configuration: {},
      tables: [{ table: { name: 'visit' }, remote_relationships: [{ name: 'items', definition: TO_SHOP }] }],
    },
  ],
  remote_schemas: [
    {
      name: 'world',
      definition: {},
      remote_relationships: [{ type_name: 'Land', relationships: [{ name: 'items', definition: TO_SHOP }] }],
    },
    { name: 'moon', definition: {} },
  ],
  custom_types: {
    objects: [{ name: 'T', fields: [], relationships: [{ name: 'item', type: 'object', source: 'shop', remote_table: ITEM }] }],
  },
};

describe('undo of dropping a source', () => {
  it('adds the source again with its objects in order of dependencies, and relationships to it', () => {
    const { tables, remoteSchemas, affectsTypes, inverse } = sourceDrop(METADATA, 'shop');
    expect(tables).toEqual([{ source: 'other', kind: 'dbb', table: { name: 'visit' } }]);
    expect(remoteSchemas).toEqual(['world']);
    expect(affectsTypes).toBe(true);
    expect(inverse.map(({ type }) => type)).toEqual([
      'pg_add_source',
      'set_query_tags',
      'pg_track_table',
      'pg_track_table',
      'pg_set_table_is_enum',
      'pg_track_function',
      'pg_create_object_relationship',
      'pg_create_select_permission',
      'pg_create_function_permission',
      'pg_create_event_trigger',
      'dbb_create_remote_relationship',
      'create_remote_schema_remote_relationship',
      'set_custom_types',
    ]);
    expect(inverse[0]?.args).toEqual({
      name: 'shop',
      configuration: { connection_info: { database_url: { from_env: 'SHOP' } } },
      customization: { root_fields: { prefix: 'shop_' } },
    });
    expect(inverse[10]?.args).toEqual({ source: 'other', table: { name: 'visit' }, name: 'items', definition: TO_SHOP });
    expect(inverse[11]?.args).toEqual({ remote_schema: 'world', type_name: 'Land', name: 'items', definition: TO_SHOP });
  });

  it('fails if something cannot be restored', () => {
    expect(() => sourceDrop({ sources: [{ name: 'shop', kind: 'pg', native_queries: [] }] }, 'shop')).toThrow('"native_queries" of shop');
    expect(() => sourceDrop({ sources: [] }, 'shop')).toThrow('The source shop no longer exists');
  });
});
