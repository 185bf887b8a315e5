/** Unseen rows on the other side of a join change no byte of an answer, errors included. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/util/json.ts';
import { runSql, testDatabase, type TestDatabase } from '../support/postgres.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let shop: TestDatabase;

const OWN = `
  truncate person;
  insert into person values (1, 10, 100, 'a'), (2, 20, 200, 'b'), (3, null, null, 'c');
`;
const ROWS = `
  truncate item;
  insert into item values
    (1, 10, 100, true, 1, 'pen', '{"a": 1}'), (2, 10, 100, true, 2, 'ink', '{"a": 2}'), (3, 20, 200, true, 3, 'cup', '{"a": 3}');
`;

const mapped = (name: string, relationship: string, mapping: JsonObject): JsonObject => ({
  name,
  source: 'default',
  table: 'person',
  definition: { to_source: { relationship_type: relationship, source: 'shop', table: 'item', field_mapping: mapping } },
});

beforeAll(async () => {
  shop = await testDatabase();
  service = await startTestService({ PG_CONNECTIONS: '3' });
  await service.metadata('pg_add_source', { name: 'shop', configuration: { connection_info: { database_url: shop.url } } });
  await service.sql('create table person (id int primary key, open_key int, masked_key int, name text)');
  await service.sql(
    'create table item (id int primary key, open_key int, masked_key int, visible bool, amount numeric, title text, extra jsonb)',
    { source: 'shop' },
  );
  await service.metadata('pg_track_table', { table: 'person' });
  await service.metadata('pg_track_table', { source: 'shop', table: 'item' });
  for (const each of [
    mapped('items', 'array', { open_key: 'open_key' }),
    mapped('item', 'object', { open_key: 'open_key' }),
    mapped('by_masked', 'array', { masked_key: 'masked_key' }),
  ]) {
    await service.metadata('pg_create_remote_relationship', each);
  }
  const permit = (source: string, table: string, role: string, permission: JsonObject) =>
    service.metadata('pg_create_select_permission', { source, table, role, permission });
  const columns = ['id', 'open_key', 'masked_key', 'amount', 'title', 'extra'];
  const visible = { columns, filter: { visible: { _eq: true } }, allow_aggregations: true };
  await permit('default', 'person', 'filtered', { columns: ['id', 'open_key', 'masked_key', 'name'], filter: {} });
  await permit('shop', 'item', 'filtered', visible);
  await permit('default', 'person', 'limited', { columns: ['id', 'open_key', 'masked_key', 'name'], filter: {} });
  await permit('shop', 'item', 'limited', { columns, filter: {}, limit: 1 });
  // One parent role sees all rows without the key, another the key of the first row alone.
  await permit('default', 'person', 'names', { columns: ['id', 'open_key', 'name'], filter: {} });
  await permit('default', 'person', 'keys', { columns: ['id', 'masked_key'], filter: { id: { _eq: 1 } } });
  await permit('shop', 'item', 'keys', visible);
  await service.metadata('add_inherited_role', { role_name: 'masked', role_set: ['names', 'keys'] });
});

afterAll(async () => {
  await service?.stop();
  await shop?.drop();
});

beforeEach(async () => {
  await service.sql(OWN);
  await runSql(shop.url, ROWS);
});

const text = async (query: string, role: string): Promise<string> => {
  const headers = { 'x-svc-role': role };
  return (await service.send('/v1/graphql', { method: 'POST', headers, body: JSON.stringify({ query }) })).text;
};

/** Removes the line breaks that the database puts into lists. */
const compact = (answer: string | undefined): string => JSON.stringify(JSON.parse(answer ?? ''));

/** All answers before and after a change. */
async function around(queries: readonly string[], role: string, change: () => Promise<unknown>): Promise<[string[], string[]]> {
  const all = () => Promise.all(queries.map((query) => text(query, role)));
  const before = await all();
  await change();
  return [before, await all()];
}

const person = (fields: string): string => `{ person(order_by: {id: asc}) { id ${fields} } }`;
const READS = [
  person('items(order_by: {id: asc}) { id title amount }'),
  person('item { id }'),
  person('items(where: {amount: {_gt: 1}}, order_by: {amount: desc, id: asc}, limit: 1, offset: 1) { title }'),
];
const AGGREGATES = [
  person('items_aggregate { aggregate { count sum { amount } max { title } } nodes { id } }'),
  person('items_aggregate(where: {title: {_like: "%n%"}}) { aggregate { count } }'),
];
/** Conditions and reads that fail, or that hidden values could make fail. */
const FAILING = [
  person('items(where: {title: {_regex: "("}}) { id }'),
  person('items(where: {title: {_similar: "(*"}}) { id }'),
  person('items(where: {title: {_like: "a\\\\"}}) { id }'),
  person('items(where: {amount: {_eq: "no number"}}) { id }'),
  person('items(where: {extra: {_cast: {String: {_regex: "a("}}}}) { id }'),
  person('items { extra(path: "$.a.b[0]") }'),
  person('items(limit: -1) { id }'),
];

