import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { literal, operand, type } from '../../../../test/support/ir.ts';
import { testServerUrl } from '../../../../test/support/postgres.ts';
import type { CatalogType } from '../../../catalog/catalog.ts';
import { print } from '../../../sql/fragment.ts';
import { type Json, jsonEqual, type JsonNumber, parseJson } from '../../../util/json.ts';
import { dialect } from '../compile/dialect.ts';
import { operandSql } from '../compile/operand.ts';
import { encoder } from './encode.ts';
import { runs } from '../../../../test/support/deep.ts';

let client: pg.Client;
beforeAll(async () => {
  client = new pg.Client({ connectionString: testServerUrl() });
  await client.connect();
});
afterAll(() => client.end());

/** Returns the value after a round trip to the database. */
async function roundTrip(json: Json, of: CatalogType, list = false): Promise<Json> {
  const { text, parameters } = print(operandSql(operand(literal(json), of, list)), dialect);
  const result = await client.query({
    text: `select to_json(${text})`,
    values: parameters.map((p) => p.encode(json)),
    rowMode: 'array',
    types: { getTypeParser: () => (raw: string) => raw },
  });
  return parseJson((result.rows[0] as unknown as string[])[0] as string);
}

async function survives(values: fc.Arbitrary<Json>, of: CatalogType, list = false): Promise<void> {
  await fc.assert(
    fc.asyncProperty(values, async (json) => {
      const back = await roundTrip(json, of, list);
      if (!jsonEqual(back, json)) expect(back).toEqual(json);
    }),
    runs(150),
  );
}

/** Text that the database can store, with many characters that are special in its syntaxes. */
const texts = fc
  .array(
    fc.oneof(
      fc.constantFrom('"', '\\', '{', '}', ',', "'", ' ', 'NULL', '\n', '\t', '\\"', '$1', '—', '\u{1f600}'),
      fc.string({ unit: 'grapheme' }),
    ),
  )
  .map((parts) => parts.join('').replaceAll('\u0000', ''));

/** JSON numbers far beyond the range of doubles, in the database's form. */
const numbers: fc.Arbitrary<number | JsonNumber> = fc
  .tuple(fc.boolean(), fc.bigInt(0n, 10n ** 45n), fc.option(fc.stringMatching(/^[0-9]{0,29}[1-9]$/)))
  .filter(([negative, whole, fraction]) => !(negative && whole === 0n && fraction === null))
  .map(
    ([negative, whole, fraction]) =>
      parseJson(`${negative ? '-' : ''}${whole}${fraction === null ? '' : `.${fraction}`}`) as number | JsonNumber,
  );

const { json: documents } = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    fc.constant(null),
    fc.boolean(),
    numbers,
    texts,
    fc.array(tie('json'), { maxLength: 4 }),
    fc.dictionary(texts, tie('json'), { maxKeys: 4, noNullPrototype: true }),
  ),
}));

const present = documents.filter((json) => json !== null);
const lists = <T extends Json>(items: fc.Arbitrary<T>): fc.Arbitrary<Json> => fc.array(items, { maxLength: 6 });
const int8 = fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n).map((n) => parseJson(String(n)));

describe('values survive a round trip to the database', () => {
  test('text', () => survives(texts, type('text')));
  test('json', () => survives(present, type('json')));
  test('jsonb', () => survives(present, type('jsonb')));
  test('numeric', () => survives(numbers, type('numeric')));
  test('bigint', () => survives(int8, type('int8')));
  test('boolean', () => survives(fc.boolean(), type('bool')));
  test('text[]', () => survives(lists(texts), type('text[]')));
  test('numeric[]', () => survives(lists(numbers), type('numeric[]')));
  test('bigint[]', () => survives(lists(int8), type('int8[]')));
  test('jsonb[], strings aside', () => survives(lists(present.filter((json) => typeof json !== 'string')), type('jsonb[]')));
  test('a list of text', () => survives(lists(texts), type('text'), true));
  test('a list of jsonb', () => survives(lists(present), type('jsonb'), true));
  test('a list of numeric', () => survives(lists(numbers), type('numeric'), true));
});

describe('encoded text', () => {
  const encode = (json: Json, of: CatalogType, list = false): string | null => encoder(operand(literal(json), of, list))(json);

  test('encodes null as NULL, alone and in arrays', () => {
    expect(encode(null, type('text'))).toBeNull();
    expect(encode([null, 'NULL'], type('text[]'))).toBe('{null,"NULL"}');
    expect(encode(null, type('jsonb'))).toBeNull();
  });

  test('passes a string for an array unchanged, and encodes it for json', () => {
    expect(encode('{1,2}', type('int4[]'))).toBe('{1,2}');
    expect(encode('{1,2}', type('jsonb'))).toBe('"{1,2}"');
  });

  test('reads strings in json arrays as JSON if they are valid JSON', () => {
    expect(encode(['{"a": 1}', 'no json', { b: 1 }], type('json[]'))).toBe('{"{\\"a\\": 1}","\\"no json\\"","{\\"b\\":1}"}');
  });

  test('encodes lists of arrays as lists of texts, and uses the delimiter of boxes', async () => {
    expect(encode([['a', 'b"'], []], type('text[]'), true)).toBe('{"{\\"a\\",\\"b\\\\\\"\\"}","{}"}');
    expect(encode(['(1,1),(0,0)', '(2,2),(0,0)'], type('box[]'))).toBe('{"(1,1),(0,0)";"(2,2),(0,0)"}');
    expect(await roundTrip(['(1,1),(0,0)', '(2,2),(0,0)'], type('box[]'))).toEqual(['(1,1),(0,0)', '(2,2),(0,0)']);
  });

  test('passes session variables unchanged', () => {
    expect(encoder(operand({ kind: 'session', name: 'x' }, type('jsonb')))('{"a":1}')).toBe('{"a":1}');
    expect(encoder(operand({ kind: 'session', name: 'x' }, type('int4'), true))('{1,2}')).toBe('{1,2}');
    expect(encoder(operand({ kind: 'session-variables' }, type('json')))({ 'x-svc-role': 'user' })).toBe('{"x-svc-role":"user"}');
  });
});
