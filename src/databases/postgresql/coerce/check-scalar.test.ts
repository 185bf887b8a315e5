import { describe, expect, test } from 'vitest';
import { type } from '../../../../test/support/ir.ts';
import { SvcError } from '../../../errors/svc-error.ts';
import { type Json, JsonNumber, parseJson } from '../../../util/json.ts';
import { along, ROOT } from '../../../util/path.ts';
import { postgresqlScalar } from '../types.ts';

const AT = along(ROOT, 'selectionSet', 'x');

function check(name: string, json: Json): Json {
  return postgresqlScalar(type(name, ['geometry', 'raster', 'ltree', 'citext'].includes(name) ? 'public' : 'pg_catalog')).check(json, AT);
}

function refused(name: string, json: Json): string {
  try {
    check(name, json);
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    expect(error.printedPath).toMatch(/^\$\.selectionSet\.x/);
    return `${error.code}: ${error.message}`;
  }
  return 'accepted';
}

const BOUNDS = 'lies outside the bounds or is not an integer. Maybe it is a float, or is there integer overflow?';

describe('integers', () => {
  test.each([
    ['int4', '5', 5],
    ['int4', '5.0', 5],
    ['int4', '5e0', 5],
    ['int4', '-2147483648', -2147483648],
    ['int4', '50e-1', 5],
    ['int4', '-0', 0],
    ['int2', '32767', 32767],
  ])('accepts a value of %s: %s', (name, text, value) => {
    expect(check(name, parseJson(text))).toBe(value);
  });

  test('keeps every digit of a bigint', () => {
    expect(check('int8', parseJson('9223372036854775807'))).toEqual(new JsonNumber('9223372036854775807'));
    expect(check('int8', parseJson('-9223372036854775808'))).toEqual(new JsonNumber('-9223372036854775808'));
  });

  test.each([
    ['int4', '2147483648', '2.147483648e9'],
    ['int4', '-2147483649', '-2.147483649e9'],
    ['int4', '1.5', '1.5'],
    ['int4', '0.01', '1e-2'],
    ['int2', '32768', '32768.0'],
    ['int8', '9223372036854775808', '9.223372036854775808e18'],
    ['int8', '1e999999999', '1e999999999'],
  ])('rejects a value of %s: %s', (name, text, shown) => {
    expect(refused(name, parseJson(text))).toBe(`parse-failed: The value ${shown} ${BOUNDS}`);
  });

  test('accepts any string for an integer, but no other JSON value', () => {
    expect(check('int4', '42')).toBe('42');
    expect(refused('int4', true)).toBe('parse-failed: Integer expected for input type: integer');
    expect(refused('int8', [1])).toBe('parse-failed: Integer expected for input type: bigint');
  });
});

describe('times of day with a zone', () => {
  test.each([
    '13:00:00+00',
    '13:00',
    '1:05 pm',
    '24:00:00Z',
    '13:00:60.5 -08:00',
    '13:00+2',
    '13:00:00+15:59:59',
    '13:00:00 PST',
    '130000.25+0230',
    'T13:00:00+02',
    ' 13:00 utc ',
  ])('takes %s', (text) => {
    expect(check('timetz', text)).toBe(text);
  });

  test.each([
    '',
    'noon',
    '13',
    '25:00+00',
    '13:60Z',
    '13:00:61Z',
    '24:00:01Z',
    '13:00+16',
    '13:00+02:60',
    '13:00,5',
    '2020-01-31',
    '13:00:00+02 x',
  ])('rejects the time "%s"', (text) => {
    expect(refused('timetz', text)).toBe('parse-failed: could not parse timetz: not a time of day, such as 13:00:00+02');
  });

  test('rejects a long time immediately', () => {
    expect(refused('timetz', `13:00${' '.repeat(1_000_000)}x`)).toContain('could not parse timetz');
  }, 30_000);

  test('rejects a time that is not a string', () => {
    expect(refused('timetz', 13)).toBe('parse-failed: A string is expected for type: timetz');
  });
});

describe('other numbers', () => {
  test('accepts floats within the range of a double', () => {
    expect(check('float8', parseJson('1.5e300'))).toEqual(new JsonNumber('1.5e300'));
    expect(refused('float8', parseJson('1e400'))).toBe(
      'parse-failed: The value 1e400 lies outside the bounds. Is it overflowing the float bounds?',
    );
    expect(refused('float4', {})).toBe('parse-failed: Float expected for input type: real');
  });

  test('accepts any number for numeric', () => {
    const json = parseJson('123456789012345678901234567890.000000000000000000001e400');
    expect(check('numeric', json)).toBe(json);
    expect(refused('numeric', true)).toBe('parse-failed: parsing Scientific failed, expected Number, but encountered Boolean');
  });

  test('writes money without an exponent', () => {
    expect(check('money', parseJson('1.5e3'))).toEqual(new JsonNumber('1500'));
    expect(check('money', parseJson('-125e-4'))).toEqual(new JsonNumber('-0.0125'));
    expect(check('money', '$1,000.00')).toBe('$1,000.00');
  });
});

