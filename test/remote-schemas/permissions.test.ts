/** Permissions of roles on remote schemas, over HTTP. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { buildSchema } from 'graphql';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { DEEP, sample } from '../support/deep.ts';
import { type GraphqlServer, startGraphqlServer } from '../support/graphql-server.ts';
import { type Answer, startTestService, type TestService } from '../support/service.ts';

const SDL = `
  enum Mood { GOOD BAD }
  input Filter { tenant: Int name: String mood: Mood range: Range }
  input Range { min: Int max: Int }
  type User { id: ID! name: String secret: String }
  type Query {
    users(where: Filter, first: Int): [User!]!
    plain(i: Int, f: Float, b: Boolean, s: String, mood: Mood): String
    all(where: [Filter!]): String
  }
  type Mutation { add(user: Filter!): String }
`;
const echo = (args: Json): string => JSON.stringify(args);
const ROOT = {
  users: () => [{ id: '1', name: 'Ann', secret: 'x' }],
  plain: echo,
  all: echo,
  add: ({ user }: { user: Json }) => echo(user),
};

const MOOD = 'enum Mood { GOOD BAD }';
const CLERK = `
  schema { query: Query mutation: Mutation }
  ${MOOD}
  input Filter { tenant: Int @preset(value: "x-svc-tenant") name: String mood: Mood @preset(value: GOOD) range: Range }
  input Range { min: Int @preset(value: 1) max: Int @preset(value: "x-svc-max") }
  type User { id: ID! name: String }
  type Query {
    users(where: Filter): [User!]!
    plain(i: Int @preset(value: "x-svc-i"), f: Float @preset(value: "x-svc-f"), b: Boolean @preset(value: "x-svc-b"),
      s: String @preset(value: "x-svc-s", static: true), mood: Mood @preset(value: "x-svc-mood")): String
    all(where: [Filter!]): String
  }
  type Mutation { add(user: Filter!): String }
`;
const GUEST = 'type Query { users: [User!]! } type User { id: ID! }';

let service: TestService;
let server: GraphqlServer;

beforeAll(async () => {
  service = await startTestService({ ENABLE_REMOTE_SCHEMA_PERMISSIONS: 'true', ADMIN_SECRET: 'hush' });
  server = await startGraphqlServer(SDL, ROOT);
});
afterAll(async () => {
  await service.stop();
  await server.close();
});

const ADMIN = { 'x-svc-admin-secret': 'hush' };
const post = (type: string, args: Json): Promise<Answer> =>
  service.send('/v1/metadata', { method: 'POST', headers: ADMIN, body: JSON.stringify({ type, args }) });
const permit = (role: string, schema: string, remote = 'far'): Promise<Answer> =>
  post('add_remote_schema_permissions', { remote_schema: remote, role, definition: { schema } });
const inconsistent = async (): Promise<JsonObject> => (await post('get_inconsistent_metadata', {})).json as JsonObject;
const done = { status: 200, json: { message: 'success' } };

async function ask(role: string, query: string, variables: JsonObject = {}, session: Readonly<Record<string, string>> = {}): Promise<Json> {
  const headers = { ...ADMIN, 'x-svc-role': role, ...session };
  const { json } = await service.send('/v1/graphql', { method: 'POST', headers, body: JSON.stringify({ query, variables }) });
  return json;
}
async function data(query: string, variables: JsonObject = {}, session: Readonly<Record<string, string>> = {}): Promise<Json> {
  const answer = (await ask('clerk', query, variables, { 'x-svc-tenant': '7', 'x-svc-max': '9', ...session })) as JsonObject;
  expect(answer['errors']).toBeUndefined();
  return JSON.parse(Object.values(answer['data'] as Record<string, string>)[0] ?? '') as Json;
}
const message = (answer: Json): Json | undefined => (answer as { errors?: JsonObject[] }).errors?.[0]?.['message'];
const rootsOf = async (role: string): Promise<Json> => {
  const answer = (await ask(role, '{ __schema { queryType { fields { name } } } }')) as {
    data: { __schema: { queryType: { fields: { name: string }[] } } };
  };
  return answer.data.__schema.queryType.fields.map(({ name }) => name);
};

beforeEach(async () => {
  server.schema = buildSchema(SDL);
  await post('clear_metadata', {});
  await post('add_remote_schema', { name: 'far', definition: { url: server.url } });
  expect(await permit('clerk', CLERK)).toMatchObject(done);
});

describe('a role', () => {
  test('sees only the granted part', async () => {
    expect(await ask('clerk', '{ users { id name } }')).toMatchObject({ errors: [{ extensions: { code: 'not-found' } }] });
    expect(await permit('guest', GUEST)).toMatchObject(done);
    expect(await rootsOf('guest')).toEqual(['users']);
    expect(await ask('guest', '{ users { id } }')).toEqual({ data: { users: [{ id: '1' }] } });
    expect(message(await ask('guest', '{ users { id secret } }'))).toBe("field 'secret' not found in type: 'User'");
    expect(message(await ask('guest', '{ plain }'))).toBe("field 'plain' not found in type: 'query_root'");
    expect(message(await ask('guest', 'mutation { add(user: {}) }'))).toBe('no mutations exist');
    expect(await ask('admin', '{ users { id secret } }')).toEqual({ data: { users: [{ id: '1', secret: 'x' }] } });
  });

  test('without permissions sees nothing', async () => {
    expect(message(await ask('stranger', '{ users { id } }'))).toBe("field 'users' not found in type: 'query_root'");
  });

  test('loses access when its permission is dropped, and permissions are removed with the remote schema', async () => {
    expect(await post('drop_remote_schema_permissions', { remote_schema: 'far', role: 'clerk' })).toMatchObject(done);
    expect(message(await ask('clerk', '{ users { id } }'))).toBe("field 'users' not found in type: 'query_root'");
    await permit('clerk', CLERK);
    expect(await post('remove_remote_schema', { name: 'far' })).toMatchObject(done);
    expect((await post('export_metadata', {})).json).not.toHaveProperty('remote_schemas');
  });

  test.runIf(DEEP)('keeps access when the remote schema is updated', async () => {
    expect(await post('update_remote_schema', { name: 'far', definition: { url: server.url, timeout_seconds: 5 } })).toMatchObject(done);
    expect(await rootsOf('clerk')).toEqual(['all', 'plain', 'users']);
  });

  test.runIf(DEEP)('sees customized type names, while its SDL has the names of the server', async () => {
    const customization = {
      root_fields_namespace: 'ns',
      type_names: { prefix: 'Far' },
      field_names: [{ parent_type: 'User', mapping: { id: 'key' } }],
    };
    await post('update_remote_schema', { name: 'far', definition: { url: server.url, customization } });
    await permit('guest', GUEST);
    expect(await ask('guest', '{ ns { users { key __typename } } }')).toEqual({
      data: { ns: { users: [{ key: '1', __typename: 'FarUser' }] } },
    });
    expect(message(await ask('guest', '{ ns { plain } }'))).toBe("field 'plain' not found in type: 'nsQuery'");
  });
});

describe('remote schema presets', () => {
  const session = { 'x-svc-i': '-3', 'x-svc-f': '2.50', 'x-svc-b': 'false', 'x-svc-mood': 'BAD' };

  test('of every kind are sent', async () => {
    expect(await data('{ plain }', {}, session)).toEqual({ i: -3, f: 2.5, b: false, s: 'x-svc-s', mood: 'BAD' });
    const sent = server.asked().at(-1);
    // No session variable is printed into a document.
    expect(sent?.query).not.toMatch(/BAD|2\.5/);
    expect(message(await ask('clerk', '{ plain(i: 1) }', {}, session))).toBe("'plain' has no argument named 'i'");
  });

  test.each(
    sample<[string, string, string]>(
      [
        ['coercion-error', '"3.5" cannot be coerced into an Int value', 'x-svc-i'],
        ['coercion-error', '"3.5" cannot be coerced into a Boolean value', 'x-svc-b'],
        ['coercion-error', '"3.5" is not one of the valid enum values', 'x-svc-mood'],
      ],
      2,
    ),
  )('fail if a session variable has the wrong type: %s: %s', async (code, text, variable) => {
    const answer = await ask('clerk', '{ plain }', {}, { ...session, [variable]: '3.5' });
    expect(answer).toMatchObject({ errors: [{ message: text, extensions: { code } }] });
  });

  test('fail without their session variable', async () => {
    const { 'x-svc-i': _, ...less } = session;
    expect(await ask('clerk', '{ plain }', {}, less)).toMatchObject({
      errors: [{ message: '"x-svc-i" session variable expected, but not found', extensions: { code: 'not-found' } }],
    });
  });

  const preset = { tenant: 7, mood: 'GOOD', range: { min: 1, max: 9 } };

  test.each(
    sample<[string, string, JsonObject, Json]>(
      [
        ['literals', 'mutation { add(user: {name: "a"}) }', {}, { ...preset, name: 'a' }],
        ['nothing', 'mutation { add(user: {}) }', {}, preset],
        ['a variable inside', 'mutation ($n: String) { add(user: {name: $n}) }', { n: 'b' }, { ...preset, name: 'b' }],
        ['a variable', 'mutation ($u: Filter!) { add(user: $u) }', { u: { name: 'c' } }, { ...preset, name: 'c' }],
        ['a list', '{ all(where: [{name: "a"}, {}]) }', {}, { where: [{ ...preset, name: 'a' }, preset] }],
        ['a list of a variable', 'query ($w: [Filter!]) { all(where: $w) }', { w: [{}] }, { where: [preset] }],
      ],
      2,
    ),
  )('are merged with %s', async (_, query, variables, wanted) => {
    expect(await data(query, variables)).toEqual(wanted);
  });

  test.runIf(DEEP)('are sent even if the argument is omitted or null', async () => {
    const session = { 'x-svc-tenant': '7', 'x-svc-max': '9' };
    for (const query of ['{ users { id } }', '{ users(where: null) { id } }', 'query ($w: Filter) { users(where: $w) { id } }']) {
      expect(await ask('clerk', query, {}, session)).toEqual({ data: { users: [{ id: '1' }] } });
      expect(Object.values(server.asked().at(-1)?.variables ?? {})).toEqual([preset]);
    }
  });

  test('cannot be overridden, and the preset arguments are hidden', async () => {
    expect(message(await ask('clerk', 'mutation { add(user: {tenant: 8}) }'))).toBe("field 'tenant' not found in type: 'Filter'");
    expect(message(await ask('clerk', 'mutation ($u: Filter!) { add(user: $u) }', { u: { range: {} } }))).toBe(
      "field 'range' not found in type: 'Filter'",
    );
    expect(message(await ask('clerk', '{ __type(name: "Range") { name } }'))).toBeUndefined();
    expect(await ask('clerk', '{ __type(name: "Range") { name } }')).toEqual({ data: { __type: null } });
  });
});

describe('operations on remote schema permissions', () => {
  test.each(
    sample<[string, JsonObject, JsonObject]>(
      [
        ['add', { remote_schema: 'no' }, { code: 'not-exists', path: '$.args', error: 'remote schema "no" doesn\'t exist' }],
        [
          'add',
          {},
          { code: 'already-exists', path: '$.args', error: 'permissions for role: "clerk" for remote schema:"far" already exists' },
        ],
        ['add', { role: 'admin' }, { code: 'constraint-violation', path: '$.args', error: 'cannot define permission for admin role' }],
        ['add', { role: 'guest', definition: { schema: '{' } }, { code: 'parse-failed', path: '$.args.definition.schema' }],
        [
          'add',
          { role: 'guest', definition: { schema: 'type User { no: Int }' } },
          {
            code: 'validation-failed',
            path: '$.args',
            error: 'validation for the given role-based schema failed because field "no" does not exist in the "Object": "User"',
          },
        ],
        ['drop', { remote_schema: 'no' }, { code: 'not-exists', path: '$.args', error: 'remote schema "no" doesn\'t exist' }],
        [
          'drop',
          { role: 'guest' },
          { code: 'not-exists', path: '$.args', error: 'permissions for role: "guest" for remote schema:"far" doesn\'t exist' },
        ],
      ],
      3,
    ),
  )('%s rejects %j', async (what, args, error) => {
    const before = (await post('export_metadata', {})).json;
    const definition: JsonObject = what === 'add' ? { definition: { schema: GUEST } } : {};
    const answer = await post(`${what}_remote_schema_permissions`, { remote_schema: 'far', role: 'clerk', ...definition, ...args });
    expect(answer).toMatchObject({ status: 400, json: error });
    expect((await post('export_metadata', {})).json).toEqual(before);
  });

  test('run together with the remote schema in a bulk', async () => {
    const args: Json = [
      {
        type: 'add_remote_schema',
        args: { name: 'near', definition: { url: server.url, customization: { root_fields_namespace: 'near' } } },
      },
      {
        type: 'add_remote_schema_permissions',
        args: { remote_schema: 'near', role: 'guest', definition: { schema: GUEST }, comment: 'c' },
      },
    ];
    expect(await post('bulk', args)).toMatchObject({ status: 200 });
    expect(await ask('guest', '{ near { users { id } } }')).toEqual({ data: { near: { users: [{ id: '1' }] } } });
    const wrong = {
      type: 'add_remote_schema_permissions',
      args: { remote_schema: 'far', role: 'guest', definition: { schema: 'type A' } },
    };
    expect(await post('bulk', [wrong])).toMatchObject({ status: 400, json: { code: 'validation-failed', path: '$.args[0].args' } });
  });
});

describe('a permission that no longer fits', () => {
  const record = {
    type: 'remote_schema_permission',
    name: 'remote_schema_permission clerk permission in remote schema far',
    reason:
      'Inconsistent object: validation for the given role-based schema failed because field "name" does not exist in the "Object": "User"',
    definition: { remote_schema: 'far', role: 'clerk', definition: { schema: CLERK }, comment: null },
  };

  test('is inconsistent, and the role sees nothing of the remote schema', async () => {
    server.schema = buildSchema(SDL.replace('id: ID! name: String', 'id: ID!'));
    expect(await post('reload_remote_schema', { name: 'far' })).toMatchObject({
      status: 400,
      json: { error: 'cannot continue due to new inconsistent metadata', internal: [record] },
    });
    expect(await rootsOf('clerk')).toEqual(['all', 'plain', 'users']);
    await post('reload_metadata', { reload_remote_schemas: true });
    expect(await inconsistent()).toEqual({ is_consistent: false, inconsistent_objects: [record] });
    expect(message(await ask('clerk', '{ all }'))).toBe("field 'all' not found in type: 'query_root'");
    expect(await ask('admin', '{ all }')).toEqual({ data: { all: '{}' } });

    expect(await post('drop_inconsistent_metadata', {})).toMatchObject(done);
    expect(await inconsistent()).toEqual({ is_consistent: true, inconsistent_objects: [] });
    expect((await post('export_metadata', {})).json).toMatchObject({ remote_schemas: [{ name: 'far' }] });
    expect((await post('export_metadata', {})).json).not.toMatchObject({ remote_schemas: [{ permissions: expect.anything() }] });
  });

  test.runIf(DEEP)('is preserved in a document that allows inconsistencies', async () => {
    const permissions: Json = [
      { role: 'admin', definition: { schema: GUEST } },
      { role: 'guest', definition: { schema: GUEST }, extra: 1 },
      { role: 'clerk', definition: { schema: 'nothing' } },
    ];
    const metadata = { version: 3, sources: [], remote_schemas: [{ name: 'far', definition: { url: server.url }, permissions }] };
    expect((await post('replace_metadata', { metadata })).status).toBe(400);
    expect((await post('replace_metadata', { metadata, allow_inconsistent_metadata: true })).json).toMatchObject({ is_consistent: false });
    const records = (await inconsistent())['inconsistent_objects'] as JsonObject[];
    expect(records.map(({ name, reason }) => [name, reason])).toEqual([
      ['remote_schema_permission admin permission in remote schema far', 'Inconsistent object: cannot define permission for admin role'],
      ['remote_schema_permission guest permission in remote schema far', expect.stringMatching(/extra/)],
      ['remote_schema_permission clerk permission in remote schema far', expect.stringMatching(/Syntax Error: Unexpected Name "nothing"/)],
    ]);
    expect(message(await ask('guest', '{ users { id } }'))).toBe("field 'users' not found in type: 'query_root'");
    expect(await ask('admin', '{ users { id } }')).toEqual({ data: { users: [{ id: '1' }] } });
  });
});

describe('an inherited role', () => {
  const inherit = (...roles: readonly string[]): Promise<Answer> => post('add_inherited_role', { role_name: 'both', role_set: roles });
  const users = { data: { users: [{ id: '1' }] } };

  test('has the permission of its only permitted parent', async () => {
    await permit('guest', GUEST);
    await permit('other', GUEST, 'far');
    await post('drop_remote_schema_permissions', { remote_schema: 'far', role: 'clerk' });
    await post('add_remote_schema', {
      name: 'near',
      definition: { url: server.url, customization: { root_fields_namespace: 'near' } },
    });
    await permit('clerk', GUEST, 'near');
    expect(await inherit('guest', 'clerk')).toMatchObject(done);
    expect(await ask('both', '{ users { id } near { users { id } } }')).toEqual({ data: { ...users.data, near: users.data } });
  });

  test('has the permission of all parents if it is the same', async () => {
    await permit('guest', GUEST);
    await permit('other', 'type User { id: ID! } "all of them" type Query { users: [User!]! }');
    expect(await inherit('guest', 'other')).toMatchObject(done);
    expect(await ask('both', '{ users { id } }')).toEqual(users);
  });

  test('has nothing where parents differ, without a permission of its own', async () => {
    await permit('guest', GUEST);
    expect(await inherit('guest', 'clerk')).toMatchObject(done);
    expect(await inconsistent()).toEqual({
      is_consistent: false,
      inconsistent_objects: [
        {
          reason: "Could not inherit permission for the role 'both' for the entity: 'remote schema: 'far''",
          name: 'both',
          type: 'inherited role permission inconsistency',
          entity: { remote_schema: 'far' },
        },
      ],
    });
    expect(message(await ask('both', '{ users { id } }'))).toBe("field 'users' not found in type: 'query_root'");
    expect(await permit('both', GUEST)).toMatchObject(done);
    expect(await inconsistent()).toEqual({ is_consistent: true, inconsistent_objects: [] });
    expect(await ask('both', '{ users { id } }')).toEqual(users);
  });
});

test('shows every role everything without the option, and rejects permissions', async () => {
  const open = await startTestService();
  try {
    const send = (type: string, args: Json): Promise<Answer> =>
      open.send('/v1/metadata', { method: 'POST', body: JSON.stringify({ type, args }) });
    const remote = { name: 'far', definition: { url: server.url }, permissions: [{ role: 'guest', definition: { schema: GUEST } }] };
    expect(await send('replace_metadata', { version: 3, sources: [], remote_schemas: [remote] })).toMatchObject({ status: 200 });
    const { json } = await open.send('/v1/graphql', {
      method: 'POST',
      headers: { 'x-svc-role': 'guest' },
      body: JSON.stringify({ query: '{ users { secret } }' }),
    });
    expect(json).toEqual({ data: { users: [{ secret: 'x' }] } });
    expect(
      await send('add_remote_schema_permissions', { remote_schema: 'far', role: 'clerk', definition: { schema: GUEST } }),
    ).toMatchObject({
      status: 400,
      json: {
        code: 'constraint-violation',
        path: '$.args',
        error: 'remote schema permissions can only be added when remote schema permissions are enabled in the service',
      },
    });
    expect(((await open.send('/v1alpha1/config', {})).json as JsonObject)['is_remote_schema_permissions_enabled']).toBe(false);
    const config = await service.send('/v1alpha1/config', { headers: ADMIN });
    expect((config.json as JsonObject)['is_remote_schema_permissions_enabled']).toBe(true);
  } finally {
    await open.stop();
  }
});
