import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { bytesOfText, sliceBytes } from '../util/bytes.ts';
import { chooseEncoding, compress, isWorthIt } from './compression.ts';

describe('the encoding of a response', () => {
  it.each([
    [undefined, null, false],
    ['', null, false],
    ['identity', null, false],
    ['deflate', null, false],
    ['gzip', 'gzip', false],
    ['GZIP', 'gzip', false],
    ['br', 'br', false],
    ['gzip, deflate, br', 'br', false],
    ['br;q=0.5, gzip', 'gzip', false],
    ['br;q=0.8, gzip;q=0.8', 'br', false],
    ['br;q=0, gzip;q=0.1', 'gzip', false],
    ['gzip;q=0', null, false],
    ['br;q=x', null, false],
    ['*', 'br', false],
    ['*;q=0.5, br;q=0', 'gzip', false],
    ['gzip;q=0.5, identity', null, false],
    ['gzip, identity;q=0', 'gzip', true],
    ['gzip, *;q=0', 'gzip', true],
  ])('for %s is %s', (header, encoding, always) => {
    expect(chooseEncoding(header)).toEqual({ encoding, always });
  });

  it('is omitted for small bodies, unless nothing else is acceptable', () => {
    const sizes = (header: string): boolean[] => [0, 699, 700].map((size) => isWorthIt(size, chooseEncoding(header)));
    expect(sizes('gzip')).toEqual([false, false, true]);
    expect(sizes('gzip, identity;q=0')).toEqual([true, true, true]);
    expect(sizes('identity')).toEqual([false, false, false]);
  });
});

it.each([1, 700, 30_000, 3_000_000])('compresses and restores %i bytes', async (size) => {
  const bytes = bytesOfText('{"name":"välue"},'.repeat(Math.ceil(size / 18)));
  const text = Buffer.from(sliceBytes(bytes, 0, size), 'latin1');
  const pieces = [sliceBytes(bytes, 0, size >> 1), sliceBytes(bytes, size >> 1, size)];
  expect(brotliDecompressSync(await compress(pieces, size, 'br')).equals(text)).toBe(true);
  expect(gunzipSync(await compress([sliceBytes(bytes, 0, size)], size, 'gzip')).equals(text)).toBe(true);
});
