/** The examples of docs/joins.md, unchanged. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { type GraphqlServer, startGraphqlServer } from '../support/graphql-server.ts';
import { testDatabase, type TestDatabase } from '../support/postgres.ts';
import { startTestService, type TestService } from '../support/service.ts';

const page = readFileSync(new URL('../../docs/joins.md', import.meta.url), 'utf8');
const blocks = [...page.matchAll(/^```(json|graphql) shown\n(.*?)^```/gms)].map(([, language, text = '']) => ({ language, text }));
const operations = blocks.flatMap(({ language, text }) =>
  language === 'json' && text.startsWith('{') ? [JSON.parse(text) as { type: string; args: JsonObject }] : [],
);
const operationOf = (name: string) => {
  const found = operations.find(({ args }) => args['name'] === name);
  if (found === undefined) throw new Error(`the page has no operation for ${name}`);
  return found;
};

let service: TestService;
let shop: TestDatabase;
let server: GraphqlServer;

beforeAll(async () => {
  shop = await testDatabase();
  server = await startGraphqlServer(
    `input Where { place: String }
     type Day { degrees: Int }
     type Forecast { today: Day }
     type Country { code: ID! name: String }
     type User { id: ID! mail: String }
     type Query { forecast(where: Where, days: Int): Forecast country(code: ID!): Country usersById(ids: [ID!]!): [User!]! }`,
    {
      forecast: ({ where, days }: { where: { place: string }; days: number }) => ({ today: { degrees: where.place.length * days } }),
      country: ({ code }: { code: string }) => ({ code, name: code }),
      usersById: ({ ids }: { ids: readonly string[] }) => ids.map((id) => ({ id, mail: `${id}@x` })),
    },
  );
  service = await startTestService();
  await service.metadata('pg_add_source', { name: 'shop', configuration: { connection_info: { database_url: shop.url } } });
  await service.sql(`create table customer (id int primary key, name text, city text, user_id int);
    insert into customer values (1, 'Ann', 'Oslo', 7), (2, 'Bob', null, null);
    create table author (id int primary key, country text); insert into author values (1, 'no'), (2, 'no');`);
  await service.sql(
    `create table purchase (id int primary key, customer_id int, item text, price numeric);
     insert into purchase select n, 1, 'item ' || n, n * 2 from generate_series(1, 9) n;`,
    { source: 'shop' },
  );
  await service.metadata('pg_track_tables', { tables: ['customer', 'author'] });
  await service.metadata('pg_track_table', { source: 'shop', table: 'purchase' });
  await service.metadata('add_remote_schema', { name: 'forecasts', definition: { url: server.url } });
});

afterAll(async () => {
  await service.stop();
  await server.close();
  await shop.drop();
});

const run = ({ type, args }: { type: string; args: JsonObject }): Promise<Json> => service.metadata(type, args);
const data = async (query: string): Promise<Json> => {
  const body = await service.graphql(query);
  expect(body['errors']).toBeUndefined();
  return body['data'] as Json;
};

test('joins a table of another source', async () => {
  await run(operationOf('purchases'));
  const query = blocks.find(({ language }) => language === 'graphql')?.text ?? '';
  expect(await data(query)).toEqual({
    customer: [
      {
        name: 'Ann',
        purchases: [3, 4, 5].map((n) => ({ item: `item ${n}`, price: n * 2 })),
        purchases_aggregate: { aggregate: { count: 9, sum: { price: 90 } } },
      },
      { name: 'Bob', purchases: [], purchases_aggregate: { aggregate: { count: 0, sum: { price: null } } } },
    ],
  });
});

test('joins a field of a remote schema', async () => {
  await run(operationOf('weather'));
  expect(await data('{ customer(order_by: {id: asc}) { weather { degrees } } }')).toEqual({
    customer: [{ weather: { degrees: 12 } }, { weather: null }],
  });
});

test('joins by a list of keys', async () => {
  const written = blocks.find(({ text }) => text.startsWith('"remote_field"'))?.text ?? '';
  const { args } = operationOf('weather');
  const { to_remote_schema } = args['definition'] as { to_remote_schema: JsonObject };
  const target = { ...to_remote_schema, lhs_fields: ['user_id'], ...(JSON.parse(`{${written}}`) as JsonObject) };
  await run({ type: 'pg_create_remote_relationship', args: { ...args, name: 'user', definition: { to_remote_schema: target } } });
  expect(await data('{ customer(order_by: {id: asc}) { user { mail } } }')).toEqual({
    customer: [{ user: { mail: '7@x' } }, { user: null }],
  });
});

test('joins from a type of a remote schema', async () => {
  const { type, args } = operationOf('visitors');
  await run({ type, args: { ...args, remote_schema: 'forecasts' } });
  expect(await data('{ country(code: "no") { name visitors(order_by: {id: asc}) { id } } }')).toEqual({
    country: { name: 'no', visitors: [{ id: 1 }, { id: 2 }] },
  });
});
