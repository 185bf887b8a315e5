/** Fields of remote schemas answer queries and mutations over HTTP under their customized names. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { JsonObject } from '../../src/util/json.ts';
import { DEEP } from '../support/deep.ts';
import { type GraphqlServer, startGraphqlServer } from '../support/graphql-server.ts';
import { startTestService, type TestService } from '../support/service.ts';

const SDL = `
  interface Being { name: String! }
  type Hero implements Being { name: String! power: Int }
  type Droid implements Being { name: String! job: String }
  union Found = Hero | Droid
  type Query { hello(to: String = "you"): String beings: [Being!]! found: Found broken: Int }
  type Mutation { greet(name: String!): String }
`;
const ROOT = {
  hello: ({ to }: { to: string }) => `hello ${to}`,
  beings: () => [
    { __typename: 'Hero', name: 'h', power: 3 },
    { __typename: 'Droid', name: 'd', job: 'j' },
  ],
  found: () => ({ __typename: 'Droid', name: 'x', job: 'y' }),
  broken: () => {
    throw new Error('broken for a reason');
  },
  greet: ({ name }: { name: string }) => `hi ${name}`,
};

let service: TestService;
let server: GraphqlServer;

beforeAll(async () => {
  service = await startTestService();
  server = await startGraphqlServer(SDL, ROOT);
  await service.metadata('add_remote_schema', { name: 'plain', definition: { url: server.url, timeout_seconds: 3 } });
  const customization = {
    root_fields_namespace: 'far',
    type_names: { prefix: 'Far', mapping: { Droid: 'Robot' } },
    field_names: [{ parent_type: 'Droid', mapping: { job: 'work' } }],
  };
  await service.metadata('add_remote_schema', { name: 'renamed', definition: { url: server.url, customization } });
});
afterAll(async () => {
  await service.stop();
  await server.close();
});
beforeEach(() => {
  server.answer = () => undefined;
  server.delay = 0;
});

test('answers queries with interfaces, unions, aliases and fragments', async () => {
  const query = '{ a: hello(to: "me") beings { name ... on Hero { power } __typename } found { ... on Droid { job } } }';
  expect(await service.graphql(query)).toEqual({
    data: {
      a: 'hello me',
      beings: [
        { name: 'h', power: 3, __typename: 'Hero' },
        { name: 'd', __typename: 'Droid' },
      ],
      found: { job: 'y' },
    },
  });
});

test('answers mutations with variables', async () => {
  expect(await service.graphql('mutation ($n: String!) { greet(name: $n) }', { variables: { n: 'you' } })).toEqual({
    data: { greet: 'hi you' },
  });
});

test('translates customized names in both directions', async () => {
  expect(await service.graphql('{ far { beings { __typename name ... on Robot { work } } } }')).toEqual({
    data: {
      far: {
        beings: [
          { __typename: 'FarHero', name: 'h' },
          { __typename: 'Robot', name: 'd', work: 'j' },
        ],
      },
    },
  });
  expect(await service.graphql('mutation { far { greet(name: "n") } }')).toEqual({ data: { far: { greet: 'hi n' } } });
});

test("returns the server's errors to the client, and nothing else", async () => {
  const answer = await service.graphql('{ hello broken }');
  expect(answer).toMatchObject({ errors: [{ message: 'broken for a reason', path: ['broken'] }] });
  expect(answer).not.toHaveProperty('data.hello');
});

test.each<[string, GraphqlServer['answer']]>([
  ['HTML', () => ({ headers: { 'content-type': 'text/html' }, body: '<p>' })],
  ['a break', () => 'reset' as const],
  ...(DEEP ? [['nothing', () => 'hang'] satisfies [string, GraphqlServer['answer']]] : []),
  ['a list', () => ({ body: [] })],
])('reports %s in place of an answer as one clear error', async (_what, answer) => {
  server.answer = answer;
  const { errors } = await service.graphql('{ hello }');
  expect(errors).toMatchObject([{ extensions: { code: 'remote-schema-error' } }]);
  expect((errors as unknown as JsonObject[]).length).toBe(1);
});

test('shows a role everything that administrators see if permissions are disabled', async () => {
  expect(await service.graphql('{ hello }', { role: 'anyone' })).toEqual({ data: { hello: 'hello you' } });
});

test('checks arguments before it sends the request', async () => {
  const before = server.requests.length;
  expect(await service.graphql('{ hello(to: 5) }')).toMatchObject({ errors: [{ extensions: { code: 'validation-failed' } }] });
  expect(server.requests).toHaveLength(before);
});
