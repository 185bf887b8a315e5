import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { runs } from '../../test/support/deep.ts';
import { type Json, parseJson, printJson } from './json.ts';
import { UNLIMITED } from '../model/json-scan.ts';
import { parseInSlices } from './json-slices.ts';
import { atOnce } from './sliced.ts';

const parse = (text: string, chunk?: number): Json | undefined => atOnce(parseInSlices(text, UNLIMITED, chunk)).json;
const fails = (read: () => unknown): boolean => {
  try {
    read();
    return false;
  } catch (error) {
    expect(error).toBeInstanceOf(SyntaxError);
    return true;
  }
};
const blanks = fc.constantFrom('', '', ' ', '\n\t');

describe('JSON that is parsed in pieces', () => {
  it('is what it is when it is parsed at once', () => {
    const property = fc.property(
      fc.jsonValue({ maxDepth: 5 }),
      fc.integer({ min: 1, max: 30 }),
      fc.integer({ min: 0, max: 2 }),
      (json, chunk, indent) => {
        const text = JSON.stringify(json, null, indent);
        expect(printJson(parse(text, chunk) as Json)).toBe(printJson(parseJson(text)));
      },
    );
    fc.assert(property, runs(5000, 500));
  });

  it('is refused where it is none', () => {
    const token = fc.constantFrom('[', ']', '{', '}', ',', ',', ':', '"a"', '"b,["', '1', 'null', '"\\""', '"', 'x');
    const property = fc.property(fc.array(fc.tuple(token, blanks), { maxLength: 12 }), fc.integer({ min: 0, max: 4 }), (tokens, chunk) => {
      const text = tokens.flat().join('');
      expect([text, fails(() => parse(text, chunk))]).toEqual([text, fails(() => parseJson(text))]);
    });
    fc.assert(property, runs(20_000, 3000));
  });

  test.each([
    '[1,,2]',
    '[[1,2],]',
    '[[1,2][3,4]]',
    '[[1,2]5]',
    '{"a":[1,2],}',
    '{"a":[1,2]"b":1}',
    '{"a" [1,2]}',
    '{[1,2]}',
    '{"a":1,[1,2]}',
    '[1,2}',
    '[[1,2]',
    '[1,2]]',
    '[1,2] x',
    'x [1,2]',
    '[,1,2]',
    '[ ,[1,2]]',
    '{"a":1 "b":[1,2]}',
  ])('%s is none', (text) => expect(() => parse(text, 1)).toThrow(SyntaxError));

  test.each([
    '{"__proto__":[1,2],"a":1}',
    '{"a":[1,2],"b":1,"a":{"c":1,"d":2}}',
    '[12345678901234567890,1.10,[1,2]]',
    '{"":[1,2],"\\u0061":[3,4]}',
  ])('%s keeps keys and numbers', (text) => expect(printJson(parse(text, 1) as Json)).toBe(printJson(parseJson(text))));

  it('ends with the first limit that is passed', () => {
    const limited = (text: string, depth: number, size: number) => atOnce(parseInSlices(text, { depth, size }, 4));
    expect(limited('[[[1,2,3,4,5,6]]]', 2, 100)).toMatchObject({ json: undefined, depth: 3 });
    expect(limited('[1,2,3,4,5,6,7,8,9,10]', 9, 5).json).toBeUndefined();
    expect(limited('[1,2,3,4,5,6,7,8,9,10]', 1, 100).json).toHaveLength(10);
  });

  it('leaves time to others', () => {
    const rows = JSON.stringify({ data: { rows: Array.from({ length: 50_000 }, (_, id) => ({ id, name: 'x'.repeat(20) })) } });
    let pauses = 0;
    for (const work = parseInSlices(rows, UNLIMITED); work.next().done !== true; ) pauses += 1;
    expect(pauses).toBeGreaterThan(rows.length / 200_000);
  });
});
