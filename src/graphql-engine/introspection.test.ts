import {
  buildClientSchema,
  getIntrospectionQuery,
  GraphQLObjectType,
  type IntrospectionQuery,
  lexicographicSortSchema,
  printSchema,
  validateSchema,
} from 'graphql';
import { deflateRawSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { type Bytes, bytesOfText, textOfBytes } from '../util/bytes.ts';
import { answer, engine, refusal, translate } from '../../test/support/small-engine.ts';
import { DEFAULT_LIMITS } from './engine.ts';
import { QUERY_ONLY, SMALL_ROOTS } from '../../test/support/small-schema.ts';
import { createAnswerCache, type IntrospectionAnswers } from './introspection/cache.ts';
import { startYieldTimer } from './introspection/yield-timer.ts';
import { createTypeWalk } from './introspection/type-walk.ts';
import { STRING_SCALAR } from './input/built-in-scalars.ts';
import { type InputField, lazy, listTypeRef, typeRef, type ObjectType, type OutputField, type RootTypes } from './types.ts';

const FULL = getIntrospectionQuery({
  descriptions: true,
  specifiedByUrl: true,
  directiveIsRepeatable: true,
  schemaDescription: true,
  inputValueDeprecation: true,
  oneOf: true,
  experimentalDirectiveDeprecation: true,
  typeDepth: 20,
});
const ask = async (query: string, variables = {}): Promise<unknown> => answer(translate(query, { variables }));

describe('the whole schema', () => {
  test('is a valid schema that builds the same types', async () => {
    const schema = buildClientSchema((await ask(FULL)) as IntrospectionQuery);
    expect(validateSchema(schema)).toEqual([]);
    expect(printSchema(lexicographicSortSchema(schema))).toBe(printSchema(schema));
    expect(schema.getDirectives().map((directive) => directive.name)).toEqual(['cached', 'deprecated', 'include', 'skip', 'specifiedBy']);
    expect(schema.getDirective('cached')).toMatchObject({ locations: ['QUERY'], isRepeatable: false });
    const author = schema.getQueryType()?.getFields()['author'];
    expect(String(author?.type)).toBe('[author!]!');
    expect(author?.args.map((arg) => `${arg.name}: ${String(arg.type)}`)).toEqual([
      'limit: Int',
      'order_by: [author_order_by!]',
      'where: author_bool_exp',
    ]);
    expect(
      schema
        .getQueryType()
        ?.getFields()
        ['near']?.args.find((arg) => arg.name === 'first')?.defaultValue,
    ).toBe(1);
    expect(schema.getType('author')).toBeInstanceOf(GraphQLObjectType);
  });

  test('lists the introspection types too, by name', async () => {
    const { __schema } = (await ask('{ __schema { types { name } } }')) as { __schema: { types: { name: string }[] } };
    const names = __schema.types.map((type) => type.name);
    expect(names).toEqual([...names].sort());
    expect(names.filter((name) => name.startsWith('__'))).toEqual([
      '__Directive',
      '__DirectiveLocation',
      '__EnumValue',
      '__Field',
      '__InputValue',
      '__Schema',
      '__Type',
      '__TypeKind',
    ]);
    expect(names).toContain('near_input');
  });

  test('returns null for absent roots', async () => {
    const query = '{ __schema { queryType { name kind } mutationType { name } subscriptionType { name } description } }';
    expect(await answer(translate(query, { roots: QUERY_ONLY }))).toEqual({
      __schema: { queryType: { name: 'query_root', kind: 'OBJECT' }, mutationType: null, subscriptionType: null, description: null },
    });
    expect(await ask('{ __schema { mutationType { name } } }')).toEqual({ __schema: { mutationType: { name: 'mutation_root' } } });
  });

  test('fields, arguments, input fields and enum values are sorted by name', async () => {
    const { a, b, c } = (await ask(
      '{ a: __type(name: "near_input") { inputFields { name defaultValue } } b: __type(name: "colors_enum") { enumValues { name } } c: __type(name: "query_root") { fields { name args { name } } } }',
    )) as Record<string, unknown>;
    expect(a).toEqual({
      inputFields: [
        { name: 'color', defaultValue: null },
        { name: 'distance', defaultValue: null },
        { name: 'unit', defaultValue: '"m"' },
      ],
    });
    expect(b).toEqual({ enumValues: [{ name: 'blue' }, { name: 'green' }, { name: 'red' }] });
    expect((c as { fields: { name: string }[] }).fields.map((field) => field.name)).toEqual([
      'any',
      'app',
      'author',
      'author_by_pk',
      'near',
      'notice',
    ]);
  });
});

describe('one type', () => {
  test('no input object is a OneOf input object, and @oneOf is not listed', async () => {
    const query = `{ ${['near_input', 'author', 'colors_enum', 'uuid'].map((name) => `${name}: __type(name: "${name}") { isOneOf }`).join(' ')} }`;
    expect(await ask(query)).toEqual({
      near_input: { isOneOf: false },
      author: { isOneOf: null },
      colors_enum: { isOneOf: null },
      uuid: { isOneOf: null },
    });
    const { __schema } = (await ask('{ __schema { directives(includeDeprecated: true) { name isDeprecated deprecationReason } } }')) as {
      __schema: { directives: readonly unknown[] };
    };
    expect(__schema.directives).toEqual(
      ['cached', 'deprecated', 'include', 'skip', 'specifiedBy'].map((name) => ({ name, isDeprecated: false, deprecationReason: null })),
    );
  });

  test('answers every field for every kind of type', async () => {
    const query = (name: string): string =>
      `{ __type(name: "${name}") { __typename kind name description specifiedByURL fields { name } interfaces { name } possibleTypes { name } enumValues { name isDeprecated deprecationReason } inputFields { name } ofType { name } } }`;
    const nothing = {
      __typename: '__Type',
      description: null,
      specifiedByURL: null,
      fields: null,
      interfaces: null,
      possibleTypes: null,
      enumValues: null,
      inputFields: null,
      ofType: null,
    };
    expect(await ask(query('uuid'))).toEqual({ __type: { ...nothing, kind: 'SCALAR', name: 'uuid' } });
    expect(await ask(query('any'))).toEqual({
      __type: { ...nothing, kind: 'UNION', name: 'any', possibleTypes: [{ name: 'article' }, { name: 'author' }] },
    });
    expect(await ask(query('article'))).toEqual({
      __type: {
        ...nothing,
        kind: 'OBJECT',
        name: 'article',
        description: 'columns of """article"""',
        fields: [{ name: 'author' }, { name: 'id' }, { name: 'title' }],
        interfaces: [],
      },
    });
    expect(await ask(query('order_by'))).toMatchObject({
      __type: { kind: 'ENUM', enumValues: [{ name: 'asc', isDeprecated: false, deprecationReason: null }, { name: 'desc' }] },
    });
    expect(await ask(query('author_order_by'))).toMatchObject({
      __type: { kind: 'INPUT_OBJECT', inputFields: [{ name: 'id' }, { name: 'name' }] },
    });
    expect(await ask(query('nope'))).toEqual({ __type: null });
  });

  test('unwraps types, with aliases and a variable for the name', async () => {
    expect(
      await ask(
        'query ($n: String!) { t: __type(name: $n) { fields(includeDeprecated: true) { n: name type { k: kind name ofType { kind ofType { kind name ofType { name } } } } } } }',
        { n: 'author' },
      ),
    ).toMatchObject({
      t: {
        fields: [
          {
            n: 'articles',
            type: {
              k: 'NON_NULL',
              name: null,
              ofType: { kind: 'LIST', ofType: { kind: 'NON_NULL', name: null, ofType: { name: 'article' } } },
            },
          },
          {},
          {},
          {},
        ],
      },
    });
  });

  test('the value of the variable is a constraint of the plan', () => {
    expect(translate('query ($n: String!) { __type(name: $n) { name } }', { variables: { n: 'a' } }).constraints).toEqual([
      { variable: 'n', path: [], fact: { kind: 'equals', json: 'a' } },
    ]);
  });

  test('is found without building the types that it refers to', async () => {
    let built = false;
    const make = (): ReadonlyMap<string, OutputField> => {
      built = true;
      return new Map();
    };
    const far: ObjectType = { kind: 'object', name: 'far', description: null, fields: () => make() };
    const near: ObjectType = { kind: 'object', name: 'near', description: null, fields: () => new Map([['far', field('far', far)]]) };
    const query: ObjectType = {
      kind: 'object',
      name: 'query_root',
      description: null,
      fields: () => new Map([['near', field('near', near)]]),
    };
    const walk = createTypeWalk({ query, mutation: null, subscription: null }, []);
    expect((await walk.find('near', startYieldTimer()))?.name).toBe('near');
    expect(built).toBe(false);
    expect((await walk.all(startYieldTimer())).map((type) => type.name)).toEqual(['Boolean', 'Int', 'String', 'far', 'near', 'query_root']);
    expect(built).toBe(true);
  });

  test('a type that cannot be built fails every time instead of being absent', async () => {
    const broken: ObjectType = {
      kind: 'object',
      name: 'query_root',
      description: null,
      fields: () => {
        throw new Error('broken');
      },
    };
    const walk = createTypeWalk({ query: broken, mutation: null, subscription: null }, []);
    await expect(walk.find('x', startYieldTimer())).rejects.toThrow('broken');
    await expect(walk.all(startYieldTimer())).rejects.toThrow('broken');
  });
});

describe('refusals', () => {
  test.each([
    ['{ __schema { nope } }', "validation-failed: field 'nope' not found in type: '__Schema' @ $.selectionSet.__schema.selectionSet.nope"],
    ['{ __type { name } }', "validation-failed: missing required field 'name' @ $.selectionSet.__type.args.name"],
    [
      '{ __type(name: 1) { name } }',
      "validation-failed: expected a string for type 'String', but found an integer @ $.selectionSet.__type.args.name",
    ],
    [
      '{ __schema { types { fields(includeDeprecated: 1) { name } } } }',
      "validation-failed: expected a boolean for type 'Boolean', but found an integer @ $.selectionSet.__schema.selectionSet.types.selectionSet.fields.args.includeDeprecated",
    ],
    [
      '{ __schema { types { a: name b: name c: name } } }',
      'validation-failed: introspection with more than 2 aliases of one field is not supported @ $.selectionSet.__schema.selectionSet.types.selectionSet.name',
    ],
    ['{ a: __schema { queryType { name } } b: __schema { queryType { name } } }', 'accepted'],
    [
      '{ a: __schema { queryType { name } } b: __schema { queryType { name } } c: __schema { queryType { name } } }',
      "validation-failed: '__schema' cannot be selected more than 2 times @ $.selectionSet.__schema",
    ],
    [
      `{ ${Array.from({ length: 21 }, (_, i) => `a${i}: __type(name: "author") { name }`).join(' ')} }`,
      "validation-failed: '__type' cannot be selected more than 20 times @ $.selectionSet.__type",
    ],
    ['{ __schema }', "validation-failed: missing selection set for '__Schema' @ $.selectionSet.__schema"],
    [
      '{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }',
      'validation-failed: introspection with more than 2 lists inside one another is not supported @ $.selectionSet.__schema.selectionSet.types.selectionSet.fields.selectionSet.type.selectionSet.fields.selectionSet.type.selectionSet.fields',
    ],
  ])('%s', (query, message) => expect(refusal(query)).toBe(message));

  test('rejects introspection that is disabled for the role, but not __typename', async () => {
    const options = { introspectionDisabled: true };
    expect(refusal('{ __schema { queryType { name } } }', { options })).toBe(
      'not-supported: introspection is disabled for role: "user" @ $.selectionSet.__schema',
    );
    expect(refusal('{ __type(name: "author") { name } }', { options })).toContain(
      'not-supported: introspection is disabled for role: "user"',
    );
    expect(await answer(translate('{ __typename }', { options }))).toEqual({ __typename: 'query_root' });
  });

  test('rejects an answer larger than allowed', async () => {
    const schema = engine({ limits: { ...DEFAULT_LIMITS, maxIntrospectionCharacters: 10_000 } }, wideRoots(500));
    const prepared = schema.prepare('{ __schema { types { fields { name args { name type { kind name ofType { name } } } } } } }', null);
    await expect(answer(prepared.translate(prepared.variables({})))).rejects.toThrow(
      'the introspection answer has more than 10000 characters',
    );
  });
});

describe('cost', () => {
  const bytes = (text: string): readonly Bytes[] => [bytesOfText(text)];
  const asked = async (cache: IntrospectionAnswers, key: string, make: () => Promise<readonly Bytes[]>): Promise<string> =>
    textOfBytes(await cache.get(key, make));

  test('equal selections share one answer, even while it is produced', async () => {
    let made = 0;
    const cache = createAnswerCache(2 * deflateRawSync('12345').length).forSchema();
    const make = async (): Promise<readonly Bytes[]> => {
      made += 1;
      await new Promise((resolve) => setImmediate(resolve));
      return bytes('12345');
    };
    expect(await Promise.all([asked(cache, 'a', make), asked(cache, 'a', make)])).toEqual(['12345', '12345']);
    expect(await asked(cache, 'a', make)).toBe('12345');
    expect(made).toBe(1);
    await cache.get('b', make);
    await cache.get('a', make);
    expect(made).toBe(2);
    await cache.get('c', make); // evicts b, which is the oldest
    await cache.get('a', make);
    expect(made).toBe(3);
    await cache.get('b', make);
    expect(made).toBe(4);
  });

  test('schemas have answers of their own, and share the limit', async () => {
    const cache = createAnswerCache(2 * deflateRawSync('12345').length);
    const [one, other] = [cache.forSchema(), cache.forSchema()];
    const [first, second] = [() => Promise.resolve(bytes('11111')), () => Promise.resolve(bytes('22222'))];
    expect([await asked(one, 'a', first), await asked(other, 'a', second)]).toEqual(['11111', '22222']);
    expect([await asked(one, 'a', second), await asked(other, 'a', first)]).toEqual(['11111', '22222']);
    await asked(other, 'b', second); // evicts the answer of the other schema
    expect(await asked(one, 'a', second)).toBe('22222');
  });

  test('failures and answers larger than the cache are not cached', async () => {
    const cache = createAnswerCache(3).forSchema();
    await expect(cache.get('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await asked(cache, 'a', () => Promise.resolve(bytes('1234')))).toBe('1234');
    expect(await asked(cache, 'a', () => Promise.resolve(bytes('5678')))).toBe('5678');
  });

  test('answers are cached compressed and returned unchanged, in pieces', async () => {
    const cache = createAnswerCache(200_000).forSchema();
    const pieces = Array.from({ length: 300 }, (_, n) => bytesOfText(`{"name":"t\u00e9\u{1f600}${n}"}`.repeat(500)));
    const whole = textOfBytes(pieces);
    expect(whole.length).toBeGreaterThan(2_000_000);
    await cache.get('a', () => Promise.resolve(pieces));
    const again = await cache.get('a', () => Promise.reject(new Error('not kept')));
    expect(textOfBytes(again)).toBe(whole);
    expect(Math.max(...again.map((piece) => piece.length))).toBeLessThanOrEqual(65_536);
  });

  test('a large schema does not block other work', async () => {
    const prepared = engine({}, wideRoots(4000)).prepare(FULL, null);
    const operation = prepared.translate(prepared.variables({}));
    let turns = 0;
    let running = true;
    const count = (): void => {
      turns += 1;
      if (running) setImmediate(count);
    };
    setImmediate(count);
    const started = process.cpuUsage();
    const { __schema } = (await answer(operation)) as IntrospectionQuery;
    running = false;
    const { user, system } = process.cpuUsage(started);
    expect(__schema.types.length).toBeGreaterThan(4000);
    // A slice takes 8 ms. The limit of 100 ms leaves time for parsing the answer and for joining its pieces.
    expect(turns).toBeGreaterThan((user + system) / 1000 / 100);
  });
});

function field(name: string, type: ObjectType, args: readonly InputField[] = []): OutputField {
  return {
    name,
    description: null,
    type: listTypeRef(typeRef(type.name, () => type, true)),
    args: new Map(args.map((arg) => [arg.name, arg])),
    meaning: { kind: 'inner' },
  };
}

/** Query root of `count` fields with arguments, each with a type of its own. */
function wideRoots(count: number): RootTypes {
  const args = Array.from(
    { length: 5 },
    (_, i): InputField => ({ name: `argument_${i}`, description: 'an argument', type: typeRef('String', () => STRING_SCALAR) }),
  );
  const fields = Array.from({ length: count }, (_, i) => {
    const type: ObjectType = {
      kind: 'object',
      name: `t${i}`,
      description: `type ${i}`,
      fields: lazy(() => new Map([['again', field('again', type, args)]])),
    };
    return field(`f${i}`, type, args);
  });
  const query: ObjectType = {
    kind: 'object',
    name: 'query_root',
    description: null,
    fields: lazy(() => new Map(fields.map((f) => [f.name, f]))),
  };
  return { ...SMALL_ROOTS, query };
}
