/** Remote schemas are added, changed and removed over HTTP, and their fields answer. */
import { buildSchema } from 'graphql';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { DEEP, sample } from '../support/deep.ts';
import { type GraphqlServer, startGraphqlServer } from '../support/graphql-server.ts';
import { type Answer, startTestService, type TestService } from '../support/service.ts';

const SDL = `
  interface Being { name: String! }
  type Hero implements Being { name: String! power: Int }
  type Droid implements Being { name: String! job: String }
  union Found = Hero | Droid
  type Query { hello(to: String = "you"): String beings: [Being!]! found: Found }
  type Mutation { greet(name: String!): String }
`;
const ROOT = {
  hello: ({ to }: { to: string }) => `hello ${to}`,
  beings: () => [
    { __typename: 'Hero', name: 'h', power: 3 },
    { __typename: 'Droid', name: 'd', job: 'j' },
  ],
  found: () => ({ __typename: 'Droid', name: 'x', job: 'y' }),
  greet: ({ name }: { name: string }) => `hi ${name}`,
};

let service: TestService;
let server: GraphqlServer;
let initial: Json;

beforeAll(async () => {
  service = await startTestService({}, { OTHER_KEY: 'k3y' });
  await service.sql('create table person (id int primary key, name text)');
  initial = await service.metadata('export_metadata', {});
});
afterAll(() => service.stop());
beforeEach(async () => {
  server = await startGraphqlServer(SDL, ROOT);
});
afterEach(async () => {
  await server.close();
  await service.metadata('clear_metadata', {});
});

const post = (type: string, args: Json, path = '/v1/metadata'): Promise<Answer> =>
  service.send(path, { method: 'POST', body: JSON.stringify({ type, args }) });
const add = (definition: JsonObject = { url: server.url }, name = 'r'): Promise<Answer> => post('add_remote_schema', { name, definition });
const exported = async (): Promise<Json | undefined> => ((await service.metadata('export_metadata', {})) as JsonObject)['remote_schemas'];
const roots = async (root = 'query'): Promise<readonly string[]> => {
  const { data } = await service.graphql(`{ __schema { root: ${root}Type { fields { name } } } }`);
  return ((data as JsonObject)['__schema'] as { root: { fields: { name: string }[] } }).root.fields.map(({ name }) => name);
};
const inconsistent = async (): Promise<JsonObject> => (await service.metadata('get_inconsistent_metadata', {})) as JsonObject;

