/**
 * Inference of the location of tables, and its refusals before a statement is sent. The catalog is a stand-in: no
 * statement runs on Citus, which would refuse these itself, with other messages.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { runSql } from '../support/postgres.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { STAND_IN_CATALOG } from './stand-in-catalog.ts';

const TABLES = `
create table customer (id int primary key, name text);
create table orders (customer_id int, id int, note text, amount int, primary key (customer_id, id), unique (id));
create table line (customer_id int, order_id int, id int, text text, primary key (customer_id, order_id, id));
create table visit (id bigserial primary key, customer_id int, made date);
create table country (code text primary key, name text);
create table setting (name text primary key, value text);
create table shop (id int primary key, name text);
create schema tenant;
create table tenant.page (id int primary key, body text);
create table alone (id int primary key);
create table unkept (customer_id int, body text);
create view names as select id, name from customer;`;
const DISTRIBUTED = `
select create_distributed_table('customer', 'id', 2), create_distributed_table('orders', 'customer_id', 2), create_distributed_table('line', 'customer_id', 2),
  create_distributed_table('visit', 'id', 3), create_reference_table('country'), citus_add_local_table_to_metadata('setting'),
  create_distributed_table('tenant.page', 7), create_distributed_table('alone', 8), create_distributed_table('unkept', 'customer_id', 2);
insert into pg_dist_schema values ('tenant', 7);`;

const TRACKED = ['customer', 'orders', 'line', 'visit', 'country', 'setting', 'shop', 'alone', 'unkept'];

describe('location of tables', () => {
  let service: TestService;
  const run = (type: string, args: JsonObject): Promise<Json> => service.metadata(`dbc_${type}`, { source: 'spread', ...args });
  const sql = async (text: string): Promise<Json> => {
    const body = JSON.stringify({ type: 'dbc_run_sql', args: { source: 'spread', sql: text } });
    const { status, text: message, json } = await service.send('/v2/query', { method: 'POST', body });
    if (status !== 200) throw new Error(message);
    return json;
  };
  const relate = (type: 'object' | 'array', table: string, name: string, remote_table: string, column_mapping: JsonObject): Promise<Json> =>
    run(`create_${type}_relationship`, { table, name, using: { manual_configuration: { remote_table, column_mapping } } });
  const distributionOf = async (table: Json): Promise<Json> =>
    ((await run('get_table_info', { table, details: true })) as JsonObject)['distribution'] ?? null;
  const refused = async (request: string, code: string, path: string, message: string, variables: JsonObject = {}): Promise<void> => {
    const before = await sql(EVERYTHING);
    expect(await service.graphql(request, { variables })).toEqual({
      errors: [{ message: expect.stringContaining(message), locations: expect.any(Array), extensions: { path, code } }],
    });
    expect(await sql(EVERYTHING)).toEqual(before);
  };
  const EVERYTHING = `select (select json_agg(c) from customer c)::text, (select json_agg(o) from orders o)::text, (select json_agg(l) from line l)::text`;

  beforeAll(async () => {
    service = await startTestService();
    await runSql(service.databaseUrl, STAND_IN_CATALOG + TABLES);
    await service.metadata('dbc_add_source', {
      name: 'spread',
      configuration: { connection_info: { database_url: service.databaseUrl } },
    });
    for (const table of TRACKED) await run('track_table', { table });
    await run('track_table', { table: { schema: 'tenant', name: 'page' } });
    await relate('array', 'customer', 'orders', 'orders', { id: 'customer_id' });
    await relate('object', 'orders', 'customer', 'customer', { customer_id: 'id' });
    await relate('array', 'orders', 'lines', 'line', { customer_id: 'customer_id', id: 'order_id' });
    await relate('array', 'customer', 'visits', 'visit', { id: 'customer_id' });
    await relate('object', 'customer', 'country', 'country', { name: 'code' });
    await relate('object', 'customer', 'shop', 'shop', { id: 'id' });
    await relate('array', 'country', 'customers', 'customer', { code: 'name' });
    await relate('object', 'shop', 'country', 'country', { name: 'code' });
    await relate('object', 'shop', 'label', 'setting', { name: 'name' });
    await relate('object', 'setting', 'shop', 'shop', { name: 'name' });
    const owner = { manual_configuration: { remote_table: 'customer', column_mapping: { id: 'id' } } };
    await run('create_object_relationship', { table: { schema: 'tenant', name: 'page' }, name: 'owner', using: owner });
    expect(await distributionOf('customer')).toEqual({ kind: 'local' });
    // The service follows this without a reload.
    await sql(DISTRIBUTED);
  });
  afterAll(() => service?.stop());

  it('is known for tracked and untracked tables', async () => {
    expect(await distributionOf('customer')).toEqual({ kind: 'distributed', column: 'id', colocation_group: 2 });
    expect(await distributionOf('orders')).toEqual({ kind: 'distributed', column: 'customer_id', colocation_group: 2 });
    expect(await distributionOf('visit')).toEqual({ kind: 'distributed', column: 'id', colocation_group: 3 });
    expect(await distributionOf('alone')).toEqual({ kind: 'distributed', column: null, colocation_group: 8 });
    expect(await distributionOf({ schema: 'tenant', name: 'page' })).toEqual({ kind: 'schema', colocation_group: 7 });
    expect(await distributionOf('country')).toEqual({ kind: 'reference' });
    for (const table of ['setting', 'shop']) expect(await distributionOf(table)).toEqual({ kind: 'local' });
    const tables = (await run('get_source_tables', { details: true })) as readonly JsonObject[];
    const found = new Map(tables.map(({ table, distribution }) => [(table as JsonObject)['name'], distribution]));
    expect(found.get('orders')).toEqual({ kind: 'distributed', column: 'customer_id', colocation_group: 2 });
    expect(found.get('shop')).toEqual({ kind: 'local' });
    expect(found.has('names')).toBe(true);
    expect(found.get('names')).toBeUndefined();
    expect(await run('get_table_info', { table: 'names', details: true })).not.toHaveProperty('distribution');
    // Objects of the extension are found if requested.
    for (const name of ['citus_tables', 'options']) expect(found.has(name)).toBe(false);
    expect(await run('get_table_info', { table: 'citus_tables' })).toMatchObject({ name: { name: 'citus_tables' } });
  });

  it('follows SQL that moves tables', async () => {
    await sql("select undistribute_table('visit')");
    expect(await distributionOf('visit')).toEqual({ kind: 'local' });
    await sql("select create_distributed_table('visit', 'id', 3)");
    expect(await distributionOf('visit')).toEqual({ kind: 'distributed', column: 'id', colocation_group: 3 });
  });

  it('decides which columns may be null: never the distribution column', async () => {
    const { __type } = (await service.graphql('{ __type(name: "unkept") { fields { name type { kind } } } }'))['data'] as JsonObject;
    expect(__type).toEqual({
      fields: [
        { name: 'body', type: { kind: 'SCALAR' } },
        { name: 'customer_id', type: { kind: 'NON_NULL' } },
      ],
    });
    await refused(
      'mutation { insert_unkept_one(object: {customer_id: null}) { body } }',
      'validation-failed',
      '$.selectionSet.insert_unkept_one.args.object.customer_id',
      'unexpected null value',
    );
    await refused(
      'mutation($objects: [unkept_insert_input!]!) { insert_unkept(objects: $objects) { affected_rows } }',
      'validation-failed',
      '$.selectionSet.insert_unkept.args.objects[1].customer_id',
      'unexpected null value',
      { objects: [{ customer_id: 1 }, { customer_id: null }] },
    );
  });

  it.each([
    ['update_customer(where: {}, _set: {name: "x", id: 7}) { affected_rows }', 'update_customer.args._set.id'],
    ['update_customer_by_pk(pk_columns: {id: 1}, _inc: {id: 1}) { id }', 'update_customer_by_pk.args._inc.id'],
    [
      'update_orders_many(updates: [{where: {}, _set: {customer_id: 4}}]) { affected_rows }',
      'update_orders_many.args.updates[0]._set.customer_id',
    ],
  ])('refuses to change the distribution column: %s', async (field, path) => {
    await refused(
      `mutation { ${field} }`,
      'not-supported',
      `$.selectionSet.${path}`,
      'cannot be updated: its value decides on which server a row is',
    );
  });

  it.each([
    ['customer(where: {orders: {note: {_eq: "x"}}}) { id }', 1],
    ['customer(where: {_not: {country: {name: {_eq: "x"}}}}) { id }', 1],
    ['shop(where: {country: {name: {_eq: "x"}}}) { id }', 1],
    ['customer(where: {orders: {lines_aggregate: {count: {predicate: {_gt: 1}}}}}) { id }', 1],
    ['customer(where: {visits: {made: {_is_null: true}}}) { id }', 2],
    ['customer(where: {visits_aggregate: {count: {predicate: {_gt: 1}}}}) { id }', 3],
    ['customer(where: {shop: {name: {_eq: "x"}}}) { id }', 2],
    ['country(where: {customers: {orders: {amount: {_gt: 1}}}}) { code }', 2],
  ])('suggests relationships only for keys that may refer to other servers: %s', async (field, relations) => {
    const { json } = await service.send('/v1/graphql/explain', {
      method: 'POST',
      body: JSON.stringify({ query: { query: `{ ${field} }` } }),
    });
    const [{ sql: text = '' } = {}] = json as readonly { readonly sql?: string }[];
    expect(text.match(/ as materialized \(/g), text).toHaveLength(relations);
  });

  it('marks a distribution column as not updatable', async () => {
    const { columns } = (await run('get_table_info', { table: 'orders' })) as { columns: readonly { name: string; updatable: boolean }[] };
    expect(columns.filter(({ updatable }) => !updatable).map(({ name }) => name)).toEqual(['customer_id']);
  });

  it('refuses conditions on other tables in conflict clauses of distributed schemas', async () => {
    await refused(
      'mutation { insert_tenant_page_one(object: {id: 1}, on_conflict: {constraint: page_pkey, update_columns: [body], where: {owner: {name: {_eq: "x"}}}}) { id } }',
      'not-supported',
      '$.selectionSet.insert_tenant_page_one.args.on_conflict',
      'cannot depend on rows of other tables, which may be on other servers',
    );
  });

  it('accepts conditions of a local table on local tables in conflict clauses, and refuses others', async () => {
    const insert = (where: string): string =>
      `mutation { insert_shop_one(object: {id: 1, name: "s"}, on_conflict: {constraint: shop_pkey, update_columns: [name], where: ${where}}) { name } }`;
    const path = '$.selectionSet.insert_shop_one.args.on_conflict';
    const message = 'cannot depend on rows of other tables, which may be on other servers';
    await refused(insert('{country: {name: {_eq: "x"}}}'), 'not-supported', path, message);
    await refused(insert('{_not: {label: {shop: {country: {}}}}}'), 'not-supported', path, message);
    expect(await service.graphql(insert('{label: {value: {_eq: "x"}}}'))).toEqual({ data: { insert_shop_one: { name: 's' } } });
    await runSql(service.databaseUrl, 'truncate shop');
  });

  it('allows changes of all other columns, and of all columns of tables without a distribution column', async () => {
    await runSql(service.databaseUrl, `insert into orders values (1, 1, 'a', 1); insert into alone values (1)`);
    const request =
      'mutation { update_orders(where: {}, _set: {note: "b"}, _inc: {amount: 1, id: 1}) { returning { id note amount } } update_alone(where: {}, _set: {id: 2}) { returning { id } } }';
    expect(await service.graphql(request)).toEqual({
      data: { update_orders: { returning: [{ id: 2, note: 'b', amount: 2 }] }, update_alone: { returning: [{ id: 2 }] } },
    });
    await runSql(service.databaseUrl, 'truncate orders, alone');
  });

  it('refuses conflicts by keys without the distribution column', async () => {
    const insert = (constraint: string): string =>
      `mutation { insert_orders_one(object: {customer_id: 1, id: 1, note: "c"}, on_conflict: {constraint: ${constraint}, update_columns: [note]}) { note } }`;
    await refused(
      insert('orders_id_key'),
      'not-supported',
      '$.selectionSet.insert_orders_one.args.on_conflict.constraint',
      'keys that contain its distribution column "customer_id"',
    );
    expect(await service.graphql(insert('orders_pkey'))).toEqual({ data: { insert_orders_one: { note: 'c' } } });
    await runSql(service.databaseUrl, 'truncate orders');
  });

  it('refuses conditions on other tables for the update of a conflict, also those of permissions', async () => {
    const clause = (where: string): string => `on_conflict: {constraint: orders_pkey, update_columns: [note]${where}}`;
    const insert = (where: string): string =>
      `mutation { insert_orders_one(object: {customer_id: 1, id: 1, note: "c"}, ${clause(where)}) { note } }`;
    const path = '$.selectionSet.insert_orders_one.args.on_conflict';
    const message = 'cannot depend on rows of other tables, which may be on other servers';
    await refused(insert(', where: {customer: {name: {_eq: "x"}}}'), 'not-supported', path, message);
    await refused(insert(', where: {_not: {lines_aggregate: {count: {predicate: {_gt: 1}}}}}'), 'not-supported', path, message);
    expect(await service.graphql(insert(', where: {note: {_eq: "x"}}'))).toEqual({ data: { insert_orders_one: { note: 'c' } } });
    await runSql(service.databaseUrl, 'truncate orders');
    const role = 'writer';
    await run('create_insert_permission', { table: 'orders', role, permission: { columns: '*', check: {} } });
    await run('create_update_permission', {
      table: 'orders',
      role,
      permission: { columns: ['note'], filter: { customer: { name: { _eq: 'x' } } }, check: null },
    });
    await run('create_select_permission', { table: 'orders', role, permission: { columns: ['note'], filter: {} } });
    expect(await service.graphql(insert(''), { role })).toEqual({
      errors: [{ message: expect.stringContaining(message), locations: expect.any(Array), extensions: { path, code: 'not-supported' } }],
    });
    const unchanged = insert('').replace('update_columns: [note]', 'update_columns: []');
    expect(await service.graphql(unchanged, { role })).toEqual({ data: { insert_orders_one: { note: 'c' } } });
    await runSql(service.databaseUrl, 'truncate orders');
  });

  it('refuses rows without a value for their distribution column, at any nesting', async () => {
    const message =
      'Not-NULL violation. a row of table "orders" needs a value for its distribution column "customer_id", which has no default';
    const at = (path: string): string => `$.selectionSet.${path}`;
    await refused(
      'mutation { insert_orders_one(object: {id: 1}) { id } }',
      'constraint-violation',
      at('insert_orders_one.args.object'),
      message,
    );
    await refused(
      'mutation($objects: [orders_insert_input!]!) { insert_orders(objects: $objects) { affected_rows } }',
      'constraint-violation',
      at('insert_orders.args.objects[0]'),
      message,
      { objects: [{ id: 1 }, { id: 2 }] },
    );
    await refused(
      'mutation { insert_orders(objects: [{id: 1, customer_id: 2}, {id: 3, lines: {data: [{id: 1}]}}]) { affected_rows } }',
      'constraint-violation',
      at('insert_orders.args.objects[1]'),
      message,
    );
  });

  it('accepts rows whose distribution column comes from a default, a related row or the outer row', async () => {
    const request = `mutation {
      insert_visit_one(object: {customer_id: 1}) { customer_id }
      insert_orders_one(object: {id: 5, customer: {data: {id: 9, name: "n"}}, lines: {data: [{id: 1}, {id: 2}]}}) { customer_id lines(order_by: {id: asc}) { customer_id order_id } }
      insert_customer_one(object: {id: 10, orders: {data: [{id: 6}]}}) { orders { customer_id } } }`;
    expect(await service.graphql(request)).toEqual({
      data: {
        insert_visit_one: { customer_id: 1 },
        insert_orders_one: {
          customer_id: 9,
          lines: [
            { customer_id: 9, order_id: 5 },
            { customer_id: 9, order_id: 5 },
          ],
        },
        insert_customer_one: { orders: [{ customer_id: 10 }] },
      },
    });
  });

  const select = (table: string, filter: JsonObject): Promise<Json> =>
    run('create_select_permission', { table, role: 'user', permission: { columns: '*', filter } });
  const drop = (table: string): Promise<Json> => run('drop_select_permission', { table, role: 'user' });
  const ON_DIFFERENT_SERVERS = /rows of \\"\w+\\" cannot be compared with those of \\"\w+\\", because they may be on different servers/;

  it.each([
    ['customer', { orders: { id: { _cgt: ['$', 'id'] } } }],
    ['customer', { orders: { lines: { id: { _ceq: ['$', 'id'] } } } }],
    ['customer', { country: { name: { _ceq: ['$', 'name'] } } }],
    ['shop', { country: { name: { _ceq: ['$', 'name'] } } }],
    ['customer', { visits: { id: { _cgt: ['id'] } } }],
  ] as const)('allows comparisons of rows of %s with rows on the same server: %o', async (table, filter) => {
    await select(table, filter);
    await drop(table);
  });

  it.each([
    ['another group', 'customer', { visits: { id: { _ceq: ['$', 'id'] } } }],
    ['another server than the coordinator', 'customer', { shop: { id: { _ceq: ['$', 'id'] } } }],
    ['only some', 'country', { customers: { name: { _cne: ['$', 'name'] } } }],
    ['one in between', 'country', { customers: { country: { name: { _cne: ['$', 'name'] } } } }],
    ['unrelated', 'customer', { _exists: { _table: 'orders', _where: { id: { _ceq: ['$', 'id'] } } } }],
  ] as const)('refuses conditions that compare rows of different servers: %s', async (_why, table, filter) => {
    await expect(select(table, filter)).rejects.toThrow(ON_DIFFERENT_SERVERS);
  });

  it('refuses update presets on the distribution column, and distribution that permissions do not allow', async () => {
    const permission = { columns: ['note'], filter: {}, check: null, set: { customer_id: 'X-Svc-Customer-Id' } };
    await expect(run('create_update_permission', { table: 'orders', role: 'user', permission })).rejects.toThrow(
      'column \\"customer_id\\" cannot have a preset for updates, because it decides on which server a row is stored',
    );
    await run('create_insert_permission', {
      table: 'orders',
      role: 'user',
      permission: { columns: ['id'], check: {}, set: { customer_id: 4 } },
    });
    const set = { columns: ['name'], filter: {}, check: null, set: { id: 1 } };
    await run('create_update_permission', { table: 'shop', role: 'user', permission: set });
    await expect(sql("select create_distributed_table('shop', 'id', 2)")).rejects.toThrow('cannot have a preset for updates');
    expect(await distributionOf('shop')).toEqual({ kind: 'local' });
    expect(await service.graphql('mutation { insert_orders_one(object: {id: 77}) { id } }', { role: 'user' })).not.toHaveProperty(
      'errors.0.extensions.code',
      'constraint-violation',
    );
  });

  it('ignores distribution with a single server', async () => {
    expect(await service.metadata('pg_get_table_info', { table: 'orders', details: true })).not.toHaveProperty('distribution');
  });
});
