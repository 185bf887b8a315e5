/** Columns of all types of BigQuery: output, comparison, order, permissions, joins and refusals. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { hasBigQuery } from '../support/bigquery-emulator/index.ts';
import { sample } from '../support/deep.ts';
import { type BigQueryService, configurationOf, startBigQueryService } from './bigquery.ts';

/** A comparable column with the values of the first and the second row; that of the third is null. */
interface Ordered {
  readonly column: string;
  readonly type: string;
  readonly scalar: string;
  /** Values of both rows in SQL. */
  readonly sql: readonly [string, string];
  /** Values as JSON in requests. */
  readonly values: readonly [Json, Json];
  /** Values in answers, if they differ from those in requests. */
  readonly shown?: readonly [string, string];
  /** A value that does not fit the type. */
  readonly wrong: Json;
}

/** @param shown value in answers, if it differs from that in requests */
function ordered(
  [column, type, scalar]: readonly [column: string, type: string, scalar: string],
  sql: Ordered['sql'],
  values: Ordered['values'],
  wrong: Json,
  shown?: readonly [string, string],
): Ordered {
  return { column, type, scalar, sql, values, wrong, ...(shown === undefined ? {} : { shown }) };
}

/** Numbers that a double cannot hold are strings in requests, and numbers in answers. */
function exact(names: Parameters<typeof ordered>[0], sql: Ordered['sql'], values: readonly [string, string], wrong: Json): Ordered {
  return ordered(names, sql, values, wrong, values);
}

const ORDERED: readonly Ordered[] = [
  exact(['i', 'int64', 'bigint'], ['-9223372036854775808', '9007199254740993'], ['-9223372036854775808', '9007199254740993'], 1.5),
  ordered(['f', 'float64', 'float8'], ['-1.5', '1e300'], [-1.5, 1e300], 'many', ['-1.5', '1e+300']),
  exact(
    ['n', 'numeric', 'numeric'],
    ["numeric '-0.000000001'", "numeric '99999999999999999999999999999.999999999'"],
    ['-0.000000001', '99999999999999999999999999999.999999999'],
    '1e30',
  ),
  exact(
    ['m', 'bignumeric', 'numeric'],
    ["bignumeric '1e-38'", "bignumeric '12345678901234567890123456789012345678.5'"],
    ['0.00000000000000000000000000000000000001', '12345678901234567890123456789012345678.5'],
    '1e39',
  ),
  ordered(['b', 'bool', 'Boolean'], ['false', 'true'], [false, true], 'maybe'),
  ordered(['s', 'string', 'String'], ["''", "'ä\"\\\\ \\n😀'"], ['', 'ä"\\ \n😀'], 5),
  ordered(['y', 'bytes', 'bytes'], ["b'\\x00'", "b'\\xffab'"], ['AA==', '/2Fi'], '???'),
  ordered(['d', 'date', 'date'], ["date '0001-01-01'", "date '2024-02-29'"], ['0001-01-01', '2024-02-29'], '2023-02-29'),
  ordered(
    ['a', 'datetime', 'timestamp'],
    ["datetime '1969-12-31 23:59:59.999999'", "datetime '9999-12-31 23:59:59'"],
    ['1969-12-31T23:59:59.999999', '9999-12-31T23:59:59'],
    'noon',
  ),
  ordered(['t', 'time', 'time'], ["time '00:00:00'", "time '23:59:59.999999'"], ['00:00:00', '23:59:59.999999'], '24:00:00'),
  ordered(
    ['z', 'timestamp', 'timestamptz'],
    ["timestamp '1969-12-31 23:59:59.000001+00'", "timestamp '2024-01-02 03:04:05+00'"],
    ['1969-12-31T23:59:59.000001Z', '2024-01-02T05:04:05+02:00'],
    'yesterday',
    ['"1969-12-31T23:59:59.000001Z"', '"2024-01-02T03:04:05Z"'],
  ),
  ordered(
    ['v', 'interval', 'interval'],
    ["interval '0-0 0 0:0:1' year to second", "interval '1-2 3 4:5:6.5' year to second"],
    ['0-0 0 0:0:1', '1-2 3 4:5:6.5'],
    '1 day',
    ['"0-0 0 0:0:1"', '"1-2 3 4:5:6.500"'],
  ),
  ordered(
    ['rd', 'range<date>', 'daterange'],
    ["range<date> '[2020-01-01, 2020-01-02)'", "range<date> '[2020-01-02, UNBOUNDED)'"],
    ['[2020-01-01, 2020-01-02)', '[2020-01-02, UNBOUNDED)'],
    '2020-01-01',
  ),
  ordered(
    ['rt', 'range<timestamp>', 'tstzrange'],
    ["range<timestamp> '[UNBOUNDED, 2020-01-02 00:00:00+00)'", "range<timestamp> '[2020-01-02 03:04:05.5+00, 2020-01-03 00:00:00+00)'"],
    ['[UNBOUNDED, 2020-01-02 00:00:00+00)', '[2020-01-02 03:04:05.500+00, 2020-01-03 00:00:00+00)'],
    'always',
  ),
  ordered(
    ['ra', 'range<datetime>', 'tsrange'],
    ["range<datetime> '[2020-01-01 00:00:00, 2020-01-02 00:00:00)'", "range<datetime> '[2020-01-01 00:00:00, UNBOUNDED)'"],
    ['[2020-01-01 00:00:00, 2020-01-02 00:00:00)', '[2020-01-01 00:00:00, UNBOUNDED)'],
    '[2020-01-01, )',
  ),
];

