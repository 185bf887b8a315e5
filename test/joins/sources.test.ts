/** Relationships between tables of two databases. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testDatabase, type TestDatabase } from '../support/postgres.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { type Json, printJson } from '../../src/util/json.ts';

let service: TestService;
let shop: TestDatabase;

const PEOPLE = `
  create table person (id int primary key, name text not null, team int, boss int references person);
  insert into person values (1, 'Ann', 10, null), (2, 'Bob', 10, 1), (3, 'Cid', null, 1), (4, 'Dan', 30, 2);
`;
const SHOP = `
  create table purchase (id bigint primary key, person_id int, item text not null, price numeric, secret text default 'hidden');
  insert into purchase values (1, 1, 'pen', 1.5), (2, 1, 'ink', 2.25), (3, 2, 'cup', 7), (9007199254740993, 9, 'stray', 1);
  create table team (id text primary key, title text);
  insert into team values ('10', 'Red'), ('20', 'Blue');
`;

const purchases = {
  name: 'purchases',
  table: 'person',
  definition: { to_source: { relationship_type: 'array', source: 'shop', table: 'purchase', field_mapping: { id: 'person_id' } } },
};
const team = {
  name: 'teamOf',
  table: 'person',
  definition: {
    to_source: { relationship_type: 'object', source: 'shop', table: { schema: 'public', name: 'team' }, field_mapping: { team: 'id' } },
  },
};
const buyer = {
  name: 'buyer',
  source: 'shop',
  table: 'purchase',
  definition: { to_source: { relationship_type: 'object', source: 'default', table: 'person', field_mapping: { person_id: 'id' } } },
};

beforeAll(async () => {
  shop = await testDatabase();
  service = await startTestService({ ADMIN_SECRET: 'secret' });
  await service.metadata('pg_add_source', { name: 'shop', configuration: { connection_info: { database_url: shop.url } } });
  await service.sql(PEOPLE);
  await service.sql(SHOP, { source: 'shop' });
  await service.metadata('pg_track_table', { table: 'person' });
  await service.metadata('pg_track_tables', { tables: ['purchase', 'team'].map((name) => ({ source: 'shop', table: name })) });
  await service.metadata('pg_create_remote_relationship', purchases);
  await service.metadata('pg_create_remote_relationship', team);
  await service.metadata('pg_create_remote_relationship', buyer);
  const select = (source: string, table: string, role: string, permission: Json) =>
    service.metadata('pg_create_select_permission', { source, table, role, permission });
  await select('default', 'person', 'user', { columns: ['id', 'name'], filter: {} });
  await select('shop', 'purchase', 'user', { columns: ['id', 'item'], filter: { price: { _lt: 5 } }, limit: 1 });
  await select('default', 'person', 'blind', { columns: ['name'], filter: {} });
  await select('shop', 'purchase', 'blind', { columns: ['id'], filter: {} });
});

afterAll(async () => {
  await service.stop();
  await shop.drop();
});

const data = async (query: string, options = {}): Promise<Json> => {
  const body = await service.graphql(query, options);
  expect(body['errors']).toBeUndefined();
  return body['data'] as Json;
};

describe('a query across databases', () => {
  test('returns rows, single rows and aggregates of the other database', async () => {
    const query = `{ person(order_by: {id: asc}) {
      name purchases(order_by: {id: asc}) { item price } teamOf { title } purchases_aggregate { aggregate { count sum { price } } }
    } }`;
    expect(await data(query)).toEqual({
      person: [
        {
          name: 'Ann',
          purchases: [
            { item: 'pen', price: 1.5 },
            { item: 'ink', price: 2.25 },
          ],
          teamOf: { title: 'Red' },
          purchases_aggregate: { aggregate: { count: 2, sum: { price: 3.75 } } },
        },
        {
          name: 'Bob',
          purchases: [{ item: 'cup', price: 7 }],
          teamOf: { title: 'Red' },
          purchases_aggregate: { aggregate: { count: 1, sum: { price: 7 } } },
        },
        { name: 'Cid', purchases: [], teamOf: null, purchases_aggregate: { aggregate: { count: 0, sum: { price: null } } } },
        { name: 'Dan', purchases: [], teamOf: null, purchases_aggregate: { aggregate: { count: 0, sum: { price: null } } } },
      ],
    });
  });

  test('accepts the arguments of the target, and variables', async () => {
    const query = `query ($p: purchase_bool_exp!, $n: Int!) {
      person(where: {id: {_in: [1, 2]}}, order_by: {id: asc}) { a: purchases(where: $p, limit: $n, order_by: {price: desc}) { item } b: purchases(offset: 1) { item } }
    }`;
    expect(await data(query, { variables: { p: { price: { _gt: 1 } }, n: 1 } })).toEqual({
      person: [
        { a: [{ item: 'ink' }], b: [{ item: 'ink' }] },
        { a: [{ item: 'cup' }], b: [] },
      ],
    });
  });

  test('joins back and forth', async () => {
    const query = `{ purchase(where: {person_id: {_eq: 2}}) { buyer { name boss purchases { item buyer { name } } } } }`;
    expect(await data(query)).toEqual({
      purchase: [{ buyer: { name: 'Bob', boss: 1, purchases: [{ item: 'cup', buyer: { name: 'Bob' } }] } }],
    });
  });

  test('joins under nodes and in returning', async () => {
    expect(
      await data('{ person_aggregate(where: {id: {_eq: 1}}) { nodes { purchases(limit: 1, order_by: {id: asc}) { item } } } }'),
    ).toEqual({
      person_aggregate: { nodes: [{ purchases: [{ item: 'pen' }] }] },
    });
    const insert =
      'mutation { insert_person_one(object: {id: 9, name: "New"}) { name purchases { id item } } delete_person(where: {id: {_eq: 9}}) { returning { purchases { item } } } }';
    expect(printJson(await service.graphql(insert))).toContain('"purchases":[{"id":9007199254740993,"item":"stray"}]');
    expect(await data('{ person_by_pk(id: 9) { id } }')).toEqual({ person_by_pk: null });
  });

  test('applies the role’s filter, limit and columns of the target', async () => {
    const query = '{ person(order_by: {id: asc}) { name purchases { item } } }';
    expect(await data(query, { role: 'user' })).toEqual({
      person: [
        { name: 'Ann', purchases: [{ item: 'pen' }] },
        { name: 'Bob', purchases: [] },
        { name: 'Cid', purchases: [] },
        { name: 'Dan', purchases: [] },
      ],
    });
    const hidden = await service.graphql('{ person { purchases { secret } } }', { role: 'user' });
    expect(JSON.stringify(hidden)).toContain("field 'secret' not found in type: 'purchase'");
    // No table without select permission, and no key without permission on its column.
    expect(JSON.stringify(await service.graphql('{ person { teamOf { id } } }', { role: 'user' }))).toContain("field 'teamOf' not found");
    expect(JSON.stringify(await service.graphql('{ person { purchases { id } } }', { role: 'blind' }))).toContain(
      "field 'purchases' not found",
    );
  });

  test('fails at a field whose key is not valid in the type of its target', async () => {
    const misfit = {
      ...purchases,
      name: 'misfit',
      definition: { to_source: { ...purchases.definition.to_source, field_mapping: { name: 'person_id' } } },
    };
    await service.metadata('pg_create_remote_relationship', misfit);
    const answer = await service.graphql('query { all: person { id loves: misfit { item } } }');
    expect(answer).toEqual({
      errors: [
        {
          message: 'invalid input syntax for type integer: "Ann"',
          locations: [{ line: 1, column: 26 }],
          extensions: { path: '$.selectionSet.person.selectionSet.misfit', code: 'data-exception' },
        },
      ],
    });
    await service.metadata('pg_delete_remote_relationship', { table: 'person', name: 'misfit' });
  });

  test('can be explained', async () => {
    const answer = await service.send('/v1/graphql/explain', {
      method: 'POST',
      headers: { 'x-svc-admin-secret': 'secret' },
      body: JSON.stringify({ query: { query: '{ person { purchases { item } } }' } }),
    });
    expect(answer.json).toMatchObject([{ field: 'person' }, { field: 'person.purchases', sql: expect.stringContaining('"purchase"') }]);
  });
});

describe('the definition of a relationship to another database', () => {
  const refused = async (type: string, args: Json): Promise<string> => {
    const error = await service.metadata(type, args).catch((thrown: unknown) => thrown as Error);
    return error instanceof Error ? error.message : 'accepted';
  };
  const with_ = (more: object) => ({
    name: 'x',
    table: 'person',
    definition: { to_source: { ...purchases.definition.to_source, ...more } },
  });

  test.each<[string, Json]>([
    ['already exists in table', { ...purchases, name: 'team' }],
    ['already exists in table', purchases],
    ['source not found: \\"nowhere\\"', with_({ source: 'nowhere' })],
    ['table \\"nothing\\" does not exist in source: shop', with_({ table: 'nothing' })],
    ['column \\"nothing\\" does not exist', with_({ field_mapping: { id: 'nothing' } })],
    ['field with name \\"nothing\\" is not provided by the lhs entity \\"person\\"', with_({ field_mapping: { nothing: 'id' } })],
    ['expects exactly one of: to_source, to_remote_schema', { name: 'x', table: 'person', definition: {} }],
    ['create_remote_relationship expects exactly one of: remote_schema, definition', { name: 'x', table: 'person' }],
    [
      'remote schema with name \\"r\\" not found',
      {
        name: 'x',
        table: 'person',
        definition: { to_remote_schema: { remote_schema: 'r', lhs_fields: ['id'], remote_field: { f: { arguments: {} } } } },
      },
    ],
  ])('is rejected: %s', async (message, args) => {
    expect(await refused('pg_create_remote_relationship', args)).toContain(message);
  });

  test('can be changed and removed', async () => {
    const own = { name: 'all', table: 'person', definition: team.definition };
    await service.metadata('pg_create_remote_relationship', own);
    await service.metadata('pg_update_remote_relationship', { ...own, definition: purchases.definition });
    expect(await data('{ person_by_pk(id: 2) { all { item } } }')).toEqual({ person_by_pk: { all: [{ item: 'cup' }] } });
    await service.metadata('pg_delete_remote_relationship', { name: 'all', table: 'person' });
    expect(await refused('pg_delete_remote_relationship', { name: 'all', table: 'person' })).toContain('not-exists');
    expect(await refused('pg_update_remote_relationship', own)).toContain('not-exists');
  });

  test('is exported and imported again', async () => {
    const metadata = await service.metadata('export_metadata', {});
    expect(JSON.stringify(metadata)).toContain('"remote_relationships":[{"name":"purchases","definition":{"to_source"');
    await service.metadata('replace_metadata', metadata);
    expect(await service.metadata('export_metadata', {})).toEqual(metadata);
    expect(await data('{ person_by_pk(id: 2) { purchases { item } } }')).toEqual({ person_by_pk: { purchases: [{ item: 'cup' }] } });
  });

  test('prevents changes of its dependencies', async () => {
    expect(await refused('pg_untrack_table', { source: 'shop', table: 'purchase' })).toContain('remote relationship person.purchases');
    expect(await refused('pg_drop_source', { name: 'shop' })).toContain('remote relationship person.purchases');
    const drop = await service.sql('alter table purchase drop column person_id', { source: 'shop' }).catch((error: Error) => error.message);
    expect(drop).toContain('remote relationship person.purchases');
    const dropOwn = await service.sql('alter table person drop column team').catch((error: Error) => error.message);
    expect(dropOwn).toContain('remote relationship person.teamOf');
  });

  test('follows new names of columns and tables', async () => {
    await service.sql('alter table purchase rename column person_id to who', { source: 'shop' });
    await service.sql('alter table team rename to squad', { source: 'shop' });
    await service.sql('alter table person rename column team to squad');
    expect(await data('{ person_by_pk(id: 1) { purchases(order_by: {id: asc}) { item } teamOf { title } } }')).toEqual({
      person_by_pk: { purchases: [{ item: 'pen' }, { item: 'ink' }], teamOf: { title: 'Red' } },
    });
    expect(await service.metadata('get_inconsistent_metadata', {})).toMatchObject({ is_consistent: true });
  });

  test('follows a new name of a source', async () => {
    await service.metadata('rename_source', { name: 'shop', new_name: 'store' });
    expect(await data('{ person_by_pk(id: 2) { purchases { item } } }')).toEqual({ person_by_pk: { purchases: [{ item: 'cup' }] } });
    await service.metadata('rename_source', { name: 'store', new_name: 'shop' });
  });

  test('is removed with its dependencies by cascade', async () => {
    await service.metadata('pg_drop_source', { name: 'shop', cascade: true });
    expect(JSON.stringify(await service.metadata('export_metadata', {}))).not.toContain('remote_relationships');
    expect(await service.metadata('get_inconsistent_metadata', {})).toMatchObject({ is_consistent: true });
  });
});
