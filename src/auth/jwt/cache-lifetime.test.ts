import { expect, it } from 'vitest';
import { cacheLifetime } from './cache-lifetime.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const LATER = 'Thu, 01 Jan 2026 00:01:40 GMT';

it.each<[string | undefined, string | undefined, number | null]>([
  [undefined, undefined, null],
  ['public', undefined, null],
  ['public, max-age=90', undefined, 90_000],
  ['Max-Age="90"', LATER, 90_000],
  ['s-maxage=80', undefined, 80_000],
  ['max-age=90, must-revalidate', undefined, 90_000],
  ['must-revalidate', LATER, 0],
  ['no-cache, max-age=90', undefined, 0],
  ['no-store', LATER, 0],
  ['max-age=soon', LATER, 100_000],
  [undefined, LATER, 100_000],
  [undefined, 'Wed, 31 Dec 2025 00:00:00 GMT', 0],
  [undefined, '0', 0],
  [undefined, 'never', 0],
])('reads the lifetime of Cache-Control %j and Expires %j', (cacheControl, expires, lifetime) => {
  expect(cacheLifetime(cacheControl, expires, NOW)).toEqual(lifetime);
});
