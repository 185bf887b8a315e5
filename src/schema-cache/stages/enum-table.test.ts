import { describe, expect, test } from 'vitest';
import { catalog, named, table } from '../../../test/support/fake-backend.ts';
import { color, all, decode, open, buildOf, cacheOf, infoOf, reasons } from '../../../test/support/schema-cache-build.ts';

describe('enum tables', () => {
  const rows = [
    { value: 'red', description: null },
    { value: 'blue', description: 'cold' },
  ];

  test('have sorted values and set the enum type of referencing columns', () => {
    const { cache } = buildOf(decode([{ table: 'color', is_enum: true }, { table: 'shirt' }]), open(all, { color: rows }));
    expect(reasons(cache)).toEqual([]);
    expect(infoOf(cache, 'color')?.enumValues?.map(({ value }) => value)).toEqual(['blue', 'red']);
    expect(infoOf(cache, 'shirt')?.columns.get('color')?.enumTable).toEqual(named('color'));
    expect(infoOf(cacheOf([{ table: 'color' }, { table: 'shirt' }]), 'shirt')?.columns.get('color')?.enumTable).toBeNull();
  });

  test.each([
    ['no key', table('color', { columns: ['value text!'] }), rows, ' because the table must have a primary key'],
    [
      'a key of another type',
      table('color', { columns: ['value int4!'], key: ['value'] }),
      rows,
      ' because the table’s primary key ("value") must have type "text", not type "integer"',
    ],
    [
      'too many columns',
      table('color', { columns: ['value text!', 'a text', 'b text'], key: ['value'] }),
      rows,
      ' because the table must have exactly one primary key and optionally one comment column, not 3 columns (a, b, value)',
    ],
    ['no rows', color, [], ' because the table must have at least one row'],
    [
      'an illegal value',
      color,
      [{ value: 'dark red', description: null }],
      ' because the value "dark red" is not a valid GraphQL enum value name',
    ],
    [
      'two defects',
      color,
      [
        { value: 'true', description: null },
        { value: '1', description: null },
      ],
      ' for the following reasons:\n  • the value "true" is not a valid GraphQL enum value name\n  • the value "1" is not a valid GraphQL enum value name\n',
    ],
  ])('are rejected: %s', (_, tableOf, values, reason) => {
    const { cache } = buildOf(decode([{ table: 'color', is_enum: true }]), open(catalog([tableOf]), { color: values }));
    expect(reasons(cache)).toEqual([`the table "color" cannot be used as an enum${reason}`]);
  });
});
