/** Compares extreme values of every total type on a real server. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { availableExtensions } from '../../../../test/support/extensions.ts';
import { testDatabase, type TestDatabase } from '../../../../test/support/postgres.ts';
import { TOTAL_EXTENSION_TYPES, TOTAL_TYPES } from './total-types.ts';

const extensions = await availableExtensions([...TOTAL_EXTENSION_TYPES]);
const INT4 = ['0', '-1', '2147483647', '-2147483648'];
const INT8 = ['0', '-1', '9223372036854775807', '-9223372036854775808'];
const NUMERIC = ['0', '-0.00', 'NaN', 'Infinity', '-Infinity', '1e131071', '-1e131071', '1e-16383', '0.1', '1.10'];
const FLOAT8 = ['0', '-0', 'NaN', 'Infinity', '-Infinity', '1.7976931348623157e308', '-1.7976931348623157e308', '5e-324'];
const DATES = ['infinity', '-infinity', '4714-11-24 BC', '5874897-12-31', '2000-01-01'];
const TIMESTAMPS = ['infinity', '-infinity', '4714-11-24 00:00:00 BC', '294276-12-31 23:59:59.999999', '2000-01-01 00:00:00'];
const ZONED = [
  ...TIMESTAMPS.map((text) => (text.includes('infinity') ? text : text.replace(/( BC)?$/, '+00$1'))),
  '2000-01-01 00:00:00+15:59',
];
const TEXTS = ['', ' ', 'a', 'A', 'é', 'é', '\u{10ffff}', '\u0001', '%_\\', 'ß', 'İ', 'x'.repeat(3_000), '😀'.repeat(1_000)];
const rangesOf = (bounds: readonly string[]): string[] => [
  'empty',
  '(,)',
  ...bounds.flatMap((bound) => [`["${bound}",)`, `(,"${bound}")`, `["${bound}","${bound}"]`]),
];
const inside = (texts: readonly string[]): string[] => texts.filter((text) => !/Infinity|infinity/.test(text));
/** The end of an integer range is one beyond its last value. */
const SMALL_INTS = ['0', '-1', '2147483646', '-2147483648'];
const BIG_INTS = ['0', '-1', '9223372036854775806', '-9223372036854775808'];
const SOME_DATES = ['infinity', '-infinity', '4714-11-24 BC', '5874897-12-30', '2000-01-01'];
const multi = (ranges: readonly string[]): string[] => ['{}', ...ranges.filter((range) => range !== 'empty').map((range) => `{${range}}`)];

const VALUES: Readonly<Record<string, readonly string[]>> = {
  bool: ['true', 'false'],
  int2: ['0', '-1', '32767', '-32768'],
  int4: INT4,
  int8: INT8,
  float4: ['0', '-0', 'NaN', 'Infinity', '-Infinity', '3.4028235e38', '-3.4028235e38', '1e-45'],
  float8: FLOAT8,
  numeric: NUMERIC,
  money: ['0', '92233720368547758.07', '-92233720368547758.08'],
  oid: ['0', '1', '4294967295'],
  text: TEXTS,
  varchar: TEXTS,
  bpchar: TEXTS,
  char: ['', 'a', '\\377', ' '],
  name: ['', 'a', 'A', 'x'.repeat(63), 'é'],
  bytea: ['', '\\x00', '\\xff', `\\x${'ab'.repeat(3_000)}`],
  uuid: ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'],
  date: DATES,
  time: ['00:00', '24:00', '23:59:59.999999'],
  timetz: ['00:00+15:59:59', '24:00-15:59:59', '12:00+00'],
  timestamp: TIMESTAMPS,
  timestamptz: ZONED,
  interval: [
    '0',
    '178000000 years',
    '-178000000 years',
    '2147483647 days',
    '-2147483648 days',
    '2562047788:00:54.775807',
    '-2562047788:00:54',
    '1 mon -30 days',
  ],
  jsonb: [
    'null',
    'true',
    '{}',
    '[]',
    '""',
    '1e1000',
    '-0.0',
    '{"a":{"a":[1,"x",null]}}',
    '[[[]],{"":""}]',
    `${'['.repeat(300)}1${']'.repeat(300)}`,
    `"${'x'.repeat(3_000)}"`,
    `{${Array.from({ length: 200 }, (_, i) => `"k${i}":${i}`).join()}}`,
  ],
  inet: ['0.0.0.0/0', '255.255.255.255', '::/0', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '::ffff:1.2.3.4/100'],
  cidr: ['0.0.0.0/0', '255.255.255.255/32', '::/0', '::1/128'],
  macaddr: ['00:00:00:00:00:00', 'ff:ff:ff:ff:ff:ff'],
  macaddr8: ['00:00:00:00:00:00:00:00', 'ff:ff:ff:ff:ff:ff:ff:ff'],
  bit: ['0', '1'],
  varbit: ['', '0', '1', '01'.repeat(1_000)],
  pg_lsn: ['0/0', 'FFFFFFFF/FFFFFFFF'],
  tsvector: ['', 'a', "'a':1A,2B,16383", `${Array.from({ length: 500 }, (_, i) => `w${i}:${(i % 16_000) + 1}`).join(' ')}`],
  tsquery: ['', 'a', '!a', 'a & b | !c', 'a:*ABCD', 'a <16384> b', `${'!'.repeat(20)}a`],
  int4range: rangesOf(SMALL_INTS),
  int8range: rangesOf(BIG_INTS),
  numrange: rangesOf(NUMERIC),
  daterange: rangesOf(SOME_DATES),
  tsrange: rangesOf(TIMESTAMPS),
  tstzrange: rangesOf(ZONED),
  int4multirange: multi(rangesOf(SMALL_INTS)),
  int8multirange: multi(rangesOf(BIG_INTS)),
  nummultirange: multi(rangesOf(inside(NUMERIC))),
  datemultirange: multi(rangesOf(SOME_DATES)),
  tsmultirange: multi(rangesOf(TIMESTAMPS)),
  tstzmultirange: multi(rangesOf(ZONED)),
  citext: TEXTS,
  ltree: ['', 'a', 'A', 'a.b.c', `${'x.'.repeat(500)}x`, 'x'.repeat(255)],
};

