/** A subgraph built with Apollo Server as a remote schema. */
import { ApolloServer } from '@apollo/server';
import { ApolloServerPluginInlineTraceDisabled } from '@apollo/server/plugin/disabled';
import { startStandaloneServer } from '@apollo/server/standalone';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { GraphQLError, parse } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';

const SUBGRAPH = `
  extend schema @link(url: "https://specs.apollo.dev/federation/v2.5", import: ["@key", "@shareable", "@tag"])
  type Product @key(fields: "sku") @key(fields: "id shop { code }") {
    id: ID! sku: String! shop: Shop! price(currency: Currency = EUR): Float @tag(name: "money") tags: [String!]! @shareable
  }
  type Shop @key(fields: "code") { code: String! name: String }
  enum Currency { EUR SEK }
  union Found = Product | Shop
  scalar Moment
  type Query {
    product(sku: String!): Product
    search(text: String!, first: Int = 10): [Found!]!
    opened(at: Moment): Moment
    broken: String
  }
  type Mutation { rename(code: String!, name: String!): Shop }
`;

const shops = new Map([['n', { code: 'n', name: 'North' }]]);
const product = (sku: string) => ({ id: `id-${sku}`, sku, shop: shops.get('n'), tags: [sku] });
const resolvers = {
  Product: {
    __resolveReference: ({ sku }: { sku?: string }) => (sku === undefined || sku === 'gone' ? null : product(sku)),
    price: (_: object, { currency }: { currency: string }) => (currency === 'SEK' ? 11.5 : 1),
  },
  Shop: { __resolveReference: ({ code }: { code: string }) => shops.get(code) },
  Found: { __resolveType: (found: object) => ('sku' in found ? 'Product' : 'Shop') },
  Query: {
    product: (_: object, { sku }: { sku: string }) => (sku === 'gone' ? null : product(sku)),
    search: (_: object, { text, first }: { text: string; first: number }) => [product(text), ...shops.values()].slice(0, first),
    opened: (_: object, { at }: { at: unknown }) => at,
    broken: () => {
      throw new GraphQLError('out of order', { extensions: { code: 'OUT_OF_ORDER' } });
    },
  },
  Mutation: {
    rename: (_: object, { code, name }: { code: string; name: string }) => {
      const renamed = { code, name };
      shops.set(code, renamed);
      return renamed;
    },
  },
};

let service: TestService;
let subgraph: ApolloServer;

beforeAll(async () => {
  subgraph = new ApolloServer({
    plugins: [ApolloServerPluginInlineTraceDisabled()],
    schema: buildSubgraphSchema({ typeDefs: parse(SUBGRAPH), resolvers }),
    introspection: true,
  });
  const { url } = await startStandaloneServer(subgraph, { listen: { port: 0, host: '127.0.0.1' } });
  service = await startTestService({ ADMIN_SECRET: 'secret' });
  await service.sql(`create table item (id int primary key, sku text, shop text);
    insert into item values (1, 'a', 'n'), (2, 'gone', 'x'), (3, null, null)`);
  await service.metadata('pg_track_table', { table: 'item' });
  await service.metadata('add_remote_schema', { name: 'shop', definition: { url } });
  await service.metadata('pg_create_remote_relationship', {
    table: 'item',
    name: 'product',
    definition: {
      to_remote_schema: { remote_schema: 'shop', lhs_fields: ['sku'], remote_field: { product: { arguments: { sku: '$sku' } } } },
    },
  });
  await service.metadata('create_remote_schema_remote_relationship', {
    remote_schema: 'shop',
    type_name: 'Shop',
    name: 'items',
    definition: { to_source: { relationship_type: 'array', source: 'default', table: 'item', field_mapping: { code: 'shop' } } },
  });
});
afterAll(async () => {
  await service?.stop();
  await subgraph?.stop();
});

describe('a subgraph of another server', () => {
  it('answers its root fields, unions, enums, defaults and scalars', async () => {
    const query = `query ($at: Moment) {
      product(sku: "a") { __typename price other: price(currency: SEK) shop { name } }
      search(text: "b") { __typename ... on Product { sku tags } ... on Shop { code } }
      opened(at: $at)
    }`;
    expect(await service.graphql(query, { variables: { at: { year: [1, 2.5] } } })).toEqual({
      data: {
        product: { __typename: 'Product', price: 1, other: 11.5, shop: { name: 'North' } },
        search: [
          { __typename: 'Product', sku: 'b', tags: ['b'] },
          { __typename: 'Shop', code: 'n' },
        ],
        opened: { year: [1, 2.5] },
      },
    });
  });

  it('resolves representations', async () => {
    const query = `query ($of: [_Any!]!) { _entities(representations: $of) { __typename ... on Product { sku shop { code } } } _service { sdl } }`;
    const answer = await service.graphql(query, { variables: { of: [{ __typename: 'Product', sku: 'z' }] } });
    expect(answer).toMatchObject({ data: { _entities: [{ __typename: 'Product', sku: 'z', shop: { code: 'n' } }] } });
    expect(JSON.stringify(answer)).toContain('specs.apollo.dev/federation');
  });

  it('joins with tables in both directions', async () => {
    expect(await service.graphql('{ item(order_by: {id: asc}) { id product { sku shop { name items { id } } } } }')).toEqual({
      data: {
        item: [
          { id: 1, product: { sku: 'a', shop: { name: 'North', items: [{ id: 1 }] } } },
          { id: 2, product: null },
          { id: 3, product: null },
        ],
      },
    });
  });

  it('runs mutations and reports their errors', async () => {
    expect(await service.graphql('mutation { rename(code: "m", name: "Middle") { code name items { id } } }')).toEqual({
      data: { rename: { code: 'm', name: 'Middle', items: [] } },
    });
    expect(await service.graphql('{ broken }')).toMatchObject({
      errors: [{ message: 'out of order', path: ['broken'], extensions: { code: 'OUT_OF_ORDER' } }],
    });
  });
});
