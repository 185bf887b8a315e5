import { describe, expect, test } from 'vitest';
import { catalog, named, rowType, sqlFunction, type } from '../../../test/support/fake-backend.ts';
import { author, article, cacheOf, infoOf, reasons } from '../../../test/support/schema-cache-build.ts';

describe('computed fields', () => {
  const row = { name: 'a', type: rowType('author'), hasDefault: false };
  const fields = (...functions: Parameters<typeof sqlFunction>[1][]) => {
    const found = catalog(
      [author, article],
      functions.map((each) => sqlFunction('f', each)),
    );
    return cacheOf(
      [
        { table: 'author', computed_fields: [{ name: 'cf', definition: { function: 'f', session_argument: 'who' } }] },
        { table: 'article' },
      ],
      found,
    );
  };
  const who = { name: 'who', type: type('json'), hasDefault: false };

  test('can return scalars and tables', () => {
    expect(infoOf(fields({ arguments: [row, who] }), 'author')?.computedFields.get('cf')).toMatchObject({
      tableArgument: 0,
      sessionArgument: 1,
      returns: { kind: 'scalar', type: type('text') },
    });
    const set = fields({ arguments: [who, row], returns: rowType('article'), returnsTable: named('article'), returnsSet: true });
    expect(reasons(set)).toEqual([expect.stringContaining('the first argument of the function "f" is not COMPOSITE type')]);
  });

  test.each<[string, readonly Parameters<typeof sqlFunction>[1][], string]>([
    [
      'an argument of a type that GraphQL cannot name',
      [{ arguments: [row, who, { ...who, name: 'more', type: type('my-type') }] }],
      'cannot use SQL type "my-type" in the GraphQL schema because its name is not a valid GraphQL identifier',
    ],
    ['a result of such a type', [{ arguments: [row, who], returns: type('my-type') }], 'cannot use SQL type "my-type"'],
    ['missing', [], ': no such function exists: "f"'],
    ['overloaded', [{}, {}], ': function "f" is overloaded. Overloaded functions are not supported'],
    [
      'volatile',
      [{ volatility: 'volatile', arguments: [row, who] }],
      'because the function "f" is of type VOLATILE; cannot be added as a computed field',
    ],
    [
      'another table',
      [{ arguments: [{ ...row, type: rowType('article') }, who] }],
      'because the first argument of the function "f" of type "article" is not the table to which the computed field is being added',
    ],
    [
      'a session argument of another type',
      [{ arguments: [row, { ...who, type: type('text') }] }],
      'because argument "who" of the function "f" is not of type JSON',
    ],
    [
      'a result of no table',
      [{ arguments: [row, who], returnsSet: true }],
      'because the function "f" returning type text is not a BASE type',
    ],
  ])('are rejected: %s', (_, functions, reason) => {
    const [text] = reasons(fields(...functions));
    expect(text).toContain('in table "author": in computed field "cf": ');
    expect(text).toContain(reason);
  });
});
