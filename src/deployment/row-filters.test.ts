import { expect, it } from 'vitest';
import type { Json } from '../util/json.ts';
import { compareFilters } from './row-filters.ts';

const own: Json = { owner: { _eq: 'X-Hasura-User-Id' } };
const open: Json = { open: { _eq: true } };

it.each([
  [own, own, 'same'],
  [{}, undefined, 'same'],
  [own, {}, 'wider'],
  [{}, own, 'narrower'],
  [{ ...own, ...open }, own, 'wider'],
  [{ _and: [own, open] }, open, 'wider'],
  [own, { _and: [own, open] }, 'narrower'],
  [own, { _or: [own, open] }, 'wider'],
  [{ _or: [own, open] }, open, 'narrower'],
  [own, open, 'other'],
  [own, { ...open, _or: [own] }, 'other'],
] as readonly (readonly [Json | undefined, Json | undefined, string])[])(
  'a filter that changes from %j to %j is %s',
  (before, after, result) => {
    expect(compareFilters(before, after)).toBe(result);
  },
);
