/** Name conflicts between remote schemas and sources, over HTTP. */
import {
  buildClientSchema,
  buildSchema,
  type GraphQLNamedType,
  getIntrospectionQuery,
  type IntrospectionQuery,
  isScalarType,
  isSpecifiedScalarType,
  printType,
} from 'graphql';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { type GraphqlServer, startGraphqlServer } from '../support/graphql-server.ts';
import { type Answer, startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let first: GraphqlServer;
let second: GraphqlServer;
let initial: Json;

beforeAll(async () => {
  service = await startTestService({ ENABLE_REMOTE_SCHEMA_PERMISSIONS: 'true' });
  first = await startGraphqlServer('type Query { a: Int }');
  second = await startGraphqlServer('type Query { a: Int }');
  await service.sql('create table thing (id int primary key)');
  initial = await service.metadata('export_metadata', {});
});
afterAll(async () => {
  await service.stop();
  await first.close();
  await second.close();
});
beforeEach(() => service.metadata('pg_track_table', { table: 'thing' }));
afterEach(() => service.metadata('replace_metadata', initial));

const post = (type: string, args: Json): Promise<Answer> =>
  service.send('/v1/metadata', { method: 'POST', body: JSON.stringify({ type, args }) });
const add = (server: GraphqlServer, sdl: string, name: string, customization: JsonObject = {}): Promise<Answer> => {
  server.schema = buildSchema(sdl);
  return post('add_remote_schema', { name, definition: { url: server.url, customization } });
};
const refused = (...reasons: readonly string[]): JsonObject => ({
  path: '$.args',
  error: reasons.map((reason) => `Inconsistent object: ${reason}`).join(', '),
  code: 'invalid-configuration',
});
const roots = async (): Promise<readonly string[]> => {
  const { data } = await service.graphql(`{ __schema { queryType { fields { name } } } }`);
  return (data as unknown as { __schema: { queryType: { fields: { name: string }[] } } }).__schema.queryType.fields.map(({ name }) => name);
};

describe('names of a remote schema and a source', () => {
  test.each([
    ['a root field of queries', 'type Query { thing: Int b: Int }', "Field cannot be overwritten by remote field 'thing'"],
    [
      'a root field of mutations',
      'type Query { b: Int } type Mutation { insert_thing: Int }',
      "Field cannot be overwritten by remote field 'insert_thing'",
    ],
    [
      'a type',
      'type Query { b: thing_bool_exp } type thing_bool_exp { x: Int }',
      "Conflicting types: 'thing_bool_exp' is also a type of a source or of the custom types",
    ],
  ])('a remote schema with the name of %s is rejected', async (_what, sdl, reason) => {
    const { status, json } = await add(first, sdl, 'r');
    expect({ status, json }).toMatchObject({ status: 400, json: refused(reason) });
    expect((json as JsonObject)['internal']).toMatchObject([{ type: 'remote_schema', name: 'remote_schema r' }]);
    expect(await service.metadata('export_metadata', {})).not.toHaveProperty('remote_schemas');
    expect(await roots()).not.toContain('b');
  });

  test('all conflicting names are reported', async () => {
    expect((await add(first, 'type Query { thing: Int thing_by_pk: Int }', 'r')).json).toMatchObject(
      refused("Field cannot be overwritten by remote field 'thing'", "Field cannot be overwritten by remote field 'thing_by_pk'"),
    );
  });

  test('a scalar or enum equal to a custom type is shared, and a different one is rejected', async () => {
    await post('set_custom_types', {
      scalars: [{ name: 'Stamp' }],
      enums: [{ name: 'Mode', values: [{ value: 'on' }, { value: 'off' }] }],
    });
    const definition = {
      type: 'query',
      handler: 'http://localhost:1',
      output_type: 'Stamp',
      arguments: [{ name: 'mode', type: 'Mode' }],
    };
    await post('create_action', { name: 'ask', definition });
    expect((await add(first, 'scalar Stamp enum Mode { off on } type Query { b(mode: Mode): Stamp }', 'r')).status).toBe(200);
    expect(await roots()).toEqual(expect.arrayContaining(['ask', 'b']));
    expect((await add(second, 'enum Mode { off } type Query { c(mode: Mode): Int }', 'q')).json).toMatchObject(
      refused("Conflicting types: 'Mode' is also a type of a source or of the custom types"),
    );
  });

  test('a custom type without an action reserves no name', async () => {
    await post('set_custom_types', { objects: [{ name: 'Far', fields: [{ name: 'x', type: 'Int' }] }] });
    expect((await add(first, 'type Query { far: Far } type Far { y: Int }', 'r')).status).toBe(200);
    const used = await post('create_action', { name: 'ask', definition: { handler: 'http://localhost:1', output_type: 'Far' } });
    expect(used).toMatchObject({ status: 400, json: { error: 'node Far already exists in current graphql schema' } });
  });

  test('customized names avoid conflicts', async () => {
    expect((await add(first, 'type Query { thing: Int }', 'r', { root_fields_namespace: 'far' })).status).toBe(200);
    const renamed = { field_names: [{ parent_type: 'Query', mapping: { thing: 'other_thing' } }] };
    expect((await add(second, 'type Query { thing: Int }', 'q', renamed)).status).toBe(200);
    expect(await roots()).toEqual(expect.arrayContaining(['thing', 'far', 'other_thing']));
  });

  test('built-in types of the service may exist twice', async () => {
    const sdl = `enum order_by { asc asc_nulls_first asc_nulls_last desc desc_nulls_first desc_nulls_last } type Query { b(by: order_by): Int }`;
    expect((await add(first, sdl, 'r')).status).toBe(200);
    expect((await add(second, 'enum order_by { up } type Query { c(by: order_by): Int }', 'q')).status).toBe(400);
  });

  test('column types may exist twice if they are equal', async () => {
    await service.sql('create table all_sorts (id int primary key, u uuid, t text, n numeric[], j jsonb)');
    await service.metadata('pg_track_table', { table: 'all_sorts' });
    try {
      // As another instance of this service describes itself.
      const { data } = await service.graphql(getIntrospectionQuery());
      const whole = buildClientSchema(data as unknown as IntrospectionQuery);
      const isScalar = (type: GraphQLNamedType): boolean => isScalarType(type) && !isSpecifiedScalarType(type);
      const own = Object.values(whole.getTypeMap()).filter((type) => /_comparison_exp$|_cast_exp$/.test(type.name) || isScalar(type));
      expect(own.map(({ name }) => name)).toEqual(expect.arrayContaining(['uuid', 'jsonb_cast_exp', 'numeric_array_comparison_exp']));
      const types = own.map((type) => printType(type)).join('\n');
      const query = 'type Query { b(u: uuid_comparison_exp, j: jsonb_comparison_exp, n: numeric_array_comparison_exp): Int }';
      expect((await add(first, `${types} ${query}`, 'r')).json).toEqual({ message: 'success' });
      await service.metadata('remove_remote_schema', { name: 'r' });
      const other = types.replace('_is_null: Boolean', '_is_null: Int');
      expect((await add(first, `${other} ${query}`, 'r')).json).toMatchObject({ code: 'invalid-configuration' });
      expect((await add(first, 'type uuid { x: Int } type Query { b: uuid }', 'r')).json).toMatchObject(
        refused("Conflicting types: 'uuid' is also a type of a source or of the custom types"),
      );
      expect(
        (await add(first, 'input String_comparison_exp { _eq: String } type Query { b(s: String_comparison_exp): Int }', 'r')).json,
      ).toMatchObject(refused("Conflicting types: 'String_comparison_exp' is also a type of a source or of the custom types"));
      // No column has this type.
      expect((await add(first, 'type timestamptz { x: Int } type Query { b: timestamptz }', 'r')).status).toBe(200);
    } finally {
      await service.metadata('pg_untrack_table', { table: 'all_sorts' });
    }
  });

  test('a table with the name of a remote field cannot be tracked', async () => {
    await service.metadata('pg_untrack_table', { table: 'thing' });
    expect((await add(first, 'type Query { thing: Int }', 'r')).status).toBe(200);
    expect(await post('pg_track_table', { table: 'thing' })).toMatchObject({
      status: 400,
      json: { path: '$.args', error: 'node thing already exists in current graphql schema', code: 'remote-schema-conflicts' },
    });
    expect(await roots()).toEqual(['thing']);
  });

  test('a document with both omits the remote schema', async () => {
    await service.metadata('pg_untrack_table', { table: 'thing' });
    await add(first, 'type Query { thing: Int b: Int }', 'r');
    const document = (await service.metadata('export_metadata', {})) as unknown as { sources: { tables: unknown[] }[] };
    document.sources[0]?.tables.push({ table: { schema: 'public', name: 'thing' } });
    const metadata = document as unknown as Json;
    expect(await post('replace_metadata', metadata)).toMatchObject({
      status: 400,
      json: { code: 'unexpected', error: 'cannot continue due to inconsistent metadata' },
    });
    expect(await service.metadata('replace_metadata', { allow_inconsistent_metadata: true, metadata })).toMatchObject({
      is_consistent: false,
      inconsistent_objects: [
        { name: 'remote_schema r', reason: "Inconsistent object: Field cannot be overwritten by remote field 'thing'" },
      ],
    });
    expect(await roots()).toEqual(['thing', 'thing_aggregate', 'thing_by_pk']);
    await service.metadata('pg_untrack_table', { table: 'thing' });
    expect(await roots()).toEqual(['b', 'thing']);
    expect(await service.metadata('get_inconsistent_metadata', {})).toMatchObject({ is_consistent: true });
  });
});

describe('names of two remote schemas', () => {
  test('a root field of the same name is rejected', async () => {
    await add(first, 'type Query { a: Int }', 'r');
    expect((await add(second, 'type Query { a: Int b: Int }', 'q')).json).toMatchObject(refused("Duplicate remote field 'a'"));
    expect(await roots()).toContain('a');
  });

  test('an equal type is shared, a different one of its name is rejected', async () => {
    await add(first, 'enum E { X Y } "this" type T { x: E } type Query { a: T }', 'r');
    expect((await add(second, 'enum E { Y X } "that" type T { x: E } type Query { b: T }', 'q')).status).toBe(200);
    await service.metadata('remove_remote_schema', { name: 'q' });
    expect((await add(second, 'enum E { X Y } type T { x: E! } type Query { b: T }', 'q')).json).toMatchObject(
      refused("Conflicting types: 'T' differs between the remote schemas 'r' and 'q'"),
    );
    expect((await add(second, 'type T { x: Int } type Query { b: T }', 'q', { type_names: { prefix: 'Q' } })).status).toBe(200);
  });

  test('a document with both omits both', async () => {
    await add(first, 'type Query { a: Int }', 'r');
    second.schema = buildSchema('type Query { a: Int }');
    const document = (await service.metadata('export_metadata', {})) as unknown as { remote_schemas: Json[] };
    document.remote_schemas.push({ name: 'q', definition: { url: second.url } });
    const metadata = document as unknown as Json;
    const answer = (await service.metadata('replace_metadata', { allow_inconsistent_metadata: true, metadata })) as unknown as {
      inconsistent_objects: { name: string; reason: string }[];
    };
    expect(answer.inconsistent_objects.map(({ name, reason }) => [name, reason]).sort()).toEqual(
      ['q', 'r'].map((name) => [`remote_schema ${name}`, "Inconsistent object: Duplicate remote field 'a'"]),
    );
    expect(await roots()).not.toContain('a');
  });
});

describe('a type that two remote schemas share, for a role', () => {
  const THING = 'type Thing { id: Int secret: Int }';
  const reason = "Conflicting types: for the role, 'Thing' differs between the remote schemas 'far' and 'near'";
  const permit = (role: string, remote_schema: string, schema: string): Promise<Answer> =>
    post('add_remote_schema_permissions', { remote_schema, role, definition: { schema } });
  const rootsFor = async (role: string): Promise<Json> => {
    const headers = { 'x-svc-role': role };
    const query = '{ __schema { queryType { fields { name } } } }';
    const { json } = await service.send('/v1/graphql', { method: 'POST', headers, body: JSON.stringify({ query }) });
    return (json as unknown as { data: { __schema: { queryType: { fields: JsonObject[] } } } }).data.__schema.queryType.fields;
  };
  const named = (...names: readonly string[]) => names.map((name) => ({ name }));
  beforeEach(async () => {
    await add(first, `type Query { far: Thing } ${THING}`, 'far');
    await add(second, `type Query { near: Thing } ${THING}`, 'near');
  });

  test('is equal', async () => {
    expect((await permit('clerk', 'far', 'type Query { far: Thing } type Thing { id: Int }')).status).toBe(200);
    expect(await permit('clerk', 'near', `type Query { near: Thing } ${THING}`)).toMatchObject({ status: 400, json: refused(reason) });
    expect((await permit('clerk', 'near', 'type Query { near: Thing } type Thing { id: Int }')).status).toBe(200);
    // Another role may see another part of it.
    expect((await permit('chief', 'near', `type Query { near: Thing } ${THING}`)).status).toBe(200);
    expect(await rootsFor('clerk')).toEqual(named('far', 'near'));
    expect(await rootsFor('chief')).toEqual(named('near'));
  });

  test('or does not exist', async () => {
    await permit('clerk', 'far', 'type Query { far: Thing } type Thing { id: Int }');
    await permit('chief', 'near', `type Query { near: Thing } ${THING}`);
    const document = (await service.metadata('export_metadata', {})) as unknown as { remote_schemas: { permissions: JsonObject[] }[] };
    document.remote_schemas[1]?.permissions.push({ role: 'clerk', definition: { schema: `type Query { near: Thing } ${THING}` } });
    const inherited_roles = [{ role_name: 'heir', role_set: ['clerk'] }];
    const metadata = { ...document, inherited_roles } as unknown as Json;
    const told = await service.metadata('replace_metadata', { allow_inconsistent_metadata: true, metadata });
    const object = (remote: string) => ({
      name: `remote_schema_permission clerk permission in remote schema ${remote}`,
      reason: `Inconsistent object: ${reason}`,
      type: 'remote_schema_permission',
    });
    const heir = (remote: string) => ({ name: 'heir', reason, entity: { remote_schema: remote } });
    expect(told).toMatchObject({ inconsistent_objects: [object('far'), object('near'), heir('far'), heir('near')] });
    expect(await rootsFor('clerk')).toEqual(named('no_queries_available'));
    expect(await rootsFor('heir')).toEqual(named('no_queries_available'));
    expect(await rootsFor('chief')).toEqual(named('near'));
    expect(await roots()).toEqual(expect.arrayContaining(['far', 'near']));
  });
});
