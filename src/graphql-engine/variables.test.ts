import { describe, expect, test } from 'vitest';
import { engine, refusal, refusalOf } from '../../test/support/small-engine.ts';
import { DEFAULT_LIMITS } from './engine.ts';
import { printJson } from '../util/json.ts';

const OTHERS =
  'query ($id: Int!, $limit: Int = 3, $name: String) { author(where: {id: {_eq: $id}, data: {_eq: $name}}, limit: $limit) { id } }';
const bind = (query: string, sent: Parameters<ReturnType<ReturnType<typeof engine>['prepare']>['variables']>[0], options = {}) =>
  engine(options).prepare(query, null).variables(sent);

describe('variables of a request', () => {
  test('have their defaults, and nullable ones that were not sent are missing', () => {
    expect({ ...bind(OTHERS, { id: 1 }) }).toEqual({ id: 1, limit: 3 });
    expect({ ...bind(OTHERS, { id: 1, limit: null, name: 'a' }) }).toEqual({ id: 1, limit: null, name: 'a' });
  });

  test('are null if nullable and not sent, if the service is configured so', () => {
    expect({ ...bind(OTHERS, { id: 1 }, { unsentVariables: 'null' }) }).toEqual({ id: 1, limit: 3, name: null });
  });

  test('keep the value of defaults of every kind', () => {
    const query =
      'query ($a: x = {b: [1, "c", d, true, null], n: 12345678901234567890, f: 1.50}) { author(where: {data: {_eq: {v: $a}}}) { id } }';
    expect(printJson(bind(query, {})['a'] ?? null)).toBe('{"b":[1,"c","d",true,null],"n":12345678901234567890,"f":1.50}');
  });

  test.each([
    ['missing', OTHERS, {}, 'expecting a value for non-nullable variable: "id"'],
    ['null', OTHERS, { id: null }, 'null value found for non-nullable type: "Int!"'],
    [
      'null in place of a default',
      'query ($x: [Int!]! = 1) { author(where: {id: {_in: $x}}) { id } }',
      { x: null },
      'null value found for non-nullable type: "[Int!]!"',
    ],
    ['undeclared', OTHERS, { id: 1, b: 1, a: 2 }, 'unexpected variables in variableValues: b, a'],
    ['declared but unused', 'query ($x: Int) { notice }', { x: 1 }, 'unexpected variables in variableValues: x'],
    ['missing though unused', 'query ($x: Int!) { notice }', {}, 'expecting a value for non-nullable variable: "x"'],
  ])('%s', (_name, query, sent, message) => expect(refusalOf(() => bind(query, sent))).toBe(`validation-failed: ${message} @ $`));

  describe('a variable that is read often', () => {
    const options = { limits: { ...DEFAULT_LIMITS, maxRepeatedSize: 1000 } };
    const reading = (times: number) =>
      `query ($x: x${' '.repeat(times)}) { author(where: {_or: [${'{data: {_eq: $x}} '.repeat(times)}]}) { id } }`;
    const TOO_LARGE = 'validation-failed: the variables, counted once per use, are larger than 1000 bytes @ $';
    test.each([
      ['read once', 1, 'x'.repeat(2000), 'accepted'],
      ['a text within the limit', 4, 'x'.repeat(240), 'accepted'],
      ['a text beyond it', 4, 'x'.repeat(260), TOO_LARGE],
      ['a list', 4, Array.from({ length: 30 }, () => 1), TOO_LARGE],
      ['keys', 4, { ['k'.repeat(260)]: null }, TOO_LARGE],
      ['null', 4, null, 'accepted'],
    ])('%s', (_name, times, x, answer) => expect(refusalOf(() => bind(reading(times), { x }, options))).toBe(answer));

    test('counts its default', () => {
      const query = reading(4).replace(': x', `: x = "${'x'.repeat(260)}"`);
      expect(refusalOf(() => bind(query, {}, options))).toBe(TOO_LARGE);
      expect(refusalOf(() => bind(query, { x: 1 }, options))).toBe('accepted');
    });
  });

  test('may be declared without being used or sent', () => {
    expect({ ...bind('query ($x: Int) { notice }', {}) }).toEqual({});
  });

  test('count as used inside fragments, directives and literals', () => {
    const query =
      'query ($a: Int, $b: Boolean!, $c: Int) { ...F @include(if: $b) author(where: {data: {_eq: [$c]}}) { id } } fragment F on query_root { author(limit: $a) { id } }';
    expect(refusalOf(() => bind(query, { a: 1, b: true, c: 1 }))).toBe('accepted');
  });

  test('may be null although declared non-null, if the service is configured so', () => {
    const query = 'query ($id: Int!) { author(where: {id: {_eq: $id}}) { id } }';
    expect(refusal(query, { variables: { id: null }, options: { nullInNonNullableVariables: true } })).toBe(
      "validation-failed: unexpected null value for type 'Int' @ $.selectionSet.author.args.where.id._eq",
    );
  });

  test.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])('may be named %s', (name) => {
    const query = `query ($${name}: Int) { author(limit: $${name}) { id } }`;
    expect(bind(query, {})[name]).toBeUndefined();
    expect(bind(query, JSON.parse(`{"${name}": 4}`) as Record<string, number>)[name]).toBe(4);
  });

  test('are rejected if used without a declaration', () => {
    expect(refusal('{ author(limit: $x) { id } }')).toBe('validation-failed: unbound variable "x" @ $');
    expect(refusal('{ author(where: {data: {_eq: {a: [$x]}}}) { id } }')).toBe('validation-failed: unbound variable "x" @ $');
  });

  test('are rejected if nested too deeply, before any recursion', () => {
    const value = JSON.parse(`${'['.repeat(5000)}${']'.repeat(5000)}`) as readonly never[];
    expect(refusal('query ($d: jsonb) { author(where: {data: {_eq: $d}}) { id } }', { variables: { d: value } })).toBe(
      'validation-failed: the value of variable "d" is nested deeper than 200 levels @ $',
    );
  });
});

