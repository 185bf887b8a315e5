import { describe, expect, test } from 'vitest';
import { engine, refusal, translate } from '../../test/support/small-engine.ts';
import { QUERY_ONLY } from '../../test/support/small-schema.ts';

describe('choice of the operation', () => {
  test.each([
    [
      'fragment F on author { id }',
      undefined,
      'exactly one operation has to be present in the document when operationName is not specified',
    ],
    [
      'query a { notice } query b { notice }',
      undefined,
      'exactly one operation has to be present in the document when operationName is not specified',
    ],
    ['{ notice } query b { notice }', 'b', 'operationName cannot be used when an anonymous operation exists in the document'],
    ['query b { notice }', 'x', 'no such operation found in the document: "x"'],
  ])('%s with operationName %s', (query, operationName, message) => {
    expect(refusal(query, operationName === undefined ? {} : { operationName })).toBe(`validation-failed: ${message} @ $`);
  });

  test('runs the named operation and ignores errors in others', () => {
    expect(translate('query a { nonsense } query b { notice }', { operationName: 'b' }).name).toBe('b');
  });

  test('rejects two operations with one name', () => {
    expect(refusal('query a { notice } query a { notice }', { operationName: 'a' })).toBe(
      'parse-failed: multiple definitions for operation "a" @ $',
    );
  });

  test.each([
    ['mutation { delete_author(where: {}) { id } }', 'no mutations exist'],
    ['subscription { author { id } }', 'no subscriptions exist'],
  ])('%s if the role has no such root', (query, message) =>
    expect(refusal(query, { roots: QUERY_ONLY })).toBe(`validation-failed: ${message} @ $`),
  );
});

describe('syntax', () => {
  test.each(['', '{', '{ author { } }', 'query ($x) { notice }', 'type T { a: Int }', '{ a(x: 01) }', '{ author { id } } }', '\u0000'])(
    '%j is no query',
    (query) => {
      expect(refusal(query)).toBe('validation-failed: not a valid graphql query @ $.query');
    },
  );

  test('the message of the parser explains the error', () => {
    expect(() => engine().prepare('{', null)).toThrowError(
      expect.objectContaining({ internal: undefined, explanation: 'Expected Name, found <EOF>.' }),
    );
  });
});

describe('fragments', () => {
  test.each([
    ['{ author { ...x } }', 'validation-failed: reference to undefined fragment "x" @ $.selectionSet.author.selectionSet'],
    [
      '{ author { ...a } } fragment a on author { articles { ...b } } fragment b on article { author { ...a } }',
      'validation-failed: the fragment definition(s) a and b form a cycle @ $.selectionSet.author.selectionSet.a.selectionSet.articles.selectionSet.b.selectionSet.author.selectionSet',
    ],
    [
      '{ ...a } fragment a on query_root { ...a }',
      'validation-failed: the fragment definition(s) a form a cycle @ $.selectionSet.a.selectionSet',
    ],
    [
      '{ ...x } fragment x on query_root { ...a } fragment a on query_root { ...b } fragment b on query_root { ...c } fragment c on query_root { ...a }',
      'validation-failed: the fragment definition(s) a, b and c form a cycle @ $.selectionSet.x.selectionSet.a.selectionSet.b.selectionSet.c.selectionSet',
    ],
    ['{ notice } fragment x on author { id } fragment x on author { id }', 'parse-failed: multiple definitions for fragment "x" @ $'],
  ])('%s', (query, message) => expect(refusal(query)).toBe(message));

  test('unused fragments are not checked', () => {
    expect(refusal('{ notice } fragment x on nowhere { ...y ...x a(b: $c) }')).toBe('accepted');
  });

  test('a fragment inside a sibling is not a cycle', () => {
    expect(refusal('{ author { ...a ...b } } fragment a on author { ...b } fragment b on author { id }')).toBe('accepted');
  });
});

describe('duplicate names', () => {
  test.each([
    ['query ($x: Int, $x: Int) { notice }', 'parse-failed: multiple definitions for variable "x" @ $'],
    ['{ author(limit: 1, limit: 2) { id } }', 'parse-failed: multiple definitions for argument "limit" @ $.selectionSet.author'],
    ['{ author(where: {id: {}, id: {}}) { id } }', 'parse-failed: multiple definitions for input field "id" @ $.selectionSet.author'],
  ])('%s', (query, message) => expect(refusal(query)).toBe(message));
});

describe('directives', () => {
  test.each([
    ['{ author @x { id } }', "directive 'x' is not defined in the schema @ $.selectionSet.author"],
    ['{ ...F @x } fragment F on query_root { notice }', "directive 'x' is not defined in the schema @ $.selectionSet"],
    ['query @include(if: true) { notice }', "directive 'include' is not allowed on a query @ $"],
    ['mutation @cached { delete_author(where: {}) { id } }', "directive 'cached' is not allowed on a mutation @ $"],
    ['query ($x: Int @skip(if: true)) { notice }', "directive 'skip' is not allowed on a variable definition @ $"],
    [
      '{ ...F } fragment F on query_root @skip(if: true) { notice }',
      "directive 'skip' is not allowed on a fragment definition @ $.selectionSet.F",
    ],
    ['{ notice @cached }', "directive 'cached' is not allowed on a field @ $.selectionSet.notice"],
    ['{ notice @deprecated }', "directive 'deprecated' is not allowed on a field @ $.selectionSet.notice"],
    [
      '{ notice @include(if: true) @include(if: true) }',
      "the following directives are used more than once: ['include'] @ $.selectionSet.notice",
    ],
    ['{ notice @include }', "missing required field 'if' @ $.selectionSet.notice.if"],
    ['{ notice @include(if: true, unless: true) }', "'include' has no argument named 'unless' @ $.selectionSet.notice"],
    ['{ notice @include(if: "yes") }', "expected a boolean for type 'Boolean', but found a string @ $.selectionSet.notice.if"],
    ['{ notice @include(if: null) }', "unexpected null value for type 'Boolean' @ $.selectionSet.notice.if"],
    [
      'query ($x: Int!) { notice @skip(if: $x) }',
      "variable 'x' is declared as 'Int!', but used where 'Boolean!' is expected @ $.selectionSet.notice.if",
    ],
    ['query @cached(ttl: "a") { notice }', "expected a 32-bit integer for type 'Int', but found a string @ $.directives.ttl"],
  ])('%s', (query, message) => {
    const variables: Record<string, number> = query.includes('$x: Int!') ? { x: 1 } : {};
    expect(refusal(query, { variables })).toBe(`validation-failed: ${message}`);
  });

  test('@cached sets how long the answer is cached', () => {
    expect(translate('query ($t: Int!) @cached(ttl: $t, refresh: true) { notice }', { variables: { t: 5 } })).toEqual({
      ...translate('{ notice }'),
      constraints: expect.anything(),
      cached: { ttl: 5, refresh: true },
    });
    expect(translate('query @cached { notice }').cached).toEqual({ ttl: 60, refresh: false });
  });
});