describe('adding a remote schema', () => {
  test('adds its fields to the schema', async () => {
    expect(await add()).toMatchObject({ status: 200, json: { message: 'success' } });
    expect(await roots()).toEqual(['beings', 'found', 'hello']);
    expect(await roots('mutation')).toEqual(['greet']);
    expect(await service.graphql('{ __type(name: "Being") { possibleTypes { name } } }')).toEqual({
      data: { __type: { possibleTypes: [{ name: 'Droid' }, { name: 'Hero' }] } },
    });
  });

  test('stores the definition as sent', async () => {
    const definition = {
      url: server.url.replace('127.0.0.1', '{{HOST_OF_IT}}'),
      timeout_seconds: 9,
      customization: { root_fields_namespace: 'ns', type_names: { prefix: 'P_', mapping: { Hero: 'Held' } } },
      headers: [{ name: 'X-Key', value_from_env: 'OTHER_KEY' }],
      forward_client_headers: true,
    };
    expect(await add(definition)).toMatchObject({
      status: 400,
      json: { path: '$.args', error: "environment variable 'HOST_OF_IT' not set", code: 'not-found' },
    });
    const reachable = { ...definition, url: server.url };
    expect((await post('add_remote_schema', { name: 'r', definition: reachable, comment: 'c' })).status).toBe(200);
    expect(await exported()).toEqual([{ name: 'r', definition: reachable, comment: 'c' }]);
    expect(server.requests[0]?.headers).toMatchObject({ 'x-key': 'k3y', 'x-svc-role': 'admin' });
    expect(await roots()).toEqual(['ns']);
    expect(await service.graphql('{ __type(name: "Held") { name } }')).toEqual({ data: { __type: { name: 'Held' } } });
  });

  test('fails for a name in use', async () => {
    await add();
    expect(await add()).toMatchObject({
      status: 400,
      json: { path: '$.args', error: 'remote schema with name "r" already exists', code: 'already-exists' },
    });
  });

  test.each(
    sample<[string, JsonObject, JsonObject]>(
      [
        ['no address', {}, { code: 'invalid-params', error: "both `url` and `url_from_env` can't be empty" }],
        [
          'two',
          { url: 'http://a', url_from_env: 'A' },
          { code: 'invalid-params', error: "both `url` and `url_from_env` can't be present" },
        ],
        ['a variable that is not set', { url_from_env: 'NOT_SET' }, { code: 'not-found', error: "environment variable 'NOT_SET' not set" }],
        [
          'no URL in it',
          { url_from_env: 'OTHER_KEY' },
          { code: 'invalid-params', error: 'not a valid URI in environment variable: OTHER_KEY' },
        ],
        [
          'a text that is no URL',
          { url: 'x{{OTHER_KEY}}' },
          { code: 'invalid-params', error: 'not a valid URI generated from the template: x{{OTHER_KEY}}' },
        ],
        [
          'another protocol',
          { url: 'gopher://127.0.0.1:1/graphql' },
          { code: 'invalid-params', error: 'not a valid URI generated from the template: gopher://127.0.0.1:1/graphql' },
        ],
        [
          'a refused connection',
          { url: 'http://127.0.0.1:1/graphql' },
          {
            path: '$.args',
            code: 'remote-schema-error',
            error: 'HTTP exception occurred while sending the request to "http://127.0.0.1:1/graphql"',
            internal: { type: 'http_exception', request: { host: '127.0.0.1', port: 1 } },
          },
        ],
      ],
      3,
    ),
  )('fails for %s', async (_what, definition, error) => {
    const before = await service.metadata('export_metadata', {});
    expect(await add(definition)).toMatchObject({ status: 400, json: error });
    expect(await service.metadata('export_metadata', {})).toEqual(before);
    expect(await inconsistent()).toEqual({ is_consistent: true, inconsistent_objects: [] });
  });

  test.each(
    sample<[string, () => void, JsonObject]>(
      [
        ['answers with HTML', () => (server.answer = () => ({ headers: { 'content-type': 'text/html' }, body: '<p>' })), {}],
        ['breaks off', () => (server.answer = () => 'reset'), {}],
        ['hangs', () => (server.answer = () => 'hang'), { timeout_seconds: 1 }],
        ['refuses introspection', () => (server.answer = () => ({ body: { errors: [{ message: 'off' }] } })), {}],
        ['lies about an interface', () => (server.answer = lie), {}],
      ],
      2,
    ),
  )('fails for a server that %s', async (_what, misbehave, more) => {
    misbehave();
    expect(await add({ url: server.url, ...more })).toMatchObject({ status: 400, json: { path: '$.args', code: 'remote-schema-error' } });
    expect(await exported()).toBeUndefined();
  });

  test('reports the missing field of an interface', async () => {
    server.answer = lie;
    expect(await add()).toMatchObject({
      json: { error: `Interface field 'I'."f" expected, but 'Query' does not provide it`, code: 'remote-schema-error' },
    });
  });

  test('fails for names that would be equal', async () => {
    const customization = { type_names: { mapping: { Hero: 'Same', Droid: 'Same' } } };
    expect(await add({ url: server.url, customization })).toMatchObject({
      status: 400,
      json: {
        code: 'remote-schema-error',
        error: 'Type name mappings are not distinct; the following types appear more than once: "Same"',
      },
    });
  });
});

