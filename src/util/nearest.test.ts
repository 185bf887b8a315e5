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

  it('stops after a number of comparisons', () => {
    const many = Array.from({ length: 10_000 }, (_, n) => `${'a'.repeat(40)}${n}`);
    expect(nearestNames(`${'a'.repeat(40)}9999`, [...many, 'z'], 1)).not.toEqual([`${'a'.repeat(40)}9999`]);
  });
});
