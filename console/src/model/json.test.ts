import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { equalJson, type Json, JsonNumber, parseJson, printJson } from './json.ts';

describe('JSON', () => {
  it('keeps numbers that a double cannot hold', () => {
    const text = '{"id":9007199254740993,"price":1.50,"big":123456789012345678901234567890.5,"small":-0}';
    expect(printJson(parseJson(text))).toBe(text);
    expect(parseJson('9007199254740993')).toEqual(new JsonNumber('9007199254740993'));
    expect(parseJson('12')).toBe(12);
  });

  it('keeps them wherever they stand, and takes no text for one', () => {
    for (const number of ['1.0', '-0', '0.10', '1e2', '1E2', '-12345678901234567', '9007199254740993'])
      for (const text of [
        number,
        ` ${number}`,
        `[${number}]`,
        `[1,${number}]`,
        `[1, ${number}]`,
        `{"a":${number}}`,
        `{"a"\n:\n${number}\n}`,
      ])
        expect(JSON.stringify(parseJson(text), (_, value) => (value instanceof JsonNumber ? value.text : value))).toContain(`"${number}"`);
    expect(parseJson('["1.0", "a 1.0", "1234567890123456", 12, -7, 0]')).toEqual(['1.0', 'a 1.0', '1234567890123456', 12, -7, 0]);
    expect(() => parseJson(`${'[1,"]",'.repeat(1000)}1${']'.repeat(1000)}`)).toThrow(SyntaxError);
  });

  it('reads what JSON.parse reads', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(equalJson(parseJson(printJson(parseJson(text), 2)), parseJson(text))).toBe(true);
        expect(JSON.parse(printJson(parseJson(text)))).toEqual(JSON.parse(text));
      }),
      { numRuns: 300 },
    );
  });

  it('refuses what is no JSON, with the line', () => {
    for (const text of ['', '{', '[1,]', '{"a" 1}', '{"a":1,}', 'nul', '01', '"\n"', '[1] 2', '"\\x"'])
      expect(() => parseJson(text)).toThrow(SyntaxError);
    expect(() => parseJson('{\n"a": ?\n}')).toThrow(/line 2/);
    expect(() => parseJson('['.repeat(100_000))).toThrow(SyntaxError);
  });

  it('keeps a key that objects have of their own', () => {
    const json = parseJson('{"__proto__":{"a":1}}') as { readonly [key: string]: Json };
    expect(Object.keys(json)).toEqual(['__proto__']);
  });
});
