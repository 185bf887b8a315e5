import { buildSchema, introspectionFromSchema } from 'graphql';
import { describe, expect, test } from 'vitest';
import { SvcError } from '../../errors/svc-error.ts';
import type { Json } from '../../util/json.ts';
import { modelFromIntrospection } from '../from-introspection.ts';
import { runSync } from '../../util/cooperative.ts';
import type { RemoteModel, RemotePreset } from '../model.ts';
import { roleModel } from './role-model.ts';

const UPSTREAM = `
  interface Being { id: ID! name(style: Style = PLAIN): String }
  interface Owned { owner: User }
  type User implements Being { id: ID! name(style: Style = PLAIN): String age: Int nick: String @deprecated(reason: "use name") }
  type Dog implements Being & Owned { id: ID! name(style: Style = PLAIN): String owner: User }
  union Anything = User | Dog
  enum Style { PLAIN LOUD QUIET @deprecated }
  scalar Stamp @specifiedBy(url: "https://example.org/stamp")
  scalar Blob
  input IntCompare { eq: Int gt: Int lt: Int }
  input Filter { age: IntCompare style: Style = PLAIN tags: [String!] and: [Filter!] since: Stamp at: IntCompare = {gt: 1, lt: 5} }
  input NewUser { name: String! tenant: Int! }
  type Query {
    user(user_id: Int!, style: Style): User
    users(where: Filter, limit: Int! = 10): [User!]!
    being(id: ID!): Being
    anything: [Anything!]
    tagged(tags: [String!], matrix: [[Int]], compare: [IntCompare!]): [User!]
    numbers(f: Float, b: Boolean, s: String, i: ID, blob: Blob): Int
  }
  type Mutation { add(user: NewUser!): User }
`;

function modelOf(sdl: string): RemoteModel {
  const schema = introspectionFromSchema(buildSchema(sdl), { inputValueDeprecation: true, specifiedByUrl: true });
  return runSync(modelFromIntrospection(schema as unknown as Json));
}

const upstream = modelOf(UPSTREAM);

const ONE = 'validation for the given role-based schema failed because ';
const SEVERAL = 'validation for the given role-based schema failed for the following reasons:\n';

function refusal(sdl: string): SvcError {
  try {
    roleModel(sdl, upstream);
  } catch (error) {
    if (error instanceof SvcError) return error;
    throw error;
  }
  throw new Error('it is accepted');
}

const USER = 'type User { id: ID! }';

