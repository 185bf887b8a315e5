import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { runs } from '../../test/support/deep.ts';
import { type Json, parseJson, printJson } from './json.ts';
import { UNLIMITED } from '../model/json-scan.ts';
import { parseJsonCooperatively } from './parse-json-cooperatively.ts';
import { runSync } from './cooperative.ts';

const parse = (text: string, chunk?: number): Json | undefined => runSync(parseJsonCooperatively(text, UNLIMITED, chunk)).json;
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

describe('parseJsonCooperatively', () => {
  it('returns the same value as parseJson', () => {
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

  it('rejects invalid JSON', () => {
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
  ])('%s is rejected', (text) => expect(() => parse(text, 1)).toThrow(SyntaxError));

  test.each([
    '{"__proto__":[1,2],"a":1}',
    '{"a":[1,2],"b":1,"a":{"c":1,"d":2}}',
    '[12345678901234567890,1.10,[1,2]]',
    '{"":[1,2],"\\u0061":[3,4]}',
  ])('%s keeps keys and numbers', (text) => expect(printJson(parse(text, 1) as Json)).toBe(printJson(parseJson(text))));

  it('stops at the first limit that is exceeded', () => {
    const limited = (text: string, depth: number, size: number) => runSync(parseJsonCooperatively(text, { depth, size }, 4));
    expect(limited('[[[1,2,3,4,5,6]]]', 2, 100)).toMatchObject({ json: undefined, depth: 3 });
    expect(limited('[1,2,3,4,5,6,7,8,9,10]', 9, 5).json).toBeUndefined();
    expect(limited('[1,2,3,4,5,6,7,8,9,10]', 1, 100).json).toHaveLength(10);
  });

  it('pauses between chunks', () => {
    const rows = JSON.stringify({ data: { rows: Array.from({ length: 50_000 }, (_, id) => ({ id, name: 'x'.repeat(20) })) } });
    let pauses = 0;
    for (const work = parseJsonCooperatively(rows, UNLIMITED); work.next().done !== true; ) pauses += 1;
    expect(pauses).toBeGreaterThan(rows.length / 200_000);
  });
});
