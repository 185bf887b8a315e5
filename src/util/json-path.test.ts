import { describe, expect, it } from 'vitest';
import { parseJsonPath, valueAt } from './json-path.ts';

describe('parseJsonPath', () => {
  it.each([
    ['$', []],
    ['$.a.b', ['a', 'b']],
    ['$.a[0].b', ['a', 0, 'b']],
    ["$['a b'].c", ['a b', 'c']],
    ['$["urn:x:y"]', ['urn:x:y']],
    ["$.x.['it\\'s']", ['x', "it's"]],
    ['$.x-svc-role.https://a/b', ['x-svc-role', 'https://a/b']],
  ])('reads %s', (text, path) => {
    expect(parseJsonPath(text)).toEqual(path);
  });

  it.each(['', 'a.b', '$a', '$.', '$..a', '$.a[', '$.a[-1]', "$['a", '$.a b'])('rejects %j', (text) => {
    expect(() => parseJsonPath(text)).toThrow(/JSON path/);
  });
});

it('valueAt looks at own keys only', () => {
  const root = { a: [{ b: null }, 'x'], 'c d': 1 };
  expect(valueAt(root, ['a', 0, 'b'])).toBeNull();
  expect(valueAt(root, ['a', 1])).toBe('x');
  expect(valueAt(root, [])).toBe(root);
  for (const path of [['toString'], ['__proto__'], ['a', 'length'], ['a', 2], ['a', 1, 'x'], ['c d', 'x']]) {
    expect(valueAt(root, path)).toBeUndefined();
  }
});
