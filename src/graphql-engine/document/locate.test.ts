import { expect, it } from 'vitest';
import { along, ROOT } from '../../util/path.ts';
import { locationsOf } from './locate.ts';

const find = (query: string, ...keys: readonly (string | number)[]) =>
  locationsOf(query, null, along(ROOT, ...keys)).map(({ line, column }) => `${line}:${column}`);

it.each<[string, readonly (string | number)[], readonly string[]]>([
  ['{ a { b } }', ['selectionSet', 'a', 'selectionSet', 'b'], ['1:7']],
  ['{ a {\r\n b } }', ['selectionSet', 'a', 'selectionSet', 'b'], ['2:2']],
  ['{ a { ... on T { b } } }', ['selectionSet', 'a', 'selectionSet', 'b'], ['1:18']],
  ['{ a { ...F ...F } } fragment F on T { b }', ['selectionSet', 'a', 'selectionSet', 'b'], ['1:39']],
  ['{ a(x: [1, {y: 2}]) }', ['selectionSet', 'a', 'args', 'x', 1, 'y'], ['1:13']],
  ['{ a(args: {selectionSet: 1}) }', ['selectionSet', 'a', 'args', 'args', 'selectionSet'], ['1:12']],
  ['{ a }', ['selectionSet', 'missing'], ['1:1']],
  ['{ a }', ['query'], []],
  ['{ a }', [], []],
  ['{ a', ['selectionSet', 'a'], []],
])('finds in %s the position of %j', (query, keys, expected) => {
  expect(find(query, ...keys)).toEqual(expected);
});

it('chooses the operation by its name', () => {
  const query = 'query A { a } query B { b }';
  expect(locationsOf(query, 'B', along(ROOT, 'selectionSet', 'b'))).toEqual([{ line: 1, column: 25 }]);
  expect(locationsOf(query, 'C', along(ROOT, 'selectionSet', 'b'))).toEqual([]);
});

it('gives up in a document whose search would visit too many nodes', () => {
  const document = (fields: number): string => `{ ${'a { ...F } '.repeat(fields)} } fragment F on T { ${'a { ...F } '.repeat(fields)} }`;
  const path = Array.from({ length: 200 }, (_, n) => (n % 2 === 0 ? 'selectionSet' : 'a'));
  expect(find(document(1), ...path)).toHaveLength(1);
  expect(find(document(4), ...path)).toHaveLength(4);
  expect(find(document(900), ...path)).toEqual([]);
});
