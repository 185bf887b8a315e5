/**
 * Conditions, writes and functions between tables in all locations of a Citus cluster (`SVC_TEST_DBC_URL`): distributed by tenant or by
 * another column, reference tables, local tables, single-shard tables and distributed schemas. Answers and rows are those of PostgreSQL.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../src/util/json.ts';
import { runSql } from '../support/postgres.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { addTwin } from './twin.ts';
import { comparable } from '../support/twins.ts';

const URL = process.env['SVC_TEST_DBC_URL'] ?? '';
if (URL === '') process.stderr.write('SVC_TEST_DBC_URL is not set: the tests on a real Citus are skipped\n');

const SCHEMAS = ['svc_places', 'svc_one', 'svc_two'];
const DROP = `drop schema if exists ${SCHEMAS.join(', ')} cascade;`;
const columns = 'tenant int not null, id int not null, other int, amount int, note text';
const KEYS: Readonly<Record<string, string>> = {
  orders: 'svc_places.orders, tenant, id',
  line: 'svc_places.line, tenant, id',
  visit: 'svc_places.visit, id',
  country: 'svc_places.country, id',
  region: 'svc_places.region, id',
  setting: 'svc_places.setting, id',
  option: 'svc_places.option, id',
  hub: 'svc_places.hub, id',
  depot: 'svc_places.depot, id',
  page: 'svc_one.page, id',
  remark: 'svc_one.remark, id',
  memo: 'svc_two.memo, id',
};
const TABLES = Object.keys(KEYS);

const nameOf = (table: string): { readonly schema: string; readonly name: string } => {
  const [schema = '', name = ''] = (KEYS[table] ?? '').split(/[.,]/);
  return { schema, name };
};
const qualified = (table: string): string => (KEYS[table] ?? '').split(',')[0] ?? '';
const keyOf = (table: string): string => (KEYS[table] ?? '').split(', ').slice(1).join(', ');

const CREATE = `${DROP} ${SCHEMAS.map((schema) => `create schema ${schema};`).join(' ')}
${TABLES.map((table) => `create table ${qualified(table)} (${columns}, primary key (${keyOf(table)}));`).join('\n')}`;
const FILL = TABLES.map(
  (table, i) => `insert into ${qualified(table)}
    select n % 3, n, case when n % 4 > 0 then (n * ${i + 2}) % 9 end, (n * ${i + 3}) % 7, 'n' || (n % 5) from generate_series(1, 8 + ${i % 3}) n;`,
).join('\n');
const FUNCTION = `create function svc_places.near(bound int) returns setof svc_places.setting language plpgsql stable
  as $$ begin return query select * from svc_places.setting where amount >= bound order by id; end $$;`;
const SPREAD = `
select create_distributed_table('svc_places.orders', 'tenant', colocate_with => 'none');
select create_distributed_table('svc_places.line', 'tenant', colocate_with => 'svc_places.orders');
select create_distributed_table('svc_places.visit', 'id', colocate_with => 'none');
select create_reference_table('svc_places.country');
select create_reference_table('svc_places.region');
select create_distributed_table('svc_places.hub', null, colocate_with => 'none');
select create_distributed_table('svc_places.depot', null, colocate_with => 'none');
select citus_schema_distribute('svc_one');
select citus_schema_distribute('svc_two');`;

/** One table of each location, with relationships to all: to the row with the id `other`, and to those whose `other` is the id. */
const FROM = ['orders', 'visit', 'country', 'setting', 'hub', 'page'];
const TO = ['line', 'visit', 'region', 'option', 'depot', 'remark', 'memo'];

function operation(kind: string, name: string, args: JsonObject): JsonObject {
  return { type: `${kind}_${name}`, args: { source: kind === 'pg' ? 'default' : 'twin', ...args } };
}

/** Operations that track all tables of one source. */
function tracked(kind: string): readonly JsonObject[] {
  const related = FROM.flatMap((table) =>
    [...new Set([...FROM, ...TO])].flatMap((to) => {
      const using = (column_mapping: JsonObject): JsonObject => ({ manual_configuration: { remote_table: nameOf(to), column_mapping } });
      return [
        operation(kind, 'create_object_relationship', { table: nameOf(table), name: to, using: using({ other: 'id' }) }),
        operation(kind, 'create_array_relationship', { table: nameOf(table), name: `${to}s`, using: using({ id: 'other' }) }),
      ];
    }),
  );
  return [
    ...TABLES.map((table) => operation(kind, 'track_table', { table: nameOf(table), configuration: { custom_name: table } })),
    operation(kind, 'track_function', { function: { schema: 'svc_places', name: 'near' }, configuration: { custom_name: 'near' } }),
    ...related,
  ];
}

