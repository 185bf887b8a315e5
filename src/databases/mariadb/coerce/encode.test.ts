import { describe, expect, test } from 'vitest';
import type { Operand } from '../../../ir/value.ts';
import { type Json, JsonNumber } from '../../../util/json.ts';
import { baseType } from '../base-type.ts';
import { encoder } from './encode.ts';

const SESSION = { kind: 'session', name: 'x-svc-x' } as const;
const LITERAL = { kind: 'literal', json: null } as const;

function encode(type: string, json: Json, list = false, value: Operand['value'] = LITERAL): string | null {
  return encoder({ type: baseType(type), list, value })(json);
}

describe('parameter encoding', () => {
  test.each<[string, Json, string]>([
    ['int', 7, '7'],
    ['bigint', ' +9007199254740993 ', '9007199254740993'],
    ['bigint unsigned', new JsonNumber('18446744073709551615'), '18446744073709551615'],
    ['decimal', new JsonNumber('1.20e3'), '1200'],
    ['decimal', '-0.5', '-0.5'],
    ['double', '1e-300', '1e-300'],
    ['boolean', true, '1'],
    ['boolean', 'off', '0'],
    ['date', '2024-02-29', '2024-02-29'],
    ['time', '13:00', '13:00'],
    ['datetime', '2024-01-02T03:04:05.123456', '2024-01-02 03:04:05.123456'],
    ['timestamp', '2024-01-01T00:30:00+01:00', '2023-12-31 23:30:00'],
    ['timestamp', '2024-01-01 00:00:00.5-0330', '2024-01-01 03:30:00.5'],
    ['timestamp', '2024-01-01T00:00:00Z', '2024-01-01 00:00:00'],
    ['timestamp', '2024-01-01', '2024-01-01 00:00:00'],
    ['json', { a: [1, new JsonNumber('1.10')] }, '{"a":[1,1.10]}'],
    ['json', 'x', '"x"'],
    ['blob', 'AP8Q', 'AP8Q'],
    ['varchar', "a'\\", "a'\\"],
  ])('encodes %s %j', (type, json, text) => {
    expect(encode(type, json)).toBe(text);
  });

  test.each<[string, Json]>([
    ['int', '2147483648'],
    ['int', '1.0'],
    ['int', '0x10'],
    ['int', ''],
    ['bigint', '1 or 1=1'],
    ['tinyint unsigned', '-1'],
    ['decimal', '1,5'],
    ['decimal', `1${'0'.repeat(36)}`],
    ['decimal', `0.${'1'.repeat(31)}`],
    ['double', 'NaN'],
    ['double', '1e999'],
    ['boolean', '2'],
    ['date', '2023-02-29'],
    ['date', 'today'],
    ['time', '12:60'],
    ['datetime', '2024-01-02T24:00:00'],
    ['datetime', '2024-13-01T00:00:00'],
    ['timestamp', 'now'],
    ['timestamp', '2024-01-01T00:00:00+99:00'],
    ['timestamp', '9999-12-31T23:59:59-01:00'],
    ['uuid', 'x'],
    ['inet4', '::1'],
    ['blob', 'A'],
  ])('refuses %s %j', (type, json) => {
    expect(() => encode(type, json)).toThrow(expect.objectContaining({ code: 'data-exception' }));
  });

  test('encodes lists as JSON arrays of texts', () => {
    expect(encode('bigint', [1, '2', null], true)).toBe('["1","2",null]');
    expect(encode('varchar', [], true)).toBe('[]');
    expect(encode('varchar', null, true)).toBe(null);
  });

  test.each<[Json, string]>([
    ['{}', '[]'],
    ['{1, 2}', '["1","2"]'],
    ['["1", 2]', '["1","2"]'],
    ['{"1",null}', '["1",null]'],
  ])('encodes a list in a session variable: %j', (json, text) => {
    expect(encode('int', json, true, SESSION)).toBe(text);
  });

  test.each(['refuses an invalid list in a session variable: %j', '{1', '{1,}', '[1', '{1,x}', '{{1}}', '{1}{2}'])(
    'no list of a session: %j',
    (text) => {
      expect(() => encode('int', text, true, SESSION)).toThrow(expect.objectContaining({ code: 'data-exception' }));
    },
  );

  test('accepts any text in a list of a session variable', () => {
    expect(encode('varchar', '{a b,"c,\\"d\\"}"}', true, SESSION)).toBe('["a b","c,\\"d\\"}"]');
  });
});
