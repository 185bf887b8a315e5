import { describe, expect, test } from 'vitest';
import { refusal } from '../../../test/support/small-engine.ts';
import { DEFAULT_LIMITS } from '../engine.ts';
import { readDocument } from '../document.ts';
import { checkDocument } from './check.ts';

const NONE = new Map<string, never>();
const visited = (query: string): number =>
  checkDocument(readDocument(query, null, 1_000_000), NONE, {
    maxDepth: 100_000,
    maxValues: Number.POSITIVE_INFINITY,
    maxObjects: Number.POSITIVE_INFINITY,
    maxAliases: Number.POSITIVE_INFINITY,
    maxTokens: 1_000_000,
  }).visited;

/** Fragments that each spread the next one twice: 2^levels fields when expanded. */
function bomb(levels: number): string {
  const fragments = Array.from(
    { length: levels },
    (_, i) => `fragment F${i} on author { a: articles { author { ...F${i + 1} } } b: articles { author { ...F${i + 1} } } }`,
  );
  return `{ author { ...F0 } } ${fragments.join(' ')} fragment F${levels} on author { id }`;
}

describe('work is linear in the document', () => {
  test.each([
    ['fragments spread twice each', bomb],
    ['one fragment spread often', (n: number) => `{ author { ${'...F '.repeat(n)} } } fragment F on author { ${'id '.repeat(n)} }`],
    [
      'a chain of fragments',
      (n: number) =>
        `{ ...F0 } ${Array.from({ length: n }, (_, i) => `fragment F${i} on query_root { ...F${i + 1} }`).join(' ')} fragment F${n} on query_root { notice }`,
    ],
    ['aliases', (n: number) => `{ author { ${Array.from({ length: n }, (_, i) => `a${i}: id`).join(' ')} } }`],
    ['nested values', (n: number) => `{ author(where: ${'{_not: '.repeat(n)}{}${'}'.repeat(n)}) { id } }`],
  ])('%s', (_name, make) => {
    const small = visited(make(50));
    const large = visited(make(500));
    expect(large).toBeGreaterThan(small);
    expect(large).toBeLessThanOrEqual(small * 10);
  });
});

test('uses of variables are counted where fragments are spread', () => {
  const query = `query ($a: Int, $b: Int, $c: Int) { ...F x: author(limit: $c) { ...G } y: author(limit: $c) { ...G } }
    fragment F on query_root { p: author(limit: $a) { ...G } q: author(limit: $b) { ...G ...H } }
    fragment G on author { articles(limit: $a) { id } ...H }
    fragment H on author { r: articles(limit: $b, offset: $b) { id } }`;
  const declared = new Set(['a', 'b', 'c']);
  const { variableUses } = checkDocument(readDocument(query, null, 1000), declared, DEFAULT_LIMITS);
  // G is spread 4 times, H 5 times.
  expect(Object.fromEntries(variableUses)).toEqual({ a: 1 + 4, b: 1 + 2 * 5, c: 2 });
});

describe('long names and values', () => {
  const limits = { ...DEFAULT_LIMITS, maxAliases: 10, maxTokens: 1000 };
  const check = (query: string) => checkDocument(readDocument(query, null, limits.maxTokens), NONE, limits);
  const alias = (count: number, length: number): string =>
    Array.from({ length: count }, (_, i) => `${'a'.repeat(length - 1)}${i}: id`).join(' ');
  const TOO_LONG = 'the operation has more than 640 characters of aliases';

  test('limits the total length of aliases', () => {
    expect(() => check(`{ author { ${alias(10, 64)} } }`)).not.toThrow();
    expect(() => check(`{ author { ${alias(1, 640)} } }`)).not.toThrow();
    expect(() => check(`{ author { ${alias(1, 641)} } }`)).toThrow(TOO_LONG);
    expect(() => check(`{ author { ${alias(10, 65)} } }`)).toThrow(TOO_LONG);
    expect(() => check(`{ author { ...F ...F } } fragment F on author { ${alias(1, 400)} }`)).toThrow(TOO_LONG);
  });

  test.each([
    ['a text', (length: number) => `"${'x'.repeat(length)}"`],
    ['a number', (length: number) => '1'.repeat(length)],
    ['a key', (length: number) => `{${'x'.repeat(length)}: 1}`],
  ])('%s counts wherever its fragment is spread', (_name, value) => {
    const query = (length: number, times: number): string =>
      `{ author { ${'...F '.repeat(times)} } } fragment F on author { articles(where: {title: {_eq: ${value(length)}}}) { id } }`;
    expect(() => check(query(90_000, 3))).not.toThrow();
    expect(() => check(query(90_000, 4))).toThrow('the operation has more than 300000 characters in its values');
    expect(() => check(query(90, 100))).not.toThrow();
  });
});

