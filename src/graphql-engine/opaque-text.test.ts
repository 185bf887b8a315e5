import fc from 'fast-check';
import { expect, it } from 'vitest';
import { runs } from '../../test/support/deep.ts';
import { type Json, printJson } from '../util/json.ts';
import { createOpaqueDecoder, decodeOpaque, MAX_OPAQUE_TEXT, opaqueShape } from './opaque-text.ts';

const shapeOf = (text: string): string => opaqueShape(text, decodeOpaque(text));
const encode = (text: string): string => Buffer.from(text).toString('base64');
const ENCODED = fc.jsonValue({ maxDepth: 4 }).map((json) => encode(JSON.stringify(json)));

it('reads what was encoded, with or without padding', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (json) => {
      const text = JSON.stringify(json);
      for (const written of [encode(text), encode(` ${text}\n`), encode(text).replace(/=+$/, '')]) {
        expect(printJson(decodeOpaque(written) as Json)).toBe(JSON.stringify(JSON.parse(text)));
      }
    }),
    runs(1_000, 100),
  );
});

it('reads any text without failing', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.base64String(), ENCODED, fc.string({ unit: 'binary' }).map(encode)), (text) => {
      expect(typeof shapeOf(text)).toBe('string');
      expect(shapeOf(text)).toBe(shapeOf(text));
    }),
    runs(2_000, 100),
  );
  for (const json of [null, 1, true, [], {}]) expect(decodeOpaque(json)).toBeUndefined();
  expect(decodeOpaque(encode(`"${'x'.repeat(MAX_OPAQUE_TEXT)}"`))).toBeUndefined();
  expect(decodeOpaque(encode(`${'['.repeat(5_000)}${']'.repeat(5_000)}`))).toBeUndefined();
  expect(decodeOpaque(Buffer.from([0x22, 0xff, 0x22]).toString('base64'))).toBeUndefined();
  expect(decodeOpaque('eyJ\nhIjogMX0=')).toBeUndefined();
});

it.each([
  ['values of a cursor', { a: 1, b: 'x' }, { b: 2, a: true }, true],
  ['a null in a cursor', { a: 1 }, { a: null }, false],
  ['keys of a cursor', { a: { b: 1 } }, { a: { c: 1 } }, false],
  ['values of an id', [1, 's', 't', 5], [1, 's', 't', 'x'], true],
  ['the table of an id', [1, 's', 't', 5], [1, 's', 'u', 5], false],
  ['the number of values of an id', [1, 's', 't', 5], [1, 's', 't', 5, 5], false],
  ['the source of an id', [3, 'a', 's', 't', 5], [3, 'b', 's', 't', 5], false],
  ['the version of an id', [1, 's', 't', 5], ['1', 's', 't', 5], false],
])('compares %s', (_what, one, other, isSame) => {
  expect(shapeOf(encode(JSON.stringify(one))) === shapeOf(encode(JSON.stringify(other)))).toBe(isSame);
});

it('decodes the text of each request once', () => {
  const decode = createOpaqueDecoder();
  const [request, other] = [{}, {}];
  const json = decode(encode('{"a": 1}'), request);
  expect(json).toEqual({ a: 1 });
  expect(decode(encode('{"a": 1}'), request)).toBe(json);
  expect(decode(encode('{"a": 2}'), other)).toEqual({ a: 2 });
});
