import fc from 'fast-check';
import { expect, it } from 'vitest';
import { runs } from '../../test/support/deep.ts';
import { JsonNumber } from '../util/json.ts';
import { runSync } from '../util/cooperative.ts';
import { shareCooperatively, shareUnchanged } from './share.ts';

type Value = null | string | number | JsonNumber | readonly Value[] | { readonly [key: string]: Value } | ReadonlyMap<string, Value>;

const { value } = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 7 },
    fc.constantFrom<Value>(null, 'a', 'b', 1, new JsonNumber('1e400')),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('x', 'y', 'z'), tie('value'), { maxKeys: 3 }),
    fc.array(fc.tuple(fc.constantFrom('x', 'y', 'z'), tie('value')), { maxLength: 3 }).map((entries) => new Map(entries)),
  ),
}));

/** Lists for each part of a value, in the order of a walk, whether it is identical to a part of another value. */
function sharedParts(value: Value, of: ReadonlySet<unknown>): readonly boolean[] {
  if (typeof value !== 'object' || value === null || value instanceof JsonNumber) return [];
  const parts = value instanceof Map ? [...value.values()] : Object.values(value);
  return [of.has(value), ...parts.flatMap((part: Value) => sharedParts(part, of))];
}

function partsOf(value: Value): readonly unknown[] {
  if (typeof value !== 'object' || value === null || value instanceof JsonNumber) return [];
  const parts = value instanceof Map ? [...value.values()] : Object.values(value);
  return [value, ...parts.flatMap((part: Value) => partsOf(part))];
}

it('shares the same parts cooperatively and at once', () => {
  fc.assert(
    fc.property(value, value, fc.boolean(), (before, other, isCopy) => {
      const after = isCopy ? copyOf(before) : other;
      const [atATime, whole] = [runSync(shareCooperatively(before, after)), shareUnchanged(before, after)];
      const known = new Set(partsOf(before));
      expect(atATime).toEqual(after);
      expect(sharedParts(atATime, known)).toEqual(sharedParts(whole, known));
    }),
    runs(500),
  );
});

it.each<[string, (items: readonly object[]) => unknown]>([
  ['maps', (items) => ({ tables: new Map(items.map((item, i) => [`t${i}`, item])) })],
  ['lists', (items) => ({ tables: items })],
])('compares few parts of wide %s in a step, whether they have changed or not', (_kind, holding) => {
  let looks = 0;
  const part = (value: number): object =>
    Object.defineProperty({}, 'x', {
      enumerable: true,
      get: () => {
        looks += 1;
        return value;
      },
    });
  const parts = (changed: boolean): unknown => holding(Array.from({ length: 500 }, (_, i) => part(changed && i % 2 === 0 ? -1 : i)));
  const work = shareCooperatively(parts(false), parts(true));
  let most = 0;
  for (let before = looks; work.next().done !== true; before = looks) most = Math.max(most, looks - before);
  // A step reads at most two items of both sides, each for the comparison and for the copy.
  expect(looks).toBeGreaterThanOrEqual(1000);
  expect(most).toBeLessThan(16);
});

it('preserves a key named __proto__', () => {
  const document = (text: string): unknown => JSON.parse(text);
  const [before, after] = [document('{"a":{"__proto__":{"x":1}},"b":1}'), document('{"a":{"__proto__":{"x":1}},"b":2}')];
  const shared = runSync(shareCooperatively(before, after)) as { readonly a: unknown };
  expect(JSON.stringify(shared)).toBe('{"a":{"__proto__":{"x":1}},"b":2}');
  expect(shared.a).toBe((before as { readonly a: unknown }).a);
});

function copyOf(value: Value): Value {
  if (value instanceof Map) return new Map([...value].map(([key, part]) => [key, copyOf(part as Value)]));
  if (Array.isArray(value)) return value.map((part: Value) => copyOf(part));
  if (typeof value !== 'object' || value === null || value instanceof JsonNumber) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, copyOf(part as Value)]));
}
