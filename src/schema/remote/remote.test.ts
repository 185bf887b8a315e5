import { buildSchema, graphql, type GraphQLSchema, introspectionFromSchema } from 'graphql';
import { describe, expect, test } from 'vitest';
import { schemaCache } from '../../../test/support/schema-cache-fixture.ts';
import { runPlan } from '../../execute/run-plan.ts';
import { NO_REMOTE_CUSTOMIZATION, type RemoteSchemaCustomization } from '../../metadata/remote-schema.ts';
import { planOperation } from '../../plan/plan.ts';
import { remoteNames } from '../../remote-schema/customization.ts';
import { modelFromIntrospection } from '../../remote-schema/from-introspection.ts';
import { runSync } from '../../util/cooperative.ts';
import type { RemoteModel } from '../../remote-schema/model.ts';
import { textOfBytes } from '../../util/bytes.ts';
import type { Json, JsonObject } from '../../util/json.ts';
import { DEFAULT_BUILD_OPTIONS } from '../fields/options.ts';
import { rootTypes } from '../fields/root-types.ts';
import { SchemaContext } from '../fields/schema-context.ts';
import { createRoleSchema, DEFAULT_LIMITS } from '../../graphql-engine/engine.ts';
import { createAnswerCache } from '../../graphql-engine/introspection/cache.ts';
import { printRoleSchema } from '../../graphql-engine/sdl.ts';

const SDL = `
  interface Node { id: ID! }
  interface Named implements Node { id: ID! name: String }
  type Person implements Named & Node { id: ID! name: String friends(first: Int = 2, where: PersonFilter): [Person!]! mood: Mood pet: Pet }
  type Robot implements Node { id: ID! model: String! maker: Person }
  union Pet = Person | Robot
  interface Being { size: Int near: Being kin: [Being] }
  type Cat implements Being { size: Int! near: Cat kin: [Cat!]! toy: Toy }
  type Dog implements Being { size: Int near: Dog! kin: [Being] toy: Toy! }
  type Toy { name: String }
  enum Mood { GOOD BAD @deprecated(reason: "smile") }
  scalar Stamp
  input PersonFilter { name: String mood: Mood = GOOD and: [PersonFilter!] at: Stamp }
  type Query {
    node(id: ID!): Node
    nodes: [Node]!
    person(id: ID!, at: Stamp): Person
    pets: [Pet!]!
    beings: [Being!]!
    echo(filter: PersonFilter, list: [Int!], flag: Boolean = true): String!
    old: Int @deprecated
  }
  type Mutation { rename(id: ID!, name: String!): Person }
`;

const ann: JsonObject = {
  __typename: 'Person',
  id: '1',
  name: 'Ann',
  mood: 'GOOD',
  friends: [{ __typename: 'Person', id: '2', name: 'Bob' }],
};
const bob: JsonObject = { __typename: 'Person', id: '2', name: 'Bob', mood: null, friends: [] };
const r2: JsonObject = { __typename: 'Robot', id: '3', model: 'R2', maker: ann };
const cat: JsonObject = {
  __typename: 'Cat',
  size: 1,
  near: { __typename: 'Cat', size: 3 },
  kin: [{ __typename: 'Cat', size: 4 }],
  toy: { name: 'mouse' },
};
const dog: JsonObject = {
  __typename: 'Dog',
  size: null,
  near: { __typename: 'Dog', size: 5, near: { __typename: 'Dog', size: 6 } },
  kin: null,
  toy: { name: 'ball' },
};
const rootValue = {
  node: ({ id }: { id: string }) => [ann, bob, r2].find((each) => each['id'] === id) ?? null,
  nodes: [ann, r2, null, bob],
  person: ({ id }: { id: string }) => ({
    ...(id === '1' ? ann : bob),
    friends: ({ first }: { first: number }) => [bob, ann].slice(0, first),
    pet: r2,
  }),
  pets: [r2, bob],
  beings: [cat, dog],
  echo: (args: Json) => JSON.stringify(args),
  old: 5,
  rename: ({ id, name }: { id: string; name: string }) => ({ ...(id === '1' ? ann : bob), name }),
};

interface Remote {
  readonly schema: GraphQLSchema;
  readonly model: RemoteModel;
}

function remote(sdl = SDL): Remote {
  const schema = buildSchema(sdl);
  const introspection = introspectionFromSchema(schema, { inputValueDeprecation: true, specifiedByUrl: true });
  return { schema, model: runSync(modelFromIntrospection(introspection as unknown as Json)) };
}

interface Asking {
  readonly customization?: RemoteSchemaCustomization;
  readonly variables?: JsonObject;
  readonly session?: Readonly<Record<string, string>>;
  readonly model?: RemoteModel;
}

const server = remote();

