import { expect, test } from 'vitest';
import type { Json } from '../util/json.ts';
import { modelFromIntrospection } from './from-introspection.ts';
import { runSync } from '../util/cooperative.ts';

const STRING = { kind: 'SCALAR', name: 'String' };
const ref = (kind: string, name: string): Json => ({ kind, name });
const object = (name: string, fields: readonly Json[], interfaces: readonly Json[] = []): Json => ({
  kind: 'OBJECT',
  name,
  fields,
  interfaces,
});
const field = (name: string, type: Json, args: readonly Json[] = []): Json => ({ name, type, args });
const read = (...types: readonly Json[]) =>
  runSync(modelFromIntrospection({ data: { __schema: { queryType: { name: 'Query' }, types } } }));
const withDefault = (defaultValue: string) =>
  read(STRING, ref('SCALAR', 'Any'), object('Query', [field('a', STRING, [{ name: 'x', type: ref('SCALAR', 'Any'), defaultValue }])]));

test('limits the depth of default values, since later readers have less stack', () => {
  const nested = (depth: number) => `${'{a:['.repeat(depth / 2)}1${']}'.repeat(depth / 2)}`;
  expect(withDefault(nested(100)).types.has('Query')).toBe(true);
  expect(withDefault(`"${'['.repeat(1000)}"`).types.has('Query')).toBe(true);
  for (const depth of [102, 2000, 9000]) expect(() => withDefault(nested(depth))).toThrow('expected a value');
  expect(() => withDefault('$x')).toThrow('expected a value');
});

test('limits the total length of default values', () => {
  const long = `"${'x'.repeat(1000)}"`;
  const fields = (count: number) =>
    Array.from({ length: count }, (_, i) => field(`f${i}`, STRING, [{ name: 'x', type: STRING, defaultValue: long }]));
  expect(read(STRING, object('Query', fields(1000))).types.has('Query')).toBe(true);
  expect(() => read(STRING, object('Query', fields(600)), object('Other', fields(600)))).toThrow(
    'its default values have more than 1048576 characters',
  );
});
