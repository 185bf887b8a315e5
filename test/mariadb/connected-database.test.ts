/** Tables named with the connected database are the same as those named without a schema. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Json, type JsonObject, printJson } from '../../src/util/json.ts';
import { hasMariadb, startMariadb, type TestMariadb } from '../support/mariadb.ts';
import { startTestService, type TestService } from '../support/service.ts';

const TABLES = `create database shop; create database stock;
create table shop.place (id int primary key, label varchar(20) not null);
create table shop.item (id int primary key, name varchar(20) not null, place_id int, foreign key (place_id) references shop.place (id));
create table stock.item (id int primary key, n int not null);
insert into shop.place values (1, 'cellar'); insert into shop.item values (1, 'bulb', 1); insert into stock.item values (1, 5);`;

const configuration = { connection_info: { connection_string: { from_env: 'SHOP' } } };
const item = { schema: 'shop', name: 'item' };
const place = { schema: 'shop', name: 'place' };

describe.skipIf(!hasMariadb())('tables named with the connected database', () => {
  let server: TestMariadb;
  let service: TestService;
  const metadata = (type: string, args: JsonObject): Promise<Json> => service.metadata(`dbb_${type}`, { source: 'shop', ...args });
  const tables = async (): Promise<readonly JsonObject[]> => {
    const { sources } = (await service.metadata('export_metadata', {})) as { readonly sources: readonly JsonObject[] };
    return (sources.find(({ name }) => name === 'shop') as { readonly tables: readonly JsonObject[] } | undefined)?.tables ?? [];
  };
  const source = (entries: readonly JsonObject[]): JsonObject => ({
    metadata: { version: 3, sources: [{ name: 'shop', kind: 'dbb', tables: entries, configuration }] },
    allow_inconsistent_metadata: false,
  });

  beforeAll(async () => {
    server = await startMariadb();
    await server.run(TABLES);
    service = await startTestService({}, { SHOP: server.url('shop') });
    await service.metadata('dbb_add_source', { name: 'shop', configuration });
  });
  afterAll(async () => {
    await service?.stop();
    await server?.stop();
  });

  it('can be edited under either name and are stored without the schema', async () => {
    await metadata('track_table', { table: item });
    await service.metadata('dbb_track_tables', { tables: [{ source: 'shop', table: place }] });
    await metadata('track_table', { table: { schema: 'stock', name: 'item' } });
    await expect(metadata('track_table', { table: 'item' })).rejects.toThrow('already-tracked');
    await expect(metadata('track_table', { table: item })).rejects.toThrow('already-tracked');
    await metadata('create_object_relationship', { table: 'item', name: 'place', using: { foreign_key_constraint_on: 'place_id' } });
    await metadata('create_array_relationship', {
      table: place,
      name: 'items',
      using: { foreign_key_constraint_on: { table: item, column: 'place_id' } },
    });
    await metadata('create_object_relationship', {
      table: item,
      name: 'spot',
      using: { manual_configuration: { remote_table: place, column_mapping: { place_id: 'id' } } },
    });
    const filter = { _exists: { _table: place, _where: { label: { _eq: 'cellar' } } } };
    await metadata('create_select_permission', { table: item, role: 'user', permission: { columns: ['name'], filter } });
    await metadata('create_event_trigger', {
      name: 'item_added',
      table: item,
      webhook: 'http://127.0.0.1:9/hook',
      insert: { columns: '*' },
    });
    await service.metadata('dbb_create_remote_relationship', {
      source: 'shop',
      table: item,
      name: 'same',
      definition: { to_source: { source: 'shop', table: item, relationship_type: 'object', field_mapping: { id: 'id' } } },
    });
    expect((await tables()).map(({ table }) => table)).toEqual([{ name: 'item' }, { name: 'place' }, { name: 'item', schema: 'stock' }]);
    expect(await service.metadata('export_metadata', { only: { tables: [{ source: 'shop', table: place }] } })).toMatchObject({
      sources: [{ tables: [{ table: { name: 'place' } }] }],
    });
    const [ofItem, ofPlace] = await tables();
    expect(printJson([ofItem?.['object_relationships'] ?? null, ofPlace?.['array_relationships'] ?? null])).not.toContain('"shop"');
    expect(ofItem).toMatchObject({ event_triggers: [{ name: 'item_added' }], remote_relationships: [{ name: 'same' }] });
    expect(await service.graphql('{ item { name place { label } spot { items { name } } same { name } } stock_item { n } }')).toEqual({
      data: {
        item: [{ name: 'bulb', place: { label: 'cellar' }, spot: { items: [{ name: 'bulb' }] }, same: { name: 'bulb' } }],
        stock_item: [{ n: 5 }],
      },
    });
    expect(await service.graphql('{ item { name } }', { role: 'user' })).toEqual({ data: { item: [{ name: 'bulb' }] } });
    expect(await service.metadata('get_inconsistent_metadata', {})).toMatchObject({ is_consistent: true });
  });

  it('are found under the other name by operations that remove parts', async () => {
    await metadata('drop_select_permission', { table: 'item', role: 'user' });
    await metadata('delete_event_trigger', { name: 'item_added' });
    await metadata('delete_remote_relationship', { table: item, name: 'same' });
    await metadata('drop_relationship', { table: item, relationship: 'spot' });
    await metadata('untrack_table', { table: item, cascade: true });
    expect((await tables()).map(({ table }) => table)).toEqual([{ name: 'place' }, { name: 'item', schema: 'stock' }]);
  });

  it('are stored without the schema by an import, also one that adds the source', async () => {
    const document = source([
      { table: item, object_relationships: [{ name: 'place', using: { foreign_key_constraint_on: 'place_id' } }] },
      {
        table: place,
        array_relationships: [{ name: 'items', using: { foreign_key_constraint_on: { table: item, column: 'place_id' } } }],
      },
    ]);
    await service.metadata('replace_metadata', { metadata: { version: 3, sources: [] } });
    for (let round = 0; round < 2; round += 1) {
      await service.metadata('replace_metadata', document);
      expect((await tables()).map(({ table }) => table)).toEqual([{ name: 'item' }, { name: 'place' }]);
      expect(printJson((await tables()) as Json)).not.toContain('"shop"');
      expect(await service.graphql('{ place { items { name } } }')).toEqual({ data: { place: [{ items: [{ name: 'bulb' }] }] } });
    }
  });

  it('are found under both names in a source that the same bulk adds', async () => {
    await service.metadata('replace_metadata', { metadata: { version: 3, sources: [] } });
    await service.metadata('bulk', [
      { type: 'dbb_add_source', args: { name: 'shop', configuration } },
      { type: 'dbb_track_table', args: { source: 'shop', table: item } },
      {
        type: 'dbb_create_select_permission',
        args: { source: 'shop', table: 'item', role: 'user', permission: { columns: ['id'], filter: {} } },
      },
    ] as never);
    expect(await tables()).toMatchObject([{ table: { name: 'item' }, select_permissions: [{ role: 'user' }] }]);
  });

  it('are refused if a document has the table under both names', async () => {
    await expect(service.metadata('replace_metadata', source([{ table: 'item' }, { table: item }]))).rejects.toThrow(
      'so its tables are named without it',
    );
  });
});