function roots({ customization = NO_REMOTE_CUSTOMIZATION, model = server.model }: Asking) {
  const info = { name: 'people', model, names: remoteNames(model, customization), permissions: null };
  const cache = { ...schemaCache(), remoteSchemas: new Map([['people', info]]) };
  return rootTypes(new SchemaContext(cache, DEFAULT_BUILD_OPTIONS), 'user', 'frontend');
}

/** Returns the service's answer and its request to the server. */
async function ask(query: string, asking: Asking = {}): Promise<{ readonly data: Json; readonly asked: readonly string[] }> {
  const schema = createRoleSchema('user', roots(asking), {
    introspectionDisabled: false,
    introspectionAnswers: createAnswerCache(0),
    limits: DEFAULT_LIMITS,
    nullInNonNullableVariables: false,
  });
  const prepared = schema.prepare(query, null);
  const variables = prepared.variables(asking.variables ?? {});
  const plan = planOperation(prepared.translate(variables), () => {
    throw new Error('no source is asked');
  });
  const asked: string[] = [];
  const body = await runPlan(plan, {
    connections: new Map(),
    session: { role: 'user', variables: new Map(Object.entries(asking.session ?? {})), backendOnly: false },
    variables,
    options: {},
    callRemote: async (call) => {
      asked.push(call.document);
      const result = await graphql({ schema: server.schema, source: call.document, variableValues: call.variables, rootValue });
      return { body: JSON.parse(JSON.stringify(result)) as Json, cookies: [] };
    },
  });
  return { data: (JSON.parse(textOfBytes(body)) as { data: Json }).data, asked };
}

/** Returns the server's answer to the same query. */
async function direct(query: string, variables: JsonObject = {}): Promise<Json> {
  const result = await graphql({ schema: server.schema, source: query, variableValues: variables, rootValue });
  expect(result.errors).toBeUndefined();
  return JSON.parse(JSON.stringify(result.data)) as Json;
}

describe('a query', () => {
  test.each<[string, string, JsonObject?]>([
    ['fields and aliases', '{ a: person(id: "1") { name x: id mood } old }'],
    ['the order of keys', '{ person(id: 2) { mood name id } }'],
    ['lists and nulls', '{ nodes { id } }'],
    ['an interface', '{ nodes { __typename id ... on Person { name friends(first: 1) { name } } ... on Robot { model maker { id } } } }'],
    ['an interface of an interface', '{ nodes { ... on Named { name ... on Node { id } } ...N } } fragment N on Node { other: id }'],
    ['a union', '{ pets { __typename ... on Robot { model } ... on Node { id } ...P } } fragment P on Person { name }'],
    ['fields that are narrower in an object type', '{ beings { size near { size } kin { s: size __typename } svc__client1__size: size } }'],
    [
      'fields that are narrower in an object type, deep',
      '{ beings { near { near { size } toy: size } ... on Cat { x: toy { name } } ... on Dog { y: toy { n: name } } } }',
    ],
    ['defaults of arguments', '{ person(id: "1") { friends { name } } echo }'],
    ['input objects', '{ echo(filter: {name: "x", and: [{mood: BAD}, {at: {any: [1, "thing", true]}}]}, list: 5) }'],
    ['variables', 'query ($f: PersonFilter, $l: [Int!] = [7]) { echo(filter: $f, list: $l, flag: false) }', { f: { mood: 'BAD' } }],
    ['variables inside of literals', 'query ($m: Mood, $n: String) { echo(filter: {mood: $m, name: $n}) }', { m: 'BAD' }],
    ['nulls', 'query ($m: PersonFilter) { echo(filter: $m, list: null) }', { m: null }],
    ['directives', 'query ($no: Boolean!) { person(id: 1) { name @skip(if: $no) id } old @include(if: $no) }', { no: true }],
    ['nothing but type names', '{ person(id: 1) { __typename } pets { __typename } }'],
  ])('of %s is answered as by the server', async (_, query, variables = {}) => {
    const { data } = await ask(query, { variables });
    expect(JSON.stringify(data)).toBe(JSON.stringify(await direct(query, variables)));
  });

  test('requests fields of object types under one key, unless their shapes differ', async () => {
    const { asked } = await ask('{ nodes { id } beings { size } }');
    expect(asked).toEqual([
      'query {nodes {svc__typename: __typename ... on Person {id} ... on Robot {id}}}',
      'query {beings {svc__typename: __typename ... on Cat {size} ... on Dog {svc__client1__size: size}}}',
    ]);
  });

  test('requests each root field once, with unchanged literals', async () => {
    const { asked } = await ask('{ a: person(id: "1") { name } b: echo(list: [1]) }');
    expect(asked).toEqual(['query {a: person(id: "1") {name}}', 'query {b: echo(list: [1])}']);
  });

  test.each<[string, string, JsonObject?]>([
    ["field 'nam' not found in type: 'Person'", '{ person(id: 1) { nam } }'],
    ["field 'name' not found in type: 'Node'", '{ nodes { name } }'],
    ["field 'id' not found in type: 'Pet'", '{ pets { id } }'],
    ["missing required field 'id'", '{ person { name } }'],
    ["expected one of the values ['BAD', 'GOOD'] for type 'Mood', but found 'UGLY'", '{ echo(filter: {mood: UGLY}) }'],
    [
      "expected one of the values ['BAD', 'GOOD'] for type 'Mood', but found 'UGLY'",
      'query ($m: Mood) { echo(filter: {mood: $m}) }',
      { m: 'UGLY' },
    ],
    ["field 'nme' not found in type: 'PersonFilter'", 'query ($f: PersonFilter) { echo(filter: $f) }', { f: { nme: 1 } }],
    ["expected a 32-bit integer for type 'Int', but found a string", 'query ($l: [Int!]) { echo(list: $l) }', { l: ['1'] }],
    ["variable 'l' is declared as 'Int', but used where '[Int!]' is expected", 'query ($l: Int) { echo(list: $l) }', { l: 1 }],
    ["unexpected null value for type 'Int'", 'query ($l: [Int!]) { echo(list: $l) }', { l: [null] }],
  ])('is rejected before it is sent: %s', async (message, query, variables = {}) => {
    await expect(ask(query, { variables })).rejects.toThrow(message);
  });

  test('has a limited size for types with many members', async () => {
    const types = Array.from({ length: 50 }, (_, i) => `type T${i} implements N { id: ID n: N }`).join(' ');
    const { model } = remote(`interface N { id: ID n: N } ${types} type Query { n: N }`);
    const query = `{ n { ${'n { '.repeat(12)} id ${'}'.repeat(12)} } }`;
    await expect(ask(query, { model })).rejects.toThrow(/too many fields/);
  });
});

