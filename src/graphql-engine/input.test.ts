import { describe, expect, test } from 'vitest';
import { refusal, seen, translate } from '../../test/support/small-engine.ts';
import { DEFAULT_LIMITS } from './engine.ts';
import { plainValue } from '../../test/support/small-schema.ts';
import { holds } from './constraint.ts';
import type { Value } from '../ir/value.ts';
import type { Json } from '../util/json.ts';

const where = (operation: ReturnType<typeof translate>): Record<string, Record<string, Value>> =>
  seen(operation)[0]?.args['where'] as Record<string, Record<string, Value>>;
const PATH = '$.selectionSet.author.args.where';

describe('literals', () => {
  test.each([
    ['{idd: 1}', `field 'idd' not found in type: 'author_bool_exp' @ ${PATH}.idd`],
    ['{id: {_unexpected: 1}}', `field '_unexpected' not found in type: 'Int_comparison_exp' @ ${PATH}.id._unexpected`],
    ['{id: null}', `expected an object for type 'Int_comparison_exp', but found null @ ${PATH}.id`],
    ['{id: 5}', `expected an object for type 'Int_comparison_exp', but found an integer @ ${PATH}.id`],
    ['{id: 5.5}', `expected an object for type 'Int_comparison_exp', but found a float @ ${PATH}.id`],
    ['{id: "5"}', `expected an object for type 'Int_comparison_exp', but found a string @ ${PATH}.id`],
    ['{id: true}', `expected an object for type 'Int_comparison_exp', but found a boolean @ ${PATH}.id`],
    ['{id: five}', `expected an object for type 'Int_comparison_exp', but found an enum value @ ${PATH}.id`],
    ['[{id: {}}]', `expected an object for type 'author_bool_exp', but found a list @ ${PATH}`],
    ['{_and: [{}, null]}', `expected an object for type 'author_bool_exp', but found null @ ${PATH}._and[1]`],
    ['{_and: [{}, {id: {_eq: null}}]}', `unexpected null value for type 'Int' @ ${PATH}._and[1].id._eq`],
    ['{id: {_in: [1, null]}}', `unexpected null value for type 'Int' @ ${PATH}.id._in[1]`],
    ['{id: {_is_null: "yes"}}', `expected a boolean for type 'Boolean', but found a string @ ${PATH}.id._is_null`],
    ['{id: {_is_null: 1.0}}', `expected a boolean for type 'Boolean', but found a float @ ${PATH}.id._is_null`],
    ['{id: {_is_null: yes}}', `expected a boolean for type 'Boolean', but found an enum value @ ${PATH}.id._is_null`],
    ['{key: {_eq: abc}}', `expected a string for type 'uuid', but found an enum value @ ${PATH}.key._eq`],
    [
      '{color: {_eq: pink}}',
      `expected one of the values ['blue', 'green', 'red'] for type 'colors_enum', but found 'pink' @ ${PATH}.color._eq`,
    ],
    ['{color: {_eq: "red"}}', `expected an enum value for type 'colors_enum', but found a string @ ${PATH}.color._eq`],
    ['{color: {_in: [red, 1]}}', `expected an enum value for type 'colors_enum', but found an integer @ ${PATH}.color._in[1]`],
  ])('where: %s', (literal, message) => expect(refusal(`{ author(where: ${literal}) { id } }`)).toBe(`validation-failed: ${message}`));

  test.each([
    ['-1', "expected a non-negative 32-bit integer for type 'Int', but found an integer"],
    ['"3"', "expected a non-negative 32-bit integer for type 'Int', but found a string"],
    ['2147483648', "expected a non-negative 32-bit integer for type 'Int', but found an integer"],
    ['1.5', "expected a non-negative 32-bit integer for type 'Int', but found a float"],
    ['{}', "expected a non-negative 32-bit integer for type 'Int', but found an object"],
    ['[1]', "expected a non-negative 32-bit integer for type 'Int', but found a list"],
    ['three', "expected a 32-bit integer for type 'Int', but found an enum value"],
  ])('limit: %s', (literal, message) =>
    expect(refusal(`{ author(limit: ${literal}) { id } }`)).toBe(`validation-failed: ${message} @ $.selectionSet.author.args.limit`),
  );

  test.each([
    ['{near(args: {}) { id }}', "missing required field 'distance' @ $.selectionSet.near.args.args.distance"],
    ['{near { id }}', "missing required field 'args' @ $.selectionSet.near.args.args"],
    ['{near(args: null) { id }}', "expected an object for type 'near_input', but found null @ $.selectionSet.near.args.args"],
    ['{near(args: {distance: null}) { id }}', "unexpected null value for type 'Float' @ $.selectionSet.near.args.args.distance"],
    ['{author_by_pk { id }}', "missing required field 'id' @ $.selectionSet.author_by_pk.args.id"],
    ['{author_by_pk(id: null) { id }}', "unexpected null value for type 'Int' @ $.selectionSet.author_by_pk.args.id"],
    [
      'mutation {delete_author(where: null) { id }}',
      "expected an object for type 'author_bool_exp', but found null @ $.selectionSet.delete_author.args.where",
    ],
    ['mutation {delete_author { id }}', "missing required field 'where' @ $.selectionSet.delete_author.args.where"],
    ['{author(x: 1) { id }}', "'author' has no argument named 'x' @ $.selectionSet.author"],
  ])('%s', (query, message) => expect(refusal(query)).toBe(`validation-failed: ${message}`));

  test.each<[string, unknown]>([
    ['12', 12],
    ['123456789012345678901234567890', { text: '123456789012345678901234567890' }],
    ['1.50', { text: '1.50' }],
    ['-0', { text: '-0' }],
    ['1e400', { text: '1e400' }],
    ['"a\\u00e9\\n"', 'aé\n'],
    ['"""\n  a\n    b\n"""', 'a\n  b'],
    ['[1, [true, null], {a: b}]', [1, [true, null], { a: 'b' }]],
    ['{__proto__: 1, constructor: two}', JSON.parse('{"__proto__": 1, "constructor": "two"}') as unknown],
    ['red', 'red'],
  ])('jsonb accepts %s unchanged', (literal, json) => {
    const value = where(translate(`{ author(where: {data: {_eq: ${literal}}}) { id } }`))['data']?.['_eq'];
    expect(value).toEqual({
      kind: 'literal',
      json: typeof json === 'object' && json !== null && 'text' in json ? expect.objectContaining(json) : json,
    });
  });

  test('input fields keep the order of the request, and absent ones are omitted', () => {
    expect(Object.keys(where(translate('{ author(where: {key: {}, id: {}, _not: {}}) { id } }')))).toEqual(['key', 'id', '_not']);
  });

  test('a single value counts as a list, at every level', () => {
    const operation = translate('{ author(order_by: {id: asc}, where: {_and: {id: {_in: 1, _array_in: 2}}}) { id } }');
    expect(seen(operation)[0]?.args).toMatchObject({
      order_by: [{ id: 'asc!' }],
      where: { _and: [{ id: { _in: { kind: 'literal', json: [1] }, _array_in: { kind: 'literal', json: [[2]] } } }] },
    });
    expect(refusal('{ author(order_by: {idd: asc}) { id } }')).toContain('$.selectionSet.author.args.order_by[0].idd');
  });

  test('an array in the notation of the database is one value, not a list', () => {
    const given = where(translate('{ author(where: {id: {_array: "{1,2}", _in: "{1,2}"}}) { id } }'))['id'];
    expect(given).toEqual({ _array: { kind: 'literal', json: '{1,2}' }, _in: { kind: 'literal', json: ['{1,2}'] } });
  });

  test('enum values become their database values', () => {
    expect(where(translate('{ author(where: {color: {_eq: red, _in: [red, blue]}}) { id } }'))['color']).toEqual({
      _eq: { kind: 'literal', json: 'red!' },
      _in: { kind: 'literal', json: ['red!', 'blue!'] },
    });
  });
});