/** Columns that can only be printed and tested for null. */
const OPAQUE: readonly {
  readonly column: string;
  readonly type: string;
  readonly scalar: string;
  readonly sql: string;
  readonly shown: string;
  readonly nothing: string;
  readonly isList?: true;
}[] = [
  {
    column: 'j',
    type: 'json',
    scalar: 'json',
    sql: `json '{"b": [1, 2.50, null, "ü"], "a": {}}'`,
    shown: '{"a":{},"b":[1,2.5,null,"ü"]}',
    nothing: 'null',
  },
  {
    column: 'st',
    type: 'struct<x int64, y array<struct<z string>>>',
    scalar: 'struct',
    sql: "struct(1, [struct('q')])",
    shown: '{"x":1,"y":[{"z":"q"}]}',
    nothing: 'null',
  },
  {
    column: 'ai',
    type: 'array<int64>',
    scalar: 'bigint',
    sql: '[9007199254740993, -1]',
    shown: '[9007199254740993,-1]',
    nothing: '[]',
    isList: true,
  },
  { column: 'an', type: 'array<numeric>', scalar: 'numeric', sql: "[numeric '0.5']", shown: '[0.5]', nothing: '[]', isList: true },
  {
    column: 'af',
    type: 'array<float64>',
    scalar: 'float8',
    sql: '[0.5, cast("nan" as float64), cast("-inf" as float64)]',
    shown: '[0.5,"NaN","-Infinity"]',
    nothing: '[]',
    isList: true,
  },
  { column: 'ax', type: 'array<string>', scalar: 'String', sql: `['', '"']`, shown: '["","\\""]', nothing: '[]', isList: true },
  { column: 'ab', type: 'array<bytes>', scalar: 'bytes', sql: "[b'a']", shown: '["YQ=="]', nothing: '[]', isList: true },
  {
    column: 'az',
    type: 'array<timestamp>',
    scalar: 'timestamptz',
    sql: "[timestamp '2024-01-02 03:04:05+00']",
    shown: '["2024-01-02T03:04:05Z"]',
    nothing: '[]',
    isList: true,
  },
  {
    column: 'as_',
    type: 'array<struct<k string>>',
    scalar: 'struct',
    sql: "[struct('a' as k), struct(null as k)]",
    shown: '[{"k":"a"},{"k":null}]',
    nothing: '[]',
    isList: true,
  },
];

const columns = [...ORDERED.map(({ column, type }) => `${column} ${type}`), ...OPAQUE.map(({ column, type }) => `${column} ${type}`)];
const rowSql = (index: 0 | 1): string =>
  [String(index + 1), ...ORDERED.map(({ sql }) => sql[index]), ...OPAQUE.map(({ sql }) => sql)].join(', ');
const TABLES = `
create table shop.thing (id int64 not null, ${columns.join(', ')});
insert into shop.thing values (${rowSql(0)});
insert into shop.thing values (${rowSql(1)});
insert into shop.thing values (3, ${[...ORDERED.map(() => 'null'), ...OPAQUE.map(({ isList }) => (isList ? '[]' : 'null'))].join(', ')});
create table shop.place (id int64 not null, spot geography, area geography, lane array<geography>);
insert into shop.place values (1, st_geogpoint(1, 2), st_geogfromtext('POLYGON((0 0, 10 0, 10 10, 0 10, 0 0))'), [st_geogpoint(0, 0)]),
  (2, st_geogpoint(20, 2), st_geogfromtext('POLYGON((10 0, 20 0, 20 10, 10 10, 10 0))'), []), (3, null, null, []);`;

