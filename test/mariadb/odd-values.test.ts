/** Values that no column holds, compared in all ways with columns of all types and character sets: each gives an answer or a clear error. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Json, type JsonObject, printJson } from '../../src/util/json.ts';
import { sample, SEED } from '../support/deep.ts';
import { hasMariadb, startMariadb, type TestMariadb } from '../support/mariadb.ts';
import { startTestService, type TestService } from '../support/service.ts';

const COLLATIONS = [
  'latin1_swedish_ci',
  'latin1_bin',
  'ascii_general_ci',
  'cp1251_general_ci',
  'ucs2_general_ci',
  'utf8mb3_unicode_ci',
  'utf16_bin',
  'utf32_general_ci',
  'utf8mb4_unicode_nopad_ci',
  'utf8mb4_bin',
  'big5_chinese_ci',
  'sjis_japanese_ci',
  'gbk_bin',
];
const TEXTS: JsonObject = Object.fromEntries(
  COLLATIONS.map((name) => [name, `varchar(30) character set ${name.split('_')[0]} collate ${name}`]),
) as JsonObject;
const COLUMNS = {
  ...(TEXTS as Readonly<Record<string, string>>),
  long_text: 'mediumtext character set latin1',
  latin_kind: "enum('x','é') character set latin1",
  marks: "set('a','b') character set latin1",
  doc: 'json',
  uid: 'uuid',
  ip4: 'inet4',
  ip6: 'inet6',
  raw: 'varbinary(9)',
  small: 'tinyint unsigned',
  whole: 'int',
  big: 'bigint unsigned',
  flag: 'boolean',
  bits: 'bit(7)',
  built: 'year',
  exact: 'decimal(10,4)',
  ratio: 'double',
  single: 'float',
  born: 'date',
  seen: 'timestamp null',
  made: 'datetime(2)',
  hour: 'time(1)',
  place: 'point',
} as const;

const ODD_TEXTS: readonly string[] = [
  ...[
    '',
    ' ',
    '\u0000',
    'é',
    'Ω',
    '漢',
    '😀',
    'a😀b',
    '\ud83d',
    '\ufffd',
    '\ufeff',
    '\u202e',
    'ß',
    'x'.repeat(300),
    '%',
    '_',
    '\\',
    '\\\\',
  ],
  ...[
    "'",
    '"',
    '`',
    '(',
    '[',
    '[[:x:]]',
    '(?<a',
    '(?1)',
    '*',
    '😀+',
    '[é-😀]',
    '\\p{Han}',
    '(a+)+$',
    'a{99999}',
    '$.a[*]',
    '{',
    'null',
    '?',
    ':1',
    '--',
  ],
];
const ODD_VALUES: readonly Json[] = [
  ...ODD_TEXTS,
  ...[0, -1, 1e300, -0.5, 2 ** 53, true, '٣', '1e5', '0x10', 'NaN', 'Infinity', '99999999999999999999999', '1901', '2155'],
  ...[
    '0000-00-00',
    '9999-12-31',
    '2024-02-30',
    '-271821-04-20',
    '24:00:00',
    '838:59:59.9',
    '2024-01-01T00:00:60Z',
    '1970-01-01T00:00:00+14:00',
  ],
  ...['::ffff:1.2.3.4', '256.1.1.1', '6ccd780c-baba-1026-9564-5b8c656024db', 'AP8Q', '====', 'POINT(1 2)'],
  ...[
    {},
    [],
    [[]],
    { a: [1, { '😀': null }] },
    { type: 'Point', coordinates: [1, 2] },
    { type: 'Point', coordinates: [1e300, 'x'] },
    ['a', '😀', '\u0000'],
  ],
];

describe.skipIf(!hasMariadb())('odd values', () => {
  let mariadb: TestMariadb;
  let service: TestService;
  /** Comparisons of a column, with the types of their operands. */
  const comparisons: (readonly [column: string, operator: string, type: string])[] = [];

  beforeAll(async () => {
    mariadb = await startMariadb();
    const columns = Object.entries(COLUMNS).map(([name, type]) => `\`${name}\` ${type}`);
    await mariadb.run(`create database odd; use odd; create table odd (id int primary key auto_increment, ${columns.join(', ')});
      insert into odd (${Object.keys(TEXTS).join(', ')}, latin_kind, marks, doc, whole) values (${Object.keys(TEXTS)
        .map(() => "'a'")
        .join(', ')}, 'x', 'a,b', '{"a": ["b", 1]}', 1), (${Object.keys(TEXTS)
        .map(() => "''")
        .join(', ')}, null, '', '[]', null);`);
    service = await startTestService({}, { ODD: mariadb.url('odd') });
    await service.metadata('dbb_add_source', {
      name: 'odd',
      configuration: { connection_info: { connection_string: { from_env: 'ODD' } } },
    });
    await service.metadata('dbb_track_table', { source: 'odd', table: 'odd' });
    const { data } = await service.graphql(`{ odd: __type(name: "odd_bool_exp") { inputFields { name type { name } } }
      all: __schema { types { name inputFields { name type { kind name ofType { kind name ofType { name } } } } } } }`);
    const { odd, all } = data as unknown as Introspection;
    for (const { name: column, type } of odd.inputFields) {
      if (!(column in COLUMNS)) continue;
      const fields = all.types.find(({ name }) => name === type.name)?.inputFields ?? [];
      for (const { name, type: of } of fields) comparisons.push([column, name, printed(of)]);
    }
  });
  afterAll(async () => {
    await service?.stop();
    await mariadb?.stop();
  });

  async function failures(requests: readonly (readonly [query: string, variables: JsonObject])[]): Promise<readonly string[]> {
    const failed: string[] = [];
    for (const [query, variables] of requests) {
      const { errors } = (await service.graphql(query, { variables })) as { errors?: readonly { extensions: { code: string } }[] };
      const [error] = errors ?? [];
      if (error?.extensions.code === 'unexpected') failed.push(`${query} ${printJson(variables)}: ${JSON.stringify(error)}`);
    }
    return failed;
  }

  it('compares them', { timeout: 600_000 }, async () => {
    expect(new Set(comparisons.map(([column]) => column))).toEqual(new Set(Object.keys(COLUMNS)));
    const requests = comparisons.flatMap(([column, operator, type]) =>
      ODD_VALUES.map((value): readonly [string, JsonObject] => [
        `query($v: ${type}) { odd(where: {${column}: {${operator}: $v}}) { id } }`,
        { v: type.startsWith('[') ? [value] : value },
      ]),
    );
    const EMOJI = new Set(comparisons.filter(([column]) => column === 'latin1_bin').map(([, operator]) => operator));
    const always = requests.filter(
      ([query, { v }]) => query.includes('latin1_bin') && EMOJI.size > 0 && printJson(v ?? null).includes('a😀b'),
    );
    expect(always.length).toBe(EMOJI.size);
    expect(await failures([...always, ...sample(aFifth(requests), 150)])).toEqual([]);
  });

  it('writes them', async () => {
    const requests = Object.keys(COLUMNS).flatMap((column) =>
      ODD_VALUES.flatMap((value): (readonly [string, JsonObject])[] => [
        ['mutation($o: odd_insert_input!) { insert_odd_one(object: $o) { id } }', { o: { [column]: value } }],
        ['mutation($o: odd_set_input!) { update_odd(where: {id: {_eq: 1}}, _set: $o) { affected_rows } }', { o: { [column]: value } }],
      ]),
    );
    expect(await failures(sample(requests, 80))).toEqual([]);
  });

  it('uses them as operands and paths of JSON updates', async () => {
    const args: readonly (readonly [string, string])[] = [
      ...['_append', '_prepend'].map((name) => [name, '[1]'] as const),
      ...['_delete_key', '_delete_at_path'].map((name) => [name, name] as const),
    ];
    const requests = ODD_TEXTS.flatMap((text): (readonly [string, JsonObject])[] => [
      ['query($p: String) { odd { doc(path: $p) } }', { p: text }],
      ['query($p: String) { odd { doc(path: $p) } }', { p: `$["${text}"]` }],
      ['query($p: String) { odd { doc(path: $p) } }', { p: `a.${text}[0]` }],
      ...args.map(([name]): readonly [string, JsonObject] => [
        `mutation($v: ${name === '_delete_key' ? 'String!' : name === '_delete_at_path' ? '[String!]!' : 'json!'}) { update_odd(where: {}, ${name}: {doc: $v}) { affected_rows } }`,
        { v: name === '_delete_at_path' ? [text] : text },
      ]),
    ]);
    expect(await failures(sample(requests, 60))).toEqual([]);
  });
});

/** Selects different items with each seed; all of them take minutes. */
function aFifth<T>(items: readonly T[]): readonly T[] {
  return items.filter((_, i) => i % 5 === SEED % 5);
}

interface TypeOf {
  readonly kind: string;
  readonly name: string | null;
  readonly ofType: TypeOf | null;
}

interface Introspection {
  readonly odd: { readonly inputFields: readonly { readonly name: string; readonly type: { readonly name: string | null } }[] };
  readonly all: {
    readonly types: readonly { readonly name: string; readonly inputFields: readonly { name: string; type: TypeOf }[] | null }[];
  };
}

function printed({ kind, name, ofType }: TypeOf): string {
  if (kind === 'LIST') return `[${ofType === null ? '' : printed(ofType)}]`;
  if (kind === 'NON_NULL') return `${ofType === null ? '' : printed(ofType)}!`;
  return name ?? '';
}
