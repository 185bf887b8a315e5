import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scanJson, UNLIMITED, USUAL_SHAPES } from './json-scan.ts';
import { runs } from '../../test/support/deep.ts';

const scan = (text: string) => scanJson(text, UNLIMITED);
const size = (text: string): number => scanJson(text, { depth: 100, size: 1e9 }).size;

describe('scanJson', () => {
  it.each([
    ['1', 1],
    ['"a"', 1],
    ['"\\n"', 2],
    ['true', 1],
    ['[false,null]', 3],
    ['1.5', 2],
    ['1.50', 4],
    ['1e3', 3],
    ['1234567890123456', 3],
    ['1'.repeat(100), 3],
    [`0.${'0'.repeat(200)}1e-40`, 1 + 1 + 2 + 107],
    ['[]', 1],
    ['[[],[ ] , []]', 4],
    ['{}', 4],
    ['{"a":1}', 5],
    ['{"a\\n":{"b":"c"}, "d" : [1,-2]}', 4 + 1 + 4 + 1 + 1 + 2],
    ['"a\\"[[[{1,2"', 2],
    [`"${'x'.repeat(30)}\\"[[[{1,2"`, 1],
    [`"${'x'.repeat(30)}\\\\"`, 1],
  ])('%s weighs %i', (text, weight) => expect(size(text)).toBe(weight));

  it('adds weight for new shapes beyond the usual number', () => {
    const objects = (count: number): string => `[${Array.from({ length: count }, (_, n) => `{"k${n}":1}`).join()}]`;
    expect(size(objects(USUAL_SHAPES))).toBe(1 + 5 * USUAL_SHAPES);
    // A few shapes are missed, because shapes may share a slot.
    expect(size(objects(3 * USUAL_SHAPES))).toBeGreaterThan(1 + 5 * 3 * USUAL_SHAPES + 10 * 1.8 * USUAL_SHAPES);
    const few = `[${Array.from({ length: 5000 }, (_, n) => `{"k${n % 500}":1}`).join()}]`;
    expect(size(few)).toBe(1 + 5 * 5000);
    // The same keys, in pairs that are all different.
    const pairs = `[${Array.from({ length: 10_000 }, (_, n) => `{"a${n % 100}":1,"b${Math.floor(n / 100)}":1}`).join()}]`;
    expect(size(pairs)).toBeGreaterThan(1 + 6 * 10_000 + 10 * 8000);
    // A shape is made of the keys of one object, whatever its values hold.
    const nested = `[${Array.from({ length: 5000 }, (_, n) => `{"a":{"b":[{"c":${n}}]},"d":{"e":1}}`).join()}]`;
    expect(size(nested)).toBe(1 + 5000 * (4 * 4 + 1 + 2));
  });

  it('returns the depth', () => {
    expect(scan('[{"a":[[]]},[]]').depth).toBe(4);
    expect(scan('"[[["').depth).toBe(0);
  });

  it('stops when a limit is exceeded', () => {
    expect(scanJson('['.repeat(1000), { depth: 10, size: 1e9 }).depth).toBe(11);
    const found = scanJson('1,'.repeat(1000), { depth: 10, size: 20 }).size;
    expect(found).toBe(21);
  });

  it('detects numbers that JavaScript does not print unchanged', () => {
    const numberText = fc
      .tuple(
        fc.constantFrom('', '-'),
        fc.oneof(fc.constant('0'), fc.stringMatching(/^[1-9]\d{0,17}$/)),
        fc.stringMatching(/^(\.(0{0,8})\d{1,12})?$/),
      )
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(numberText, (text) => {
        // Numbers with more digits may also survive.
        if (scan(`[${text}]`).lossless) expect(JSON.stringify(JSON.parse(text))).toBe(text);
        else if (text.replace(/\D/g, '').length <= 15) expect(JSON.stringify(JSON.parse(text))).not.toBe(text);
      }),
      runs(5000),
    );
    for (const text of ['0', '-1', '1.5', '-0.5', '0.000001', '999999999999999', '123456789.012345'])
      expect(scan(text).lossless, text).toBe(true);
    for (const text of ['-0', '-0.0', '1.0', '0.10', '0.0000001', '1e3', '1E3', '1234567890123456', '[1,1.5,2.50]']) {
      expect(scan(text).lossless, text).toBe(false);
    }
  });

  it.each(['"', '"\\', '-', '1.', '.', '}]', ':', '{"a', '[1,', '"\\"', 't'])('survives %j', (text) => {
    expect(scan(text).depth).toBeLessThan(2);
  });
});