describe('declared type and position', () => {
  test.each([
    [
      '$x: Int',
      '{ near(args: {distance: 1}, loose: $x) { id } }',
      "variable 'x' is declared as 'Int', but used where 'Float' is expected @ $.selectionSet.near.args.loose",
    ],
    [
      '$x: String',
      '{ author(limit: $x) { id } }',
      "variable 'x' is declared as 'String', but used where 'Int' is expected @ $.selectionSet.author.args.limit",
    ],
    [
      '$x: Int',
      '{ author_by_pk(id: $x) { id } }',
      "variable 'x' is declared as 'Int', but used where 'Int!' is expected @ $.selectionSet.author_by_pk.args.id",
    ],
    [
      '$x: Int = null',
      '{ author_by_pk(id: $x) { id } }',
      "variable 'x' is declared as 'Int', but used where 'Int!' is expected @ $.selectionSet.author_by_pk.args.id",
    ],
    [
      '$x: String',
      '{ author(where: {key: {_eq: $x}}) { id } }',
      "variable 'x' is declared as 'String', but used where 'uuid' is expected @ $.selectionSet.author.args.where.key._eq",
    ],
    [
      '$x: Int!',
      '{ author(where: {id: {_in: $x}}) { id } }',
      "variable 'x' is declared as 'Int!', but used where '[Int!]' is expected @ $.selectionSet.author.args.where.id._in",
    ],
    [
      '$x: [Int]',
      '{ author(where: {id: {_in: $x}}) { id } }',
      "variable 'x' is declared as '[Int]', but used where '[Int!]' is expected @ $.selectionSet.author.args.where.id._in",
    ],
    [
      '$x: Int',
      '{ author(where: {id: {_in: [1, $x]}}) { id } }',
      "variable 'x' is declared as 'Int', but used where 'Int!' is expected @ $.selectionSet.author.args.where.id._in[1]",
    ],
    [
      '$x: author_order_by',
      '{ author(order_by: {id: $x}) { id } }',
      "variable 'x' is declared as 'author_order_by', but used where 'order_by' is expected @ $.selectionSet.author.args.order_by[0].id",
    ],
  ])('(%s) %s', (declaration, selection, message) => {
    const variables: Record<string, number> = declaration.endsWith('!') ? { x: 1 } : {};
    expect(refusal(`query (${declaration}) ${selection}`, { variables })).toBe(`validation-failed: ${message}`);
  });

  test.each([
    ['non-null into nullable', '$x: Int!', '{ author(limit: $x) { id } }'],
    ['nullable with a default into non-null', '$x: Int = 1', '{ author_by_pk(id: $x) { id } }'],
    ['nullable into non-null with a default', '$x: Int', '{ near(args: {distance: 1}, first: $x) { id } }'],
    ['inner non-null', '$x: [Int!]!', '{ author(where: {id: {_in: $x}}) { id } }'],
  ])('%s', (_name, declaration, selection) =>
    expect(refusal(`query (${declaration}) ${selection}`, { variables: { x: 1 } })).toBe('accepted'),
  );
});
