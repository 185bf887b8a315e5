import { expect, it } from 'vitest';
import { operationHash } from './operation-hash.ts';

const SAME = operationHash('query A($id: Int) { author(where: {id: {_eq: $id}}) { id name } }', null);

it.each([
  ['another name', 'query B($x: Int) { author(where: {id: {_eq: $x}}) { id name } }'],
  ['literals', '{ author(where: {id: {_eq: 12}}) { id name } }'],
  ['aliases', '{ a: author(where: {id: {_eq: 1}}) { b: id name } }'],
  ['directives', '{ author(where: {id: {_eq: 1}}) @include(if: true) { id name } }'],
  ['fragments', '{ author(where: {id: {_eq: 1}}) { ...F ... { name } } } fragment F on author { id }'],
])('is equal for operations with %s', (_, query) => {
  expect(operationHash(query, null)).toBe(SAME);
});

it.each([
  ['fields', '{ author(where: {id: {_eq: 1}}) { id } }'],
  ['operators', '{ author(where: {id: {_gt: 1}}) { id name } }'],
  ['kinds', 'subscription { author(where: {id: {_eq: 1}}) { id name } }'],
])('differs for operations with other %s', (_, query) => {
  expect(operationHash(query, null)).not.toBe(SAME);
});

it('chooses the operation by its name', () => {
  const both = 'query A { a } query B { b }';
  expect(operationHash(both, 'B')).toBe(operationHash('{ b }', null));
});

it('stops when fragments multiply', () => {
  const levels = Array.from({ length: 40 }, (_, i) => `fragment F${i} on t { ...F${i + 1} ...F${i + 1} }`);
  expect(operationHash(`{ t { ...F0 } } ${levels.join(' ')} fragment F40 on t { id }`, null)).toMatch(/^[0-9a-f]{40}$/);
});
