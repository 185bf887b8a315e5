import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Json, JsonNumber, parseJson, printJson } from './json.ts';
import { runs } from '../../test/support/deep.ts';

/** Numbers as JSON may write them. */
const numberText = fc
  .tuple(
    fc.boolean(),
    fc.bigInt({ min: 0n, max: 10n ** 22n }),
    fc.option(fc.stringMatching(/^[0-9]{1,20}$/)),
    fc.option(fc.stringMatching(/^[eE][+-]?[0-9]{1,4}$/)),
  )
  .map(([minus, whole, fraction, exponent]) => `${minus ? '-' : ''}${whole}${fraction === null ? '' : `.${fraction}`}${exponent ?? ''}`);
const space = fc.stringMatching(/^[ \t\n\r]{0,2}$/);
const text: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
  value: fc
    .tuple(
      space,
      fc.oneof(
        { depthSize: 'small' },
        numberText,
        fc.integer().map(String),
        fc.string({ unit: 'binary' }).map((value) => JSON.stringify(value)),
        fc.constantFrom('true', 'false', 'null', '"\\u0041\\"\\\\"', '"\\\\"', '-0', '1.5'),
        fc.array(tie('value')).map((items) => `[${items.join()}]`),
        fc
          .array(fc.tuple(fc.string({ unit: 'grapheme' }), tie('value')))
          .map((entries) => `{${entries.map(([key, value]) => ` ${JSON.stringify(key)} :${value}`).join()}}`),
      ),
      space,
    )
    .map((parts) => parts.join('')),
})).value;

/** Returns the value as a parser without exact numbers would. */
function plain(json: Json): unknown {
  if (json instanceof JsonNumber) return Number(json.text);
  if (Array.isArray(json)) return json.map(plain);
  if (typeof json === 'object' && json !== null) return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, plain(value)]));
  return json;
}

describe('JSON with exact numbers', () => {
  it('has the same structure as with JSON.parse', () => {
    fc.assert(
      fc.property(text, (source) => {
        expect(plain(parseJson(source))).toEqual(JSON.parse(source));
      }),
      runs(2000),
    );
  });

  it('accepts what JSON.parse accepts', () => {
    const spoiled = fc.tuple(text, fc.nat(), fc.constantFrom('', ...'0-+.eE"\\ ,:[]{}\n\u0001tx')).map(([source, at, character]) => {
      const place = at % (source.length + 1);
      return `[1.5,${source.slice(0, place)}${character}${source.slice(place + 1)}]`;
    });
    const takes = (parse: (source: string) => unknown, source: string): boolean => {
      try {
        parse(source);
        return true;
      } catch (error) {
        expect(error).toBeInstanceOf(SyntaxError);
        return false;
      }
    };
    fc.assert(
      fc.property(spoiled, (source) => {
        expect(takes(parseJson, source)).toBe(takes(JSON.parse, source));
      }),
      runs(5000),
    );
  });

  it('preserves the text of every number', () => {
    fc.assert(
      fc.property(fc.array(numberText), (numbers) => {
        const source = `[${numbers.join()}]`;
        expect(printJson(parseJson(source))).toBe(source);
      }),
      runs(100, 100),
    );
  });

  it.each([
    ['[0,-1,999999999999999,-999999999999999]', [0, -1, 999999999999999, -999999999999999]],
    ['[1000000000000000]', [new JsonNumber('1000000000000000')]],
    ['-0', new JsonNumber('-0')],
    ['[1.0,1e2,1E+2]', [new JsonNumber('1.0'), new JsonNumber('1e2'), new JsonNumber('1E+2')]],
    ['{"a":1,"a":1.50}', { a: new JsonNumber('1.50') }],
    ['[1.5,-0.5,0.000001,999999999.123456]', [1.5, -0.5, 0.000001, 999999999.123456]],
    ['[0.5,1e0]', [0.5, new JsonNumber('1e0')]],
    ['[0.0000001,-0.0,0.10]', [new JsonNumber('0.0000001'), new JsonNumber('-0.0'), new JsonNumber('0.10')]],
    ['[0.123456789012345]', [new JsonNumber('0.123456789012345')]],
    ['{"a":1.5,"a":"x"}', { a: 'x' }],
    ['"1.5"', '1.5'],
  ])('%s', (source, json) => expect(parseJson(source)).toEqual(json));

  it.each([10, 16_383, 16_384, 16_385, 40_000])('prints exact numbers among texts of %i characters', (length) => {
    for (const character of ['a', 'é', '☃', '"', '\u0001']) {
      const source = `{"a":[1.50,${JSON.stringify(character.repeat(length))}],"é":["b",null,true,-1],"☃":{"c":"é"}}`;
      expect(printJson(parseJson(source))).toBe(source);
    }
  });

  it('treats __proto__ as an ordinary key', () => {
    const json = parseJson('{"__proto__":1.5,"a":{"__proto__":{"b":2}}}') as Record<string, Json>;
    expect(Object.keys(json)).toEqual(['__proto__', 'a']);
    expect(Object.getPrototypeOf(json)).toBe(Object.prototype);
    expect(printJson(json)).toBe('{"__proto__":1.5,"a":{"__proto__":{"b":2}}}');
  });

  it.each([
    '',
    '[1.5,]',
    '{"a":1.5,}',
    '1.5.5',
    '01.5',
    '[1.5] x',
    '{a:1.5}',
    '"\n1.5"',
    '1.',
    '-1.5-',
    '[1.5',
    '"1.5',
    '[1.5,tru]',
    '[1.5,-]',
    '[1.5,1.]',
    '[1.5,1e]',
    `${'['.repeat(200_000)}1.5`,
  ])('%j is rejected', (source) => {
    expect(() => parseJson(source)).toThrow(SyntaxError);
  });
});