/** Returns the answer without the prefixes of sources. */
async function answerOf(service: TestService, kind: string, request: string, options: JsonObject = {}): Promise<JsonObject> {
  const prefixed = request.replaceAll(
    /(?<!\w)_(?=(?:insert|update|delete|near|orders|visit|country|setting|hub|page|ticket)(?:_aggregate)?\b|(?:insert|update|delete)_)/g,
    `${kind}_`,
  );
  return JSON.parse(comparable(JSON.stringify(await service.graphql(prefixed, options)))) as JsonObject;
}

function sorted(json: Json): Json {
  if (isJsonArray(json)) return json.map(sorted).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  return isJsonObject(json) ? Object.fromEntries(Object.entries(json).map(([key, value]) => [key, sorted(value ?? null)])) : json;
}

describe.skipIf(URL === '')('tables of all locations', () => {
  let service: TestService;
  const rows = async (kind: string): Promise<string> => {
    const sql = `select ${TABLES.map((table) => `(select json_agg(t order by t::text) from ${qualified(table)} t)`).join(', ')}`;
    const body = JSON.stringify({ type: `${kind}_run_sql`, args: { source: kind === 'pg' ? 'default' : 'twin', sql } });
    const answer = await service.send('/v2/query', { method: 'POST', body });
    return JSON.stringify((answer.json as JsonObject)['result'] ?? null);
  };
  const refill = async (): Promise<void> => {
    const sql = TABLES.map((table) => `delete from ${qualified(table)};`).join(' ') + FILL;
    await service.sql(sql);
    await runSql(URL, sql);
  };
  /** Runs a request on both sources, which have the same rows before and after. */
  const same = async (request: string, options: JsonObject = {}): Promise<JsonObject> => {
    const [theirs, ours] = [await answerOf(service, 'pg', request, options), await answerOf(service, 'dbc', request, options)];
    // Writes return rows in the order of the servers.
    const isWrite = request.startsWith('mutation');
    expect(isWrite ? sorted(ours) : ours, request).toEqual(isWrite ? sorted(theirs) : theirs);
    const [error] = (theirs['errors'] ?? []) as readonly JsonObject[];
    if (error === undefined) return theirs;
    // A permission check may reject a write; other errors are mistakes of the test.
    expect(error['extensions'], request).toMatchObject({ code: 'permission-error', path: expect.stringContaining('_orders') });
    return theirs;
  };
  const sameWrite = async (request: string, options: JsonObject = {}): Promise<JsonObject> => {
    const answer = await same(request, options);
    expect(await rows('dbc'), request).toBe(await rows('pg'));
    return answer;
  };

  beforeAll(async () => {
    service = await startTestService({}, { TWIN: URL });
    await service.sql(CREATE + FUNCTION + FILL);
    await runSql(URL, CREATE + FUNCTION + FILL + SPREAD);
    await addTwin(service, { from_env: 'TWIN' });
    await service.metadata('bulk', ['pg', 'dbc'].flatMap(tracked));
  }, 120_000);
  afterAll(async () => {
    await service?.stop();
    if (URL !== '') await runSql(URL, DROP);
  });

  const conditions = (to: string): readonly string[] => [
    `{${to}: {amount: {_gt: 2}}}`,
    `{_not: {${to}s: {amount: {_gt: 2}}}}`,
    `{_or: [{amount: {_eq: 6}}, {${to}s: {_not: {note: {_eq: "n1"}}}}]}`,
    `{${to}s_aggregate: {count: {predicate: {_eq: 0}}}}`,
    `{_not: {${to}s_aggregate: {count: {predicate: {_gte: 1}, filter: {amount: {_lt: 4}}}}}}`,
  ];
  const pairs = FROM.flatMap((table) => TO.map((to) => [table, to] as const));

  it.each(pairs)('finds rows of %s by rows of %s', async (table, to) => {
    const roots = conditions(to).map(
      (where, i) => `r${i}: _${table}(where: ${where}, order_by: {id: asc}) { id ${to} { id } ${to}s(order_by: {id: asc}) { id } }`,
    );
    await same(`{ ${roots.join(' ')} }`);
  });

  it.each(pairs)('updates and deletes rows of %s by rows of %s', async (table, to) => {
    await refill();
    const all = (field: (where: string) => string, also = ''): string =>
      conditions(to)
        .map((where, i) => `r${i}: ${field(`{_and: [${also}${where}]}`)}`)
        .join(' ');
    await same(`mutation { ${all((where) => `_update_${table}(where: ${where}, _inc: {amount: 1}) { affected_rows }`)} }`);
    await same(`mutation { ${all((where) => `_delete_${table}(where: ${where}) { affected_rows }`, '{id: {_lte: 4}}, ')} }`);
    const related = `${to} { id note } ${to}s(order_by: {id: asc}) { id note }`;
    await sameWrite(`mutation {
      _update_${table}(where: {id: {_eq: 5}}, _set: {note: "r"}) { returning { id ${related} } }
      _delete_${table}(where: {id: {_eq: 6}}) { returning { id ${to}s_aggregate { aggregate { count sum { amount } } } } } }`);
  });

  const chains = FROM.flatMap((table) => FROM.flatMap((via) => FROM.map((to) => [table, via, to] as const)));

  it.each(FROM)('finds, updates and deletes rows of %s by nested conditions', async (table) => {
    await refill();
    for (const [, via, to] of chains.filter(([from]) => from === table)) {
      const where = `{_or: [{${via}: {${to}s: {amount: {_gt: 1}}}}, {_not: {${via}s: {_not: {${to}: {note: {_neq: "n2"}}}}}}]}`;
      await same(`{ _${table}(where: ${where}, order_by: {id: asc}) { id } }`);
      await same(`mutation { _update_${table}(where: ${where}, _set: {note: "${via}${to}"}) { affected_rows } }`);
    }
    expect(await rows('dbc')).toBe(await rows('pg'));
  });

  it('calls functions on the coordinator beside single-server queries', async () => {
    await same(
      '{ _near(args: {bound: 3}, order_by: {id: asc}) { id amount } _orders(where: {tenant: {_eq: 1}}, order_by: {id: asc}) { id } }',
    );
    await same('{ _near(args: {bound: 3}, limit: 2) { id } _hub(order_by: {id: asc}) { id } _page(order_by: {id: asc}) { id } }');
    await same(
      '{ _near(args: {bound: 1}, where: {visits: {amount: {_gt: 2}}}, order_by: {id: asc}) { id page { id note } hubs_aggregate { aggregate { count } } } }',
    );
  });

  it.each(FROM)('streams and subscribes to rows of %s with conditions on tables of all locations', async (table) => {
    const far = TO.map((to) => `{_not: {${to}s: {amount: {_gt: 3}}}}`).join(', ');
    for (const query of [
      `subscription { dbc_${table}_stream(batch_size: 3, cursor: {initial_value: {id: 0}}, where: {_or: [${far}]}) { id page { id } } }`,
      `subscription { dbc_${table}(where: {_or: [${far}]}, order_by: {id: asc}) { id visits(order_by: {id: asc}) { id } } }`,
    ]) {
      const { status, text } = await service.send('/v1/graphql/explain', { method: 'POST', body: JSON.stringify({ query: { query } }) });
      expect(status, text).toBe(200);
    }
  });

  it('applies permissions that read tables of other servers', async () => {
    await refill();
    const role = 'user';
    const permit = (name: string, table: string, permission: JsonObject): readonly JsonObject[] =>
      ['pg', 'dbc'].map((kind) => operation(kind, `create_${name}_permission`, { table: nameOf(table), role, permission }));
    const least = { amount: { _gte: 'X-Svc-Least' } };
    await service.metadata('bulk', [
      ...permit('select', 'orders', { columns: '*', filter: { _or: [{ visits: least }, { hub: least }] }, allow_aggregations: true }),
      ...permit('select', 'visit', { columns: '*', filter: { _not: { memos: least } } }),
      ...permit('select', 'page', { columns: '*', filter: { _exists: { _table: nameOf('memo'), _where: { note: { _eq: 'n1' } } } } }),
      ...permit('select', 'setting', { columns: '*', filter: { countrys: { hubs: least } } }),
      ...permit('update', 'orders', {
        columns: ['note', 'amount'],
        filter: { tenant: { _eq: 'X-Svc-Tenant' } },
        check: { _not: { remarks: least } },
      }),
      ...permit('delete', 'orders', { filter: { tenant: { _eq: 'X-Svc-Tenant' }, _not: { page: { memo: least } } } }),
      ...permit('update', 'setting', { columns: ['note'], filter: { _not: { country: least } }, check: null }),
      ...permit('update', 'page', { columns: ['note'], filter: { memos: least }, check: null }),
    ]);
    for (const tenant of ['0', '1', '2']) {
      for (const least of ['1', '3', '5']) {
        const options = { role, session: { tenant, least } };
        await same(
          `{ _orders(order_by: {id: asc}) { id visits(order_by: {id: asc}) { id } page { id } } _orders_aggregate { aggregate { count sum { amount } } }
            _visit(order_by: {id: asc}, where: {orders: {setting: {}}}) { id setting { id } } _page(order_by: {id: asc}) { id } _setting(order_by: {id: asc}) { id } }`,
          options,
        );
        for (const field of [
          '_update_orders(where: {tenant: {_eq: 1}}, _set: {note: "a"}) { affected_rows returning { id } }',
          '_update_orders_by_pk(pk_columns: {tenant: 1, id: 4}, _inc: {amount: 1}) { id amount }',
          '_update_setting(where: {visits: {}}, _set: {note: "b"}) { affected_rows }',
          '_update_page(where: {_or: []}, _set: {note: "b"}) { affected_rows }',
          '_update_page(where: {_not: {orderss: {}}}, _set: {note: "c"}) { affected_rows returning { id } }',
          '_delete_orders(where: {id: {_in: [1, 2]}}) { affected_rows }',
        ])
          await same(`mutation { ${field} }`, options);
      }
    }
    expect(await rows('dbc')).toBe(await rows('pg'));
  });

  it('supports enum tables', async () => {
    const create = `create table svc_places.state (name text primary key, comment text); insert into svc_places.state values ('open', 'o'), ('done', 'd');
      create table svc_places.ticket (id int primary key, state text);`;
    const key = 'alter table svc_places.ticket add constraint ticket_state foreign key (state) references svc_places.state (name);';
    await service.sql(create + key);
    await runSql(URL, create);
    await runSql(URL, "select create_reference_table('svc_places.state')");
    await runSql(URL, "select create_distributed_table('svc_places.ticket', 'id')");
    await runSql(URL, key);
    const track = (name: string, more: JsonObject): readonly JsonObject[] =>
      ['pg', 'dbc'].map((kind) =>
        operation(kind, 'track_table', { table: { schema: 'svc_places', name }, configuration: { custom_name: name }, ...more }),
      );
    await service.metadata('bulk', [...track('state', { is_enum: true }), ...track('ticket', {})]);
    await same('mutation { _insert_ticket(objects: [{id: 1, state: open}, {id: 2, state: done}]) { affected_rows } }');
    await same('{ _ticket(where: {state: {_in: [done]}}) { id state } }');
    const wrong = await service.graphql('{ dbc_ticket(where: {state: {_eq: other}}) { id } }');
    expect(wrong).toMatchObject({ errors: [{ extensions: { code: 'validation-failed' } }] });
  });

  it.each(FROM)('writes nothing to %s if the conditions are never true', async (table) => {
    for (const where of [
      '{_or: []}',
      '{_and: [{tenant: {_eq: 1}}, {tenant: {_eq: 2}}, {id: {_eq: 1}}, {id: {_eq: 2}}]}',
      '{tenant: {_in: []}, id: {_in: []}}',
    ]) {
      await sameWrite(
        `mutation { _update_${table}(where: ${where}, _set: {note: "x"}) { affected_rows returning { id country { id } } } }`,
      );
      await sameWrite(`mutation { _delete_${table}(where: ${where}) { affected_rows returning { id orderss { id } } } }`);
    }
  });
});