describe('limits', () => {
  const DEEP = 'validation-failed: the operation is nested deeper than 200 levels @ $';
  const LARGE = 'validation-failed: the operation has more than 20000 fields and values @ $';
  const nested = (levels: number): string => `{ author { ${'articles { author { '.repeat(levels / 2)} id ${'} } '.repeat(levels / 2)} } }`;
  const chained = (levels: number): string =>
    `{ author { ...F0 } } ${Array.from({ length: levels }, (_, i) => `fragment F${i} on author { ...F${i + 1} }`).join(' ')} fragment F${levels} on author { id }`;

  test.each([
    ['fields at the limit', nested(198), 'accepted'],
    ['fields beyond it', nested(200), DEEP],
    ['inline fragments', `{ author { ${'... { '.repeat(250)} id ${'} '.repeat(250)} } }`, DEEP],
    ['a chain of fragments', chained(250), DEEP],
    ['a chain of fragments at the limit', chained(197), 'accepted'],
    ['a long chain reached first by a short way', `{ author { ...F190 ...F0 } } ${chained(250).slice(21)}`, DEEP],
    ['input objects', `{ author(where: ${'{_not: '.repeat(250)}{}${'}'.repeat(250)}) { id } }`, DEEP],
    ['lists', `{ author(where: {data: {_eq: ${'['.repeat(250)}${']'.repeat(250)}}}) { id } }`, DEEP],
    ['a fragment bomb', bomb(30), 'validation-failed: the operation has more than 1000 fields with a selection @ $'],
    [
      'values in a fragment that is spread often',
      `{ ${Array.from({ length: 300 }, (_, i) => `a${i}: author { ...F }`).join(' ')} } fragment F on author { articles(where: {id: {_in: [${'1 '.repeat(100)}]}}) { id } }`,
      LARGE,
    ],
  ])('%s', (_name, query, message) => expect(refusal(query)).toBe(message));

  test('limits fields with a selection, and aliases, with fragments expanded', () => {
    const limits = { ...DEFAULT_LIMITS, maxObjects: 4, maxAliases: 3 };
    const ask = (query: string): string => refusal(query, { options: { limits } });
    expect(ask('{ a: author { articles { id } } author { ...F } } fragment F on author { articles { x: id y: id } }')).toBe('accepted');
    expect(ask('{ author { ...F a: articles { id } } } fragment F on author { articles { author { articles { id } } } }')).toBe(
      'validation-failed: the operation has more than 4 fields with a selection @ $',
    );
    expect(ask('{ author { ...F } b: author { ...F } } fragment F on author { x: id y: id }')).toBe(
      'validation-failed: the operation has more than 3 aliases @ $',
    );
  });

  test('rejects a document that is nested deeper than the parser supports', () => {
    const message = 'validation-failed: the document has brackets inside each other, more than 1024 levels deep @ $.query';
    expect(refusal('{ author '.repeat(20_000))).toBe(message);
    expect(refusal(`{ author(where: ${'['.repeat(40_000)}`)).toBe(message);
    expect(refusal(`query ($a: ${'['.repeat(2000)}Int${']'.repeat(2000)}) { notice }`)).toBe(message);
    expect(refusal(`query ($a: Int = ${'{a:'.repeat(2000)}1${'}'.repeat(2000)}) { notice }`)).toBe(message);
  });

  test('rejects more tokens than allowed', () => {
    expect(refusal('{ notice notice }', { options: { limits: { ...DEFAULT_LIMITS, maxTokens: 3 } } })).toBe(
      'validation-failed: the document has more than 3 tokens @ $.query',
    );
    expect(refusal('{ notice }', { options: { limits: { ...DEFAULT_LIMITS, maxTokens: 3 } } })).toBe('accepted');
  });
});