describe('rows that the filter hides', () => {
  const HIDDEN = `
    insert into item values (90, 10, 100, false, 'NaN', '(', 'null'), (91, 20, 200, false, 1e300, 'a\\', '{"a": {"b": [1]}}'),
      (92, null, null, false, -1, null, null), (93, 10, 100, null, 7, 'pen', '[]');
  `;
  test('are inserted, changed and deleted unnoticed', async () => {
    const queries = [...READS, ...AGGREGATES, ...FAILING];
    const [before, after] = await around(queries, 'filtered', () => runSql(shop.url, HIDDEN));
    expect(after).toEqual(before);
    // The compared answers contain rows and errors.
    expect(compact(before[0])).toContain('"title":"ink"');
    expect(before.filter((answer) => answer.startsWith('{"errors"')).length).toBeGreaterThan(2);
    expect(await text(READS[0] as string, 'admin')).toContain('"id":90');
    const [, gone] = await around(queries, 'filtered', () =>
      runSql(shop.url, 'update item set amount = 0, extra = null where not visible'),
    );
    expect(gone).toEqual(before);
  });

  test('cause no error if a key leads only to them', async () => {
    await runSql(shop.url, 'truncate item');
    const [before, after] = await around([...READS, ...AGGREGATES, ...FAILING], 'filtered', () => runSql(shop.url, HIDDEN));
    expect(after).toEqual(before);
    expect(compact(before[0])).toContain('"items":[]');
  });

  test('are hidden from nested joins too', async () => {
    const definition = {
      to_source: { relationship_type: 'array', source: 'default', table: 'person', field_mapping: { open_key: 'open_key' } },
    };
    await service.metadata('pg_create_remote_relationship', { name: 'owners', source: 'shop', table: 'item', definition });
    const query = person('items(order_by: {id: asc}) { id owners { name items(order_by: {id: asc}) { id } } }');
    const [before, after] = await around([query], 'filtered', () => runSql(shop.url, HIDDEN));
    expect(after).toEqual(before);
    expect(compact(before[0])).toContain('"owners":[{"name":"a","items":[{"id":1},{"id":2}]}]');
    await service.metadata('pg_delete_remote_relationship', { name: 'owners', source: 'shop', table: 'item' });
  });
});

describe('rows beyond the limit', () => {
  test('change nothing, for each key', async () => {
    const queries = [
      person('items(order_by: {id: asc}) { id title amount }'),
      person('items(order_by: {id: asc}, limit: 100) { id }'),
      ...FAILING.map((query) => query.replace('items(', 'items(order_by: {id: asc}, ')),
    ].filter((query) => !query.includes('items {'));
    const change = "update item set title = 'x(', amount = 99 where id = 2; insert into item values (94, 20, 200, true, 5, '\\', '1')";
    const [before, after] = await around(queries, 'limited', () => runSql(shop.url, change));
    expect(after).toEqual(before);
    expect(compact(before[0])).toContain('"items":[{"id":1,"title":"pen","amount":1}]');
    expect(compact(before[0])).toContain('"title":"cup"');
    expect(compact(before[0])).not.toContain('ink');
  });
});

describe('masked keys', () => {
  const QUERIES = [
    person('masked_key by_masked(order_by: {id: asc}) { id title }'),
    person('by_masked_aggregate { aggregate { count sum { amount } } }'),
    person('by_masked(where: {title: {_regex: "("}}) { id }'),
  ];
  test('join no rows, whatever their values', async () => {
    const change = () => service.sql('update person set masked_key = 100 where id = 2');
    const [before, after] = await around(QUERIES, 'masked', change);
    expect(after).toEqual(before);
    expect(compact(before[0])).toContain('{"id":1,"masked_key":100,"by_masked":[{"id":1,"title":"pen"},{"id":2,"title":"ink"}]}');
    expect(compact(before[0])).toContain('{"id":2,"masked_key":null,"by_masked":[]}');
    expect(compact(before[1])).toContain('{"id":2,"by_masked_aggregate":{"aggregate":{"count":0,"sum":{"amount":null}}}}');
    expect(compact(await text(QUERIES[0] as string, 'admin'))).toContain('{"id":2,"masked_key":100,"by_masked":[{"id":1');
  });

  test('change nothing when the rows with these keys change', async () => {
    const [before, after] = await around(QUERIES, 'masked', () =>
      runSql(shop.url, "update item set title = 'other', amount = 8 where id = 3"),
    );
    expect(after).toEqual(before);
  });
});
