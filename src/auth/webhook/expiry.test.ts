import { expect, it } from 'vitest';
import { expiryOf } from './expiry.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const LATER = 'Thu, 01 Jan 2026 01:00:00 GMT';

it.each<[string, string | undefined, string | undefined, number | undefined, readonly string[]]>([
  ['nothing', undefined, undefined, undefined, []],
  ['an age', 'max-age=60', undefined, NOW + 60_000, []],
  ['an age among others', 'private, Max-Age="60", must-revalidate', undefined, NOW + 60_000, []],
  ['no time at all', 'max-age=0', undefined, NOW, []],
  ['a date', undefined, LATER, NOW + 3_600_000, []],
  ['the age before the date', 'max-age=1', LATER, NOW + 1000, []],
  ['the date when the age is malformed', 'max-age=soon', LATER, NOW + 3_600_000, ['Cache-Control']],
  ['no age that only looks like one', 's-max-age=60', undefined, undefined, ['Cache-Control']],
  ['no date of another form', undefined, '2026-01-01T01:00:00Z', undefined, ['Expires']],
  ['no date that does not exist', undefined, 'Thu, 41 Jan 2026 01:00:00 GMT', undefined, ['Expires']],
])('reads the expiry: %s', (_what, cacheControl, expires, expiresAt, malformed) => {
  expect(expiryOf(cacheControl, expires, NOW)).toEqual({ expiresAt, malformed });
});