describe('variables', () => {
  const W = 'query ($w: author_bool_exp) { author(where: $w) { id } }';

  test.each<[string, string, Record<string, Json>, string]>([
    ['unknown field', W, { w: { id: { _x: 1 } } }, `field '_x' not found in type: 'Int_comparison_exp' @ ${PATH}.id._x`],
    ['no object', W, { w: 5 }, `expected an object for type 'author_bool_exp', but found a number @ ${PATH}`],
    ['null inside', W, { w: { id: { _eq: null } } }, `unexpected null value for type 'Int' @ ${PATH}.id._eq`],
    ['null in a list', W, { w: { _and: [null] } }, `expected an object for type 'author_bool_exp', but found null @ ${PATH}._and[0]`],
    ['key that is no name', W, { w: { 'a b': 1 } }, 'variable value contains object with key "a b", which is not a legal GraphQL name @ $'],
    [
      'null at an operator',
      'query ($x: Int) { author(where: {id: {_eq: $x}}) { id } }',
      { x: null },
      `unexpected null value for type 'Int' @ ${PATH}.id._eq`,
    ],
    [
      'missing at an operator',
      'query ($x: Int) { author(where: {id: {_eq: $x}}) { id } }',
      {},
      `unexpected null value for type 'Int' @ ${PATH}.id._eq`,
    ],
    [
      'limit',
      'query ($x: Int) { author(limit: $x) { id } }',
      { x: '3' },
      "expected a non-negative 32-bit integer for type 'Int', but found a string @ $.selectionSet.author.args.limit",
    ],
    [
      'fraction',
      'query ($x: Int) { author(limit: $x) { id } }',
      { x: 1.5 },
      "expected a non-negative 32-bit integer for type 'Int', but found a number @ $.selectionSet.author.args.limit",
    ],
    [
      'enum value',
      'query ($x: order_by) { author(order_by: {id: $x}) { id } }',
      { x: 'up' },
      "expected one of the values ['asc', 'desc'] for type 'order_by', but found 'up' @ $.selectionSet.author.args.order_by[0].id",
    ],
    [
      'number as enum',
      'query ($x: order_by) { author(order_by: {id: $x}) { id } }',
      { x: 1 },
      "expected an enum value for type 'order_by', but found a number @ $.selectionSet.author.args.order_by[0].id",
    ],
    [
      'missing required',
      'query ($x: near_input!) { near(args: $x) { id } }',
      { x: {} },
      "missing required field 'distance' @ $.selectionSet.near.args.args.distance",
    ],
  ])('%s', (_name, query, variables, message) => expect(refusal(query, { variables })).toBe(`validation-failed: ${message}`));

  test('scalars stay references and are checked when they are bound', () => {
    const query = 'query ($x: Int!, $l: [Int!], $c: colors_enum!) { author(where: {id: {_eq: $x, _in: $l}, color: {_eq: $c}}) { id } }';
    const operation = translate(query, { variables: { x: 1, l: [1], c: 'red' } });
    const { id, color } = where(operation);
    expect(plainValue(id?.['_eq'] as Value)).toEqual({ kind: 'variable', name: 'x', path: [] });
    const list = id?.['_in'];
    const enumeration = color?.['_eq'];
    if (list?.kind !== 'variable' || enumeration?.kind !== 'variable') throw new Error('references expected');
    expect(list.check([1, '2'], list.at)).toEqual([1, '2']);
    expect(list.check(7, list.at)).toEqual([7]);
    expect(() => list.check([1, null], list.at)).toThrowError("unexpected null value for type 'Int'");
    expect(() => list.check([true], list.at)).toThrowError(expect.objectContaining({ printedPath: `${PATH}.id._in[0]` }));
    expect(() => list.check(null, list.at)).toThrowError('expected a list, but found null');
    expect(enumeration.check('blue', enumeration.at)).toBe('blue!');
    expect(() => enumeration.check('pink', enumeration.at)).toThrowError(
      "expected one of the values ['blue', 'green', 'red'] for type 'colors_enum', but found 'pink'",
    );
  });

  test('list literals may contain variables', () => {
    const operation = translate('query ($x: Int!) { author(where: {id: {_in: [1, $x]}}) { id } }', { variables: { x: 2 } });
    const list = where(operation)['id']?.['_in'] as Value;
    expect(plainValue(list)).toEqual({
      kind: 'list',
      items: [
        { kind: 'literal', json: 1 },
        { kind: 'variable', name: 'x', path: [] },
      ],
    });
    expect(operation.constraints).toEqual([]);
  });

  test('variables inside a jsonb literal are fixed in the plan', () => {
    const operation = translate('query ($x: Int, $y: jsonb) { author(where: {data: {_eq: {a: [$x, $y]}}}) { id } }', {
      variables: { y: { any: 'a b' } },
    });
    expect(where(operation)['data']?.['_eq']).toEqual({ kind: 'literal', json: { a: [null, { any: 'a b' }] } });
    expect(operation.constraints).toEqual([
      { variable: 'x', path: [], fact: { kind: 'present', present: false } },
      { variable: 'y', path: [], fact: { kind: 'equals', json: { any: 'a b' } } },
    ]);
  });

  test('values of jsonb variables are not examined, whatever their keys', () => {
    const operation = translate('query ($y: jsonb!) { author(where: {data: {_eq: $y}}) { id } }', { variables: { y: { 'a b': 1 } } });
    expect(operation.constraints).toEqual([]);
  });
});

