/** The service as a subgraph: alone, composed with another subgraph, and behind a gateway. */
import { composeServices } from '@apollo/composition';
import { ApolloGateway, type GraphQLDataSource, RemoteGraphQLDataSource, type ServiceEndpointDefinition } from '@apollo/gateway';
import { buildSchema, graphql, parse, type ExecutionResult } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/util/json.ts';
import { DEEP } from '../support/deep.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;

beforeAll(async () => {
  service = await startTestService({ ENABLE_EXT_FEDERATION: 'true' });
  await service.sql(`
    create table author (id int primary key, name text, secret text);
    create table stock (sku text, shop int, amount int, primary key (sku, shop));
    create table note (id int primary key, text text);
    create table keyless (id int);
    insert into author values (1, 'Ann', 's1'), (2, 'Bob', 's2'), (3, 'Cid', 's3');
    insert into stock values ('a', 1, 10), ('a', 2, 20);
    insert into note values (1, 'hidden')`);
  const federated = { ext_federation_config: { enable: 'v1' } };
  for (const table of ['author', 'stock', 'keyless']) await service.metadata('pg_track_table', { table, ...federated });
  await service.metadata('pg_track_table', { table: 'note' });
  await service.metadata('pg_create_select_permission', {
    table: 'author',
    role: 'user',
    permission: { columns: ['id', 'name'], filter: { id: { _lte: 'X-Svc-Max' } } },
  });
  await service.metadata('pg_create_select_permission', {
    table: 'stock',
    role: 'user',
    permission: { columns: ['sku', 'amount'], filter: {} },
  });
});
afterAll(() => service.stop());

const sdl = async (role = 'admin'): Promise<string> => {
  const answer = (await service.graphql('{ _service { sdl } }', { role })) as { data: { _service: { sdl: string } } } & JsonObject;
  return answer.data._service.sdl;
};
const ENTITIES =
  'query ($of: [_Any!]!) { _entities(representations: $of) { __typename ... on author { id name } ... on stock { amount } } }';
const entities = (of: readonly JsonObject[], role = 'admin', session = {}) =>
  service.graphql(ENTITIES, { variables: { of }, role, session });
const refused = async (query: string, variables: JsonObject = {}): Promise<unknown> => {
  const answer = (await service.graphql(query, { variables })) as { errors?: readonly [{ message: string }] } & JsonObject;
  return answer.errors?.[0].message;
};

