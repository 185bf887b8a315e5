import { expect, it } from 'vitest';
import { cpuOf } from '../../../test/support/cpu.ts';
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

it('looks at a bounded number of nodes, also in cyclic fragments', async () => {
  const query = `{ ${'a { ...F } '.repeat(900)} } fragment F on T { ${'a { ...F } '.repeat(900)} }`;
  const path = along(ROOT, ...Array.from({ length: 200 }, (_, n) => (n % 2 === 0 ? 'selectionSet' : 'a')));
  // Measured 5-15 ms; without the bound 20 s.
  expect(await cpuOf(() => Promise.resolve(locationsOf(query, null, path)))).toBeLessThan(500);
});
