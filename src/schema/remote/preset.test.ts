import { buildSchema, graphql, introspectionFromSchema } from 'graphql';
import { describe, expect, test } from 'vitest';
import { schemaCache } from '../../../test/support/schema-cache-fixture.ts';
import { runPlan } from '../../execute/run-plan.ts';
import { NO_REMOTE_CUSTOMIZATION } from '../../metadata/remote-schema.ts';
import { planOperation } from '../../plan/plan.ts';
import { remoteNames } from '../../remote-schema/customization.ts';
import { modelFromIntrospection } from '../../remote-schema/from-introspection.ts';
import { runSync } from '../../util/cooperative.ts';
import { roleModel } from '../../remote-schema/permission/role-model.ts';
import { textOfBytes } from '../../util/bytes.ts';
import { type Json, type JsonObject, printJson } from '../../util/json.ts';
import { createRoleSchema, DEFAULT_LIMITS } from '../../graphql-engine/engine.ts';
import { createAnswerCache } from '../../graphql-engine/introspection/cache.ts';
import { DEFAULT_BUILD_OPTIONS } from '../fields/options.ts';
import { rootTypes } from '../fields/root-types.ts';
import { SchemaContext } from '../fields/schema-context.ts';
import { printRoleSchema } from '../../graphql-engine/sdl.ts';

const SHARED = `
  enum Mood { GOOD BAD }
  scalar Blob
`;
const upstream = buildSchema(`
  ${SHARED}
  input Range { min: Int max: Int }
  input Filter { tenant: Int name: String mood: Mood range: Range not: Filter and: [Filter!] blob: Blob }
  input Required { tenant: Int! name: String! }
  type Query {
    plain(i: Int, f: Float, b: Boolean, s: String, id: ID, mood: Mood, blob: Blob, list: [Int]): String
    find(where: Filter, other: Int): String
    must(where: Required): String
    among(all: [Filter!]): String
    ranged(range: Range = {min: 1, max: 5}): String
    ranges(ranges: [Range!]!): String
  }
`);
const echo = (args: Json) => JSON.stringify(args);
const rootValue = Object.fromEntries(['plain', 'find', 'must', 'among', 'ranged', 'ranges'].map((name) => [name, echo]));
const model = runSync(modelFromIntrospection(introspectionFromSchema(upstream) as unknown as Json));

interface Asking {
  readonly variables?: JsonObject;
  readonly session?: Readonly<Record<string, string>>;
}

function rolesOf(sdl: string) {
  const permissions = new Map([['clerk', roleModel(sdl, model)]]);
  const info = { name: 'far', model, names: remoteNames(model, NO_REMOTE_CUSTOMIZATION), permissions };
  return new SchemaContext({ ...schemaCache(), remoteSchemas: new Map([['far', info]]) }, DEFAULT_BUILD_OPTIONS);
}

/** Arguments that the resolver of the only field receives. */
async function reached(sdl: string, query: string, { variables: given = {}, session = {} }: Asking = {}, role = 'clerk'): Promise<Json> {
  const schema = createRoleSchema(role, rootTypes(rolesOf(sdl), role, 'frontend'), {
    introspectionDisabled: false,
    introspectionAnswers: createAnswerCache(0),
    limits: DEFAULT_LIMITS,
    nullInNonNullableVariables: false,
  });
  const prepared = schema.prepare(query, null);
  const variables = prepared.variables(given);
  const plan = planOperation(prepared.translate(variables), () => {
    throw new Error('no source is asked');
  });
  const body = await runPlan(plan, {
    connections: new Map(),
    session: { role, variables: new Map(Object.entries(session)), backendOnly: false },
    variables,
    options: {},
    callRemote: async (call) => {
      const result = await graphql({
        schema: upstream,
        source: call.document,
        variableValues: JSON.parse(printJson(call.variables)),
        rootValue,
      });
      return { body: JSON.parse(JSON.stringify(result)) as Json, cookies: [] };
    },
  });
  const { data } = JSON.parse(textOfBytes(body)) as { data: Record<string, string> };
  return JSON.parse(Object.values(data)[0] ?? '') as Json;
}

