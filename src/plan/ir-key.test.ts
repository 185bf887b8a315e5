import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../test/support/deep.ts';
import { type Json, JsonNumber, printJson } from '../util/json.ts';
import { along, ROOT } from '../util/path.ts';
import { IrKeys } from './ir-key.ts';

const column = { kind: 'column', column: 'data', type: { name: 'jsonb' } };
const literal = (json: Json) => ({ kind: 'literal', json });

function keysOf(parts: readonly object[]): readonly (number | null)[] {
  const keys = new IrKeys();
  return parts.map((part) => keys.of(part));
}

test('tells masks, JSON paths and session variables apart', () => {
  const parts = [
    { kind: 'read', read: column, jsonPath: null },
    { kind: 'read', read: column, jsonPath: literal('a') },
    { kind: 'read', read: column, jsonPath: literal('b') },
    { kind: 'read', read: { ...column, mask: { kind: 'never' } }, jsonPath: null },
    { kind: 'read', read: { ...column, mask: { kind: 'always' } }, jsonPath: null },
    { kind: 'session', name: 'x-svc-user-id' },
    { kind: 'session', name: 'x-svc-role' },
  ];
  expect(new Set(keysOf(parts)).size).toBe(parts.length);
  expect(keysOf([...parts, ...structuredClone(parts)]).slice(parts.length)).toEqual(keysOf(parts));
});

test('has no key for what calls a volatile function', () => {
  const call = (volatile?: boolean) => ({
    function: { schema: 'public', name: 'f' },
    arguments: [],
    ...(volatile === undefined ? {} : { volatile }),
  });
  const [first, second, third] = keysOf([call(true), { list: [call()] }, call(false)]);
  expect([first, second]).toEqual([null, null]);
  expect(third).not.toBeNull();
});

test('compares variables by their place, not by the function that checks them', () => {
  const variable = (kind: string, key: string, ...place: readonly string[]) => ({
    kind,
    name: 'v',
    path: [],
    key,
    at: along(ROOT, ...place),
    check: () => null,
  });
  const [first, second, third, fourth, fifth] = keysOf([
    variable('variable', 'k', 'a', 'b'),
    variable('variable', 'k', 'a', 'b'),
    variable('variable', 'k', 'a', 'c'),
    variable('members', 'k', 'a', 'b'),
    variable('members', 'l', 'a', 'b'),
  ]);
  expect(first).toBe(second);
  expect(new Set([first, third, fourth, fifth]).size).toBe(4);
});

/** Names and values that also stand for something in the IR, or that are long. */
const name = fc.constantFrom(
  'at',
  'check',
  'kind',
  'json',
  'path',
  'parent',
  'key',
  'volatile',
  'function',
  'name',
  '__proto__',
  'toJSON',
  '',
);
const { json } = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small', maxDepth: 3 },
    fc.constantFrom<Json>(null, true, 0, 1, 'literal', 'variable', '1', '#1', '$1', '{', 'x'.repeat(100), 'x'.repeat(101)),
    fc.constantFrom('1.0', '1e400', '12345678901234567890').map((text) => new JsonNumber(text)),
    fc.array(tie('json'), { maxLength: 2 }),
    fc.array(fc.tuple(name, tie('json')), { maxLength: 3 }).map((entries): Json => Object.fromEntries(entries)),
  ),
}));

test('two JSON literals have the same key exactly if they are the same JSON', () => {
  fc.assert(
    fc.property(json, json, (a, b) => {
      const [first, second, copy] = keysOf([{ operand: literal(a) }, { operand: literal(b) }, { operand: literal(a) }]);
      expect(first).not.toBeNull();
      expect(first === second).toBe(printJson(a) === printJson(b));
      expect(copy).toBe(first);
    }),
    runs(5000),
  );
});

test.each(['at', 'check', 'volatile', 'function', 'json', 'kind'])('two JSON literals that differ below "%s" have two keys', (key) => {
  const values: readonly Json[] = [null, 'x', 'y', 1, {}, { a: 1 }];
  const parts = values.map((value) => literal({ at: 1, [key]: value, kind: 'variable' }));
  const distinct = new Set(parts.map((part) => printJson(part.json))).size;
  const keys = keysOf(parts);
  expect(keys).not.toContain(null);
  expect(new Set(keys).size).toBe(distinct);
});

test('tells a literal from IR that looks like it', () => {
  const inner = { kind: 'session', name: 'x' };
  const parts = [
    literal(inner),
    inner,
    { kind: 'literal', value: inner },
    { kind: 'list', items: [literal(inner)] },
    { kind: 'list', items: [inner] },
  ];
  expect(new Set(keysOf(parts)).size).toBe(parts.length);
});