const dataset = 'shop';
const printed = (value: Json): string => JSON.stringify(value);
/** IDs of rows by condition. */
type Found = Readonly<Record<string, readonly number[]>>;

describe.skipIf(!hasBigQuery())('types of BigQuery', () => {
  let both: BigQueryService;

  beforeAll(async () => {
    both = await startBigQueryService(TABLES);
    const { service, bigquery } = both;
    await service.metadata('dwh_add_source', { name: 'w', configuration: configurationOf(bigquery, dataset) });
    const run = (type: string, name: string, args: JsonObject): Promise<Json> =>
      service.metadata(`dwh_${type}`, { source: 'w', table: { dataset, name }, ...args });
    for (const name of ['thing', 'place']) await run('track_table', name, {});
    const roles = ORDERED.flatMap(({ column, values }) => [
      { role: `session_${column}`, filter: { [column]: { _eq: 'X-Svc-Value' } } },
      { role: `sessions_${column}`, filter: { [column]: { _in: 'X-Svc-Values' } } },
      { role: `fixed_${column}`, filter: { [column]: { _gte: values[1] } } },
      { role: `column_${column}`, filter: { [column]: { _ceq: column } } },
    ]);
    await service.metadata(
      'bulk',
      roles.map(({ role, filter }) => ({
        type: 'dwh_create_select_permission',
        args: { source: 'w', table: { dataset, name: 'thing' }, role, permission: { columns: ['id'], filter } },
      })),
    );
  });
  afterAll(() => both?.stop());

  const answer = async (query: string, options: JsonObject = {}): Promise<string> =>
    (await both.service.send('/v1/graphql', { method: 'POST', body: JSON.stringify({ query, ...options }) })).text;
  const found = async (query: string, options: JsonObject = {}): Promise<Found> => {
    const { data, errors } = (await both.service.graphql(query, options)) as {
      readonly data?: Readonly<Record<string, readonly { readonly id: number }[]>>;
      readonly errors?: Json;
    };
    expect(errors).toBeUndefined();
    return Object.fromEntries(Object.entries(data ?? {}).map(([name, rows]) => [name, rows.map(({ id }) => id)]));
  };
  const error = async (query: string, options: JsonObject = {}): Promise<Json> =>
    (await both.service.graphql(query, options))['errors'] ?? null;

  it.each(ORDERED)('prints $type and has a scalar for it', async ({ column, scalar, values, shown = values.map(printed) }) => {
    expect(await answer(`{ shop_thing(order_by: {id: asc}) { ${column} } }`)).toBe(
      `{"data":{"shop_thing":[{"${column}":${shown[0]}},{"${column}":${shown[1]}},{"${column}":null}]}}`,
    );
    expect(await answer('{ __type(name: "shop_thing") { fields { name type { name } } } }')).toContain(
      `{"name":"${column}","type":{"name":"${scalar}"}}`,
    );
  });

  it.each(ORDERED)('compares $type by all operators', async ({ column, scalar, values: [low, high] }) => {
    const conditions: readonly (readonly [operator: string, value: Json, list: boolean, ids: readonly number[]])[] = [
      ['_eq', low, false, [1]],
      ['_neq', low, false, [2]],
      ['_gt', low, false, [2]],
      ['_gte', low, false, [1, 2]],
      ['_lt', high, false, [1]],
      ['_lte', high, false, [1, 2]],
      ['_in', [high, low], true, [1, 2]],
      ['_in', [], true, []],
      ['_nin', [low], true, [2]],
      ['_nin', [], true, [1, 2, 3]],
    ];
    const written = conditions.map(
      ([operator, value], i) => `a${i}: shop_thing(where: {${column}: {${operator}: ${printed(value)}}}, order_by: {id: asc}) { id }`,
    );
    const nulls = ['true', 'false'].map(
      (isNull) => `is_${isNull}: shop_thing(where: {${column}: {_is_null: ${isNull}}}, order_by: {id: asc}) { id }`,
    );
    const expected = Object.fromEntries(conditions.map(([, , , ids], i) => [`a${i}`, ids]));
    expect(await found(`{ ${[...written, ...nulls].join(' ')} }`)).toEqual({ ...expected, is_true: [3], is_false: [1, 2] });
    // The same conditions with variables, and negated.
    const variables = Object.fromEntries(conditions.map(([, value], i) => [`v${i}`, value]));
    const declared = conditions.map(([, , isList], i) => `$v${i}: ${isList ? `[${scalar}!]` : scalar}!`).join(', ');
    const bound = conditions.map(
      ([operator], i) => `a${i}: shop_thing(where: {_not: {${column}: {${operator}: $v${i}}}}, order_by: {id: asc}) { id }`,
    );
    const others = conditions.map(([operator, , , ids], i) => {
      const known = operator === '_nin' && i === 9 ? [1, 2, 3] : [1, 2];
      return [`a${i}`, i === 7 ? [1, 2, 3] : known.filter((id) => !ids.includes(id))];
    });
    expect(await found(`query(${declared}) { ${bound.join(' ')} }`, { variables })).toEqual(Object.fromEntries(others));
  });

  it.each(ORDERED)('orders and groups rows by $type', async ({ column }) => {
    const orders = ['asc', 'desc', 'asc_nulls_first', 'asc_nulls_last', 'desc_nulls_first', 'desc_nulls_last'];
    const written = orders.map((order) => `${order}: shop_thing(order_by: {${column}: ${order}}) { id }`);
    expect(await found(`{ ${written.join(' ')} distinct: shop_thing(distinct_on: ${column}, order_by: {${column}: asc}) { id } }`)).toEqual(
      {
        asc: [1, 2, 3],
        desc: [3, 2, 1],
        asc_nulls_first: [3, 1, 2],
        asc_nulls_last: [1, 2, 3],
        desc_nulls_first: [3, 2, 1],
        desc_nulls_last: [2, 1, 3],
        distinct: [1, 2, 3],
      },
    );
  });

  it.each(ORDERED)('filters rows of roles by $type', async ({ column, values: [low, high] }) => {
    const text = (value: Json): string => (typeof value === 'string' ? value : printed(value));
    const ids = async (role: string, session: Readonly<Record<string, string>> = {}): Promise<readonly number[] | undefined> =>
      (await found('{ shop_thing(order_by: {id: asc}) { id } }', { role, session }))['shop_thing'];
    // Headers allow neither line breaks nor all letters.
    const isPlain = /^[ -~]*$/.test(text(high));
    expect(await ids(`session_${column}`, { value: isPlain ? text(high) : text(low) })).toEqual([isPlain ? 2 : 1]);
    const list = [low, ...(isPlain ? [high] : [])].map((value) => `"${text(value).replaceAll(/["\\]/g, '\\$&')}"`);
    expect(await ids(`sessions_${column}`, { values: `{${list.join(',')}}` })).toEqual(isPlain ? [1, 2] : [1]);
    expect(await ids(`fixed_${column}`)).toEqual([2]);
    // Null equals null in permissions.
    expect(await ids(`column_${column}`)).toEqual([1, 2, 3]);
  });

  it.each(ORDERED)('refuses an invalid $type before running a job', async ({ column, wrong }) => {
    const before = both.bigquery.requests.length;
    expect(await error(`{ shop_thing(where: {${column}: {_eq: ${printed(wrong)}}}) { id } }`)).not.toBeNull();
    expect(await error(`{ shop_thing(where: {${column}: {_in: [${printed(wrong)}]}}) { id } }`)).not.toBeNull();
    expect(await error(`{ shop_thing(where: {${column}: {_eq: null}}) { id } }`)).not.toBeNull();
    expect(both.bigquery.requests).toHaveLength(before);
  });

  it.each(OPAQUE)('prints $type as a whole', async ({ column, shown, nothing, isList = false }) => {
    expect(await answer(`{ shop_thing(order_by: {id: asc}) { ${column} } }`)).toBe(
      `{"data":{"shop_thing":[{"${column}":${shown}},{"${column}":${shown}},{"${column}":${nothing}}]}}`,
    );
    // An empty list is not null.
    expect(
      await found(
        `{ a: shop_thing(where: {${column}: {_is_null: false}}, order_by: {id: asc}) { id } b: shop_thing(where: {${column}: {_is_null: true}}) { id } }`,
      ),
    ).toEqual(isList ? { a: [1, 2, 3], b: [] } : { a: [1, 2], b: [3] });
  });

  it.each(OPAQUE)('neither orders nor groups by $type', async ({ column }) => {
    for (const argument of [`order_by: {${column}: asc}`, `distinct_on: ${column}`]) {
      expect(JSON.stringify(await error(`{ shop_thing(${argument}) { id } }`)), argument).toMatch(/must not name such a column|not found/);
    }
  });

  it('matches patterns of texts and bytes', async () => {
    const bytes = (text: string): string => Buffer.from(text, 'latin1').toString('base64');
    const where = (condition: string): string => `shop_thing(where: {${condition}}, order_by: {id: asc}) { id }`;
    expect(
      await found(`{ a: ${where('s: {_like: "ä%"}')} b: ${where('s: {_nlike: "ä%"}')} c: ${where('s: {_ilike: "Ä%"}')} d: ${where('s: {_nilike: "Ä%"}')}
        e: ${where(`y: {_like: "${bytes('\xffa%')}"}`)} f: ${where(`y: {_nlike: "${bytes('\xffa%')}"}`)} h: ${where(`y: {_like: "${bytes('\xffa')}"}`)} g: ${where('s: {_like: "%\\\\\\\\%"}')} }`),
    ).toEqual({ a: [2], b: [1], c: [2], d: [1], e: [2], f: [1], h: [], g: [2] });
  });

  it('compares geographies by their intersection and prints GeoJSON', async () => {
    const point = (x: number, y: number): string => `{type: "Point", coordinates: [${x}, ${y}]}`;
    const square = '{type: "Polygon", coordinates: [[[0, 0], [10, 0], [10, 10], [0, 10], [0, 0]]]}';
    const where = (column: string, condition: string): string =>
      `shop_place(where: {${column}: {${condition}}}, order_by: {id: asc}) { id }`;
    expect(
      await found(`{ a: ${where('area', `_st_contains: ${point(5, 5)}`)} b: ${where('spot', `_st_equals: ${point(1, 2)}`)} c: ${where('area', `_st_intersects: ${point(10, 5)}`)}
        d: ${where('spot', `_st_within: ${square}`)} e: ${where('area', `_st_touches: ${point(10, 5)}`)} f: ${where('spot', '_is_null: true')}
        g: ${where('spot', `_st_d_within: {distance: 120000, from: ${point(1, 1)}}`)} h: ${where('spot', `_st_contains: ${point(20, 2)}`)} }`),
    ).toEqual({ a: [1], b: [1], c: [1, 2], d: [1], e: [1, 2], f: [3], g: [1], h: [2] });
    const { data } = (await both.service.graphql('{ shop_place(order_by: {id: asc}) { spot lane } }')) as JsonObject;
    expect(data).toEqual({
      shop_place: [
        { spot: { type: 'Point', coordinates: [1, 2] }, lane: [{ type: 'Point', coordinates: [0, 0] }] },
        { spot: { type: 'Point', coordinates: [20, 2] }, lane: [] },
        { spot: null, lane: [] },
      ],
    });
    for (const wrong of ['"x"', '{type: "Square"}', '5'])
      expect(await error(`{ ${where('spot', `_st_equals: ${wrong}`)} }`), wrong).not.toBeNull();
    expect(JSON.stringify(await error('{ shop_place(order_by: {spot: asc}) { id } }'))).toContain('not-supported');
  });

  it.each(sample([...ORDERED, ...OPAQUE], 4))('$column has the operators of its type', async ({ column }) => {
    const { data } = (await both.service.graphql(
      '{ __type(name: "shop_thing_bool_exp") { inputFields { name type { name inputFields { name } } } } }',
    )) as {
      readonly data: {
        readonly __type: {
          readonly inputFields: readonly { name: string; type: { name: string; inputFields: readonly { name: string }[] } }[];
        };
      };
    };
    const { type } = data.__type.inputFields.find(({ name }) => name === column) ?? { type: { name: '', inputFields: [] } };
    const common = ['_eq', '_neq', '_gt', '_lt', '_gte', '_lte', '_in', '_nin', '_is_null'];
    const names = type.inputFields.map(({ name }) => name);
    const own = column === 's' ? ['_like', '_nlike', '_ilike', '_nilike'] : column === 'y' ? ['_like', '_nlike'] : [];
    expect(names.filter((name) => !common.includes(name)).sort()).toEqual(own.sort());
    if (ORDERED.some((each) => each.column === column)) expect(names).toEqual(expect.arrayContaining(common));
  });
});
