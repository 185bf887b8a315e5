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
  wholeBytesCooperatively,
} from './bytes.ts';
import { runs } from '../../test/support/deep.ts';

/** Any character except half of a surrogate pair; fast-check takes a second to create its own generators. */
const character = fc.integer({ min: 0, max: 0x10ffff - 0x800 }).map((n) => String.fromCodePoint(n < 0xd800 ? n : n + 0x800));

test('text survives the conversion to bytes and back', () => {
  fc.assert(
    fc.property(fc.string({ unit: character }), (text) => {
      const bytes = bytesOfText(text);
      expect(bytes.length).toBe(Buffer.byteLength(text));
      expect(textOfBytes([bytes])).toBe(Buffer.from(text).toString());
    }),
    runs(100, 100),
  );
});

test('pieces may end inside a character', () => {
  const whole = Buffer.from('"ä€😀"');
  for (let at = 0; at <= whole.length; at++) {
    const pieces = [bytesOfBuffer(whole, 0, at), bytesOfBuffer(whole, at, whole.length)];
    expect(sizeOfBytes(pieces)).toBe(whole.length);
    expect(bufferOfBytes(pieces).equals(whole)).toBe(true);
    expect(textOfBytes(pieces)).toBe('"ä€😀"');
  }
});

test('sliceBytes counts bytes', () => {
  expect(textOfBytes([sliceBytes(bytesOfText('ä"x"'), 2, -1)])).toBe('"x');
});

test('wholeBytesCooperatively pauses after each piece', () => {
  const made = { length: 3, pieces: () => ['a', 'b', 'c'] as Bytes[] };
  const work = wholeBytesCooperatively([bytesOfText('{'), made, bytesOfText('}')]);
  let pauses = 0;
  let step = work.next();
  for (; step.done !== true; step = work.next()) pauses += 1;
  expect([pauses, step.value.join('')]).toEqual([5, '{abc}']);
});
