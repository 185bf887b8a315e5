/** Tables of several databases of one server in one source, with a restricted user. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Json, type JsonObject, printJson } from '../../src/util/json.ts';
import { hasMariadb, startMariadb, type TestMariadb } from '../support/mariadb.ts';
import { startTestService, type TestService } from '../support/service.ts';

const TABLES = `create database shop; create database stock; create database hidden;
create table shop.item (id int primary key auto_increment, name varchar(20) not null unique, place_id int);
create table stock.place (id int primary key auto_increment, label varchar(20) not null, constraint place_label unique (label));
create table stock.item (id int primary key, n int not null default 0);
alter table shop.item add constraint item_place foreign key (place_id) references stock.place (id);
create table hidden.item (id int primary key, secret varchar(20));
insert into stock.place values (1, 'cellar'); insert into stock.item values (1, 5); insert into shop.item values (1, 'bulb', 1);`;

describe.skipIf(!hasMariadb())('databases of one MariaDB server', () => {
  let server: TestMariadb;
  let service: TestService;
  const metadata = (type: string, args: JsonObject): Promise<Json> => service.metadata(`dbb_${type}`, { source: 'shop', ...args });
  const ask = async (query: string): Promise<string> => {
    const { data, errors } = await service.graphql(query);
    return printJson((errors === undefined ? data : errors) as Json);
  };
  const runSql = (sql: string) =>
    service.send('/v2/query', { method: 'POST', body: printJson({ type: 'dbb_run_sql', args: { source: 'shop', sql } }) });
  const place = { schema: 'stock', name: 'place' };

  beforeAll(async () => {
    server = await startMariadb();
    await server.run(TABLES);
    service = await startTestService({}, { SHOP: server.url('shop') });
    await service.metadata('dbb_add_source', {
      name: 'shop',
      configuration: { connection_info: { connection_string: { from_env: 'SHOP' } } },
    });
  });
  afterAll(async () => {
    await service?.stop();
    await server?.stop();
  });

  it('distinguishes tables of the same name by database', async () => {
    expect(await metadata('get_source_tables', {})).toEqual([
      { name: 'item' },
      { schema: 'hidden', name: 'item' },
      { schema: 'stock', name: 'item' },
      { schema: 'stock', name: 'place' },
    ]);
    const info = async (table: Json): Promise<string> => printJson(await metadata('get_table_info', { table }));
    expect(await info('item')).toContain('"place_id"');
    expect(await info({ schema: 'stock', name: 'item' })).not.toContain('"place_id"');
    expect(await info({ schema: 'nowhere', name: 'item' })).toBe('null');
    for (const table of ['item', { schema: 'stock', name: 'item' }, place] as const) await metadata('track_table', { table });
    expect(await ask('{ item { name } stock_item { n } stock_place { label } }')).toBe(
      '{"item":[{"name":"bulb"}],"stock_item":[{"n":5}],"stock_place":[{"label":"cellar"}]}',
    );
    // The same table under another name.
    await expect(metadata('track_table', { table: { schema: 'shop', name: 'item' } })).rejects.toThrow('already-tracked');
  });

  it('follows foreign keys between databases and writes them together', async () => {
    expect(await metadata('suggest_relationships', {})).toMatchObject({ relationships: [{ type: 'object' }, { type: 'array' }] });
    await metadata('create_object_relationship', { table: 'item', name: 'place', using: { foreign_key_constraint_on: 'place_id' } });
    await metadata('create_array_relationship', {
      table: place,
      name: 'items',
      using: { foreign_key_constraint_on: { table: 'item', column: 'place_id' } },
    });
    expect(
      await ask(
        'mutation { insert_stock_place_one(object: {label: "attic", items: {data: [{name: "box"}]}}) { label items { name place { label } } } }',
      ),
    ).toBe('{"insert_stock_place_one":{"label":"attic","items":[{"name":"box","place":{"label":"attic"}}]}}');
    expect(
      await ask(
        'mutation { insert_item(objects: [{name: "cup", place: {data: {label: "attic"}, on_conflict: {constraint: place_label, update_columns: [label]}}}]) { returning { place { items_aggregate { aggregate { count } } } } } update_stock_item(where: {id: {_eq: 1}}, _inc: {n: 1}) { returning { n } } }',
      ),
    ).toBe(
      '{"insert_item":{"returning":[{"place":{"items_aggregate":{"aggregate":{"count":2}}}}]},"update_stock_item":{"returning":[{"n":6}]}}',
    );
    const permission = {
      columns: ['label'],
      filter: { _exists: { _table: { schema: 'stock', name: 'item' }, _where: { n: { _gt: 5 } } } },
    };
    await metadata('create_select_permission', { table: place, role: 'user', permission });
    expect(await service.graphql('{ stock_place(order_by: {label: asc}) { label } }', { role: 'user' })).toEqual({
      data: { stock_place: [{ label: 'attic' }, { label: 'cellar' }] },
    });
  });

  it('follows changes of tables by SQL', async () => {
    expect((await runSql('alter table stock.place rename column label to mark')).text).toContain('CommandOk');
    expect(await ask('{ stock_place(order_by: {mark: asc}) { mark items { name } } }')).toBe(
      '{"stock_place":[{"mark":"attic","items":[{"name":"box"},{"name":"cup"}]},{"mark":"cellar","items":[{"name":"bulb"}]}]}',
    );
    expect((await runSql('drop table stock.item')).text).toContain('dependency-error');
    expect((await runSql('rename table stock.item to shop.amount')).text).toContain('CommandOk');
    expect(await ask('{ amount { n } }')).toBe('{"amount":[{"n":6}]}');
    // A new table is found if it is requested alone.
    await server.run('create table stock.late (id int primary key)');
    await metadata('track_table', { table: { schema: 'stock', name: 'late' } });
    expect(await ask('{ stock_late { id } }')).toBe('{"stock_late":[]}');
  });
});
