/** Custom types and actions are created, changed and dropped over HTTP, and rejected changes leave nothing behind. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { DEEP, sample } from '../support/deep.ts';
import { startGraphqlServer } from '../support/graphql-server.ts';
import { type Answer, startTestService, type TestService } from '../support/service.ts';

let service: TestService;

beforeAll(async () => {
  service = await startTestService({ DEV_MODE: 'true' }, { HANDLERS: 'http://127.0.0.1:9' });
  await service.sql('create table person (id int primary key, name text, mood int); create table other (id int)');
});
afterAll(() => service.stop());
afterEach(async () => {
  await service.metadata('replace_metadata', {
    version: 3,
    sources: [
      {
        name: 'default',
        kind: 'postgres',
        tables: [],
        configuration: { connection_info: { database_url: { from_env: 'SVC_GRAPHQL_DATABASE_URL' } } },
      },
    ],
  });
});

const post = (type: string, args: Json, path = '/v1/metadata'): Promise<Answer> =>
  service.send(path, { method: 'POST', body: JSON.stringify({ type, args }) });
const exported = async (): Promise<JsonObject> => (await service.metadata('export_metadata', {})) as JsonObject;
const create = (name: string, definition: JsonObject = {}): Promise<Answer> =>
  post('create_action', { name, definition: { handler: 'http://h', output_type: 'String', ...definition } });
const roots = async (root: string, role = 'admin'): Promise<readonly string[]> => {
  const { data } = await service.graphql(`{ __schema { root: ${root}Type { fields { name } } } }`, { role });
  return ((data as JsonObject)['__schema'] as { root: { fields: { name: string }[] } | null }).root?.fields.map(({ name }) => name) ?? [];
};
const records = async (): Promise<Json> =>
  ((await service.metadata('get_inconsistent_metadata', {})) as JsonObject)['inconsistent_objects'] as Json;

const object = (fields: readonly JsonObject[], more: JsonObject = {}): JsonObject => ({ objects: [{ name: 'O', fields, ...more }] });
const field = (name: string, type: string): JsonObject => ({ name, type });

describe('custom types', () => {
  test('are stored as sent, and replaced as a whole', async () => {
    const types = {
      input_objects: [{ name: 'In', description: 'd', fields: [{ name: 'a', type: '[ID!]', description: 'f' }] }],
      objects: [{ name: 'O', fields: [field('id', 'uuid!'), field('self', 'O')] }],
      scalars: [{ name: 'S', description: 's' }],
      enums: [{ name: 'E', values: [{ value: 'a', description: 'v', is_deprecated: true }] }],
    };
    expect(await post('set_custom_types', types)).toMatchObject({ status: 200, json: { message: 'success' } });
    expect((await exported())['custom_types']).toEqual(types);
    expect(await post('set_custom_types', { scalars: [{ name: 'T' }] }, '/v1/query')).toMatchObject({ status: 200 });
    expect((await exported())['custom_types']).toEqual({ scalars: [{ name: 'T' }] });
    await post('set_custom_types', {});
    expect(await exported()).not.toHaveProperty('custom_types');
  });

  test.runIf(DEEP)('reserve the name of a table only once an action uses them', async () => {
    await service.metadata('pg_track_table', { table: 'person' });
    expect(await post('set_custom_types', { objects: [{ name: 'person', fields: [field('id', 'Int')] }] })).toMatchObject({ status: 200 });
    expect(await records()).toEqual([]);
    expect(await create('ask', { output_type: 'person' })).toMatchObject({
      json: { error: expect.stringContaining("conflicting definitions of the GraphQL type 'person'") },
    });
    expect(await roots('query')).toContain('person');
  });

  const failed = 'validation for the given custom types failed because ';
  const related = (relationship: JsonObject, fields = [field('id', 'Int!'), field('ids', '[Int!]'), field('o', 'O')]): JsonObject =>
    object(fields, {
      relationships: [{ name: 'r', type: 'object', remote_table: 'person', field_mapping: { id: 'id' }, ...relationship }],
    });

  test.each(
    sample<[string, JsonObject]>(
      [
        [
          'duplicate type names: "A", "Int"',
          { scalars: [{ name: 'A' }, { name: 'Int' }], enums: [{ name: 'A', values: [{ value: 'x' }] }] },
        ],
        ['duplicate type names: "uuid"', { enums: [{ name: 'uuid', values: [{ value: 'x' }] }] }],
        ['the type name "__A" is reserved', { scalars: [{ name: '__A' }] }],
        ['the type name "String_comparison_exp" is reserved', { scalars: [{ name: 'String_comparison_exp' }] }],
        [
          'the type "T" for field "f" in  input object type "I" does not exist',
          { input_objects: [{ name: 'I', fields: [field('f', '[T!]')] }] },
        ],
        [
          'the type "O" for field "f" in  input object type "I" does not exist',
          { input_objects: [{ name: 'I', fields: [field('f', 'O')] }], ...object([field('a', 'Int')]) },
        ],
        ['the type "T" for field "f" in  object type "O" does not exist', object([field('f', 'T')])],
        [
          'the type "I" for field "f" in  object type "O" does not exist',
          { ...object([field('f', 'I')]), input_objects: [{ name: 'I', fields: [field('a', 'Int')] }] },
        ],
        [
          'the input object "I" has duplicate fields: "f"',
          { input_objects: [{ name: 'I', fields: [field('f', 'Int'), field('f', 'Int')] }] },
        ],
        ['the object "O" has duplicate fields: "f"', object([field('f', 'Int'), field('f', 'Int')])],
        ['the object "O" has duplicate fields: "id"', related({ name: 'id' })],
        ['the object "O" can\'t have arguments', object([{ ...field('f', 'Int'), arguments: [] }])],
        [
          'the enum type "E" has duplicate values: "a"',
          { enums: [{ name: 'E', values: [{ value: 'a' }, { value: 'b' }, { value: 'a' }] }] },
        ],
        ['the input object "I" requires itself, so it can have no value', { input_objects: [{ name: 'I', fields: [field('i', 'I!')] }] }],
        ['the remote table "nope" for relationship "r" of object type "O" does not exist', related({ remote_table: 'nope' })],
        ['the field "no" for relationship "r" in object type "O" does not exist', related({ field_mapping: { no: 'id' } })],
        ['the type of the field "ids" for relationship "r" in object type "O" is a list type', related({ field_mapping: { ids: 'id' } })],
        ['the type of the field "o" for relationship "r" in object type "O" is an object type', related({ field_mapping: { o: 'id' } })],
        [
          'the column "no" of remote table "person" for relationship "r" of object type "O" does not exist',
          related({ field_mapping: { id: 'no' } }),
        ],
        ['the source "no" for relationship "r" of object type "O" does not exist', related({ source: 'no' })],
        [
          'in relationship "r" of object type "O": remote schema with name "x" not found',
          object([field('id', 'Int')], {
            relationships: [
              {
                name: 'r',
                definition: { to_remote_schema: { remote_schema: 'x', lhs_fields: ['id'], remote_field: { f: { arguments: {} } } } },
              },
            ],
          }),
        ],
      ],
      3,
    ),
  )('are rejected: %s', async (reason, types) => {
    await post('pg_track_table', { table: 'person' });
    const before = await exported();
    const { status, json } = await post('set_custom_types', types);
    expect({ status, json }).toMatchObject({
      status: 400,
      json: {
        code: 'invalid-configuration',
        path: '$.args',
        error: `Inconsistent object: ${failed}${reason}`,
        internal: [{ type: 'custom_types', name: 'custom_types custom_types' }],
      },
    });
    expect(await exported()).toEqual(before);
    expect(await records()).toEqual([]);
  });

  test.runIf(DEEP)('with reference cycles are distinguished from types that lead to a cycle, however many there are', async () => {
    const chain = (name: string, length: number, end: string): readonly JsonObject[] =>
      Array.from({ length }, (_, i) => ({ name: `${name}${i}`, fields: [field('f', i === length - 1 ? end : `${name}${i + 1}!`)] }));
    const long = chain('L', 20_000, 'Int');
    expect(await post('set_custom_types', { input_objects: long })).toMatchObject({ status: 200 });
    expect(await post('set_custom_types', { input_objects: [...chain('A', 2, 'C0!'), ...chain('C', 3, 'C0!'), ...long] })).toMatchObject({
      status: 400,
      json: {
        error: `Inconsistent object: validation for the given custom types failed for the following reasons:\n${['C0', 'C1', 'C2']
          .map((name) => `  • the input object "${name}" requires itself, so it can have no value`)
          .join('\n')}`,
      },
    });
  });

  test.runIf(DEEP)('are rejected with all errors, two sources of one type included', async () => {
    await post('pg_track_table', { table: 'person' });
    const relationship = (name: string, source: string): JsonObject => ({
      name,
      type: 'object',
      source,
      remote_table: 'person',
      field_mapping: { id: 'id' },
    });
    const { json } = await post(
      'set_custom_types',
      object([field('id', 'Int'), field('x', 'X')], { relationships: [relationship('a', 'default'), relationship('b', 's2')] }),
    );
    expect((json as JsonObject)['error']).toBe(
      'Inconsistent object: validation for the given custom types failed for the following reasons:\n' +
        '  • the type "X" for field "x" in  object type "O" does not exist\n' +
        '  • the object "O" has relationships refers to tables in multiple sources\n' +
        '  • the source "s2" for relationship "b" of object type "O" does not exist',
    );
  });

  test.each(
    sample<[string, JsonObject, string]>(
      [
        ['$.args.objects[0].fields', object([]), 'parsing NonEmpty failed, unexpected empty list'],
        ['$.args.enums[0].values[0].value', { enums: [{ name: 'E', values: [{ value: 'true' }] }] }, '"true" cannot be a value of an enum'],
        ['$.args.scalars[0].name', { scalars: [{ name: 'a b' }] }, 'a b is not valid GraphQL name'],
        ['$.args.objects[0].fields[0].type', object([field('a', '[Int')]), 'not a valid GraphQL type: [Int'],
        ['$.args', { objekts: [] }, 'unexpected key'],
      ],
      5,
    ),
  )('that cannot be decoded are rejected at %s', async (path, types, error) => {
    const answer = await post('set_custom_types', types);
    expect(answer).toMatchObject({ status: 400, json: { code: 'parse-failed' } });
    if (path !== '$.args') expect(answer.json).toMatchObject({ path, error });
  });

  test.runIf(DEEP)('cannot take names of tables, nor tables theirs', async () => {
    expect(await post('set_custom_types', { scalars: [{ name: 'person' }] })).toMatchObject({ status: 200 });
    await create('ask', { output_type: 'person' });
    expect(await post('pg_track_table', { table: 'person' })).toMatchObject({
      status: 400,
      json: { error: expect.stringContaining("conflicting definitions of the GraphQL type 'person'") },
    });
    await post('drop_action', { name: 'ask' });
    expect(await post('pg_track_table', { table: 'person' })).toMatchObject({ status: 200 });
    expect(await post('set_custom_types', { scalars: [{ name: 'person_bool_exp' }] })).toMatchObject({ status: 200 });
    expect(await create('ask', { output_type: 'person_bool_exp' })).toMatchObject({
      json: { error: expect.stringContaining("conflicting definitions of the GraphQL type 'person_bool_exp'") },
    });
  });

  test('that an action needs cannot be removed', async () => {
    await post('set_custom_types', object([field('id', 'Int')]));
    expect(await create('a', { output_type: 'O' })).toMatchObject({ status: 200 });
    expect(await post('set_custom_types', {})).toMatchObject({
      status: 400,
      json: { code: 'unexpected', error: 'cannot continue due to new inconsistent metadata', internal: [{ name: 'action a' }] },
    });
    expect((await exported())['custom_types']).toEqual(object([field('id', 'Int')]));
  });
});

describe('relationships of custom types', () => {
  const types = object([field('id', 'Int')], {
    relationships: [{ name: 'r', type: 'object', remote_table: 'person', field_mapping: { id: 'mood' } }],
  });

  test('depend on their tables and columns', async () => {
    await post('pg_track_table', { table: 'person' });
    await post('set_custom_types', types);
    const message = 'cannot drop due to the following dependent objects: relationship O.r in custom types';
    expect(await post('pg_untrack_table', { table: 'person' })).toMatchObject({
      status: 400,
      json: { code: 'dependency-error', error: message },
    });
    expect(await post('run_sql', { sql: 'alter table person drop column mood' }, '/v2/query')).toMatchObject({
      status: 400,
      json: { code: 'dependency-error' },
    });
    expect(await post('pg_untrack_table', { table: 'person', cascade: true })).toMatchObject({ status: 200 });
    expect((await exported())['custom_types']).toEqual(object([field('id', 'Int')]));
  });

  test('with a missing target are inconsistent, and the types still work', async () => {
    await post('pg_track_table', { table: 'person' });
    await post('set_custom_types', types);
    await create('a', { output_type: 'O' });
    const document = await exported();
    const [source] = document['sources'] as readonly JsonObject[];
    const without = { ...document, sources: [{ ...source, tables: [] }] };
    await service.metadata('replace_metadata', { metadata: without, allow_inconsistent_metadata: true });
    expect(await records()).toMatchObject([{ type: 'custom_types', reason: expect.stringContaining('the remote table "person"') }]);
    expect(await roots('mutation')).toEqual(['a']);
    expect(await service.graphql('{ __type(name: "O") { fields { name } } }')).toEqual({ data: { __type: { fields: [{ name: 'id' }] } } });
  });
});

describe('actions', () => {
  test('are stored as sent and become root fields', async () => {
    const definition = {
      handler: '{{HANDLERS}}/a',
      output_type: '[uuid!]',
      arguments: [{ name: 'x', type: 'timestamptz', description: 'd' }],
      headers: [{ name: 'h', value: 'v' }],
      forward_client_headers: true,
      ignored_client_headers: ['x-no'],
      timeout: 7,
    };
    await post('create_action', { name: 'q', definition: { ...definition, type: 'query' }, comment: 'c' });
    await post('create_action', { name: 'm', definition: { handler: 'http://h', output_type: 'Int' } }, '/v1/query');
    expect((await exported())['actions']).toEqual([
      { name: 'm', definition: { handler: 'http://h', output_type: 'Int', type: 'mutation', kind: 'synchronous' } },
      { name: 'q', definition: { ...definition, type: 'query' }, comment: 'c' },
    ]);
    expect(await roots('query')).toEqual(['q']);
    expect(await roots('mutation')).toEqual(['m']);
    const { data } = await service.graphql(
      '{ __type(name: "query_root") { fields { description type { name kind ofType { kind ofType { name } } } args { name description type { name } } } } }',
    );
    expect(data).toEqual({
      __type: {
        fields: [
          {
            description: 'c',
            type: { name: null, kind: 'LIST', ofType: { kind: 'NON_NULL', ofType: { name: 'uuid' } } },
            args: [{ name: 'x', description: 'd', type: { name: 'timestamptz' } }],
          },
        ],
      },
    });
    const document = await exported();
    await service.metadata('replace_metadata', document);
    expect(await exported()).toEqual(document);
  });

  test.each(
    sample<[string, JsonObject, JsonObject]>(
      [
        [
          'arguments of no type',
          { arguments: [field('a', 'T!')] },
          {
            error:
              'Inconsistent object: in action "a"; the type: "T" is not defined in custom types or it is not a scalar/enum/input_object',
          },
        ],
        [
          'arguments of an object type',
          { arguments: [field('a', 'O')] },
          { error: expect.stringContaining('the type: "O" is not defined in custom types') },
        ],
        [
          'two arguments of a name',
          { arguments: [field('a', 'Int'), field('a', 'Int')] },
          { error: expect.stringContaining('the argument "a" is declared more than once') },
        ],
        [
          'an output of no type',
          { output_type: 'T' },
          {
            error: 'Inconsistent object: in action "a"; the type: "T" is not an object or scalar type defined in custom types',
            code: 'invalid-configuration',
          },
        ],
        ['an input as output', { output_type: 'I' }, { error: expect.stringContaining('the type: "I" is not an object or scalar type') }],
        [
          'a handler with another protocol',
          { handler: 'ftp://example.org/x' },
          { error: expect.stringContaining('is no http or https URL') },
        ],
        ['a handler that is no URL', { handler: '{{HANDLERS}}:x/y' }, { error: expect.stringContaining('is no http or https URL') }],
        [
          'a header that no request can have',
          { headers: [{ name: 'a b', value: 'x' }] },
          { error: expect.stringContaining('"a b" cannot be the name of a header') },
        ],
        [
          'a header with two lines',
          { headers: [{ name: 'a', value: 'x\r\nb: y' }] },
          { error: expect.stringContaining('has characters that no header can have') },
        ],
        [
          'a handler that is nowhere',
          { handler: '{{NOT_SET}}' },
          { error: expect.stringContaining("environment variable 'NOT_SET' not set") },
        ],
        [
          'a header that is nowhere',
          { headers: [{ name: 'h', value_from_env: 'NOT_SET' }] },
          { error: expect.stringContaining("environment variable 'NOT_SET' not set") },
        ],
        [
          'another type',
          { type: 'thing' },
          { error: 'expected mutation or query, but found thing', code: 'parse-failed', path: '$.args.definition.type' },
        ],
        ['a time below zero', { timeout: -1 }, { error: 'timeout value cannot be negative', code: 'parse-failed' }],
        [
          'a query that is asynchronous',
          { type: 'query', kind: 'asynchronous' },
          { error: 'an action of type query cannot be asynchronous', code: 'parse-failed' },
        ],
        [
          'a template that cannot be read',
          { request_transform: { version: 2, url: '{{', template_engine: 'Kriti' } },
          { error: 'request transform validation failed', code: 'validation-failed', path: '$.args' },
        ],
        ['a misspelt key', { handlr: 'x' }, { code: 'parse-failed' }],
        [
          'retries that no database can count',
          { kind: 'asynchronous', retry_conf: { num_retries: 1, interval_sec: 3_000_000_000 } },
          { error: 'interval_sec must be at most 31622400, but it is 3000000000', code: 'parse-failed' },
        ],
        [
          'a number of retries below zero',
          { kind: 'asynchronous', retry_conf: { num_retries: -1 } },
          { error: 'num_retries must be at least 0, but it is -1', path: '$.args.definition.retry_conf.num_retries' },
        ],
      ],
      4,
    ),
  )('are rejected with %s', async (_what, definition, error) => {
    await post('set_custom_types', { ...object([field('id', 'Int')]), input_objects: [{ name: 'I', fields: [field('id', 'Int')] }] });
    const before = await exported();
    expect(await create('a', definition)).toMatchObject({ status: 400, json: error });
    expect(await exported()).toEqual(before);
    expect(await records()).toEqual([]);
  });

  test.each(sample(['uuid', 'timestamptz', 'json', 'numeric', 'Int_comparison_exp'], 2))(
    'that are asynchronous cannot be named %s',
    async (name) => {
      const before = await exported();
      expect(await create(name, { kind: 'asynchronous' })).toMatchObject({
        status: 400,
        json: { error: `Inconsistent object: in action "${name}"; the name "${name}" is reserved`, code: 'invalid-configuration' },
      });
      expect(await exported()).toEqual(before);
      expect(await create(name)).toMatchObject({ status: 200 });
    },
  );

  test('that are asynchronous have either relationships or nested objects', async () => {
    await post('pg_track_table', { table: 'person' });
    const relationships = [{ name: 'r', type: 'object', remote_table: 'person', field_mapping: { id: 'id' } }];
    await post('set_custom_types', {
      objects: [
        { name: 'O', fields: [field('id', 'Int'), field('inner', 'P')], relationships },
        { name: 'P', fields: [field('id', 'Int')], relationships },
      ],
    });
    expect(await create('a', { output_type: 'O', kind: 'asynchronous' })).toMatchObject({
      json: { error: 'Inconsistent object: in action "a"; Async action relations cannot be used with object fields: "inner"' },
    });
    expect(await create('a', { output_type: 'O' })).toMatchObject({ status: 200 });
    expect(await create('b', { output_type: 'P', kind: 'asynchronous' })).toMatchObject({ status: 200 });
  });

  test('have unique names', async () => {
    await create('a');
    expect(await create('a')).toMatchObject({
      json: { error: 'action with name "a" already exists', code: 'already-exists', path: '$.args' },
    });
    for (const [type, args] of [
      ['update_action', { name: 'b', definition: { handler: 'http://h', output_type: 'Int' } }],
      ['drop_action', { name: 'b' }],
      ['create_action_permission', { action: 'b', role: 'r' }],
      ['drop_action_permission', { action: 'b', role: 'r' }],
    ] as const) {
      expect(await post(type, args)).toMatchObject({
        json: { error: 'action with name "b" does not exist', code: 'not-exists', path: '$.args' },
      });
    }
  });

  test('are updated and dropped together with their permissions', async () => {
    await create('a');
    await post('create_action_permission', { action: 'a', role: 'user', comment: 'p' });
    expect(await post('create_action_permission', { action: 'a', role: 'user' })).toMatchObject({
      json: { error: 'permission for role "user" is already defined on "a"' },
    });
    await post('update_action', { name: 'a', definition: { handler: 'http://i', output_type: 'Int', type: 'query' }, comment: 'new' });
    expect((await exported())['actions']).toEqual([
      {
        name: 'a',
        definition: { handler: 'http://i', output_type: 'Int', type: 'query' },
        comment: 'new',
        permissions: [{ role: 'user', comment: 'p' }],
      },
    ]);
    expect(await roots('query', 'user')).toEqual(['a']);
    expect(await post('drop_action_permission', { name: 'a', role: 'user' }, '/v1/query')).toMatchObject({ status: 200 });
    expect(await post('drop_action_permission', { action: 'a', role: 'user' })).toMatchObject({
      json: { error: 'permission for role: "user" is not defined on "a"', code: 'not-exists' },
    });
    expect(await roots('query', 'user')).toEqual(['no_queries_available']);
    expect(await post('drop_action', { name: 'a', clear_data: false })).toMatchObject({ status: 200 });
    expect(await exported()).not.toHaveProperty('actions');
  });

  test('cannot take names of tables, nor tables theirs', async () => {
    const taken =
      "Encountered conflicting definitions in the selection set for 'mutation_root' for field 'insert_person' defined in [action insert_person, table person in source default]. Fields must not be defined more than once across all sources.";
    await create('insert_person');
    expect(await post('pg_track_table', { table: 'person' })).toMatchObject({
      status: 400,
      json: { error: taken, code: 'unexpected', path: '$.args' },
    });
    await post('drop_action', { name: 'insert_person' });
    await post('pg_track_table', { table: 'person' });
    expect(await create('insert_person')).toMatchObject({ status: 400, json: { error: taken, code: 'unexpected', path: '$.args' } });
    expect(await create('query_root', { kind: 'asynchronous' })).toMatchObject({ status: 400 });
    expect(await create('__x')).toMatchObject({ status: 400, json: { error: expect.stringContaining('the name "__x" is reserved') } });
    expect(await exported()).not.toHaveProperty('actions');
  });

  test.runIf(DEEP)('cannot take names of remote schemas, nor remote schemas theirs', async () => {
    const server = await startGraphqlServer('type Query { hello: Hello } type Hello { a: Int }');
    await create('hello', { type: 'query' });
    const add = () => post('add_remote_schema', { name: 'r', definition: { url: server.url } });
    expect(await add()).toMatchObject({
      status: 400,
      json: { error: expect.stringContaining("Field cannot be overwritten by remote field 'hello'") },
    });
    await post('drop_action', { name: 'hello' });
    expect(await add()).toMatchObject({ status: 200 });
    expect(await create('hello', { type: 'query' })).toMatchObject({
      status: 400,
      json: { code: 'remote-schema-conflicts', error: 'node hello already exists in current graphql schema' },
    });
    await post('set_custom_types', { enums: [{ name: 'Hello', values: [{ value: 'a' }] }] });
    expect(await create('other', { type: 'query', output_type: '[Hello]' })).toMatchObject({ status: 400 });
    await post('remove_remote_schema', { name: 'r' });
    await server.close();
  });

  test('that are inconsistent are dropped on request', async () => {
    const actions = [
      { name: 'a', definition: { handler: '{{NOT_SET}}', output_type: 'Int' } },
      { name: 'b', definition: { handler: 'http://h', output_type: 'Int' } },
    ];
    const document = { ...(await exported()), actions, custom_types: { objects: [{ name: 'O', fields: [field('a', 'No')] }] } };
    await service.metadata('replace_metadata', { metadata: document, allow_inconsistent_metadata: true });
    expect(await records()).toMatchObject([{ type: 'custom_types' }, { type: 'action', name: 'action a' }]);
    expect(await roots('mutation')).toEqual(['b']);
    await service.metadata('drop_inconsistent_metadata', {});
    const left = await exported();
    expect(left['actions']).toMatchObject([{ name: 'b' }]);
    expect(left).not.toHaveProperty('custom_types');
  });
});