const FILTER = 'input Filter { tenant: Int @preset(value: "x-svc-tenant") name: String mood: Mood not: Filter and: [Filter!] blob: Blob }';
const find = (more = '') => `type Query { find(where: Filter, other: Int): String } ${FILTER} ${SHARED} ${more}`;
const plain = (args: string) => `type Query { plain(${args}): String } ${SHARED}`;
const tenant = { 'x-svc-tenant': '7' };

describe('an argument', () => {
  test.each<[string, Json]>([
    ['i: Int @preset(value: 5)', { i: 5 }],
    ['f: Float @preset(value: 1.5)', { f: 1.5 }],
    ['b: Boolean @preset(value: false)', { b: false }],
    ['s: String @preset(value: "a")', { s: 'a' }],
    ['s: String @preset(value: "x-svc-user-id", static: true)', { s: 'x-svc-user-id' }],
    ['s: String @preset(value: null)', { s: null }],
    ['mood: Mood @preset(value: BAD)', { mood: 'BAD' }],
    ['list: [Int] @preset(value: [1, null])', { list: [1, null] }],
    ['list: [Int] @preset(value: 1)', { list: [1] }],
    ['list: [Int] @preset(value: [1, "x-svc-i"])', { list: [1, 12] }],
    ['i: Int @preset(value: "X-Svc-I")', { i: 12 }],
    ['f: Float @preset(value: "x-svc-f")', { f: -1.25e3 }],
    ['f: Float @preset(value: "x-svc-i")', { f: 12 }],
    ['b: Boolean @preset(value: "x-svc-b")', { b: true }],
    ['s: String @preset(value: "x-svc-i")', { s: '12' }],
    ['id: ID @preset(value: "x-svc-i")', { id: '12' }],
    ['mood: Mood @preset(value: "x-svc-mood")', { mood: 'GOOD' }],
    ['blob: Blob @preset(value: "x-svc-f")', { blob: '-1.25e3' }],
  ])('%s', async (argument, wanted) => {
    const session = { 'x-svc-i': '12', 'x-svc-f': '-1.25e3', 'x-svc-b': 'true', 'x-svc-mood': 'GOOD' };
    expect(await reached(plain(argument), '{ plain }', { session })).toEqual(wanted);
    const name = argument.slice(0, argument.indexOf(':'));
    // The role cannot set it.
    await expect(reached(plain(argument), `{ plain(${name}: null) }`, { session })).rejects.toThrow(
      `'plain' has no argument named '${name}'`,
    );
  });

  test.each<[string, string, string, string]>([
    ['not-found', '"x-svc-i" session variable expected, but not found', 'i: Int @preset(value: "x-svc-i")', ''],
    ['coercion-error', '"1.5" cannot be coerced into an Int value', 'i: Int @preset(value: "x-svc-v")', '1.5'],
    ['coercion-error', '"much" cannot be coerced into a Float value', 'f: Float @preset(value: "x-svc-v")', 'much'],
    ['coercion-error', '"yes" cannot be coerced into a Boolean value', 'b: Boolean @preset(value: "x-svc-v")', 'yes'],
    ['coercion-error', '"BAD" is not one of the valid enum values', 'mood: Mood @preset(value: "x-svc-v")', 'BAD'],
  ])('%s: %s', async (code, message, argument, value) => {
    const sdl = `type Query { plain(${argument}): String } enum Mood { GOOD }`;
    await expect(reached(sdl, '{ plain }', { session: { 'x-svc-v': value } })).rejects.toMatchObject({ code, message });
  });

  test('is not preset for admin', async () => {
    expect(await reached(plain('i: Int @preset(value: 5)'), '{ plain(i: 6, s: "x") }', {}, 'admin')).toEqual({ i: 6, s: 'x' });
  });
});

