import { expect, it } from 'vitest';
import type { Json, JsonObject } from '../../util/json.ts';
import { differenceOf } from './expectations.ts';

const differs = (query: string, expected: Json, received: Json, variables: JsonObject = {}): boolean =>
  differenceOf(
    { name: 'a', place: {}, role: 'user', headers: {}, flaw: undefined, query, variables, expect: { data: expected } },
    { data: received },
  ) !== undefined;

it('compares a list with order only if its field has order_by', () => {
  const [expected, received] = [{ a: [{ b: 1 }, { b: 2 }] }, { a: [{ b: 2 }, { b: 1 }] }];
  expect(differs('{ a { b } }', expected, received)).toBe(false);
  expect(differs('{ a(order_by: {b: asc}) { b } }', expected, received)).toBe(true);
  expect(differs('query ($o: O) { a(order_by: $o) { b } }', expected, received)).toBe(false);
  expect(differs('query ($o: O) { a(order_by: $o) { b } }', expected, received, { o: { b: 'asc' } })).toBe(true);
  expect(differs('{ x: a(order_by: {b: asc}) { b } a { b } }', expected, received)).toBe(false);
  expect(differs('{ ...f } fragment f on Q { a(order_by: {b: asc}) { b } ...f }', expected, received)).toBe(true);
});

it('compares each nested list by its own field, and lists in values with order', () => {
  const rows = (...names: readonly string[]): Json => ({ a: [{ c: names.map((name) => ({ name })) }] });
  expect(differs('{ a(order_by: {b: asc}) { c { name } } }', rows('x', 'y'), rows('y', 'x'))).toBe(false);
  expect(differs('{ a { c(order_by: {name: asc}) { name } } }', rows('x', 'y'), rows('y', 'x'))).toBe(true);
  expect(differs('{ a { roles } }', { a: [{ roles: ['x', 'y'] }] }, { a: [{ roles: ['y', 'x'] }] })).toBe(true);
  expect(differs('{ a { c { name } } }', rows('x', 'y'), rows('x', 'x', 'y'))).toBe(true);
  expect(differs('{ a { c { name } } }', rows('x', 'y', 'y'), rows('x', 'x', 'y'))).toBe(true);
});