describe('rejects with one reason:', () => {
  test.each<[string, string]>([
    // Types and fields that the server does not have.
    ['"Object": "Cat" does not exist in the upstream remote schema', 'type Cat { id: ID! }'],
    ['"Object": "Style" does not exist in the upstream remote schema', 'type Style { id: ID! }'],
    ['"Interface": "Thing" does not exist in the upstream remote schema', 'interface Thing { id: ID! }'],
    ['"Union": "Some" does not exist in the upstream remote schema', `union Some = User ${USER}`],
    ['"Enum": "Mood" does not exist in the upstream remote schema', 'enum Mood { GOOD }'],
    ['"Scalar": "Date" does not exist in the upstream remote schema', 'scalar Date'],
    ['"Input object": "Order" does not exist in the upstream remote schema', 'input Order { id: ID }'],
    ['field "email" does not exist in the "Object": "User"', 'type User { id: ID! email: String }'],
    ['field "age" does not exist in the "Interface": "Being"', 'interface Being { id: ID! age: Int }'],
    ['expected type of "age"("Object field") to be Int but received Int!', 'type User { age: Int! }'],
    ['expected type of "id"("Interface field") to be ID! but received ID', 'interface Being { id: ID }'],
    ['expected type of "user_id"("Argument") to be Int! but received Int', `type Query { user(user_id: Int): User } ${USER}`],
    ['expected type of "eq"("Input object argument") to be Int but received [Int]', 'input IntCompare { eq: [Int] }'],
    [
      'expected default value of input value: "style"of input object "Filter" to be PLAIN but received LOUD',
      'input Filter { style: Style = LOUD } enum Style { PLAIN LOUD }',
    ],
    [
      'expected default value of input value: "limit"of input object "users" to be 10 but received none',
      `type Query { users(limit: Int!): [User!]! } ${USER}`,
    ],
    [
      'expected default value of input value: "eq"of input object "IntCompare" to be none but received 1',
      'input IntCompare { eq: Int = 1 }',
    ],
    ['input argument "lte" does not exist in the input object:"IntCompare"', 'input IntCompare { lte: Int }'],
    ['input argument "who" does not exist in the input object:"user"', `type Query { user(user_id: Int!, who: Int): User } ${USER}`],
    ['field: "user" expects the following non nullable arguments to be present: "user_id"', `type Query { user: User } ${USER}`],
    ['field: "NewUser" expects the following non nullable arguments to be present: "name" and "tenant"', 'input NewUser'],
    [
      'union "Anything" contains members which do not exist in the members of the remote schema union :"Query"',
      `union Anything = User | Query ${USER} type Query { anything: [Anything!] }`,
    ],
    [
      'enum "Style" contains the following enum values that do not exist in the corresponding upstream remote enum: "SHY"',
      'enum Style { PLAIN SHY }',
    ],
    [
      'object "User" is trying to implement the following interfaces that do not exist in the corresponding upstream remote object: "Owned"',
      `type User implements Owned { id: ID! } interface Owned { owner: User }`,
    ],
    ['the type "User" is not the query root of the upstream remote schema', `schema { query: User } ${USER}`],
    // Duplicates.
    ['multiple schema definitions found', `schema { query: Query } schema { query: Query }`],
    ['duplicate type names found: "User"', `${USER} ${USER} ${USER}`],
    [
      'duplicate directives: "specifiedBy"found in the "Scalar" "Stamp"',
      twice('scalar Stamp @specifiedBy(url: "https://example.org/stamp")'),
    ],
    ['duplicate fields: "id"found in the "Object" "User"', 'type User { id: ID! id: ID! }'],
    ['duplicate fields: "eq"found in the "Input object" "IntCompare"', 'input IntCompare { eq: Int eq: Int }'],
    ['duplicate arguments: "user_id"found in the field: "user"', `type Query { user(user_id: Int!, user_id: Int!): User } ${USER}`],
    ['duplicate enum values: "PLAIN" found in the "Style" enum', 'enum Style { PLAIN LOUD PLAIN }'],
    // Directives.
    ...['type User @preset(value: 1) { id: ID! }', 'type User { id: ID! @preset(value: 1) }', 'enum Style { PLAIN @preset(value: 1) }'].map(
      (sdl): [string, string] => ['Preset directives can be defined only on INPUT_FIELD_DEFINITION or ARGUMENT_DEFINITION', sdl],
    ),
    ...['schema @preset(value: 1) { query: Query }', 'scalar Stamp @preset(value: 1)', 'enum Style @preset(value: 1) { PLAIN }'].map(
      (sdl): [string, string] => ['Preset directives can be defined only on INPUT_FIELD_DEFINITION or ARGUMENT_DEFINITION', sdl],
    ),
    ['"Directive": "cost" does not exist in the upstream remote schema', 'type User { id: ID! @cost(of: 1) }'],
    ['"Directive": "deprecated" does not exist in the upstream remote schema', 'type User { id: ID! @deprecated }'],
    [
      'the following directive argument(s) defined in the directive: "deprecated" at the "Object field" "nick" do not match those of the corresponding upstream directive: "reason"',
      'type User { nick: String @deprecated(reason: "other") }',
    ],
    [
      'the following directive argument(s) defined in the directive: "deprecated" at the "Enum value" "QUIET" do not exist in the corresponding upstream directive: "by"',
      'enum Style { QUIET @deprecated(by: "x") }',
    ],
  ])('%s', (reason, sdl) => {
    const error = refusal(sdl);
    expect([error.code, error.printedPath, error.message]).toEqual(['validation-failed', '$.args', ONE + reason]);
  });

  test('an interface of the role itself', () => {
    const error = refusal('interface Fruit { id: ID! } type User implements Fruit { id: ID! }');
    expect(error.message).toBe(
      `${SEVERAL} • "Interface": "Fruit" does not exist in the upstream remote schema\n • custom interfaces are not supported. Object"User" implements the following custom interfaces: "Fruit"\n`,
    );
  });
});

