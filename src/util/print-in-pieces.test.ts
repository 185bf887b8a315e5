import fc from 'fast-check';
import { expect, it } from 'vitest';
import { runs } from '../../test/support/deep.ts';
import { type Json, JsonNumber, parseJson, printJson } from './json.ts';
import { printInPieces } from './print-in-pieces.ts';
import { runSync } from './cooperative.ts';

const { json } = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 8 },
    fc.constantFrom<Json>(null, true, 1.5, -0, 'é"\\', new JsonNumber('1e400')),
    fc.string(),
    fc.array(tie('json'), { maxLength: 4 }),
    fc.dictionary(fc.string(), tie('json'), { maxKeys: 4 }),
  ),
}));

it('returns the same text as printJson', () => {
  fc.assert(
    fc.property(json, (value) => {
      expect(runSync(printInPieces(value)).join('')).toBe(printJson(value));
    }),
    runs(200),
  );
});

it('pauses within large values of any shape', () => {
  const rows = Array.from({ length: 2000 }, (_, id) => ({ id, name: 'x'.repeat(20) }));
  for (const large of [
    rows,
    { a: { b: rows } },
    { a: [{ b: [{ c: [{ d: [{ e: rows }] }] }] }] },
    Object.fromEntries(rows.map((row) => [row.id, row])),
  ] as const) {
    const pieces = runSync(printInPieces(large));
    expect(pieces.length).toBeGreaterThan(4);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(17_000);
    expect(parseJson(pieces.join(''))).toEqual(large);
  }
});

it('splits long strings between characters', () => {
  for (const first of ['', 'x', '\ud83d', '\ude00'])
    for (const unit of ['\u{1f600}', 'x\u{1f600}\n', '\ud83d', 'é"']) {
      const value = { a: [first + unit.repeat(20_000)], b: 1 };
      const pieces = runSync(printInPieces(value));
      expect(pieces.length).toBeGreaterThan(1);
      expect(pieces.join('')).toBe(printJson(value));
    }
});
