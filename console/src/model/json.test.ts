import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { equalJson, type Json, JsonNumber, parseJsonText, printJson } from './json.ts';

describe('JSON', () => {
  it('keeps numbers that a double cannot represent', () => {
    const text = '{"id":9007199254740993,"price":1.50,"big":123456789012345678901234567890.5,"small":-0}';
    expect(printJson(parseJsonText(text))).toBe(text);
    expect(parseJsonText('9007199254740993')).toEqual(new JsonNumber('9007199254740993'));
    expect(parseJsonText('12')).toBe(12);
  });

  it('keeps large numbers anywhere, and leaves strings alone', () => {
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
        expect(JSON.stringify(parseJsonText(text), (_, value) => (value instanceof JsonNumber ? value.text : value))).toContain(
          `"${number}"`,
        );
    expect(parseJsonText('["1.0", "a 1.0", "1234567890123456", 12, -7, 0]')).toEqual(['1.0', 'a 1.0', '1234567890123456', 12, -7, 0]);
    expect(() => parseJsonText(`${'[1,"]",'.repeat(1000)}1${']'.repeat(1000)}`)).toThrow(SyntaxError);
  });

  it('reads whatever JSON.parse reads', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(equalJson(parseJsonText(printJson(parseJsonText(text), 2)), parseJsonText(text))).toBe(true);
        expect(JSON.parse(printJson(parseJsonText(text)))).toEqual(JSON.parse(text));
      }),
      { numRuns: 300 },
    );
  });

  it('rejects invalid JSON with its line', () => {
    for (const text of ['', '{', '[1,]', '{"a" 1}', '{"a":1,}', 'nul', '01', '"\n"', '[1] 2', '"\\x"'])
      expect(() => parseJsonText(text)).toThrow(SyntaxError);
    expect(() => parseJsonText('{\n"a": ?\n}')).toThrow(/line 2/);
    expect(() => parseJsonText('['.repeat(100_000))).toThrow(SyntaxError);
  });

  it('keeps keys such as __proto__', () => {
    const json = parseJsonText('{"__proto__":{"a":1}}') as { readonly [key: string]: Json };
    expect(Object.keys(json)).toEqual(['__proto__']);
  });
});