describe('a customization without effect', () => {
  const FIELDS = { prefix: 'x_', mapping: {} };
  test.each(
    sample<[string, JsonObject, string]>(
      [
        ['of a type', { type_names: { mapping: { Heroe: 'H' } } }, 'the server has no type "Heroe" (in type_names)'],
        [
          'of the fields of a type',
          { field_names: [{ parent_type: 'Heroe', ...FIELDS }] },
          'the server has no object or interface type "Heroe" (in field_names)',
        ],
        [
          'of a union',
          { field_names: [{ parent_type: 'Found', ...FIELDS }] },
          'the server has no object or interface type "Found" (in field_names)',
        ],
        [
          'of a field',
          { field_names: [{ parent_type: 'Hero', mapping: { powers: 'p' } }] },
          'the server\'s type "Hero" has no field "powers" (in field_names)',
        ],
      ],
      3,
    ),
  )('is stored with a warning: %s', async (_what, customization, reason) => {
    const message = `Inconsistent object: Remote schema customization: ${reason}`;
    expect(await add({ url: server.url, customization })).toMatchObject({
      status: 200,
      json: { message: 'success', warnings: [{ code: 'inconsistent-metadata', type: 'remote_schema', message }] },
    });
    expect(await inconsistent()).toMatchObject({ is_consistent: false, inconsistent_objects: [{ reason: message }] });
    const document = await service.metadata('export_metadata', {});
    await service.metadata('clear_metadata', {});
    expect(await post('replace_metadata', document as JsonObject)).toMatchObject({ status: 200, json: { warnings: [{ message }] } });
    await service.metadata('drop_inconsistent_metadata', {});
    expect(await inconsistent()).toEqual({ is_consistent: true, inconsistent_objects: [] });
    expect(await exported()).toHaveLength(1);
  });

  test('is listed once the server has changed, and can be removed alone', async () => {
    const customization: JsonObject = {
      type_names: { mapping: { Hero: 'Held', Droid: 'Robot' } },
      field_names: [
        { parent_type: 'Droid', mapping: { job: 'work' } },
        { parent_type: 'Hero', mapping: { power: 'force', name: 'name' } },
      ],
    };
    await add({ url: server.url, customization });
    server.schema = buildSchema('type Hero { name: String } type Query { hero: Hero }');
    expect(await post('reload_remote_schema', { name: 'r' })).toMatchObject({ status: 200, json: { warnings: [{}, {}, {}] } });
    const metadata = await service.metadata('export_metadata', {});
    await service.metadata('clear_metadata', {});
    const reasons = (left: JsonObject): readonly string[] =>
      (left['inconsistent_objects'] as readonly JsonObject[]).map(({ type, reason }) => `${type as string}: ${reason as string}`);
    const stored = await service.metadata('replace_metadata', { allow_inconsistent_metadata: true, metadata });
    const SAID = 'remote_schema: Inconsistent object: Remote schema customization: the server';
    expect(reasons(stored as JsonObject)).toEqual([
      `${SAID} has no type "Droid" (in type_names)`,
      `${SAID} has no object or interface type "Droid" (in field_names)`,
      `${SAID}'s type "Hero" has no field "power" (in field_names)`,
    ]);
    expect(await service.graphql('{ __type(name: "Held") { fields { name } } }')).toMatchObject({
      data: { __type: { fields: [{ name: 'name' }] } },
    });
    await service.metadata('drop_inconsistent_metadata', {});
    expect(await inconsistent()).toEqual({ is_consistent: true, inconsistent_objects: [] });
    expect(await exported()).toMatchObject([
      {
        definition: {
          customization: { type_names: { mapping: { Hero: 'Held' } }, field_names: [{ parent_type: 'Hero', mapping: { name: 'name' } }] },
        },
      },
    ]);
  });
});