let database: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  database = await testDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  for (const name of extensions) await client.query(`create extension ${name}`);
  await client.query("create type mood as enum ('', 'sad', 'happy')");
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

const ORDERED = ['=', '<>', '<', '>', '<=', '>='];

/** Compares all values with each other, alone, in lists and in arrays. @returns the number of comparisons */
async function compareAll(type: string, values: readonly string[]): Promise<number> {
  const quoted = `${type === 'char' || type === 'mood' ? '' : 'pg_catalog.'}"${type}"`;
  const name = TOTAL_EXTENSION_TYPES.has(type) ? `"${type}"` : quoted === '"char"' ? 'pg_catalog."char"' : quoted;
  const arrays = [`array[x]`, `array[x, y]`, `array[x, null]`, `array[[x], [y]]`, `'{}'::${name}[]`, `null::${name}[]`];
  const parts = [
    ...ORDERED.map((operator) => `x ${operator} y`),
    'x = any (array[y, null, x])',
    'x <> all (array[y, x])',
    `x = any (array[]::${name}[])`,
    ...[...ORDERED, '@>', '<@'].flatMap((operator) => arrays.flatMap((left) => arrays.map((right) => `${left} ${operator} ${right}`))),
    ...(type === 'jsonb'
      ? ['x @> y', 'x <@ y', "x ? 'a'", "x ?| array['a', null, '']", "x ?& array['a', null, '']", "x::text like '%a%'"]
      : []),
    ...(type === 'ltree'
      ? ['x @> y', 'x <@ y', 'x @> array[y, x]', "x ~ 'a.*{1,2}.!b|c@*'::lquery", "x ? array['*.x'::lquery]", "x @ 'a & !b*@'::ltxtquery"]
      : []),
  ];
  const list = `select t::${name} from unnest($1::text[]) as u(t)`;
  const text = `select count(*) as count, ${parts.map((part, i) => `count(${part}) as c${i}`).join(', ')} from (${list}) a(x), (${list}) b(y)`;
  const { rows } = await client.query<Record<string, string>>(text, [values]);
  expect(Object.values(rows[0] ?? {}).some((count) => Number(count) > 0)).toBe(true);
  return Number(rows[0]?.['count']) * parts.length;
}

it('tests every type of the list', () => {
  expect(Object.keys(VALUES).sort()).toEqual([...TOTAL_TYPES, ...TOTAL_EXTENSION_TYPES].sort());
});

describe('comparisons never fail', () => {
  it.each(Object.entries(VALUES).filter(([type]) => !TOTAL_EXTENSION_TYPES.has(type) || extensions.has(type)))(
    '%s',
    async (type, values) => {
      expect(await compareAll(type, values)).toBeGreaterThan(values.length);
    },
  );

  it('compares enums without errors', async () => {
    const { rows } = await client.query(
      `select count(x < y), count(array[x] = array[y]), count(x = any (array[y])) from unnest(enum_range(null::mood)) x, unnest(enum_range(null::mood)) y`,
    );
    expect(rows).toHaveLength(1);
  });

  it.each([
    ['int2', 'int8'],
    ['int4', 'oid'],
    ['int8', 'numeric'],
    ['float4', 'float8'],
    ['text', 'bpchar'],
    ['varchar', 'name'],
  ])('compares %s with %s without errors', async (left, right) => {
    const parts = ORDERED.map((operator) => `count(x ${operator} y)`).join();
    const texts = (type: string): readonly string[] => VALUES[type] ?? [];
    const of = (type: string, n: number): string => `(select t::pg_catalog."${type}" from unnest($${n}::text[]) u(t))`;
    await client.query(`select ${parts} from ${of(left, 1)} a(x), ${of(right, 2)} b(y)`, [texts(left), texts(right)]);
  });
});

/** Proves that such a test detects a failing comparison. */
describe('comparisons of other types fail', () => {
  it.each([
    ['box', ['((1e300,1e300),(-1e300,-1e300))', '((0,0),(1,1))']],
    ['circle', ['<(0,0),1e300>', '<(0,0),1>']],
  ])('%s', async (type, values) => {
    await expect(
      client.query(`select x > y from unnest($1::${type}[]) x, unnest($1::${type}[]) y`, [
        `{${values.map((v) => `"${v}"`).join(type === 'box' ? ';' : ',')}}`,
      ]),
    ).rejects.toThrow(/out of range/);
  });

  it('fails to compare arrays of json', async () => {
    await expect(client.query(`select array[x] = array[x] from unnest('{1,2}'::json[]) x`)).rejects.toThrow(
      /could not identify an equality operator/,
    );
  });
});
