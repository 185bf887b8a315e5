import { describe, expect, it } from 'vitest';
import { nearest, nearestNames } from './nearest.ts';

describe('nearest', () => {
  const KEYS = ['filter', 'check', 'limit', 'columns', 'session_argument', 'custom_name', 'set'];

  it.each([
    ['fliter', 'filter'],
    ['chek', 'check'],
    ['limmit', 'limit'],
    ['column', 'columns'],
    ['session_arg', 'session_argument'],
    ['custom_nam', 'custom_name'],
    ['Filter', 'filter'],
  ])('suggests for %s: %s', (given, meant) => {
    expect(nearest(given, KEYS)).toBe(meant);
  });

  it.each(['foo', '', 'x'.repeat(100_000)])('suggests nothing for %.10s', (given) => {
    expect(nearest(given, KEYS)).toBeUndefined();
  });
});

describe('nearestNames', () => {
  it('returns the nearest names first, at most as many as asked for', () => {
    expect(nearestNames('names', ['id', 'same', 'name', 'nameless', 'gnames', 'nomes'], 3)).toEqual(['name', 'gnames', 'nomes']);
  });

  it('compares long names that differ in a few characters', () => {
    const many = Array.from({ length: 1_500 }, (_, n) => `${'a'.repeat(50)}_${String(n).padStart(5, '0')}`);
    expect(nearestNames(`${'a'.repeat(50)}_0140x`, many, 1)[0]).toMatch(/_0140\d$/);
    expect(nearestNames(`${'a'.repeat(50)}_01400`, [...many, 'b'], 1)).toEqual([`${'a'.repeat(50)}_01400`]);
  });

  it('does not look at all of very many names', () => {
    expect(nearestNames('target', [...Array.from({ length: 30_000 }, (_, n) => `n${n}`), 'target'], 1)).toEqual([]);
  });
});