/** A schema whose object lacks a field of its interface. */
const lie = () => ({
  body: {
    data: {
      __schema: {
        queryType: { name: 'Query' },
        mutationType: null,
        subscriptionType: null,
        directives: [],
        types: [
          { kind: 'INTERFACE', name: 'I', fields: [fieldOf('f')], interfaces: [], possibleTypes: [{ kind: 'OBJECT', name: 'Query' }] },
          { kind: 'OBJECT', name: 'Query', fields: [fieldOf('g')], interfaces: [{ kind: 'INTERFACE', name: 'I' }] },
        ],
      },
    },
  },
});
const fieldOf = (name: string): JsonObject => ({ name, args: [], type: { kind: 'SCALAR', name: 'Int' }, isDeprecated: false });

describe('changing a remote schema', () => {
  test('replaces the definition and keeps the rest', async () => {
    const other = await startGraphqlServer('type Query { other: Int }');
    await add();
    expect(await post('update_remote_schema', { name: 'r', definition: { url: other.url } })).toMatchObject({ status: 200 });
    expect(await roots()).toEqual(['other']);
    expect(await service.graphql('{ hello }')).toMatchObject({ errors: [{ message: "field 'hello' not found in type: 'query_root'" }] });
    await other.close();
  });

  test('skips introspection if the server is unchanged', async () => {
    await add();
    const definition = { url: server.url, timeout_seconds: 3, customization: { root_fields_namespace: 'n' } };
    await post('update_remote_schema', { name: 'r', definition });
    expect(await roots()).toEqual(['n']);
    expect(server.requests.length - server.asked().length).toBe(1);
  });

  test.runIf(DEEP)('changes nothing if the new server does not respond', async () => {
    await add();
    expect(await post('update_remote_schema', { name: 'r', definition: { url: 'http://127.0.0.1:1/' } })).toMatchObject({
      status: 400,
      json: { code: 'remote-schema-error' },
    });
    expect(await roots()).toContain('hello');
    expect(await exported()).toMatchObject([{ definition: { url: server.url } }]);
  });

  test.each(
    sample(
      [
        ['update_remote_schema', { definition: { url: 'http://a' } }, `remote schema with name "x" doesn't exist`],
        ['remove_remote_schema', {}, 'no such remote schema'],
        ['reload_remote_schema', {}, 'remote schema with name "x" does not exist'],
        ['introspect_remote_schema', {}, 'remote schema: "x" not found'],
      ],
      1,
    ),
  )('%s is rejected for an unknown name', async (type, args, error) => {
    expect(await post(type, { name: 'x', ...args })).toMatchObject({ status: 400, json: { path: '$.args', error, code: 'not-exists' } });
    expect(await post(type, { name: 'x', ...args }, '/v1/query')).toMatchObject({ status: 400, json: { code: 'not-exists' } });
  });

  test('cannot remove it while a relationship leads to it', async () => {
    await service.metadata('replace_metadata', initial);
    await add();
    const relationship = {
      name: 'greeting',
      definition: {
        to_remote_schema: { remote_schema: 'r', lhs_fields: ['name'], remote_field: { hello: { arguments: { to: '$name' } } } },
      },
    };
    const document = (await service.metadata('export_metadata', {})) as unknown as { sources: { tables: unknown[] }[] };
    document.sources[0]?.tables.push({ table: { schema: 'public', name: 'person' }, remote_relationships: [relationship] });
    await service.metadata('replace_metadata', document as unknown as Json);
    expect(await post('remove_remote_schema', { name: 'r' })).toMatchObject({
      status: 400,
      json: {
        path: '$.args',
        code: 'dependency-error',
        error: 'cannot drop due to the following dependent objects: remote relationship person.greeting in source "default"',
      },
    });
    expect(await roots()).toContain('hello');
  });

  test('removes its fields with it', async () => {
    await add();
    expect(await post('remove_remote_schema', { name: 'r' })).toMatchObject({ json: { message: 'success' } });
    expect(await service.graphql('{ hello }')).toMatchObject({ errors: [{ message: "field 'hello' not found in type: 'query_root'" }] });
    expect(await exported()).toBeUndefined();
  });
});