test('mutations run in order', async () => {
  const { data, asked } = await ask('mutation { a: rename(id: 1, name: "A") { name } b: rename(id: 2, name: "B") { id name } }');
  expect(data).toEqual({ a: { name: 'A' }, b: { id: '2', name: 'B' } });
  expect(asked.map((document) => document.slice(0, 8))).toEqual(['mutation', 'mutation']);
});

describe('names', () => {
  const customization: RemoteSchemaCustomization = {
    rootFieldsNamespace: 'crm',
    typeNames: { prefix: 'Crm', suffix: '_', mapping: new Map([['Robot', 'Machine']]) },
    fieldNames: [
      {
        parentType: 'Person',
        prefix: 'p_',
        mapping: new Map([
          ['id', 'id'],
          ['mood', 'humour'],
          ['name', 'name'],
        ]),
      },
      { parentType: 'Query', mapping: new Map([['person', 'who']]) },
    ],
  };

  test('are ours in requests and answers', async () => {
    const query =
      '{ crm { who(id: 1) { __typename humour p_friends(first: 1) { name } p_pet { __typename ... on Machine { model } } } pets { __typename } t: __typename } }';
    const { data, asked } = await ask(query, { customization });
    expect(data).toEqual({
      crm: {
        who: { __typename: 'CrmPerson_', humour: 'GOOD', p_friends: [{ name: 'Bob' }], p_pet: { __typename: 'Machine', model: 'R2' } },
        pets: [{ __typename: 'Machine' }, { __typename: 'CrmPerson_' }],
        t: 'crmQuery',
      },
    });
    expect(asked).toHaveLength(1);
  });

  test('of the schema are printed', async () => {
    const sdl = await printRoleSchema(roots({ customization }));
    expect(sdl).toContain('interface CrmNamed_ implements CrmNode_ {');
    expect(sdl).toContain('type CrmPerson_ implements CrmNamed_ & CrmNode_ {');
    expect(sdl).toContain('union CrmPet_ = CrmPerson_ | Machine');
    expect(buildSchema(sdl).getType('crmQuery')).toBeDefined();
  });

  test.each<[string, RemoteSchemaCustomization]>([
    [
      'Type name mappings are not distinct; the following types appear more than once: "X"',
      {
        fieldNames: [],
        typeNames: {
          mapping: new Map([
            ['Person', 'X'],
            ['Robot', 'X'],
          ]),
        },
      },
    ],
    [
      'Field name mappings for object type "Person" are not distinct; the following fields appear more than once: "pet"',
      { fieldNames: [{ parentType: 'Person', mapping: new Map([['mood', 'pet']]) }] },
    ],
    [
      'Remote schema customization inconsistency: field name mapping for field "id" of interface "Node" is inconsistent with mapping for type "Robot". Interface field name maps to "id". Type field name maps to "r_id".',
      { fieldNames: [{ parentType: 'Robot', prefix: 'r_', mapping: new Map() }] },
    ],
  ])('%s', (message, wrong) => {
    expect(() => remoteNames(server.model, wrong)).toThrow(message);
  });
});