describe('a part of an input object', () => {
  test.each<[string, string, Json, JsonObject?]>([
    ['beside what is given', '{ find(where: {name: "a"}) }', { where: { name: 'a', tenant: 7 } }],
    ['where nothing is given', '{ find }', { where: { tenant: 7 } }],
    ['where another argument is given', '{ find(other: 1) }', { where: { tenant: 7 }, other: 1 }],
    ['where null is given', '{ find(where: null) }', { where: { tenant: 7 } }],
    ['where a variable is null', 'query ($w: Filter) { find(where: $w) }', { where: { tenant: 7 } }, { w: null }],
    ['where a variable is not given', 'query ($w: Filter) { find(where: $w) }', { where: { tenant: 7 } }],
    ['with a variable as a whole', 'query ($w: Filter) { find(where: $w) }', { where: { tenant: 7, name: 'a' } }, { w: { name: 'a' } }],
    ['with a variable inside', 'query ($n: String) { find(where: {name: $n}) }', { where: { tenant: 7, name: 'a' } }, { n: 'a' }],
    ['with a variable inside that is not given', 'query ($n: String) { find(where: {name: $n}) }', { where: { tenant: 7 } }],
    [
      'at every level',
      'query ($n: Filter) { find(where: {not: $n, and: [{name: "b"}, {}]}) }',
      { where: { tenant: 7, not: { tenant: 7, name: 'a', and: [{ tenant: 7 }] }, and: [{ tenant: 7, name: 'b' }, { tenant: 7 }] } },
      { n: { name: 'a', and: {} } },
    ],
    ['and null at one', '{ find(where: {not: null}) }', { where: { tenant: 7, not: { tenant: 7 } } }],
    [
      'beside any JSON',
      'query ($b: Blob) { find(where: {blob: $b, mood: BAD}) }',
      { where: { tenant: 7, blob: { tenant: 1 }, mood: 'BAD' } },
      { b: { tenant: 1 } },
    ],
  ])('%s', async (_, query, wanted, variables = {}) => {
    expect(await reached(find(), query, { variables, session: tenant })).toEqual(wanted);
  });

  test.each<[string, JsonObject?]>([
    ['{ find(where: {tenant: 1}) }'],
    ['{ find(where: {not: {tenant: 1}}) }'],
    ['query ($w: Filter) { find(where: $w) }', { w: { tenant: 1 } }],
    ['query ($t: Int) { find(where: {and: [{tenant: $t}]}) }', { t: 1 }],
    ['query ($w: Filter = {tenant: 1}) { find(where: $w) }'],
  ])('cannot be set: %s', async (query, variables = {}) => {
    await expect(reached(find(), query, { variables, session: tenant })).rejects.toThrow("field 'tenant' not found in type: 'Filter'");
  });

  test('is preset in a list, which is not created if absent', async () => {
    const sdl = `type Query { among(all: [Filter!]): String } ${FILTER} ${SHARED}`;
    const ask = (query: string, variables: JsonObject = {}) => reached(sdl, query, { variables, session: tenant });
    expect(await ask('{ among(all: [{name: "a"}, {}]) }')).toEqual({ all: [{ tenant: 7, name: 'a' }, { tenant: 7 }] });
    expect(await ask('{ among(all: {name: "a"}) }')).toEqual({ all: [{ tenant: 7, name: 'a' }] });
    expect(await ask('query ($n: String) { among(all: [{name: $n}]) }', { n: 'a' })).toEqual({ all: [{ tenant: 7, name: 'a' }] });
    expect(await ask('{ among }')).toEqual({});
  });

  test('is preset if another part requires it', async () => {
    const sdl = 'type Query { must(where: Required): String } input Required { tenant: Int! @preset(value: 3) name: String! }';
    expect(await reached(sdl, '{ must(where: {name: "a"}) }')).toEqual({ where: { tenant: 3, name: 'a' } });
    await expect(reached(sdl, '{ must }')).rejects.toThrow("missing required field 'name'");
    await expect(reached(sdl, '{ must(where: null) }')).rejects.toThrow("missing required field 'name'");
  });

  test('overrides the default of the server', async () => {
    const sdl = 'type Query { ranged(range: Range = {min: 1, max: 5}): String } input Range { max: Int @preset(value: "x-svc-tenant") }';
    expect(await reached(sdl, '{ ranged }', { session: tenant })).toEqual({ range: { min: 1, max: 7 } });
    const partly = sdl.replace('input Range {', 'input Range { min: Int');
    expect(await reached(partly, '{ ranged }', { session: tenant })).toEqual({ range: { min: 1, max: 7 } });
    expect(await reached(partly, '{ ranged(range: {}) }', { session: tenant })).toEqual({ range: { max: 7 } });
  });
});

