import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../test/support/deep.ts';
import { type Bytes, bytesOfText, type GeneratedBytes, textOfBytes } from './bytes.ts';
import { type JsonLayout, applyLayout, layoutKey } from './json-layout.ts';
import { runSync, type Cooperative } from './cooperative.ts';

type Tree = null | string | number | readonly Tree[] | { readonly [key: string]: Tree };

/** Does on values what `applyLayout` does on text. */
function printed(value: Tree, layout: JsonLayout): string {
  if (Array.isArray(value)) return `[${value.map((item: Tree) => printed(item, layout)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const values = Object.values(value as Readonly<Record<string, Tree>>);
  const entries = layout.map(
    ({ key, from, inner }) =>
      textOfBytes([key]) + (inner === null ? JSON.stringify(values[from] as Tree) : printed(values[from] as Tree, inner)),
  );
  return `{${entries.join(',')}}`;
}

/** `applyLayout`, which counts each byte once. */
function* measured(text: Bytes, layout: JsonLayout): Cooperative<GeneratedBytes> {
  let counted = 0;
  const made = yield* applyLayout(text, layout, (bytes) => {
    counted += bytes;
  });
  expect(counted).toBe(made.length);
  return made;
}

function print(text: Bytes, layout: JsonLayout): { readonly text: string; readonly length: number } {
  const made = runSync(measured(text, layout));
  return { text: textOfBytes([...made.pieces()]), length: made.length };
}

const WIDTH = 3;
const name = fc.string({ unit: 'grapheme', maxLength: 4 });
const { value, layout } = fc.letrec<{ value: Tree; layout: JsonLayout }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'medium', maxDepth: 4 },
    fc.constantFrom<Tree>(
      null,
      1,
      -2.5e30,
      'a',
      '\\"{[,:]}',
      '"',
      '\\',
      'ü€😀',
      'x'.repeat(20_000),
      '\\'.repeat(40_000),
      `${'y'.repeat(65_535)}"z`,
    ),
    fc.array(tie('value'), { maxLength: 4 }),
    fc
      .array(tie('value'), { minLength: WIDTH, maxLength: WIDTH })
      .map((items) => Object.fromEntries(items.map((item, i) => [`k"${i}`, item]))),
  ),
  layout: fc.array(
    fc
      .tuple(name, fc.nat(WIDTH - 1), fc.option(tie('layout') as fc.Arbitrary<JsonLayout>, { maxDepth: 4 }))
      .map(([key, from, inner]) => ({ key: layoutKey(key), from, inner })),
    { maxLength: 4 },
  ),
}));

test('prints any JSON with its layout, and reports the right length', () => {
  fc.assert(
    fc.property(value, layout, fc.constantFrom(undefined, 1), (tree, keys, indent) => {
      const { text, length } = print(bytesOfText(JSON.stringify(tree, null, indent)), keys);
      // Values that are printed unchanged keep their white space.
      expect(JSON.stringify(tree) === undefined ? '' : indent === undefined ? text : text.length > 0).toEqual(
        indent === undefined ? printed(tree, keys) : true,
      );
      if (indent !== undefined) expect(text.replace(/\s+/g, '')).toBe(printed(tree, keys).replace(/\s+/g, ''));
      expect(length).toBe(bytesOfText(text).length);
    }),
    runs(2000, 60),
  );
});

test('prints a value of a megabyte under many names without copying it', () => {
  const text = bytesOfText(JSON.stringify({ a: 'x'.repeat(1_000_000) }));
  const keys: JsonLayout = Array.from({ length: 480 }, (_, i) => ({ key: layoutKey(`a${i}`), from: 0, inner: null }));
  const made = runSync(measured(text, keys));
  let size = 0;
  let longest = 0;
  for (const piece of made.pieces()) {
    size += piece.length;
    longest = Math.max(longest, piece.length);
  }
  expect(size).toBe(made.length);
  expect(size).toBeGreaterThan(480_000_000);
  expect(longest).toBeLessThan(200_000);
});

test('pauses while reading, with little output and with many values', () => {
  const numbers = `[${'12345,'.repeat(200_000)}0]`;
  const objects = `[${Array.from({ length: 50_000 }, () => '{"k":1,"l":2}').join()}]`;
  const one: JsonLayout = [{ key: layoutKey('a'), from: 0, inner: null }];
  const texts: readonly (readonly [text: string, keys: JsonLayout])[] = [
    [`{"a":1,"b":${numbers}}`, one],
    [`{"a":${numbers}}`, one],
    [objects, one],
    [objects, []],
    ...['x', '\\\\', '\\"'].flatMap((each): (readonly [string, JsonLayout])[] => {
      const string = `"${each.repeat(1_000_000 / each.length)}"`;
      return [
        [`{"a":${string}}`, one],
        [`{"a":1,"b":${string}}`, one],
        [`{"a":[{"b":${string}}]}`, one],
      ];
    }),
  ];
  for (const [text, keys] of texts) {
    const walk = measured(bytesOfText(text), keys);
    let pauses = 0;
    let step = walk.next();
    for (; step.done !== true; step = walk.next()) pauses += 1;
    const pieces = [...step.value.pieces()];
    expect(pauses).toBeGreaterThanOrEqual(Math.floor(text.length / 200_000));
    expect(pieces.length).toBeGreaterThanOrEqual(pauses);
  }
});

test('reads a value in nested layouts only once', () => {
  const depth = 200;
  const reads = (levels: number): number => {
    let text = `"${'x'.repeat(20)}"`;
    let keys: JsonLayout = [{ key: layoutKey('x'), from: 0, inner: null }];
    text = `{"x":[${`${text},`.repeat(20_000)}1]}`;
    for (let i = 0; i < levels; i++) {
      text = `{"a":${text}}`;
      keys = [{ key: layoutKey('b'), from: 0, inner: keys }];
    }
    const walk = measured(bytesOfText(text), keys);
    let pauses = 0;
    while (walk.next().done !== true) pauses += 1;
    return pauses;
  };
  expect(reads(depth)).toBeLessThanOrEqual(reads(0) + 2);
});
