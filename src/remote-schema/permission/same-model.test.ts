import { buildSchema, introspectionFromSchema } from 'graphql';
import { expect, test } from 'vitest';
import type { Json } from '../../util/json.ts';
import { modelFromIntrospection } from '../from-introspection.ts';
import { runSync } from '../../util/cooperative.ts';
import { roleModel } from './role-model.ts';
import { sameModel } from './same-model.ts';

const upstream = runSync(
  modelFromIntrospection(
    introspectionFromSchema(
      buildSchema('type Query { a(x: Int, y: Int): Int u: U } type A { a: Int b: Int } type B { b: Int } union U = A | B'),
    ) as unknown as Json,
  ),
);
const A = 'type Query { a(x: Int, y: Int @preset(value: 1)): Int u: U } type A { a: Int } type B { b: Int } union U = A | B';

test.each([
  [true, A],
  [true, `"this" union U = B | A type A { a: Int } type B { "that" b: Int } type Query { u: U a(y: Int @preset(value: 1), x: Int): Int }`],
  [true, `schema { query: Query } ${A}`],
  [false, A.replace('value: 1', 'value: 2')],
  [false, A.replace('value: 1', 'value: "x-svc-y"')],
  [false, A.replace('@preset(value: 1)', '')],
  [false, A.replace('a: Int }', 'a: Int b: Int }')],
  [false, A.replace('A | B', 'A')],
  [false, `schema { mutation: Query } ${A}`.replace('mutation: Query', 'mutation: Nothing')],
])('%s: %s', (same, sdl) => {
  expect(sameModel(roleModel(A, upstream), roleModel(sdl, upstream))).toBe(same);
});