describe('an input object with presets only', () => {
  const range = 'input Range { min: Int @preset(value: 2) max: Int @preset(value: "x-svc-tenant") }';

  test.each<[string, string, Json]>([
    ['as an argument', 'ranged(range: Range = {min: 1, max: 5}): String', { range: { min: 2, max: 7 } }],
    ['as a list', 'ranges(ranges: [Range!]!): String', { ranges: [{ min: 2, max: 7 }] }],
  ])('is sent %s', async (_, field, wanted) => {
    const sdl = `type Query { ${field} } ${range}`;
    const name = field.slice(0, field.indexOf('('));
    expect(await reached(sdl, `{ ${name} }`, { session: tenant })).toEqual(wanted);
    const printed = await printRoleSchema(rootTypes(rolesOf(sdl), 'clerk', 'frontend'));
    expect(printed).toContain(`${name}: String`);
    expect(printed).not.toContain('Range');
  });

  test('is sent inside another input object', async () => {
    const sdl = `type Query { find(where: Filter): String } input Filter { name: String range: Range } ${range}`;
    expect(await reached(sdl, '{ find(where: {name: "a"}) }', { session: tenant })).toEqual({
      where: { name: 'a', range: { min: 2, max: 7 } },
    });
    expect(await reached(sdl, '{ find }', { session: tenant })).toEqual({ where: { range: { min: 2, max: 7 } } });
    await expect(reached(sdl, '{ find(where: {range: {}}) }', { session: tenant })).rejects.toThrow(
      "field 'range' not found in type: 'Filter'",
    );
  });

  test('is sent with session variables inside a literal', async () => {
    const sdl = `type Query { find(where: Filter @preset(value: {tenant: "x-svc-tenant", name: "x-svc-name", and: [{tenant: 1}]})): String }
      input Filter { tenant: Int name: String and: [Filter!] }`;
    const session = { ...tenant, 'x-svc-name': '"} { evil' };
    expect(await reached(sdl, '{ find }', { session })).toEqual({ where: { tenant: 7, name: '"} { evil', and: [{ tenant: 1 }] } });
  });
});

test('types that refer to each other are examined once', async () => {
  const names = Array.from({ length: 40 }, (_, i) => `T${i}`);
  const inputs = (preset: string) =>
    names.map(
      (name) => `input ${name} { id: Int ${name === 'T39' ? preset : ''} ${names.map((other) => `${other}: ${other}`).join(' ')} }`,
    );
  const dense = runSync(
    modelFromIntrospection(introspectionFromSchema(buildSchema(`type Query { a(b: T0): Int } ${inputs('').join(' ')}`)) as unknown as Json),
  );
  for (const preset of ['', '@preset(value: 1)']) {
    const permissions = new Map([['clerk', roleModel(`type Query { a(b: T0): Int } ${inputs(preset).join(' ')}`, dense)]]);
    const info = { name: 'far', model: dense, names: remoteNames(dense, NO_REMOTE_CUSTOMIZATION), permissions };
    const context = new SchemaContext({ ...schemaCache(), remoteSchemas: new Map([['far', info]]) }, DEFAULT_BUILD_OPTIONS);
    const schema = createRoleSchema('clerk', rootTypes(context, 'clerk', 'frontend'), {
      introspectionDisabled: false,
      introspectionAnswers: createAnswerCache(0),
      limits: DEFAULT_LIMITS,
      nullInNonNullableVariables: false,
    });
    const plan = planOperation(schema.prepare('{ a }', null).translate({}), () => {
      throw new Error('no source is asked');
    });
    const running = runPlan(plan, {
      connections: new Map(),
      session: { role: 'clerk', variables: new Map(), backendOnly: false },
      variables: {},
      options: {},
      callRemote: async () => ({ body: { data: { a: 1 } }, cookies: [] }),
    });
    if (preset === '') expect(textOfBytes(await running)).toBe('{"data":{"a":1}}');
    else await expect(running).rejects.toThrow('more than 1000 input objects have preset values');
  }
});