describe('reloading a remote schema', () => {
  test('shows the current schema of the server', async () => {
    await add();
    server.schema = buildSchema('type Query { now: Int }');
    expect(await roots()).toContain('hello');
    expect(await post('reload_remote_schema', { name: 'r' })).toMatchObject({ status: 200 });
    expect(await roots()).toEqual(['now']);
    const { json } = await post('introspect_remote_schema', { name: 'r' });
    expect(json).toMatchObject({ data: { __schema: { queryType: { name: 'Query' } } } });
    expect(JSON.stringify(json)).toContain('"now"');
  });

  test.runIf(DEEP)('fails if the server does not respond, and keeps the previous schema', async () => {
    await add();
    await server.close();
    expect(await post('reload_remote_schema', { name: 'r' })).toMatchObject({ status: 400, json: { code: 'remote-schema-error' } });
    expect(await inconsistent()).toMatchObject({ is_consistent: true });
    expect(await roots()).toContain('hello');
    await server.open();
  });

  test('works for all metadata or by name', async () => {
    await add();
    const asked = (): number => server.requests.length;
    await service.metadata('reload_metadata', { reload_remote_schemas: false });
    expect(asked()).toBe(1);
    await service.metadata('reload_metadata', { reload_remote_schemas: ['r'] });
    await service.metadata('reload_metadata', {});
    expect(asked()).toBe(3);
    expect(await post('reload_metadata', { reload_remote_schemas: ['x'] })).toMatchObject({
      status: 400,
      json: { code: 'not-exists', error: 'Remote schema with name "x" not found in metadata' },
    });
  });
});

describe('a metadata document with remote schemas', () => {
  test('exports what was imported', async () => {
    await add();
    const document = await service.metadata('export_metadata', {});
    await service.metadata('clear_metadata', {});
    expect(await service.graphql('{ hello }')).toMatchObject({ errors: [{}] });
    await service.metadata('replace_metadata', document);
    expect(await roots()).toContain('hello');
    expect(await service.metadata('export_metadata', {})).toEqual(document);
  });

  test('is rejected if a server is unavailable, or the remote schema is inconsistent', async () => {
    const metadata: Json = {
      version: 3,
      sources: [],
      remote_schemas: [{ name: 'away', definition: { url: 'http://127.0.0.1:1/graphql' } }],
    };
    expect(await post('replace_metadata', metadata)).toMatchObject({
      status: 400,
      json: { code: 'unexpected', error: 'cannot continue due to inconsistent metadata' },
    });
    expect(await service.metadata('replace_metadata', { allow_inconsistent_metadata: true, metadata })).toMatchObject({
      is_consistent: false,
      inconsistent_objects: [
        {
          type: 'remote_schema',
          name: 'remote_schema away',
          reason: 'Inconsistent object: HTTP exception occurred while sending the request to "http://127.0.0.1:1/graphql"',
          definition: { name: 'away', definition: { url: 'http://127.0.0.1:1/graphql' } },
          message: { type: 'http_exception' },
        },
      ],
    });
    expect(await post('introspect_remote_schema', { name: 'away' })).toMatchObject({ status: 400, json: { code: 'remote-schema-error' } });
    await service.metadata('drop_inconsistent_metadata', {});
    expect(await inconsistent()).toEqual({ is_consistent: true, inconsistent_objects: [] });
    expect(await exported()).toBeUndefined();
  });

  test('preserves an unknown key, and reports the remote schema', async () => {
    const remote = { name: 'r', definition: { url: server.url, later: 1 } };
    const metadata: Json = { version: 3, sources: [], remote_schemas: [remote] };
    expect(await service.metadata('replace_metadata', { allow_inconsistent_metadata: true, metadata })).toMatchObject({
      is_consistent: false,
      inconsistent_objects: [{ type: 'remote_schema', reason: expect.stringContaining('unknown key "later"') as string }],
    });
    expect(await exported()).toMatchObject([remote]);
    expect(await add({ url: server.url, later: 1 }, 'q')).toMatchObject({ status: 400, json: { code: 'parse-failed' } });
  });
});
