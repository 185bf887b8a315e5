/** Relationships of action outputs: rows of tables and answers of other servers, with the caller's permissions. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type JsonObject, parseJson } from '../../src/util/json.ts';
import { type GraphqlServer, startGraphqlServer } from '../support/graphql-server.ts';
import { type HandlerServer, startHandlerServer } from '../support/handler-server.ts';
import { SELF_SIGNED } from '../support/self-signed.ts';
import { isTypeEnabled, logEntry } from '../../src/observability/log-entry.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let handler: HandlerServer;
let secure: HandlerServer;
let countries: GraphqlServer;

const AUTHOR = { name: 'author', type: 'object', remote_table: 'author', field_mapping: { author_id: 'id' } };
const BOOKS = { name: 'books', type: 'array', remote_table: 'book', field_mapping: { author_id: 'author_id' } };
const COUNTRY = {
  name: 'country',
  definition: {
    to_remote_schema: { remote_schema: 'countries', lhs_fields: ['code'], remote_field: { country: { arguments: { code: '$code' } } } },
  },
};
const field = (name: string, type: string): JsonObject => ({ name, type });
const sees = (role: string, columns: readonly string[], filter: JsonObject, more: JsonObject = {}): JsonObject => ({
  role,
  permission: { columns, filter, ...more },
});

beforeAll(async () => {
  handler = await startHandlerServer();
  secure = await startHandlerServer(SELF_SIGNED);
  countries = await startGraphqlServer('type Query { country(code: ID!): Country } type Country { code: ID! name: String }', {
    country: ({ code }: { code: string }) => ({ code, name: `land of ${code}` }),
  });
  service = await startTestService({ ENABLE_ALLOWLIST: 'false' }, { HANDLERS: handler.url, SECURE: secure.url, COUNTRIES: countries.url });
  await service.sql(`
    create table author (id bigint primary key, name text, secret text);
    create table book (id int primary key, author_id bigint, title text, price int);
    insert into author values (9007199254740993, 'Ann', 's1'), (2, 'Bob', 's2');
    insert into book values (1, 9007199254740993, 'A', 10), (2, 9007199254740993, 'B', 20), (3, 2, 'C', 5);
  `);
  const document = (await service.metadata('export_metadata', {})) as { sources: readonly JsonObject[] };
  const own = { id: { _eq: 'X-Svc-Author' } };
  await service.metadata('replace_metadata', {
    ...document,
    sources: [
      {
        ...document.sources[0],
        tables: [
          {
            table: { schema: 'public', name: 'author' },
            select_permissions: [sees('reader', ['id', 'name'], own), sees('keeper', ['id', 'secret'], {})],
          },
          {
            table: { schema: 'public', name: 'book' },
            select_permissions: [
              sees('reader', ['id', 'title'], { price: { _lt: 15 } }),
              sees('counter', ['id', 'price'], { price: { _lt: 15 } }, { allow_aggregations: true }),
            ],
          },
        ],
      },
    ],
    remote_schemas: [{ name: 'countries', definition: { url_from_env: 'COUNTRIES' } }],
    custom_types: {
      objects: [
        {
          name: 'Found',
          fields: [field('author_id', 'bigint'), field('code', 'String'), field('inner', '[Inner!]')],
          relationships: [AUTHOR, BOOKS, COUNTRY],
        },
        { name: 'Inner', fields: [field('author_id', 'bigint!')], relationships: [AUTHOR, { ...BOOKS, name: 'all' }] },
      ],
    },
    actions: [
      {
        name: 'find',
        definition: { handler: '{{HANDLERS}}/find', type: 'query', output_type: '[Found]', arguments: [field('n', 'Int')] },
        permissions: [{ role: 'reader' }, { role: 'counter' }, { role: 'other' }],
      },
      { name: 'change', definition: { handler: '{{HANDLERS}}/change', output_type: 'Found' }, permissions: [{ role: 'keeper' }] },
      { name: 'safe', definition: { handler: '{{SECURE}}/safe', type: 'query', output_type: 'String' } },
    ],
    inherited_roles: [{ role_name: 'both', role_set: ['reader', 'keeper'] }],
    query_collections: [
      { name: 'c', definition: { queries: [{ name: 'find', query: 'query ($n: Int) { find(n: $n) { author { name } } }' }] } },
    ],
    rest_endpoints: [
      { name: 'find', url: 'find/:n', methods: ['GET'], definition: { query: { collection_name: 'c', query_name: 'find' } } },
    ],
  } as JsonObject);
});
afterAll(async () => {
  await service.stop();
  await Promise.all([handler.close(), secure.close(), countries.close()]);
});
beforeEach(() => {
  handler.requests.length = 0;
  handler.answer = () => ({ body: '[{"author_id":9007199254740993,"code":"de","inner":[{"author_id":2}]},{"author_id":2},null,{}]' });
});

const SESSION = { author: '9007199254740993' };
const QUERY = '{ find { author { id name } books(order_by: {id: desc}) { title } country { name } inner { author { name } all { id } } } }';

describe('action relationships', () => {
  test('lead to tables and servers, from objects at any depth', async () => {
    const exact = parseJson('9007199254740993');
    expect(await service.graphql(QUERY)).toEqual({
      data: {
        find: [
          {
            author: { id: exact, name: 'Ann' },
            books: [{ title: 'B' }, { title: 'A' }],
            country: { name: 'land of de' },
            inner: [{ author: { name: 'Bob' }, all: [{ id: 3 }] }],
          },
          { author: { id: 2, name: 'Bob' }, books: [{ title: 'C' }], country: null, inner: null },
          null,
          { author: null, books: [], country: null, inner: null },
        ],
      },
    });
    expect(countries.asked()).toHaveLength(1);
  });

  test('show a role only the rows and columns that it may see', async () => {
    expect(await service.graphql('{ find { author { name } books { title } } }', { role: 'reader', session: SESSION })).toEqual({
      data: {
        find: [
          { author: { name: 'Ann' }, books: [{ title: 'A' }] },
          { author: null, books: [{ title: 'C' }] },
          null,
          { author: null, books: [] },
        ],
      },
    });
    expect(await service.graphql('{ find { author { secret } } }', { role: 'reader', session: SESSION })).toMatchObject({
      errors: [{ message: "field 'secret' not found in type: 'author'" }],
    });
    expect(await service.graphql('{ find { author { id } } }', { role: 'other' })).toMatchObject({
      errors: [{ message: "field 'author' not found in type: 'Found'" }],
    });
    expect(await service.graphql('{ find { code country { name } } }', { role: 'other' })).toHaveProperty('data');
  });

  test('to many rows have an aggregate over the rows that the role may see', async () => {
    const query = `{ find {
      books_aggregate(where: {id: {_gt: 0}}) { aggregate { count max { price } } nodes { id } }
      inner { all_aggregate { aggregate { count } } }
    } }`;
    const aggregate = (count: number, price: number | null, ids: readonly number[]): JsonObject => ({
      aggregate: { count, max: { price } },
      nodes: ids.map((id) => ({ id })),
    });
    const inner = [{ all_aggregate: { aggregate: { count: 1 } } }];
    const rest = [{ books_aggregate: aggregate(1, 5, [3]), inner: null }, null, { books_aggregate: aggregate(0, null, []), inner: null }];
    expect(await service.graphql(query)).toEqual({ data: { find: [{ books_aggregate: aggregate(2, 20, [1, 2]), inner }, ...rest] } });
    expect(await service.graphql(query, { role: 'counter' })).toEqual({
      data: { find: [{ books_aggregate: aggregate(1, 10, [1]), inner }, ...rest] },
    });
  });

  test('have no aggregate for a role that may not aggregate the table', async () => {
    expect(await service.graphql('{ find { books_aggregate { aggregate { count } } } }', { role: 'reader' })).toMatchObject({
      errors: [{ message: "field 'books_aggregate' not found in type: 'Found'" }],
    });
  });

  test('keep explicit field names that an aggregate would take', async () => {
    const objects = [
      {
        name: 'Shelf',
        fields: [field('author_id', 'bigint'), field('books_aggregate', 'String')],
        relationships: [BOOKS, { ...BOOKS, name: 'all' }, { ...AUTHOR, name: 'all_aggregate' }],
      },
    ];
    const own = await startTestService({}, { HANDLERS: handler.url });
    try {
      await own.sql('create table author (id bigint primary key, name text); create table book (id int primary key, author_id bigint)');
      await own.metadata('pg_track_tables', { tables: ['author', 'book'].map((table) => ({ table })) });
      await own.metadata('set_custom_types', { objects });
      await own.metadata('create_action', { name: 'shelf', definition: { handler: '{{HANDLERS}}', type: 'query', output_type: 'Shelf' } });
      handler.answer = () => ({ body: '{"author_id":2,"books_aggregate":"mine"}' });
      expect(await own.graphql('{ shelf { books { id } books_aggregate all { id } all_aggregate { name } } }')).toEqual({
        data: { shelf: { books: [], books_aggregate: 'mine', all: [], all_aggregate: null } },
      });
    } finally {
      await own.stop();
    }
  });

  test("combine the permissions of an inherited role's parents, for cells and actions", async () => {
    handler.answer = () => ({ body: '{"author_id":2}' });
    const both = { role: 'both', session: SESSION };
    expect(await service.graphql('mutation { change { author { id name secret } } }', both)).toEqual({
      data: { change: { author: { id: 2, name: null, secret: 's2' } } },
    });
    handler.answer = () => ({ body: '[]' });
    expect(await service.graphql('{ find { code } }', both)).toEqual({ data: { find: [] } });
    expect(await service.graphql('mutation { change { code } }', { role: 'reader' })).toMatchObject({
      errors: [{ message: 'no mutations exist' }],
    });
    expect(await service.graphql('{ find { code } }', { role: 'keeper' })).toMatchObject({
      errors: [{ message: "field 'find' not found in type: 'query_root'" }],
    });
  });

  test('work in a REST endpoint, which returns the handler’s errors', async () => {
    expect(await service.send('/api/rest/find/7')).toMatchObject({
      status: 200,
      json: { find: [{ author: { name: 'Ann' } }, { author: { name: 'Bob' } }, null, { author: null }] },
    });
    expect(handler.requests[0]?.json.input).toEqual({ n: 7 });
    handler.answer = () => ({ status: 404, body: { message: 'nobody', code: 'gone' } });
    expect(await service.send('/api/rest/find/7')).toMatchObject({ status: 404, json: { path: '$', error: 'nobody', code: 'gone' } });
    handler.answer = () => ({ status: 500, body: {} });
    expect(await service.send('/api/rest/find/7')).toMatchObject({ status: 500, json: { error: 'internal error', code: 'unexpected' } });
  });

  test('appear in the schema and in explain', async () => {
    const { data } = await service.graphql('{ __type(name: "Found") { fields { name type { kind name ofType { kind } } } } }');
    expect(data).toEqual({
      __type: {
        fields: [
          { name: 'author', type: { kind: 'OBJECT', name: 'author', ofType: null } },
          { name: 'author_id', type: { kind: 'SCALAR', name: 'bigint', ofType: null } },
          { name: 'books', type: { kind: 'NON_NULL', name: null, ofType: { kind: 'LIST' } } },
          { name: 'books_aggregate', type: { kind: 'NON_NULL', name: null, ofType: { kind: 'OBJECT' } } },
          { name: 'code', type: { kind: 'SCALAR', name: 'String', ofType: null } },
          { name: 'country', type: { kind: 'OBJECT', name: 'Country', ofType: null } },
          { name: 'inner', type: { kind: 'LIST', name: null, ofType: { kind: 'NON_NULL' } } },
        ],
      },
    });
    const explained = await service.send('/v1/graphql/explain', {
      method: 'POST',
      body: JSON.stringify({ query: { query: '{ find { author { id } } }' } }),
    });
    expect(explained.json).toEqual([
      { field: 'find', action: 'find' },
      { field: 'find.author', sql: expect.stringContaining('author'), plan: expect.anything() },
    ]);
  });

  test('require scalars from the handler', async () => {
    handler.answer = () => ({ body: '[{"author_id":{"a":1}}]' });
    expect(await service.graphql('{ find { author { id } } }')).toMatchObject({
      errors: [{ message: 'got object for the field "author_id", expecting a scalar to join by' }],
    });
    handler.answer = () => ({ body: '[{"author_id":"x\\"]}"}]' });
    expect(await service.graphql('{ find { author { id } } }')).toMatchObject({ errors: [{ extensions: { code: 'data-exception' } }] });
  });
});

test('says in the log why a handler cannot be reached, whatever log types are enabled', async () => {
  // The port of a server that has been stopped: nothing listens there.
  const gone = await startHandlerServer();
  await gone.close();
  await service.metadata('create_action', {
    name: 'gone',
    definition: { handler: `${gone.url.replace('://', '://me:hidden@')}/path?key=hidden`, type: 'query', output_type: 'String' },
  });
  const before = service.observations.length;
  await service.graphql('{ gone }');
  const [observation] = service.observations.slice(before).flatMap((o) => (o.kind === 'action' ? [o] : []));
  if (observation === undefined) throw new Error('nothing was observed');
  expect(isTypeEnabled(observation, new Set())).toBe(true);
  const { level, detail } = logEntry(observation);
  const { port } = new URL(gone.url);
  expect({ level, detail }).toMatchObject({
    level: 'error',
    detail: {
      action_name: 'gone',
      error: { message: expect.stringContaining('ECONNREFUSED'), request: { host: '127.0.0.1', port: Number(port), path: '/path' } },
    },
  });
  expect(JSON.stringify(detail)).not.toContain('hidden');
});

test('calls a handler over HTTPS once its host is on the allow-list', async () => {
  secure.answer = () => ({ body: '"s"' });
  expect(await service.graphql('{ safe }')).toMatchObject({ errors: [{ message: 'http exception when calling webhook' }] });
  await service.metadata('add_host_to_tls_allowlist', { host: '127.0.0.1' });
  expect(await service.graphql('{ safe }')).toEqual({ data: { safe: 's' } });
});

test('checks an action against the allow-list like any query', async () => {
  const guarded = await startTestService(
    { ENABLE_ALLOWLIST: 'true', ADMIN_SECRET: 'hush', UNAUTHORIZED_ROLE: 'public' },
    { HANDLERS: handler.url },
  );
  await guarded.metadata('create_action', { name: 'open', definition: { handler: '{{HANDLERS}}', type: 'query', output_type: 'Int' } });
  await guarded.metadata('create_action_permission', { action: 'open', role: 'public' });
  await guarded.metadata('create_query_collection', { name: 'c', definition: { queries: [{ name: 'open', query: '{ open }' }] } });
  await guarded.metadata('add_collection_to_allowlist', { collection: 'c' });
  handler.answer = () => ({ body: 5 });
  const ask = async (query: string) => (await guarded.send('/v1/graphql', { method: 'POST', body: JSON.stringify({ query }) })).json;
  expect(await ask('{ open }')).toEqual({ data: { open: 5 } });
  expect(await ask('{ a: open }')).toMatchObject({ errors: [{ message: 'query is not allowed' }] });
  await guarded.stop();
});
