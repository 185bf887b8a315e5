import { describe, expect, it } from 'vitest';
import { parseRemoteField, printRemoteField } from './remote-field.ts';

describe('field of a remote schema', () => {
  it.each([
    ['country(code: $code)', { country: { arguments: { code: '$code' } } }, ['code']],
    ['all', { all: { arguments: {} } }, []],
    [
      'a(x: {list: [1, $b, true], text: "t", none: null}) { b(c: $b) }',
      {
        a: {
          arguments: { x: { list: [1, '$b', true], text: 't', none: null } },
          field: { b: { arguments: { c: '$b' } } },
        },
      },
      ['b'],
    ],
  ])('reads and prints %s', (text, field, variables) => {
    expect(parseRemoteField(text)).toEqual({ field, variables });
    expect(printRemoteField(field)).toBe(text);
  });

  it.each(['', 'a(', 'a(b $c)', 'a { b', 'a b', 'a(b: )'])('rejects %j', (text) => {
    expect(() => parseRemoteField(text)).toThrow(SyntaxError);
  });
});
