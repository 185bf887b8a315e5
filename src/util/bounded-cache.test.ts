import { expect, it } from 'vitest';
import { BoundedCache } from './bounded-cache.ts';

it('evicts the least recently used entries beyond the maximum number', () => {
  const evicted: number[] = [];
  const cache = new BoundedCache<string, number>({ entries: 2 }, (value) => evicted.push(value));
  cache.set('a', 1);
  cache.set('b', 2);
  expect(cache.get('a')).toBe(1);
  cache.set('c', 3);
  expect([...cache]).toEqual([
    ['a', 1],
    ['c', 3],
  ]);
  expect(evicted).toEqual([2]);
});

it('evicts entries until their bytes fit, also after a value has grown', () => {
  const cache = new BoundedCache<string, string>({ bytes: 10 });
  cache.set('a', 'a', 4);
  cache.set('b', 'b', 4);
  cache.grow('b', 4);
  expect([cache.get('a'), cache.get('b'), cache.bytes]).toEqual([undefined, 'b', 8]);
  cache.grow('b', -6);
  cache.set('b', 'other', 3);
  expect([cache.size, cache.bytes]).toEqual([1, 3]);
  cache.delete('b');
  expect([cache.size, cache.bytes]).toEqual([0, 0]);
});

it('drops a value that alone exceeds the limit, and the previous value of its key', () => {
  const cache = new BoundedCache<string, number>({ bytes: 10 });
  cache.set('a', 1, 10);
  cache.set('b', 2, 1);
  cache.set('b', 3, 11);
  expect([...cache]).toEqual([]);
});

it('does not count peek as a use', () => {
  const cache = new BoundedCache<string, number>({ entries: 2 });
  cache.set('a', 1);
  cache.set('b', 2);
  expect(cache.peek('a')).toBe(1);
  cache.set('c', 3);
  expect(cache.peek('a')).toBeUndefined();
});