describe('other types', () => {
  test.each([
    ['text', 1, 'parsing Text failed, expected String, but encountered Number'],
    ['citext', true, 'parsing Text failed, expected String, but encountered Boolean'],
    ['bool', 1, 'parsing Bool failed, expected Bool, but encountered Number'],
    ['inet', 1, 'A string is expected for type: inet'],
    ['uuid', {}, 'A string is expected for type: uuid'],
    ['raster', 'xyz', 'invalid hexadecimal representation of raster well known binary format'],
    ['ltree', 'a..b', 'Expecting label path: a sequence of zero or more labels separated by dots, for example L1.L2.L3'],
  ] as const)('rejects a value of %s: %j', (name, json, message) => {
    expect(refused(name, json)).toBe(`parse-failed: ${message}`);
  });

  test.each([
    ['bool', 'true'],
    ['bool', false],
    ['text', ''],
    ['ltree', ''],
    ['ltree', 'Top.Größe.a_1'],
    ['raster', '01ABcd'],
    ['jsonb', { a: [1] }],
    ['json', 'text'],
  ] as const)('accepts a value of %s: %j', (name, json) => {
    expect(check(name, json as Json)).toEqual(json);
  });

  test('rejects null for every type', () => {
    expect(refused('int4', null)).toBe("validation-failed: unexpected null value for type 'Int'");
    expect(refused('jsonb', null)).toBe("validation-failed: unexpected null value for type 'jsonb'");
  });
});

describe('GeoJSON', () => {
  const ring = [
    [0, 0],
    [0, 1],
    [1, 1],
    [0, 0],
  ];

  test.each([
    [{ type: 'Point', coordinates: [1, 2, 3], crs: { type: 'name', properties: { name: 'EPSG:4326' } } }],
    [{ type: 'MultiPoint', coordinates: [] }],
    [
      {
        type: 'LineString',
        coordinates: [
          [0, 0],
          [1, 1],
        ],
      },
    ],
    [
      {
        type: 'MultiLineString',
        coordinates: [
          [
            [0, 0],
            [1, 1],
          ],
        ],
      },
    ],
    [{ type: 'Polygon', coordinates: [ring] }],
    [{ type: 'MultiPolygon', coordinates: [[ring], [ring]] }],
    [{ type: 'GeometryCollection', geometries: [{ type: 'Point', coordinates: [1, 2] }] }],
    ['POINT(1 2)'],
  ])('takes %j', (json) => {
    expect(check('geometry', json as Json)).toBe(json);
  });

  test.each([
    [{ type: 'Point', coordinates: [1] }, 'A Position needs at least 2 elements'],
    [{ type: 'LineString', coordinates: [[0, 0]] }, 'A LineString needs at least 2 Positions'],
    [{ type: 'Polygon', coordinates: [ring.slice(1)] }, 'A LinearRing needs at least 4 Positions'],
    [{ type: 'Polygon', coordinates: [[...ring.slice(0, 3), [9, 9]]] }, 'the first and last locations have to be equal for a LinearRing'],
    [{ type: 'Circle', coordinates: [1, 2] }, 'unexpected geometry type: Circle'],
    [{ type: 'constructor', coordinates: [1, 2] }, 'unexpected geometry type: constructor'],
    [{ coordinates: [1, 2] }, "the key 'type' was not present"],
    [{ type: 'Point' }, "the key 'coordinates' was not present"],
    [{ type: 'Point', coordinates: ['1', 2] }, 'parsing Double failed, expected Number, but encountered String'],
    [{ type: 'GeometryCollection', geometries: [{ type: 'Point', coordinates: [] }] }, 'A Position needs at least 2 elements'],
    [5, 'parsing Geometry failed, expected Object, but encountered Number'],
  ])('rejects the geometry %j', (json, message) => {
    expect(refused('geometry', json as Json)).toBe(`parse-failed: ${message}`);
  });

  test('compares coordinates by value, not by text', () => {
    const json = parseJson('{"type":"Polygon","coordinates":[[[0,0],[0,1],[1,1],[0.0,0e0]]]}');
    expect(check('geometry', json)).toBe(json);
  });
});
