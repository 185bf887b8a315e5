/** Values in documents for remote servers: literals of the client's document stay literals, all others are variables. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { parse } from 'graphql';
import type { JsonObject } from '../../src/util/json.ts';
import { type GraphqlServer, startGraphqlServer } from '../support/graphql-server.ts';
import { startTestService, type TestService } from '../support/service.ts';

const SDL = `
  type Query {
    find(id: ID, n: Int, f: Float, text: String, on: Boolean, kind: Kind, kinds: [Kind!], any: Any, where: Where, anyOf: [Where!]): String
    owned(text: String, owner: String): String
    by(id: Int!, text: String): String
  }
  enum Kind { BIG SMALL }
  scalar Any
  input Where { n: Int, text: String, kind: Kind = BIG, least: Int! = 5, not: Where, any: Any }
`;

let service: TestService;
let server: GraphqlServer;
beforeAll(async () => {
  server = await startGraphqlServer(SDL, { find: () => 'f', owned: () => 'o', by: () => 'b' });
  service = await startTestService({ ENABLE_REMOTE_SCHEMA_PERMISSIONS: 'true' });
  await service.metadata('add_remote_schema', { name: 'r', definition: { url: server.url } });
  await service.sql('create table item (id int primary key); insert into item values (1), (2)');
  await service.metadata('pg_track_table', { table: 'item' });
  const to_remote_schema = { remote_schema: 'r', lhs_fields: ['id'], remote_field: { by: { arguments: { id: '$id' } } } };
  await service.metadata('pg_create_remote_relationship', { table: 'item', name: 'by', definition: { to_remote_schema } });
  await service.metadata('add_remote_schema_permissions', {
    remote_schema: 'r',
    role: 'user',
    definition: {
      schema: 'schema { query: Query } type Query { owned(text: String, owner: String @preset(value: "x-svc-user-id")): String }',
    },
  });
});
beforeEach(() => {
  server.requests.length = 0;
});
afterAll(async () => {
  await service?.stop();
  await server?.close();
});

/** The request that the server receives for a query. */
async function sent(query: string, variables: JsonObject = {}, options: JsonObject = {}): Promise<readonly [string, object]> {
  const answer = await service.graphql(query, { variables, ...options });
  expect(answer).not.toHaveProperty('errors');
  const [asked] = server.asked();
  expect(() => parse(asked?.query ?? '')).not.toThrow();
  return [asked?.query ?? '', asked?.variables ?? {}];
}

test.each([
  '(id: 7, n: -3, f: 1.50e2, on: true)',
  '(id: "a", text: "q\\"\\\\ ü \\n $v0 { }", kind: SMALL)',
  '(text: null, kinds: [BIG, SMALL], anyOf: [{n: 1}, {text: ""}])',
  '(where: {n: 1, not: {kind: BIG, not: {text: "x"}}})',
  '(any: {a: [1, 2.5, "x", null, true], b: {}})',
  '(kinds: BIG)',
  '(any: "\\u0001")',
])('sends literals %s unchanged', async (args) => {
  expect(await sent(`{ find${args} }`)).toEqual([`query {find${args}}`, {}]);
});

test('sends block strings as plain strings', async () => {
  expect(await sent('{ find(text: """\n  a\n  b"c\n""") }')).toEqual(['query {find(text: "a\\nb\\"c")}', {}]);
});

test('keeps variables inside literals', async () => {
  const query = 'query ($n: Int, $k: Kind!) { find(n: $n, where: {n: $n, text: "x", not: {kind: $k}}, kinds: [$k, BIG]) }';
  expect(await sent(query, { n: 1, k: 'SMALL' })).toEqual([
    'query($v0: Int, $v1: Kind!, $v2: Int, $v3: Kind) {find(n: $v0, kinds: [$v1, BIG], where: {n: $v2, text: "x", not: {kind: $v3}})}',
    { v0: 1, v1: 'SMALL', v2: 1, v3: 'SMALL' },
  ]);
});

test('omits arguments of unsent variables', async () => {
  const query = 'query ($n: Int, $l: Int) { find(n: $n, where: {n: $n, least: $l, text: "x"}) }';
  const [document, variables] = await sent(query);
  expect(document).toContain('text: "x"');
  expect(variables).toEqual({});
  expect(await sent('query ($a: Int) { find(any: {a: $a, b: 1}) }', { a: 1 })).toBeDefined();
  expect(server.asked().at(-1)).toMatchObject({ query: 'query($v0: Any) {find(any: $v0)}', variables: { v0: { a: 1, b: 1 } } });
});

test('sends strings that GraphQL cannot express as variables', async () => {
  expect(await sent('query ($t: String) { find(text: $t) }', { t: '\ud800' })).toEqual([
    'query($v0: String) {find(text: $v0)}',
    expect.anything(),
  ]);
});

test('sends presets of a role as variables beside literals', async () => {
  expect(await sent('{ owned(text: "mine") }', {}, { role: 'user', session: { 'user-id': '7' } })).toEqual([
    'query($v0: String) {owned(text: "mine", owner: $v0)}',
    { v0: '7' },
  ]);
});

test('sends keys of joins as variables beside literals', async () => {
  expect(await sent('{ item(order_by: {id: asc}) { by(text: "t") } }')).toEqual([
    'query($v0: Int!, $v1: Int!) {f0: by(id: $v0, text: "t") f1: by(id: $v1, text: "t")}',
    { v0: 1, v1: 2 },
  ]);
});

test('rejects invalid literals before it sends the request', async () => {
  for (const args of ['(n: "1")', '(kind: OTHER)', '(where: {none: 1})', '(where: {least: null})', '(kinds: [null])']) {
    expect(await service.graphql(`{ find${args} }`)).toMatchObject({ errors: [{ extensions: { code: 'validation-failed' } }] });
  }
  expect(server.asked()).toEqual([]);
});
