/** Limits of joins between sources, with their logs and errors. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { QueryObservation } from '../../src/observability/observation.ts';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { type GraphqlServer, startGraphqlServer } from '../support/graphql-server.ts';
import { type HandlerServer, startHandlerServer } from '../support/handler-server.ts';
import { type TestDatabase, testDatabase } from '../support/postgres.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let shop: TestDatabase;
let far: GraphqlServer;
let handler: HandlerServer;

beforeAll(async () => {
  shop = await testDatabase();
  service = await startTestService({
    JOIN_KEY_LIMIT: '6',
    JOIN_RESPONSE_LIMIT: '2000',
    ENABLED_LOG_TYPES: 'query-log',
    LOG_MASKED_VARIABLES: 'hidden',
  });
  await service.metadata('pg_add_source', { name: 'shop', configuration: { connection_info: { database_url: shop.url } } });
  await service.sql('create table person (id int primary key); insert into person select generate_series(1, 10)');
  await service.sql(
    "create table purchase (id int primary key, person_id int, item text); insert into purchase select n, n, repeat('x', 200) from generate_series(1, 10) n",
    { source: 'shop' },
  );
  await service.metadata('pg_track_table', { table: 'person' });
  await service.metadata('pg_track_table', { source: 'shop', table: 'purchase' });
  await service.metadata('pg_create_remote_relationship', {
    name: 'purchases',
    table: 'person',
    definition: { to_source: { relationship_type: 'array', source: 'shop', table: 'purchase', field_mapping: { id: 'person_id' } } },
  });
  const towns = Array.from({ length: 20 }, (_, id) => ({ id }));
  far = await startGraphqlServer('type Town { id: Int } type Query { towns: [Town!]! town(id: Int!): Town }', { towns, town: { id: 1 } });
  await service.metadata('add_remote_schema', { name: 'far', definition: { url: far.url } });
  await service.metadata('pg_create_remote_relationship', {
    name: 'town',
    table: 'person',
    definition: {
      to_remote_schema: { remote_schema: 'far', lhs_fields: ['id'], remote_field: { town: { arguments: { id: '$id' } } } },
    },
  });
  handler = await startHandlerServer();
  handler.answer = () => ({ body: { text: 'x'.repeat(500) } });
  await service.metadata('set_custom_types', { objects: [{ name: 'Said', fields: [{ name: 'text', type: 'String' }] }] });
  await service.metadata('create_action', { name: 'say', definition: { type: 'query', handler: handler.url, output_type: 'Said' } });
  const later = { type: 'mutation', kind: 'asynchronous', handler: handler.url, output_type: 'Said' };
  await service.metadata('create_action', { name: 'later', definition: later });
});
afterAll(async () => {
  await far.close();
  await handler.close();
  await service.stop();
  await shop.drop();
});

const post = (body: Json, path = '/v1/graphql') => service.send(path, { method: 'POST', body: JSON.stringify(body) });
const people = (count: number, field = 'id') => `{ person(limit: ${count}, order_by: {id: asc}) { purchases { ${field} } } }`;
const TOO_MANY_KEYS = 'the answer needs more than 6 different keys of other sources';
const TOO_MUCH_PRINTED = { errors: [{ message: 'the responses of remote schemas and actions exceed 2000 bytes' }] };
const TOO_LONG = 'the joined answers exceed 2000 bytes';

test('limits the keys of a request, and of a whole batch', async () => {
  expect(await service.graphql(people(6))).toHaveProperty('data');
  expect(await service.graphql(people(7))).toMatchObject({ errors: [{ message: TOO_MANY_KEYS }] });
  const batch = [{ query: people(4) }, { query: people(2) }, { query: people(1) }, { query: '{ person { id } }' }];
  expect((await post(batch)).json).toMatchObject([{ data: {} }, { data: {} }, { errors: [{ message: TOO_MANY_KEYS }] }, { data: {} }]);
});

test('limits the size of an answer, and of all answers of a batch', async () => {
  expect(await service.graphql('{ person(limit: 1) { a: purchases { item } b: purchases { item } } }')).toHaveProperty('data');
  const long = '{ person(limit: 3) { a: purchases { a: item b: item } b: purchases { a: item b: item } } }';
  expect(await service.graphql(long)).toMatchObject({ errors: [{ message: TOO_LONG }] });
  const batch = [{ query: people(3, 'a: item b: item') }, { query: people(3, 'a: item b: item') }];
  expect((await post(batch)).json).toMatchObject([{ data: {} }, { errors: [{ message: TOO_LONG }] }]);
});

test('limits the printed size of answers from servers and handlers, however short they are', async () => {
  const names = (count: number) => Array.from({ length: count }, (_, i) => `n${i}: __typename`).join(' ');
  expect(await service.graphql(`{ towns { ${names(5)} } }`)).toHaveProperty('data');
  expect(await service.graphql(`{ towns { ${names(10)} } }`)).toMatchObject(TOO_MUCH_PRINTED);
  expect(await service.graphql('{ say { a: text b: text c: text } }')).toEqual({ data: { say: expect.anything() } });
  expect(await service.graphql('{ say { a: text b: text c: text d: text } }')).toMatchObject(TOO_MUCH_PRINTED);
  expect(await service.graphql(`{ person(limit: 6) { town { ${names(10)} } } }`)).toHaveProperty('data');
  expect(await service.graphql(`{ person(limit: 6) { town { ${names(30)} } } }`)).toMatchObject(TOO_MUCH_PRINTED);
  const batch = [{ query: `{ towns { ${names(5)} } }` }, { query: `{ towns { ${names(5)} } }` }];
  expect((await post(batch)).json).toMatchObject([{ data: {} }, TOO_MUCH_PRINTED]);
});

test('limits the result of an asynchronous action in the same way', async () => {
  const { later } = (await service.graphql('mutation { later }'))['data'] as { later: string };
  const told = (fields: string) => service.graphql(`query ($id: uuid!) { later(id: $id) { ${fields} } }`, { variables: { id: later } });
  while (JSON.stringify(await told('output { text }')).length < 500) await new Promise((resolve) => setTimeout(resolve, 20));
  expect(await told('a: output { text } b: output { c: text d: text }')).toHaveProperty('data');
  expect(await told('a: output { text } b: output { c: text d: text } e: output { text }')).toMatchObject(TOO_MUCH_PRINTED);
});

test('logs the statement of a join without redacted values', async () => {
  const before = service.observations.length;
  const query = 'query ($hidden: String) { person(limit: 1) { purchases(where: {item: {_eq: $hidden}}) { id } } }';
  expect(await service.graphql(query, { variables: { hidden: 'planted' } })).toEqual({ data: { person: [{ purchases: [] }] } });
  const [logged, ...more] = service.observations.slice(before).filter((o): o is QueryObservation => o.kind === 'query');
  expect(more).toEqual([]);
  expect([...(logged?.statements?.keys() ?? [])]).toEqual(['person', 'person.purchases']);
  expect(logged?.remoteRequests).toBeUndefined();
  expect(JSON.stringify([logged?.query, [...(logged?.statements ?? [])]])).not.toContain('planted');
});

test('rejects fields of other sources in a subscription', async () => {
  const explain = async (query: string): Promise<JsonObject> =>
    (await post({ query: { query } }, '/v1/graphql/explain')).json as JsonObject;
  expect(await explain('subscription { person { id purchases { id } } }')).toMatchObject({
    code: 'not-supported',
    error: 'Remote relationships are not allowed in subscriptions',
    path: '$.selectionSet.person.selectionSet.purchases',
  });
  expect(await explain('subscription { person { id } }')).toHaveProperty('sql');
});