function twice(text: string): string {
  const at = text.indexOf('@');
  return `${text} ${text.slice(at)}`;
}

describe('rejects a preset with one reason:', () => {
  const compare = 'input IntCompare { eq: Int gt: Int }';
  const style = 'enum Style { PLAIN LOUD }';
  const user = (preset: string, type = 'Int!') => `type Query { user(user_id: ${type} ${preset}): User } ${USER}`;
  const styled = (preset: string) => `type Query { user(user_id: Int!, style: Style ${preset}): User } ${USER} ${style}`;
  const tagged = (args: string) => `type Query { tagged(${args}): [User!] } ${USER} ${compare}`;
  const filtered = (preset: string) => `input Filter { age: IntCompare ${preset} } ${compare}`;
  test.each<[string, string]>([
    ['found multiple preset directives at "Argument" "user_id"', user('@preset(value: 1) @preset(value: 2)')],
    ['found multiple preset directives at "Input object argument" "age"', filtered('@preset(value: {}) @preset(value: {})')],
    ['no arguments found in the preset directive', user('@preset')],
    ['preset argument "value" not found at "user_id"', user('@preset(static: true)')],
    ['unknown argument "vale" of the preset directive at "user_id"', user('@preset(vale: 1)')],
    ['expected preset static value to be a Boolean value', user('@preset(value: 1, static: "yes")')],
    ['"SHY" not found in the enum: "Style"', styled('@preset(value: SHY)')],
    ['expected preset value "LOUD" of type "Style" to be an enum value', styled('@preset(value: "LOUD")')],
    ['expected preset value "x-svc-style" of type "Style" to be an enum value', styled('@preset(value: "x-svc-style", static: true)')],
    ['expected preset value "2" of type "IntCompare" to be an input object value', filtered('@preset(value: 2)')],
    ['expected preset value "{a: 1}" of type "Int" to be a scalar value', user('@preset(value: {a: 1})')],
    ['expected preset value "[1]" of type "Int" to be a scalar value', user('@preset(value: [1])')],
    ['expected preset value "ONE" of type "Int" to be a scalar value', user('@preset(value: ONE)')],
    ['expected preset value "null" of type "Int" to be a scalar value', user('@preset(value: null)')],
    ['"lte" does not exist in the input object "IntCompare"', filtered('@preset(value: {lte: 1})')],
    ['illegal preset value at "age". Session arguments can only be set for singleton values', filtered('@preset(value: "x-svc-age")')],
    [
      'illegal preset value at "tags". Session arguments can only be set for singleton values',
      tagged('tags: [String!] @preset(value: "X-Svc-Tags")'),
    ],
    [
      'illegal preset value at "matrix". Session arguments can only be set for singleton values',
      tagged('matrix: [[Int]] @preset(value: ["x-svc-row"])'),
    ],
    [
      'expected preset value "true" of type "IntCompare" to be an input object value',
      tagged('compare: [IntCompare!] @preset(value: [{eq: 1}, true])'),
    ],
  ])('%s', (reason, sdl) => {
    expect(refusal(sdl).message).toBe(ONE + reason);
  });

  test('of an output type', () => {
    expect(refusal(`type Query { user(user_id: User @preset(value: 1)): User } ${USER}`).message).toBe(
      `${SEVERAL} • expected type of "user_id"("Argument") to be Int! but received User\n • expected "User" to be an input type, but it's an output type\n`,
    );
  });
});

test('reports all reasons up to a limit', () => {
  const error = refusal(`type User { a: Int b: Int }`);
  expect(error.message).toBe(
    `${SEVERAL} • field "a" does not exist in the "Object": "User"\n • field "b" does not exist in the "Object": "User"\n`,
  );
  const many = refusal(`type User { ${Array.from({ length: 150 }, (_, i) => `f${i}: Int`).join(' ')} }`).message.split('\n');
  expect(many).toHaveLength(103);
  expect(many.at(-2)).toBe(' • and 50 more');
});

