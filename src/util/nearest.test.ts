import { describe, expect, it } from 'vitest';
import { nearest } from './nearest.ts';

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