describe('constraints', () => {
  const query =
    'query ($w: author_bool_exp, $o: [author_order_by!], $n: Int, $i: Boolean!) { author(where: $w, order_by: $o, limit: $n) { id @include(if: $i) name } }';
  const given = { w: { id: { _eq: 1 }, _and: [{}] }, o: { id: 'asc' }, n: 3, i: true };
  const { constraints } = translate(query, { variables: given });
  const fits = (variables: Record<string, Json>): boolean =>
    constraints.every((constraint) => holds(constraint, { ...given, ...variables }));

  test('records each fact once, and none that another fact implies', () => {
    expect(constraints).toEqual([
      { variable: 'w', path: [], fact: { kind: 'keys', keys: ['id', '_and'] } },
      { variable: 'w', path: ['id'], fact: { kind: 'keys', keys: ['_eq'] } },
      { variable: 'w', path: ['id', '_eq'], fact: { kind: 'null', isNull: false } },
      { variable: 'w', path: ['_and'], fact: { kind: 'length', length: 1 } },
      { variable: 'w', path: ['_and', 0], fact: { kind: 'keys', keys: [] } },
      { variable: 'o', path: [], fact: { kind: 'length', length: null } },
      { variable: 'o', path: [], fact: { kind: 'keys', keys: ['id'] } },
      { variable: 'o', path: ['id'], fact: { kind: 'equals', json: 'asc' } },
      { variable: 'n', path: [], fact: { kind: 'equals', json: 3 } },
      { variable: 'i', path: [], fact: { kind: 'equals', json: true } },
    ]);
  });

  test.each<[string, Record<string, Json>, boolean]>([
    ['another value', { w: { id: { _eq: 2 }, _and: [{}] } }, true],
    ['a value of another type', { w: { id: { _eq: '2' }, _and: [{}] } }, true],
    ['another operator', { w: { id: { _in: [2] }, _and: [{}] } }, false],
    ['another order of keys', { w: { _and: [{}], id: { _eq: 1 } } }, false],
    ['null', { w: { id: { _eq: null }, _and: [{}] } }, false],
    ['a longer list', { w: { id: { _eq: 1 }, _and: [{}, {}] } }, false],
    ['a list instead of one', { o: [{ id: 'asc' }] }, false],
    ['another direction', { o: { id: 'desc' } }, false],
    ['another limit', { n: 4 }, false],
    ['another condition', { i: false }, false],
  ])('%s', (_name, variables, expected) => expect(fits(variables)).toBe(expected));

  test('limits the number of parts', () => {
    const limits = { ...DEFAULT_LIMITS, maxValues: 50 };
    const conditions = (count: number): Record<string, Json> => ({ w: { _and: Array.from({ length: count }, () => ({})) } });
    expect(refusal('query ($w: author_bool_exp) { author(where: $w) { id } }', { variables: conditions(50), options: { limits } })).toBe(
      'validation-failed: the variables have more than 50 parts that the operation depends on @ $',
    );
  });
});