test.each([
  ['Syntax Error: Expected "{", found <EOF>. (line 1, column 7)', 'schema'],
  ['Syntax Error: Unexpected <EOF>. (line 1, column 1)', ''],
  ['expected the definition of a type or of the schema, but found an executable definition', '{ user { id } }'],
  ['expected the definition of a type or of the schema, but found an extension', 'extend type User { id: ID! }'],
  ['expected the definition of a type or of the schema, but found the definition of a directive', 'directive @preset on OBJECT'],
  ['the schema is nested too deep', `input Filter { tags: ${'['.repeat(100_000)}`],
])('rejects invalid SDL: %s', (message, sdl) => {
  const error = refusal(sdl);
  expect([error.code, error.printedPath, error.message]).toEqual(['parse-failed', '$.args.definition.schema', message]);
});

test.each([
  ["Could not find type with name 'User' of field 'Query.users'", 'type Query { users(limit: Int! = 10): [User!]! }'],
  ["Could not find type with name 'Stamp' of 'since' in input object 'Filter'", 'input Filter { since: Stamp @preset(value: "now") }'],
  ["Could not find Object type 'Dog', which is a member of union 'Anything'", `union Anything = User | Dog ${USER}`],
  [
    `Interface field 'Being'."name" expected, but 'User' does not provide it`,
    'interface Being { name(style: Style = PLAIN): String } type User implements Being { id: ID! } enum Style { PLAIN }',
  ],
  ["Could not find interface 'Being' implemented by Object type 'User'", 'type User implements Being { id: ID! }'],
])('rejects inconsistent types: %s', (message, sdl) => {
  const error = refusal(sdl);
  expect([error.code, error.printedPath, error.message]).toEqual(['remote-schema-error', '$.args', message]);
});

