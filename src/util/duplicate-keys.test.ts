import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { duplicateKey } from './duplicate-keys.ts';
import { printPath } from './path.ts';
import { runs } from '../../test/support/deep.ts';

describe('duplicateKey', () => {
  it.each([
    ['{"a":1,"a":2}', 'a'],
    ['{"a":1,"\\u0061":2}', 'a'],
    ['{"x":[{"b":{},"c":"}","b":1}]}', 'b'],
    ['[{"a":1},{"a":1,"d":{"a":1},"a":2}]', 'a'],
    ['{"":1,"":2}', ''],
    ['{"__proto__":1,"__proto__":2}', '__proto__'],
  ])('finds the duplicate key of %s', (text, key) => {
    expect(duplicateKey(text)?.key).toBe(key);
  });

  it.each(['{"a":"a","b":"\\"a\\":","c":["a","a"]}', '[]', '"a"', '{"a":{"a":{"a":1}},"b":[{"a":1},{"a":1}]}', '{"\\\\":1,"\\"":2}'])(
    'finds none in %s',
    (text) => {
      expect(duplicateKey(text)).toBeNull();
    },
  );

  it('returns the path of the key', () => {
    const found = duplicateKey('{"args":{"list":[1,{"a":[[]]},{"a b":{"x":"x"},"c":1,"c":2}]}}');
    expect(found === null ? null : printPath(found)).toBe('$.args.list[2].c');
  });

  it('finds nothing in printed JSON, and a key that was added to it', () => {
    fc.assert(
      fc.property(fc.json(), fc.string(), (text, key) => {
        expect(duplicateKey(text)).toBeNull();
        const name = JSON.stringify(key);
        expect(duplicateKey(`{${name}:${text},${name}:${text}}`)?.key).toBe(key);
      }),
      runs(100, 100),
    );
  });
});
