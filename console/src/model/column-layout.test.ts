import { expect, it } from 'vitest';
import { arranged, PLAIN_LAYOUT, widthOf, withToggled, withWidth } from './column-layout.ts';

it('hides, pins and sizes columns', () => {
  const columns = [{ name: 'a' }, { name: 'b' }, { name: 'c' }];
  const names = (layout = PLAIN_LAYOUT) => arranged(columns, layout).map(({ name }) => name);
  expect(names({ ...PLAIN_LAYOUT, hidden: ['b'], pinned: ['c'] })).toEqual(['c', 'a']);
  expect(names({ ...PLAIN_LAYOUT, hidden: ['a', 'b', 'c'] })).toEqual(['a', 'b', 'c']);
  expect(withToggled(withToggled([], 'a'), 'a')).toEqual([]);
  expect(widthOf({ ...PLAIN_LAYOUT, pinned: ['a'] }, 'a')).toBe(160);
  expect(widthOf(withWidth(PLAIN_LAYOUT, 'b', 5), 'b')).toBe(48);
  expect(widthOf(withWidth(withWidth(PLAIN_LAYOUT, 'b', 500), 'b', undefined), 'b')).toBeUndefined();
});