describe('the model', () => {
  test('equals the whole model for a complete SDL', () => {
    const same = roleModel(UPSTREAM, upstream);
    expect({ ...same, types: Object.fromEntries(same.types) }).toEqual({
      ...upstream,
      types: Object.fromEntries([...upstream.types].filter(([name]) => same.types.has(name))),
    });
    const missing = [...upstream.types.keys()].filter((name) => !same.types.has(name));
    expect(missing.sort()).toEqual(['Boolean', 'Float', 'ID', 'Int', 'String']);
  });

  test('contains only the types and fields of the SDL', () => {
    const model = roleModel(
      `schema { query: Query }
      scalar Int
      "one who is" interface Being { id: ID! }
      type User implements Being { nick: String, id: ID! }
      union Anything = User
      enum Style { "loud" LOUD }
      type Query { being(id: ID!): Being anything: [Anything!] user(user_id: Int!, style: Style): User }
      type Mutation { add(user: NewUser!): User }
      input NewUser { name: String! tenant: Int! }`,
      upstream,
    );
    expect([model.query, model.mutation, model.subscription]).toEqual(['Query', null, null]);
    expect([...model.types.keys()]).toEqual(['Int', 'Being', 'User', 'Anything', 'Style', 'Query', 'Mutation', 'NewUser']);
    expect(model.types.get('Being')).toMatchObject({ description: 'one who is', members: ['User'] });
    const user = model.types.get('User');
    expect(user?.kind === 'object' && [...user.fields.values()].map(({ name, deprecation }) => [name, deprecation])).toEqual([
      ['nick', 'use name'],
      ['id', null],
    ]);
    expect(model.types.get('Anything')).toMatchObject({ members: ['User'] });
    const style = model.types.get('Style');
    expect(style?.kind === 'enum' && [...style.values.values()]).toEqual([{ name: 'LOUD', description: 'loud', deprecation: null }]);
  });

  test('drops an argument with a default, and accepts another notation', () => {
    const model = roleModel(
      `type Query { users: [User!]! } ${USER} input Filter { at: IntCompare = { lt: 5, gt: 1 } } input IntCompare { gt: Int }`,
      upstream,
    );
    const query = model.types.get('Query');
    expect(query?.kind === 'object' && query.fields.get('users')?.args.size).toBe(0);
  });

  test('has no root type that the SDL does not declare', () => {
    const model = roleModel(
      `schema { mutation: Mutation } type Mutation { add(user: NewUser!): User } input NewUser { name: String! tenant: Int! } ${USER}`,
      upstream,
    );
    expect([model.types.has(model.query), model.mutation]).toEqual([false, 'Mutation']);
    const other = modelOf('schema { query: Root } type Root { a: Query } type Query { b: Int }');
    const plain = roleModel('type Query { b: Int }', other);
    expect([plain.types.has(plain.query), plain.types.has('Query')]).toEqual([false, true]);
  });

  const preset = (sdl: string, field: string, argument: string): RemotePreset | undefined => {
    const type = roleModel(sdl, upstream).types.get('Query');
    return type?.kind === 'object' ? type.fields.get(field)?.args.get(argument)?.preset : undefined;
  };

  test.each<[string, RemotePreset]>([
    ['f: Float @preset(value: 1.5)', { kind: 'literal', text: '1.5' }],
    ['f: Float @preset(value: null)', { kind: 'literal', text: 'null' }],
    ['f: Float @preset(value: "X-Svc-F")', { kind: 'session', name: 'x-svc-f', type: 'Float' }],
    ['b: Boolean @preset(value: true)', { kind: 'literal', text: 'true' }],
    ['s: String @preset(value: "a")', { kind: 'literal', text: '"a"' }],
    ['s: String @preset(value: "x-svc-s", static: true)', { kind: 'literal', text: '"x-svc-s"' }],
    ['s: String @preset(value: "x-svc-s", static: false)', { kind: 'session', name: 'x-svc-s', type: 'String' }],
    ['i: ID @preset(value: "x-svc-user-id")', { kind: 'session', name: 'x-svc-user-id', type: 'ID' }],
    ['blob: Blob @preset(value: "x-svc-blob")', { kind: 'session', name: 'x-svc-blob', type: 'Blob' }],
  ])('presets %s', (argument, wanted) => {
    expect(preset(`type Query { numbers(${argument}): Int } scalar Blob`, 'numbers', argument.slice(0, argument.indexOf(':')))).toEqual(
      wanted,
    );
  });

  test.each<[string, RemotePreset]>([
    ['tags: [String!] @preset(value: ["a", "b"])', { kind: 'literal', text: '["a", "b"]' }],
    ['tags: [String!] @preset(value: "a")', { kind: 'literal', text: '"a"' }],
    [
      'tags: [String!] @preset(value: ["a", "x-svc-b"])',
      {
        kind: 'list',
        items: [
          { kind: 'literal', text: '"a"' },
          { kind: 'session', name: 'x-svc-b', type: 'String' },
        ],
      },
    ],
    ['tags: [String!] @preset(value: ["a", "x-svc-b"], static: true)', { kind: 'literal', text: '["a", "x-svc-b"]' }],
    [
      'compare: [IntCompare!] @preset(value: {eq: "x-svc-eq", gt: 1})',
      {
        kind: 'object',
        entries: [
          ['eq', { kind: 'session', name: 'x-svc-eq', type: 'Int' }],
          ['gt', { kind: 'literal', text: '1' }],
        ],
      },
    ],
  ])('presets %s', (argument, wanted) => {
    const sdl = `type Query { tagged(${argument}): [User!] } ${USER} input IntCompare { eq: Int gt: Int }`;
    expect(preset(sdl, 'tagged', argument.slice(0, argument.indexOf(':')))).toEqual(wanted);
  });

  test('presets a required argument, which then need not be set', () => {
    expect(preset(`type Query { user(user_id: Int! @preset(value: "x-svc-user-id")): User } ${USER}`, 'user', 'user_id')).toEqual({
      kind: 'session',
      name: 'x-svc-user-id',
      type: 'Int',
    });
  });
});

test('caches the model of an SDL', () => {
  const sdl = `type Query { users(limit: Int! = 10): [User!]! } ${USER}`;
  const model = roleModel(sdl, upstream);
  expect(roleModel(sdl, upstream)).toBe(model);
  const changed = modelOf(UPSTREAM);
  expect(roleModel(sdl, changed)).not.toBe(model);
  expect(roleModel(`${sdl} scalar Blob`, upstream)).not.toBe(model);
});