describe('the schema of a subgraph', () => {
  it('has keys for the enabled tables, for each role those that it sees', async () => {
    const ofAdmin = await sdl();
    expect(ofAdmin).toContain('type author @key(fields: "id") {');
    expect(ofAdmin).toContain('type stock @key(fields: "sku shop") {');
    expect(ofAdmin).toMatch(/type keyless \{/);
    expect(ofAdmin).not.toMatch(/_service|_entities|_Any|_Entity|_Service/);
    const ofUser = await sdl('user');
    expect(ofUser).toContain('type author @key(fields: "id") {');
    expect(ofUser).toMatch(/type stock \{/);
    expect(ofUser).not.toContain('secret');
  });

  it('has the union of all entities', async () => {
    const members = async (role: string): Promise<unknown> =>
      (
        await service.graphql(
          '{ __type(name: "_Entity") { kind possibleTypes { name } } __schema { queryType { fields { name type { kind ofType { kind ofType { name } } } } } } }',
          { role },
        )
      )['data'];
    expect(await members('admin')).toMatchObject({ __type: { kind: 'UNION', possibleTypes: [{ name: 'author' }, { name: 'stock' }] } });
    expect(await members('user')).toMatchObject({ __type: { kind: 'UNION', possibleTypes: [{ name: 'author' }] } });
    expect(await members('nobody')).toMatchObject({ __type: null });
    expect(JSON.stringify(await members('admin'))).toContain(
      '{"name":"_entities","type":{"kind":"NON_NULL","ofType":{"kind":"LIST","ofType":{"name":"_Entity"}}}}',
    );
  });

  it('follows the setting of a table', async () => {
    await service.metadata('pg_set_ext_federation_config', { table: 'stock', ext_federation_config: null });
    expect(await sdl()).toMatch(/type stock \{/);
    const exported = (await service.metadata('export_metadata', {})) as {
      sources: readonly [{ tables: readonly JsonObject[] }];
    } & JsonObject;
    expect(exported.sources[0].tables.flatMap(({ ext_federation_config }) => ext_federation_config ?? [])).toEqual([
      { enable: 'v1' },
      { enable: 'v1' },
    ]);
    await service.metadata('pg_set_ext_federation_config', { table: 'stock', ext_federation_config: { enable: 'v1' } });
    expect(await sdl()).toContain('type stock @key(fields: "sku shop") {');
  });
});

describe('entities', () => {
  it('are returned in the order of their representations, with null for missing rows', async () => {
    expect(
      await entities([
        { __typename: 'author', id: 2 },
        { __typename: 'stock', sku: 'a', shop: 2, more: { of: ['it'] } },
        { __typename: 'author', id: 9 },
        { __typename: 'author', id: 1 },
        { __typename: 'author', id: 2 },
      ]),
    ).toEqual({
      data: {
        _entities: [
          { __typename: 'author', id: 2, name: 'Bob' },
          { __typename: 'stock', amount: 20 },
          null,
          { __typename: 'author', id: 1, name: 'Ann' },
          { __typename: 'author', id: 2, name: 'Bob' },
        ],
      },
    });
    expect(await entities([])).toEqual({ data: { _entities: [] } });
  });

  it('obey the permissions of the role', async () => {
    const of = [1, 2, 3].map((id) => ({ __typename: 'author', id }));
    const query = 'query ($of: [_Any!]!) { _entities(representations: $of) { ... on author { id } } }';
    expect(await service.graphql(query, { variables: { of }, role: 'user', session: { max: '2' } })).toEqual({
      data: { _entities: [{ id: 1 }, { id: 2 }, null] },
    });
    expect(
      await service.graphql('query ($of: [_Any!]!) { _entities(representations: $of) { ... on author { secret } } }', {
        variables: { of },
        role: 'user',
        session: { max: '2' },
      }),
    ).toMatchObject({ errors: [{ message: "field 'secret' not found in type: 'author'" }] });
  });

  it('may be literals in the document, with variables inside', async () => {
    const query =
      'query ($id: Int!) { e: _entities(representations: [{__typename: "author", id: $id}, {__typename: "author", id: 1}]) { ... on author { name } } author { id } }';
    expect(await service.graphql(query, { variables: { id: 3 } })).toEqual({
      data: { e: [{ name: 'Cid' }, { name: 'Ann' }], author: [{ id: 1 }, { id: 2 }, { id: 3 }] },
    });
  });

  it.runIf(DEEP)('are resolved by the hundreds', async () => {
    const of = Array.from({ length: 1200 }, (_, i) => ({ __typename: 'author', id: (i % 4) + 1 }));
    const answer = (await entities(of)) as { data: { _entities: readonly unknown[] } } & JsonObject;
    expect(answer.data._entities).toHaveLength(1200);
    expect(answer.data._entities[1199]).toBeNull();
    expect(answer.data._entities[1198]).toEqual({ __typename: 'author', id: 3, name: 'Cid' });
  });

  it.each<[string, JsonObject]>([
    ['__typename key not found', { id: 1 }],
    ['cannot find id in _Any type', { __typename: 'author', name: 'Ann' }],
    ['cannot find shop in _Any type', { __typename: 'stock', sku: 'a' }],
    ['note is not found in selection set or federation is not enabled for the type', { __typename: 'note', id: 1 }],
  ])('are rejected: %s', async (message, representation) => {
    expect(await refused(ENTITIES, { of: [representation] })).toBe(message);
  });

  it('require objects as representations', async () => {
    expect(await refused(ENTITIES, { of: [1] })).toBe('representations is expecting a list of objects only');
    expect(await refused('{ _entities(representations: ["x"]) { __typename } }')).toBe(
      'representations is expecting a list of objects only',
    );
    expect(await refused('{ _entities { __typename } }')).toBe("missing required field 'representations'");
  });
});

const REVIEWS = parse(`
  extend type author @key(fields: "id") { id: Int! @external reviews: [review!]! }
  type review { text: String! by: author! }
  extend type Query { reviews: [review!]! }
`);

/** Another subgraph in this process: reviews of authors, referenced by key. */
function reviewsSource(): GraphQLDataSource {
  const reviews = [
    { text: 'good', by: { __typename: 'author', id: 1 } },
    { text: 'fine', by: { __typename: 'author', id: 2 } },
    { text: 'lost', by: { __typename: 'author', id: 99 } },
  ];
  const schema = buildSchema(`
    scalar _Any
    union _Entity = author
    type author { id: Int! reviews: [review!]! }
    type review { text: String! by: author! }
    type Query { reviews: [review!]! _entities(representations: [_Any!]!): [_Entity]! }
  `);
  const query = schema.getQueryType()?.getFields();
  const author = schema.getType('author') as unknown as { getFields(): Record<string, { resolve?: (of: { id: number }) => unknown }> };
  if (query?.['reviews'] === undefined || query['_entities'] === undefined) throw new Error('invariant: the fields are there');
  query['reviews'].resolve = () => reviews;
  query['_entities'].resolve = (_: unknown, { representations }: { representations: readonly unknown[] }) => representations;
  const own = author.getFields()['reviews'];
  if (own !== undefined) own.resolve = ({ id }) => reviews.filter(({ by }) => by.id === id);
  return {
    async process({ request: { query: source = '', variables = {} } }) {
      return (await graphql({ schema, source, variableValues: variables })) as never;
    },
  };
}

describe('a federated graph', () => {
  it.runIf(DEEP)('composes without errors and hints of conflict', async () => {
    for (const role of ['admin', 'user']) {
      const { errors, supergraphSdl } = composeServices([
        { name: 'svc', url: `${service.url}/v1/graphql`, typeDefs: parse(await sdl(role)) },
        { name: 'reviews', url: 'http://reviews.invalid', typeDefs: REVIEWS },
      ]);
      expect(errors ?? []).toEqual([]);
      expect(supergraphSdl).toContain('type author');
    }
  });

  it.runIf(DEEP)('answers queries over both subgraphs through a gateway', async () => {
    const composed = composeServices([
      { name: 'svc', url: `${service.url}/v1/graphql`, typeDefs: parse(await sdl()) },
      { name: 'reviews', url: 'http://reviews.invalid', typeDefs: REVIEWS },
    ]);
    if (composed.supergraphSdl === undefined) throw new Error('the subgraphs do not compose');
    const gateway = new ApolloGateway({
      supergraphSdl: composed.supergraphSdl,
      buildService: ({ name, url }: ServiceEndpointDefinition) =>
        name === 'reviews' ? reviewsSource() : new RemoteGraphQLDataSource({ url: url ?? '' }),
    });
    const { executor } = await gateway.load();
    const run = async (query: string): Promise<ExecutionResult> =>
      (await executor({
        document: parse(query),
        operation: parse(query).definitions[0],
        operationName: null,
        queryHash: query,
        source: query,
        request: { query },
        context: {},
        metrics: {},
        logger: console,
      } as never)) as ExecutionResult;
    expect(await run('{ reviews { text by { id name } } }')).toMatchObject({
      data: {
        reviews: [
          { text: 'good', by: { id: 1, name: 'Ann' } },
          { text: 'fine', by: { id: 2, name: 'Bob' } },
          { text: 'lost', by: { id: 99, name: null } },
        ],
      },
    });
    expect(
      await run('{ author(order_by: [{id: asc}], limit: 2) { name reviews { text } } stock_by_pk(sku: "a", shop: 1) { amount } }'),
    ).toMatchObject({
      data: {
        author: [
          { name: 'Ann', reviews: [{ text: 'good' }] },
          { name: 'Bob', reviews: [{ text: 'fine' }] },
        ],
        stock_by_pk: { amount: 10 },
      },
    });
    await gateway.stop();
  });
});

describe('a service without the federation option', () => {
  it.runIf(DEEP)('stores the setting without effect', async () => {
    const plain = await startTestService();
    try {
      await plain.sql('create table t (id int primary key)');
      await plain.metadata('pg_track_table', { table: 't', ext_federation_config: { enable: 'v1' } });
      expect(await plain.graphql('{ _service { sdl } }')).toMatchObject({
        errors: [{ message: "field '_service' not found in type: 'query_root'" }],
      });
      expect(JSON.stringify(await plain.metadata('export_metadata', {}))).toContain('"ext_federation_config":{"enable":"v1"}');
      expect(await plain.metadata('get_inconsistent_metadata', {})).toMatchObject({ is_consistent: true });
    } finally {
      await plain.stop();
    }
  });
});
