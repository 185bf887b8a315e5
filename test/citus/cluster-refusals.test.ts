/**
 * Refusals and guarantees of `docs/citus.md` that the other cluster tests do not cover: what Citus refuses is `not-supported`, with the
 * database's message for administrators only, and everything else works.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { MODERN, TestSocket } from '../support/websocket.ts';
import { addCitus, citusEnvironment, describeCitus, onCoordinator, withCoordinator } from './citus.ts';

const SCHEMA = 'svc_refusals';
const WHOLE = 'svc_refusals_whole';
const TABLES = [
  `drop schema if exists ${SCHEMA}, ${WHOLE} cascade`,
  `create schema ${SCHEMA}`,
  `create schema ${WHOLE}`,
  `set search_path to ${SCHEMA}, public`,
  'create table customer (id int primary key, name text, made date, seen timestamptz, score int)',
  "select create_distributed_table('customer', 'id')",
  'create table orders (id int primary key, customer_id int, note text, amount int)',
  "select create_distributed_table('orders', 'id', colocate_with => 'none')",
  'create table lone (id int primary key, name text, score int)',
  "select create_distributed_table('lone', null)",
  'create table other (id int primary key, score int)',
  "select create_distributed_table('other', null, colocate_with => 'none')",
  'create table country (id int primary key, name text, score int)',
  "select create_reference_table('country')",
  'create table place (id int primary key, name text, score int)',
  'create table spot (id int primary key, score int)',
  `create table ${WHOLE}.page (id int primary key)`,
  `select citus_schema_distribute('${WHOLE}')`,
  "insert into customer select i, 'n' || i, '2026-01-01'::date + i, '2026-01-05', i from generate_series(1, 8) i",
  "insert into orders select i, 1 + i % 4, 'n' || i % 3, i from generate_series(1, 8) i",
  ...['place', 'lone', 'country'].map((table) => `insert into ${table} select i, 'n' || i, i from generate_series(1, 4) i`),
  ...['spot', 'other'].map((table) => `insert into ${table} select i, i % 3 from generate_series(1, 4) i`),
  ...['customer', 'lone', 'other', 'place'].map((table) => `create view ${table}_view as select * from ${table}`),
];
const TRACKED = [
  'customer',
  'orders',
  'lone',
  'other',
  'place',
  'spot',
  'country',
  'customer_view',
  'lone_view',
  'other_view',
  'place_view',
];

/** Types whose columns can be joined, on tables distributed by them. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  int2: ['int4', 'int8', 'numeric', 'float8'],
  int8: ['int4', 'numeric'],
  text: ['varchar', 'name'],
  date: ['timestamp'],
  inet: ['cidr'],
};
const VALUES: Readonly<Record<string, readonly string[]>> = {
  text: ['a', 'A', 'a ', ''],
  date: ['2020-01-01', '1999-12-31'],
  inet: ['10.0.0.1', '10.0.0.0/8', '::1'],
};
const REFUSED = [
  ['uuid', 'text'],
  ['int8', 'float8'],
  ['date', 'timestamptz'],
  ['text', 'char(4)'],
] as const;
const keyTables = (): readonly string[] => {
  const types = [...new Set([...Object.entries(KEYS).flat(2), ...REFUSED.flat()])];
  return types.flatMap((type, i) => {
    const family = Object.keys(KEYS).find((each) => each === type || KEYS[each]?.includes(type)) ?? 'int2';
    const values = type.startsWith('char') || type === 'uuid' || type === 'timestamptz' ? [] : (VALUES[family] ?? ['-1', '0', '1', '7']);
    const rows = values.map((value, n) => `(${n + 1}, '${value}')`);
    const name = tableOf(type);
    return [
      `create table ${name} (id int, k ${type} not null)`,
      ...(i % 4 === 3
        ? [`select create_reference_table('${name}')`]
        : [`select create_distributed_table('${name}', 'k', colocate_with => 'none')`]),
      ...(rows.length === 0 ? [] : [`insert into ${name} values ${rows.join(', ')}`]),
    ];
  });
};
const tableOf = (type: string): string => `k_${type.replace(/\W.*/, '')}`;

const FAMILY_TYPES = [...new Set(Object.entries(KEYS).flat(2))];

/** Returns the rows of one table with the number of matching rows of another, joined by PostgreSQL. */
function equals(one: string, other: string): Promise<readonly { readonly id: number; readonly found: number }[]> {
  const text = `with a as materialized (select * from ${SCHEMA}.${one} offset 0), b as materialized (select * from ${SCHEMA}.${other} offset 0)
    select a.id, count(b.id)::int as found from a left join b on a.k = b.k group by a.id order by a.id`;
  return withCoordinator(async (client) => (await client.query<{ id: number; found: number }>(text)).rows);
}

describeCitus('the limits of a cluster', () => {
  let service: TestService;
  const run = (type: string, args: JsonObject): Promise<Json> => service.metadata(`dbc_${type}`, { source: 'spread', ...args });
  const named = (name: string): JsonObject => ({ schema: SCHEMA, name });
  const relate = (type: 'object' | 'array', table: string, name: string, to: string, column_mapping: JsonObject): Promise<Json> =>
    run(`create_${type}_relationship`, {
      table: named(table),
      name,
      using: { manual_configuration: { remote_table: named(to), column_mapping } },
    });
  const permit = (type: string, table: string, role: string, permission: JsonObject): Promise<Json> =>
    run(`create_${type}_permission`, { table: named(table), role, permission });
  const sql = async (text: string): Promise<{ readonly status: number; readonly json: Json }> =>
    service.send('/v2/query', { method: 'POST', body: JSON.stringify({ type: 'dbc_run_sql', args: { source: 'spread', sql: text } }) });
  const distributionOf = async (table: string, schema = SCHEMA): Promise<Json> =>
    ((await run('get_table_info', { table: { schema, name: table }, details: true })) as JsonObject)['distribution'] ?? null;
  /** Asserts that a role learns only that the database refuses the request. */
  const isRefused = async (request: string, options: JsonObject): Promise<void> => {
    const [error] = ((await service.graphql(request, options))['errors'] ?? []) as readonly JsonObject[];
    expect({ ...error, locations: undefined }, request).toEqual({
      message: 'the database does not support this',
      extensions: { code: 'not-supported', path: expect.any(String) },
    });
  };

  beforeAll(async () => {
    await onCoordinator(...TABLES, ...keyTables());
    service = await startTestService({ LIVE_QUERIES_MULTIPLEXED_REFETCH_INTERVAL: '200' }, citusEnvironment);
    await addCitus(service, 'spread');
    for (const name of [...TRACKED, ...FAMILY_TYPES.map(tableOf)])
      await run('track_table', { table: named(name), configuration: { custom_name: name } });
    await relate('array', 'customer', 'orders', 'orders', { id: 'customer_id' });
    await relate('object', 'orders', 'customer', 'customer', { customer_id: 'id' });
    await relate('object', 'place', 'spot', 'spot', { id: 'id' });
    for (const table of ['place', 'country']) await relate('object', table, 'lone_view', 'lone_view', { id: 'id' });
    for (const view of ['lone_view', 'other_view']) await relate('object', view, 'country', 'country', { id: 'id' });
    for (const [view, other] of [
      ['customer_view', 'lone_view'],
      ['lone_view', 'customer_view'],
      ['lone_view', 'other_view'],
      ['lone_view', 'place_view'],
      ['place_view', 'lone_view'],
      ['place_view', 'other_view'],
      ['other_view', 'other_view'],
      ['customer_view', 'customer_view'],
    ] as const)
      await relate('object', view, other, other, { id: 'id' });
  }, 60_000);
  afterAll(async () => {
    await service?.stop();
    await onCoordinator(`drop schema if exists ${SCHEMA}, ${WHOLE} cascade`);
  });

  it('lists neither tables of the extension nor shards, and reports the location of each table', async () => {
    await onCoordinator(`analyze ${SCHEMA}.place`, `analyze ${SCHEMA}.customer`);
    const tables = (await run('get_source_tables', { details: true })) as readonly JsonObject[];
    const names = tables.map(({ table }) => (table as JsonObject)['name'] as string);
    expect(names.filter((name) => /_\d{6}$|^citus_|^pg_dist/.test(name))).toEqual([]);
    const found = new Map(tables.map((each) => [(each['table'] as JsonObject)['name'], each] as const));
    expect(found.get('place')).toMatchObject({ distribution: { kind: 'local' }, estimated_rows: 4 });
    expect(found.get('customer')?.['estimated_rows'] ?? null).toBeNull();
    expect(found.get('lone')).toMatchObject({ distribution: { kind: 'distributed', column: null, colocation_group: expect.any(Number) } });
    expect(await distributionOf('page', WHOLE)).toEqual({ kind: 'schema', colocation_group: expect.any(Number) });
    expect(await distributionOf('customer_view')).toBeNull();
  });

  it('follows each function of the extension that moves a table', async () => {
    const table = `${SCHEMA}.moving`;
    await sql(`create table ${table} (id int primary key, n int)`);
    await run('track_table', { table: named('moving'), configuration: { custom_name: 'moving' } });
    for (const [statement, expected] of [
      [`select create_distributed_table('${table}', 'id', colocate_with => 'none')`, { kind: 'distributed', column: 'id' }],
      [`select alter_distributed_table('${table}', shard_count := 4)`, { kind: 'distributed', column: 'id' }],
      [`select undistribute_table('${table}')`, { kind: 'local' }],
      [`select citus_add_local_table_to_metadata('${table}')`, { kind: 'local' }],
      [`select remove_local_tables_from_metadata()`, { kind: 'local' }],
      [`select create_reference_table('${table}')`, { kind: 'reference' }],
      [`select undistribute_table('${table}')`, { kind: 'local' }],
      [`select create_distributed_table('${table}', null)`, { kind: 'distributed', column: null }],
    ] as const) {
      const { status, json } = await sql(statement);
      expect(status, `${statement}: ${JSON.stringify(json)}`).toBe(200);
      expect(await distributionOf('moving'), statement).toMatchObject(expected);
    }
    await run('untrack_table', { table: named('moving') });
    for (const [statement, kind] of [
      [`select citus_schema_undistribute('${WHOLE}')`, 'local'],
      [`select citus_schema_distribute('${WHOLE}')`, 'schema'],
    ] as const) {
      expect(await sql(statement)).toMatchObject({ status: 200 });
      expect(await distributionOf('page', WHOLE), statement).toMatchObject({ kind });
    }
  });

  it('runs a text that changes tables of different kinds only with the required setting', async () => {
    await onCoordinator(
      `create table ${SCHEMA}.kind (id int primary key)`,
      `select create_reference_table('${SCHEMA}.kind')`,
      `create table ${SCHEMA}.thing (id int primary key, n int, kind_id int references ${SCHEMA}.kind (id))`,
      `select create_distributed_table('${SCHEMA}.thing', 'id')`,
      `insert into ${SCHEMA}.thing select i from generate_series(1, 9) i`,
    );
    const text = `update ${SCHEMA}.thing set n = 1; delete from ${SCHEMA}.kind;`;
    const refusal = await sql(text);
    expect(refusal).toMatchObject({ status: 400, json: { internal: { error: { message: expect.stringContaining('parallel') } } } });
    expect(await sql(`set local citus.multi_shard_modify_mode to 'sequential'; ${text}`)).toMatchObject({ status: 200 });
  });

  it('refuses create_distributed_table_concurrently in a transaction', async () => {
    await onCoordinator(`create table ${SCHEMA}.late (id int primary key)`);
    const { status, json } = await sql(`select create_distributed_table_concurrently('${SCHEMA}.late', 'id')`);
    expect({ status, text: JSON.stringify(json) }).toEqual({
      ...{ status: 400, text: expect.stringMatching(/create_distributed_table_concurrently cannot (?:run inside|be executed)/) },
    });
  });

  it('makes permissions inconsistent that a table no longer allows after it was distributed externally', async () => {
    await onCoordinator(`create table ${SCHEMA}.outside (id int primary key, n int)`);
    await run('track_table', { table: named('outside'), configuration: { custom_name: 'outside' } });
    await permit('update', 'outside', 'user', { columns: ['n'], filter: {}, check: null, set: { id: 1 } });
    await onCoordinator(`select create_distributed_table('${SCHEMA}.outside', 'id')`);
    await service.metadata('reload_metadata', { reload_sources: ['spread'] });
    const { inconsistent_objects } = (await service.metadata('get_inconsistent_metadata', {})) as JsonObject;
    expect(JSON.stringify(inconsistent_objects)).toContain('cannot have a preset for updates, because it decides on which server a row is');
    await run('untrack_table', { table: named('outside'), cascade: true });
  });

  it.each(Object.entries(KEYS))('finds rows by columns of other types than %s', async (type, others) => {
    for (const other of others) {
      await relate('array', tableOf(type), tableOf(other), tableOf(other), { k: 'k' });
      await relate('array', tableOf(other), tableOf(type), tableOf(type), { k: 'k' });
      for (const [one, two] of [
        [tableOf(type), tableOf(other)],
        [tableOf(other), tableOf(type)],
      ] as const) {
        const equal = await equals(one, two);
        const request = `{ ${one}(order_by: {id: asc}) { id ${two} { id } } having: ${one}(where: {${two}: {}}, order_by: {id: asc}) { id } }`;
        const { data } = (await service.graphql(request)) as { data: Record<string, readonly JsonObject[]> };
        const found = data[one]?.map((row) => ({ id: row['id'], found: (row[two] as readonly Json[]).length }));
        expect(found, request).toEqual(equal);
        expect(data['having'], request).toEqual(equal.filter((row) => row.found > 0).map(({ id }) => ({ id })));
        expect(await service.graphql(`mutation { update_${one}(where: {${two}: {}}, _inc: {id: 0}) { affected_rows } }`)).toEqual({
          data: { [`update_${one}`]: { affected_rows: equal.filter((row) => row.found > 0).length } },
        });
      }
    }
  });

  it.each(REFUSED)('refuses a relationship between %s and %s', async (one, other) => {
    for (const type of [one, other]) await run('track_table', { table: named(tableOf(type)) }).catch(() => undefined);
    await expect(relate('array', tableOf(one), 'wrong', tableOf(other), { k: 'k' })).rejects.toThrow('incompatible column types');
  });

  it('allows conditions between views of all locations', async () => {
    const scores = '{score: {_gt: 2}}';
    for (const [view, other, ids] of [
      ['customer_view', 'lone_view', [3, 4]],
      ['customer_view', 'customer_view', [3, 4, 5, 6, 7, 8]],
      ['lone_view', 'customer_view', [3, 4]],
      ['lone_view', 'other_view', []],
      ['lone_view', 'place_view', [3, 4]],
      ['place_view', 'lone_view', [3, 4]],
      ['place_view', 'other_view', []],
      ['other_view', 'other_view', []],
    ] as const) {
      const rows = (where: string): string => `${view}(where: ${where}, order_by: {id: asc}) { id ${other} { id } }`;
      const request = `{ a: ${rows(`{${other}: ${scores}}`)} b: ${rows(`{${other}: {}, _not: {${other}: ${scores}}}`)} }`;
      const { data } = (await service.graphql(request)) as { data: Record<'a' | 'b', readonly { id: number }[]> };
      expect(data?.a, request).toEqual(ids.map((id) => ({ id, [other]: { id } })));
      const all = view === 'customer_view' && other === 'customer_view' ? 8 : 4;
      expect(data.b, request).toHaveLength(all - ids.length);
    }
  });

  it('updates and finds rows of reference and local tables by rows of views', async () => {
    for (const table of ['place', 'country']) {
      const where = '{_not: {lone_view: {score: {_gt: 2}}}}';
      expect(await service.graphql(`mutation { update_${table}(where: ${where}, _inc: {score: 0}) { affected_rows } }`)).toEqual({
        data: { [`update_${table}`]: { affected_rows: 2 } },
      });
      expect(await service.graphql(`{ ${table}(where: ${where}, order_by: {id: asc}) { id } }`)).toEqual({
        data: { [table]: [{ id: 1 }, { id: 2 }] },
      });
    }
    for (const view of ['lone_view', 'other_view'])
      expect(await service.graphql(`{ ${view}(where: {country: {score: {_gt: 2}}}, order_by: {id: asc}) { id country { id } } }`)).toEqual({
        data: { [view]: [3, 4].map((id) => ({ id, country: { id } })) },
      });
  });

  it('compares rows of colocated views, and refuses others', async () => {
    const compared = (other: string): JsonObject => ({ [other]: { score: { _ceq: ['$', 'score'] } } });
    for (const [view, other, count] of [
      ['other_view', 'other_view', 4],
      ['customer_view', 'customer_view', 8],
      ['customer_view', 'lone_view', null],
      ['lone_view', 'customer_view', null],
      ['lone_view', 'other_view', null],
      ['place_view', 'other_view', 2],
      ['place_view', 'lone_view', 4],
    ] as const) {
      const role = `${view}_${other}`;
      await permit('select', view, role, { columns: ['id'], filter: compared(other), allow_aggregations: true });
      const request = `{ ${view}_aggregate { aggregate { count } } }`;
      if (count === null) await isRefused(request, { role });
      else expect(await service.graphql(request, { role })).toEqual({ data: { [`${view}_aggregate`]: { aggregate: { count } } } });
    }
  });

  it('shows messages of the database to administrators only', async () => {
    const query = `select "id" from "${SCHEMA}"."customer" for share`;
    await onCoordinator(`create view ${SCHEMA}.locked as ${query.replaceAll('"', '')}`);
    await run('track_table', { table: named('locked'), configuration: { custom_name: 'locked' } });
    await permit('select', 'locked', 'cased', { columns: ['id'], filter: {} });
    await isRefused('{ locked { id } }', { role: 'cased' });
    expect(await service.graphql('{ locked { id } }')).toMatchObject({
      errors: [
        { message: 'the database does not support this', extensions: { internal: { error: { message: expect.stringMatching(/\w/) } } } },
      ],
    });
  });

  it('allows conditions that may fail beside conditions on other tables, if no filter guards them or on the coordinator', async () => {
    const role = 'cased';
    const filter = { name: { _neq: 'n7' } };
    for (const table of ['orders', 'spot']) await permit('select', table, role, { columns: '*', filter: {} });
    for (const table of ['customer', 'place']) {
      await permit('select', table, role, { columns: '*', filter });
      await permit('update', table, role, { columns: ['score'], filter, check: null });
      await permit('delete', table, role, { filter });
    }
    const update = (table: string, where: string): string =>
      `mutation { update_${table}(where: ${where}, _inc: {score: 0}) { affected_rows } }`;
    const both = (other: string): string => `{name: {_similar: "n%"}, ${other}: {}}`;
    await isRefused(update('customer', both('orders')), { role });
    await isRefused(update('customer', '{orders: {note: {_similar: "n%"}}}'), { role });
    await isRefused(`mutation { delete_customer(where: ${both('orders')}) { affected_rows } }`, { role });
    for (const [request, count, options] of [
      [update('customer', both('orders')), 4, {}],
      [update('customer', '{name: {_similar: "n%"}}'), 7, { role }],
      [update('customer', '{orders: {note: {_regex: "^n"}}}'), 4, { role }],
      [update('place', both('spot')), 4, { role }],
    ] as const)
      expect(await service.graphql(request, options), request).toMatchObject({
        data: { [request.includes('place') ? 'update_place' : 'update_customer']: { affected_rows: count } },
      });
    expect(await service.graphql(`{ customer(where: ${both('orders')}, order_by: {id: asc}) { id } }`, { role })).toEqual({
      data: { customer: [1, 2, 3, 4].map((id) => ({ id })) },
    });
  });

  it.each(['customer', 'country', 'lone', 'place'])('reads all rows of %s in functions', async (table) => {
    const body = (condition: string): string => `select * from ${SCHEMA}.${table}${condition}`;
    const create = (name: string, args: string, language: string, text: string): string =>
      `create function ${SCHEMA}.${table}_${name}(${args}) returns setof ${SCHEMA}.${table} language ${language} stable as $$ ${text} $$`;
    await onCoordinator(
      create('all', '', 'sql', body('')),
      create('some', 'bound int', 'sql', body(' where id >= bound')),
      create('few', 'bound int', 'plpgsql', `begin return query ${body(' where id >= bound')}; end`),
    );
    const read = async (name: string, args = ''): Promise<JsonObject> =>
      service.graphql(`{ rows: ${table}_${name}(${args}where: {id: {_lte: 4}}, order_by: {id: asc}) { id } }`);
    for (const name of ['all', 'some', 'few'])
      await run('track_function', { function: named(`${table}_${name}`), configuration: { custom_name: `${table}_${name}` } });
    expect(await read('all')).toEqual({ data: { rows: [1, 2, 3, 4].map((id) => ({ id })) } });
    expect(await read('few', 'args: {bound: 3}, ')).toEqual({ data: { rows: [3, 4].map((id) => ({ id })) } });
    const some = await read('some', 'args: {bound: 3}, ');
    // Citus cannot plan SQL functions with parameters over several shards.
    if (table === 'customer') expect(some).toMatchObject({ errors: [{ extensions: { code: 'not-supported' } }] });
    else expect(some).toEqual({ data: { rows: [3, 4].map((id) => ({ id })) } });
  });

  it('reads rows of functions whose columns have names of functions', async () => {
    await onCoordinator(
      `create table ${SCHEMA}.series (id int primary key, generate_series int, json_to_recordset int, nothing int)`,
      `insert into ${SCHEMA}.series select i, i, i, i from generate_series(1, 4) i`,
      `create function ${SCHEMA}.all_series() returns setof ${SCHEMA}.series language sql stable as $$ select * from ${SCHEMA}.series $$`,
    );
    await run('track_table', { table: named('series'), configuration: { custom_name: 'series' } });
    await run('track_function', { function: named('all_series'), configuration: { custom_name: 'all_series' } });
    const fields = 'generate_series json_to_recordset nothing';
    const request = `{ all_series(where: {generate_series: {_gt: 3}, nothing: {_gt: 3}}, order_by: {json_to_recordset: asc}) { ${fields} } }`;
    expect(await service.graphql(request)).toEqual({ data: { all_series: [{ generate_series: 4, json_to_recordset: 4, nothing: 4 }] } });
  });

  it('returns rows of an upsert with different checks, and refuses invalid ones', async () => {
    const role = 'upserter';
    await permit('select', 'orders', role, { columns: '*', filter: {} });
    await permit('select', 'customer', role, { columns: '*', filter: {} });
    await permit('insert', 'orders', role, { columns: '*', check: { amount: { _lt: 100 } } });
    await permit('update', 'orders', role, { columns: ['note'], filter: {}, check: { note: { _neq: 'bad' } } });
    const upsert = (
      fields: string,
    ): string => `mutation { insert_orders(objects: [{id: 50, customer_id: 1, note: "new", amount: 1}, {id: 8, note: "old", amount: 1000}],
      on_conflict: {constraint: orders_pkey, update_columns: [note]}) { affected_rows returning { ${fields} } } }`;
    const before = await service.graphql('{ orders(order_by: {id: asc}) { id note } }');
    expect(await service.graphql(upsert('id customer { id orders { id } }'), { role })).toMatchObject({
      errors: [
        {
          message: expect.stringContaining('returned of an upsert cannot be read from other rows'),
          extensions: { code: 'not-supported', path: '$.selectionSet.insert_orders.args.objects' },
        },
      ],
    });
    expect(await service.graphql('{ orders(order_by: {id: asc}) { id note } }')).toEqual(before);
    // The check of inserts does not apply to an existing row.
    const { data } = await service.graphql(upsert('id'), { role });
    expect(data).toMatchObject({ insert_orders: { affected_rows: 2 } });
    await service.graphql('mutation { delete_orders_by_pk(id: 50) { id } }');
  });

  it('polls live queries at each interval, on whichever server a row was written', async () => {
    const socket = await new TestSocket(service.url, { protocol: MODERN }).opened();
    try {
      socket.send({ type: 'connection_init', payload: { headers: {} } });
      await socket.next();
      socket.send({ id: '1', type: 'subscribe', payload: { query: 'subscription { lone_by_pk(id: 1) { score } }' } });
      const answer = (score: number): JsonObject => ({ id: '1', type: 'next', payload: { data: { lone_by_pk: { score } } } });
      expect(await socket.next()).toEqual(answer(1));
      const { pollers } = (await service.metadata('get_subscriptions', {})) as { pollers: readonly JsonObject[] };
      expect(pollers).toMatchObject([{ source: 'spread', waits_for: 'interval', reason: expect.any(String) }]);
      await onCoordinator(`update ${SCHEMA}.lone set score = 71 where id = 1`);
      expect(await socket.next()).toEqual(answer(71));
      // On the worker with the shard.
      await onCoordinator(`select run_command_on_shards('${SCHEMA}.lone', 'update %s set score = 72 where id = 1')`);
      expect(await socket.next()).toEqual(answer(72));
    } finally {
      socket.websocket.close();
    }
  });

  it('reuses prepared statements, unless generic plans are forced', async () => {
    await service.metadata('dbc_add_source', {
      name: 'prepared',
      configuration: {
        connection_info: { database_url: { from_env: 'CITUS' }, use_prepared_statements: true, pool_settings: { max_connections: 1 } },
      },
      customization: { root_fields: { prefix: 'p_' }, type_names: { prefix: 'p_' } },
    });
    for (const name of ['customer', 'orders'])
      await service.metadata('dbc_track_table', { source: 'prepared', table: named(name), configuration: { custom_name: name } });
    for (let id = 1; id <= 8; id++) {
      const query = `query($id: Int!) { p_customer(where: {id: {_eq: $id}}) { id } p_orders(where: {id: {_lte: $id}}, order_by: {id: desc}, limit: 1) { id } }`;
      expect(await service.graphql(query, { variables: { id } })).toEqual({ data: { p_customer: [{ id }], p_orders: [{ id }] } });
      const mutation = 'mutation($id: Int!) { p_update_customer(where: {id: {_eq: $id}}, _inc: {score: 0}) { returning { id } } }';
      expect(await service.graphql(mutation, { variables: { id } })).toEqual({ data: { p_update_customer: { returning: [{ id }] } } });
    }
    await service.metadata('dbc_drop_source', { name: 'prepared', cascade: true });
    const generic = withCoordinator(async (client) => {
      await client.query("set plan_cache_mode to 'force_generic_plan'");
      await client.query({
        text: `with a as materialized (select id from ${SCHEMA}.customer where id = $1), b as materialized (select id from ${SCHEMA}.orders) select * from a, b`,
        name: 'generic',
        values: [1],
      });
    });
    await expect(generic).rejects.toThrow();
  });

  it('supports no event triggers, computed fields, other naming conventions or data operations', async () => {
    for (const [type, args] of [
      [
        'dbc_create_event_trigger',
        { name: 'each', source: 'spread', table: named('customer'), webhook: 'http://127.0.0.1:1', insert: { columns: '*' } },
      ],
      [
        'dbc_add_computed_field',
        { source: 'spread', table: named('customer'), name: 'x', definition: { function: named('customer_all') } },
      ],
      ['dbc_update_source', { name: 'spread', customization: { naming_convention: 'graphql-default' } }],
      ['select', { source: 'spread', table: named('customer'), columns: ['id'] }],
    ] as const)
      await expect(service.metadata(type, args), type).rejects.toThrow(/\b(?:400|404)\b/);
  });
});
