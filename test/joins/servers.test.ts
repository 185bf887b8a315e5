/** Relationships between tables and GraphQL servers, in both directions, and between servers. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type GraphqlServer, startGraphqlServer } from '../support/graphql-server.ts';
import { startTestService, type TestService } from '../support/service.ts';
import type { Json } from '../../src/util/json.ts';

let service: TestService;
let users: GraphqlServer;
let weather: GraphqlServer;

const USERS = `
  type User { id: ID! mail: String town: String tags(first: Int): [String!]! posts(where: PostFilter): [Post!]! }
  type Post { title: String! }
  input PostFilter { author: Int title: String tags: [String!] }
  type Query { user(id: ID!): User users(ids: [ID!]!): [User] directory: Directory posts(where: PostFilter, limit: Int): [Post!]! }
  type Directory { find(town: String!, loud: Boolean): User }
  interface Holder { label: String }
  type Shop implements Holder { label: String code: Int! }
  type Club implements Holder { label: String code: String }
  extend type Query { holders: [Holder!]! }
`;
const post = (title: string) => ({ title });
const all: Readonly<Record<string, object>> = {
  1: { id: '1', mail: 'ann@x', town: 'Oslo', tags: ({ first }: { first?: number }) => ['a', 'b'].slice(0, first ?? 2), posts: [post('A')] },
  2: { id: '2', mail: 'bob@x', town: null, tags: [], posts: [] },
};
const ROOT = {
  user: ({ id }: { id: string }) => all[id] ?? null,
  users: ({ ids }: { ids: readonly string[] }) => [...ids].reverse().map((id) => all[id] ?? null),
  directory: { find: ({ town }: { town: string }) => (town === 'Oslo' ? all['1'] : null) },
  posts: ({ where }: { where: object }) => [post(JSON.stringify(where))],
  holders: [
    { __typename: 'Shop', label: 's', code: 2 },
    { __typename: 'Club', label: 'c', code: 'ann@x' },
    { __typename: 'Club', label: 'none', code: null },
  ],
};

const toUser = {
  remote_schema: 'users',
  lhs_fields: ['id'],
  remote_field: { user: { arguments: { id: '$id' } } },
};

beforeAll(async () => {
  users = await startGraphqlServer(USERS, ROOT);
  weather = await startGraphqlServer('type Query { degrees(place: String!): Int }', {
    degrees: ({ place }: { place: string }) => place.length,
  });
  service = await startTestService({ ADMIN_SECRET: 'secret', ENABLE_REMOTE_SCHEMA_PERMISSIONS: 'true' });
  await service.sql(`create table person (id int primary key, name text, mail text);
    insert into person values (1, 'Ann', 'ann@x'), (2, 'Bob', 'bob@x'), (3, 'Cid', null);`);
  await service.metadata('pg_track_table', { table: 'person' });
  await service.metadata('add_remote_schema', { name: 'users', definition: { url: users.url } });
  await service.metadata('add_remote_schema', { name: 'weather', definition: { url: weather.url } });
  const relate = (name: string, definition: Json) =>
    service.metadata('pg_create_remote_relationship', { table: 'person', name, definition });
  await relate('account', { to_remote_schema: toUser });
  await relate('listed', {
    to_remote_schema: {
      remote_schema: 'users',
      lhs_fields: ['id'],
      remote_field: { users: { arguments: { ids: '$id' } } },
      batch: { match_field: 'id' },
    },
  });
  await relate('writings', {
    to_remote_schema: {
      remote_schema: 'users',
      lhs_fields: ['id'],
      remote_field: { posts: { arguments: { where: { author: '$id', tags: ['own'] } } } },
    },
  });
  const relateType = (name: string, definition: Json) =>
    service.metadata('create_remote_schema_remote_relationship', { remote_schema: 'users', type_name: 'User', name, definition });
  await relateType('people', {
    to_source: { relationship_type: 'array', source: 'default', table: 'person', field_mapping: { mail: 'mail' } },
  });
  for (const [type_name, remote] of [
    ['Shop', 'id'],
    ['Club', 'mail'],
  ] as const) {
    await service.metadata('create_remote_schema_remote_relationship', {
      remote_schema: 'users',
      type_name,
      name: 'owner',
      definition: { to_source: { relationship_type: 'object', source: 'default', table: 'person', field_mapping: { code: remote } } },
    });
  }
  await relateType('weather', {
    to_remote_schema: { remote_schema: 'weather', lhs_fields: ['town'], remote_field: { degrees: { arguments: { place: '$town' } } } },
  });
});

afterAll(async () => {
  await service.stop();
  await users.close();
  await weather.close();
});
beforeEach(() => {
  users.requests.length = 0;
  weather.requests.length = 0;
});

const data = async (query: string, options = {}): Promise<Json> => {
  const body = await service.graphql(query, options);
  expect(body['errors']).toBeUndefined();
  return body['data'] as Json;
};

describe('a join from a table to a server', () => {
  test('sends one request for all rows', async () => {
    const query = '{ person(order_by: {id: asc}) { name account { __typename mail t: tags(first: 1) } } }';
    expect(await data(query)).toEqual({
      person: [
        { name: 'Ann', account: { __typename: 'User', mail: 'ann@x', t: ['a'] } },
        { name: 'Bob', account: { __typename: 'User', mail: 'bob@x', t: [] } },
        { name: 'Cid', account: null },
      ],
    });
    expect(users.asked()).toHaveLength(1);
  });

  test('can send the keys as a list', async () => {
    expect(await data('{ person(order_by: {id: asc}) { listed { mail } } }')).toEqual({
      person: [{ listed: { mail: 'ann@x' } }, { listed: { mail: 'bob@x' } }, { listed: null }],
    });
    expect(users.asked().map(({ variables }) => variables)).toEqual([{ v0: ['1', '2', '3'] }]);
  });

  test('merges arguments of the definition and of the client', async () => {
    const query = 'query ($w: PostFilter_remote_rel_personwritings!) { person_by_pk(id: 2) { writings(where: $w) { title } } }';
    expect(await data(query, { variables: { w: { title: 'x', tags: ['mine'] } } })).toEqual({
      person_by_pk: { writings: [{ title: JSON.stringify({ author: 2, title: 'x', tags: ['mine', 'own'] }) }] },
    });
    const refused = await service.graphql('{ person_by_pk(id: 2) { writings(where: {author: 1}) { title } } }');
    expect(JSON.stringify(refused)).toContain("field 'author' not found");
  });

  test('returns an error of the server with the path of the request', async () => {
    users.answer = () => ({ body: { errors: [{ message: 'no' }] } });
    try {
      const answer = await service.graphql('{ person { account { mail } } }');
      expect(answer).toMatchObject({ errors: [{ message: 'Errors from remote server', extensions: { code: 'unexpected' } }] });
      users.answer = () => 'reset';
      const path = '$.selectionSet.person.selectionSet.account';
      expect(await service.graphql('{ person { account { mail } } }')).toMatchObject({
        errors: [{ extensions: { code: 'remote-schema-error', path } }],
      });
    } finally {
      users.answer = () => undefined;
    }
  });
});

describe('a preset in the role’s permission', () => {
  const SEEN = `
    type User { id: ID! mail: String town: String tags(first: Int @preset(value: 1)): [String!]! posts(where: PostFilter): [Post!]! }
    type Post { title: String! }
    input PostFilter { author: Int title: String @preset(value: "x-svc-title") tags: [String!] }
    type Query {
      user(id: ID!): User
      users(ids: [ID!]!): [User]
      posts(where: PostFilter, limit: Int @preset(value: "x-svc-limit")): [Post!]!
    }`;
  const session = { title: 'theirs', limit: '2' };
  const asClerk = (query: string, more: object = session): Promise<Json> => data(query, { role: 'clerk', session: more });
  const permit = (role: string, remote_schema: string, schema: string) =>
    service.metadata('add_remote_schema_permissions', { remote_schema, role, definition: { schema } });
  beforeAll(async () => {
    for (const role of ['clerk', 'guest', 'fixed']) {
      await service.metadata('pg_create_select_permission', {
        table: 'person',
        role,
        permission: { columns: ['id', 'name', 'mail'], filter: {} },
      });
    }
    await permit('clerk', 'users', SEEN);
    await permit('clerk', 'weather', 'type Query { degrees(place: String!): Int }');
    await permit('guest', 'users', 'type Query { users(ids: [ID!]!): [User] } type User { id: ID! }');
    await permit('fixed', 'users', 'type Query { user(id: ID! @preset(value: "2", static: true)): User } type User { mail: String }');
  });

  test("is sent with the key and the client's arguments", async () => {
    expect(await asClerk('{ person_by_pk(id: 1) { writings(where: {tags: ["mine"]}) { title } } }')).toEqual({
      person_by_pk: { writings: [{ title: JSON.stringify({ author: 1, title: 'theirs', tags: ['mine', 'own'] }) }] },
    });
    expect(Object.values(users.asked().at(-1)?.variables ?? {})).toContainEqual(2);
    // The client controls none of it.
    for (const args of ['where: {title: "x"}', 'limit: 5']) {
      const refused = await service.graphql(`{ person_by_pk(id: 1) { writings(${args}) { title } } }`, { role: 'clerk', session });
      expect(refused).toMatchObject({ errors: [{ extensions: { code: 'validation-failed' } }] });
    }
  });

  test('applies below the joined field, for a list of keys, and in reverse joins', async () => {
    expect(await asClerk('{ person(where: {id: {_eq: 1}}) { account { tags } listed { tags people { writings { title } } } } }')).toEqual({
      person: [
        {
          account: { tags: ['a'] },
          listed: { tags: ['a'], people: [{ writings: [{ title: JSON.stringify({ author: 1, title: 'theirs', tags: ['own'] }) }] }] },
        },
      ],
    });
  });

  test('requires the session variable, and its error has the path', async () => {
    const answer = await service.graphql('{ person { writings { title } } }', { role: 'clerk', session: { title: 'x' } });
    expect(answer).toEqual({
      errors: [
        {
          message: '"x-svc-limit" session variable expected, but not found',
          locations: [{ line: 1, column: 12 }],
          extensions: { code: 'not-found', path: '$.selectionSet.person.selectionSet.writings' },
        },
      ],
    });
    expect(users.asked()).toEqual([]);
  });

  test('replaces the key', async () => {
    const answer = await data('{ person_by_pk(id: 1) { account { mail } } }', { role: 'fixed' });
    expect(answer).toEqual({ person_by_pk: { account: { mail: 'bob@x' } } });
  });

  test('hides fields without permission', async () => {
    for (const query of ['{ person { account { id } } }', '{ person { listed { mail } } }', '{ person { writings { title } } }']) {
      expect(await service.graphql(query, { role: 'guest' })).toMatchObject({ errors: [{ extensions: { code: 'validation-failed' } }] });
    }
    expect(await data('{ person_by_pk(id: 1) { listed { id } } }', { role: 'guest' })).toEqual({ person_by_pk: { listed: { id: '1' } } });
  });
});

describe('a join from a type of a server', () => {
  test('leads to a table, and on to the server', async () => {
    expect(await data('{ user(id: 1) { mail people { id account { mail } } people_aggregate { aggregate { count } } } }')).toEqual({
      user: { mail: 'ann@x', people: [{ id: 1, account: { mail: 'ann@x' } }], people_aggregate: { aggregate: { count: 1 } } },
    });
  });

  test('works with any aliases of the client', async () => {
    const query = `{ svc__typename: user(id: 1) { svc__key__mail: id svc__typename: mail svc__key__town: town
      svc__client__svc__typename: tags people { id account { svc__key__mail: __typename svc__key__id: mail } } } }`;
    expect(await data(query)).toEqual({
      svc__typename: {
        svc__key__mail: '1',
        svc__typename: 'ann@x',
        svc__key__town: 'Oslo',
        svc__client__svc__typename: ['a', 'b'],
        people: [{ id: 1, account: { svc__key__mail: 'User', svc__key__id: 'ann@x' } }],
      },
    });
  });

  test("supports keys of different types in an interface's types", async () => {
    const query = '{ holders { __typename ... on Shop { owner { name } } ... on Club { owner { name } c: code } } }';
    expect(await data(query)).toEqual({
      holders: [
        { __typename: 'Shop', owner: { name: 'Bob' } },
        { __typename: 'Club', owner: { name: 'Ann' }, c: 'ann@x' },
        { __typename: 'Club', owner: null, c: null },
      ],
    });
  });

  test('leads to another server', async () => {
    expect(await data('{ person(order_by: {id: asc}) { account { weather } } }')).toEqual({
      person: [{ account: { weather: 4 } }, { account: { weather: null } }, { account: null }],
    });
    expect(weather.asked()).toHaveLength(1);
  });
});

describe('the definition of a relationship to a server', () => {
  const refused = async (definition: Json): Promise<string> => {
    const error = await service
      .metadata('pg_create_remote_relationship', { table: 'person', name: 'x', definition })
      .catch((thrown: unknown) => thrown as Error);
    return error instanceof Error ? error.message : 'accepted';
  };
  const field = (remote_field: Json, more: object = {}): Json => ({ to_remote_schema: { ...toUser, remote_field, ...more } });

  test.each<[string, Json]>([
    ['remote schema with name \\"none\\" not found', field({ user: { arguments: {} } }, { remote_schema: 'none' })],
    ['remote field with name \\"none\\" and type \\"Query\\" not found', field({ none: { arguments: {} } })],
    ['argument with name \\"none\\" not found in remote schema', field({ user: { arguments: { none: 1 } } })],
    ['variable \\"name\\" is not found', field({ user: { arguments: { id: '$name' } } })],
    ['field with name \\"none\\" is not provided', field({ user: { arguments: { id: '$none' } } }, { lhs_fields: ['none'] })],
    ['null is not allowed here', field({ user: { arguments: { id: null } } })],
    [
      'expected type \\"Boolean\\" but got \\"Int\\"',
      field({ directory: { arguments: {}, field: { find: { arguments: { town: 'x', loud: '$id' } } } } }),
    ],
    ['Expecting one single mapping, received too many.', field({ user: { arguments: {} }, users: { arguments: {} } })],
  ])('is rejected: %s', async (message, definition) => {
    expect(await refused(definition)).toContain(message);
  });

  test('prevents the removal of the server', async () => {
    const error = await service.metadata('remove_remote_schema', { name: 'weather' }).catch((thrown: unknown) => thrown as Error);
    expect((error as Error).message).toContain('remote relationship User.weather in remote schema');
  });
});
