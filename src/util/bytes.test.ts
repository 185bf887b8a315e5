import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type Bytes,
  bufferOfBytes,
  bytesOfBuffer,
  bytesOfText,
  sizeOfBytes,
  sliceBytes,
  textOfBytes,
  wholeBytesInSlices,
} from './bytes.ts';
import { runs } from '../../test/support/deep.ts';

/** Any but half of a pair; fast-check's own take a second to be made. */
const character = fc.integer({ min: 0, max: 0x10ffff - 0x800 }).map((n) => String.fromCodePoint(n < 0xd800 ? n : n + 0x800));

test('a text, its bytes and its text again', () => {
  fc.assert(
    fc.property(fc.string({ unit: character }), (text) => {
      const bytes = bytesOfText(text);
      expect(bytes.length).toBe(Buffer.byteLength(text));
      expect(textOfBytes([bytes])).toBe(Buffer.from(text).toString());
    }),
    runs(100, 100),
  );
});

test('pieces may end anywhere, inside a character too', () => {
  const whole = Buffer.from('"ä€😀"');
  for (let at = 0; at <= whole.length; at++) {
    const pieces = [bytesOfBuffer(whole, 0, at), bytesOfBuffer(whole, at, whole.length)];
    expect(sizeOfBytes(pieces)).toBe(whole.length);
    expect(bufferOfBytes(pieces).equals(whole)).toBe(true);
    expect(textOfBytes(pieces)).toBe('"ä€😀"');
  }
});

test('slices count bytes', () => {
  expect(textOfBytes([sliceBytes(bytesOfText('ä"x"'), 2, -1)])).toBe('"x');
});

test('makes the pieces of a body with a pause after each', () => {
  const made = { length: 3, pieces: () => ['a', 'b', 'c'] as Bytes[] };
  const work = wholeBytesInSlices([bytesOfText('{'), made, bytesOfText('}')]);
  let pauses = 0;
  let step = work.next();
  for (; step.done !== true; step = work.next()) pauses += 1;
  expect([pauses, step.value.join('')]).toEqual([5, '{abc}']);
});