describe('variables that were not sent', () => {
  test('omit their argument, which becomes a constraint', () => {
    const operation = translate('query ($n: Int, $w: author_bool_exp) { author(limit: $n, where: $w) { id } }');
    expect(seen(operation)[0]?.args).toEqual({});
    expect(operation.constraints).toEqual(
      ['n', 'w'].map((variable) => ({ variable, path: [], fact: { kind: 'present', present: false } })),
    );
  });

  test.each([
    ['{id: {_eq: $x}}', 'Int', "unexpected null value for type 'Int'"],
    ['{_and: [{id: {_in: $x}}]}', '[Int!]', 'expected a list, but found null'],
    ['{_not: {id: $x}}', 'Int_comparison_exp', "expected an object for type 'Int_comparison_exp', but found null"],
    ['{_not: $x}', 'author_bool_exp', "expected an object for type 'author_bool_exp', but found null"],
  ])('are rejected in the condition %s, like null', (condition, type, message) => {
    const query = `query ($x: ${type}) { author(where: ${condition}) { id } }`;
    expect(refusal(query)).toContain(`validation-failed: ${message} @`);
    expect(refusal(query, { variables: { x: null } })).toBe(refusal(query));
  });

  test('are null in the JSON of a condition, because a missing key would match more rows', () => {
    const query = 'query ($x: Int) { author(where: {data: {_eq: {a: $x, b: [$x]}}}) { id } }';
    expect(plainValue(where(translate(query))['data']?.['_eq'] as Value)).toEqual({ kind: 'literal', json: { a: null, b: [null] } });
  });

  test('must still have the declared type of their position', () => {
    expect(refusal('query ($n: String) { author(limit: $n) { id } }')).toContain("variable 'n' is declared as 'String'");
  });

  test('have a plan of their own, and null counts as sent', () => {
    const query = 'query ($n: Int) { author(limit: $n) { id } }';
    const serves = (made: Record<string, Json>, asked: Record<string, Json>): boolean =>
      translate(query, { variables: made }).constraints.every((constraint) => holds(constraint, asked));
    expect([serves({}, {}), serves({}, { n: null }), serves({ n: null }, {}), serves({ n: 1 }, {}), serves({}, { n: 1 })]).toEqual([
      true,
      false,
      false,
      false,
      false,
    ]);
  });
});

describe('variables that were not sent, under the rule of the specification', () => {
  const options = { unsentVariables: 'absent' } as const;
  const query = 'query ($x: Int) { author(where: {id: {_eq: $x}}, limit: $x) { id } }';

  test('omit their argument or key, which becomes a constraint', () => {
    const operation = translate(query, { options });
    expect(seen(operation)[0]?.args).toEqual({ where: { id: {} } });
    expect(operation.constraints).toEqual([{ variable: 'x', path: [], fact: { kind: 'present', present: false } }]);
  });

  test('a plan for a sent variable does not serve a missing one', () => {
    const { constraints } = translate(query, { options, variables: { x: 1 } });
    expect(constraints.every((constraint) => holds(constraint, {}))).toBe(false);
  });

  test('an explicit null stays null', () => {
    expect(refusal(query, { options, variables: { x: null } })).toContain("unexpected null value for type 'Int'");
  });
});
