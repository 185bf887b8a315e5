import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { column, field, literal, operand, rows, table, type } from '../../../test/support/ir.ts';
import { availableExtensions } from '../../../test/support/extensions.ts';
import { testDatabase } from '../../../test/support/postgres.ts';
import { runSelect } from '../../../test/support/run-select.ts';
import type { Comparison } from '../../backend/type-system.ts';
import type { CatalogType } from '../../catalog/catalog.ts';
import type { BoolExp } from '../../ir/bool-exp.ts';
import type { ComparisonArgument } from '../../ir/bool-exp.ts';
import { type Json, type JsonObject, parseJson } from '../../util/json.ts';
import { ROOT } from '../../util/path.ts';
import { compiler } from './compile/compiler.ts';
import { COMMON_COMPARISONS } from './operators.ts';
import { postgresqlScalar, types } from './types.ts';

/** Extensions in the order of creation: rasters need PostGIS. */
const EXTENSIONS = ['ltree', 'citext', 'postgis', 'postgis_raster'];
const POINT: Json = { type: 'Point', coordinates: [1, 2] };
const LINE: Json = {
  type: 'LineString',
  coordinates: [
    [0, 0],
    [5, 5],
  ],
};

/** Values of each type, as JSON and as the database prints them. */
const SAMPLES: readonly { type: CatalogType; graphql: string; value: Json; output?: Json; extension?: string }[] = [
  { type: type('int2'), graphql: 'smallint', value: 7 },
  { type: type('int4'), graphql: 'Int', value: 7 },
  { type: type('int8'), graphql: 'bigint', value: 7 },
  { type: type('float4'), graphql: 'Float', value: parseJson('7.5') },
  { type: type('float8'), graphql: 'float8', value: parseJson('0.1') },
  { type: type('numeric'), graphql: 'numeric', value: 7 },
  { type: type('money'), graphql: 'money', value: 7, output: '$7.00' },
  { type: type('bool'), graphql: 'Boolean', value: true },
  { type: type('text'), graphql: 'String', value: 'x' },
  { type: type('varchar'), graphql: 'String', value: 'x' },
  { type: type('bpchar'), graphql: 'bpchar', value: 'x' },
  { type: type('char'), graphql: 'char', value: 'x' },
  { type: type('bit'), graphql: 'bit', value: '1' },
  { type: type('uuid'), graphql: 'uuid', value: '11111111-1111-1111-1111-111111111111' },
  { type: type('date'), graphql: 'date', value: '2020-01-31' },
  { type: type('timestamp'), graphql: 'timestamp', value: '2020-01-31 13:00:00.123', output: '2020-01-31T13:00:00.123' },
  { type: type('timestamptz'), graphql: 'timestamptz', value: '2020-01-31T13:00:00Z', output: '2020-01-31T13:00:00+00:00' },
  { type: type('time'), graphql: 'time', value: '13:00:00' },
  { type: type('timetz'), graphql: 'timetz', value: '13:00:00+00' },
  { type: type('interval'), graphql: 'interval', value: '1 day', output: '1 day' },
  { type: type('inet'), graphql: 'inet', value: '10.0.0.1', output: '10.0.0.1' },
  { type: type('bytea'), graphql: 'bytea', value: '\\x6869', output: '\\x6869' },
  { type: type('int4range', 'pg_catalog', 'range'), graphql: 'int4range', value: '[1,3)' },
  { type: type('jsonb'), graphql: 'jsonb', value: { a: [1, '2', null] } },
  { type: type('mood', 'public', 'enum'), graphql: 'mood', value: 'happy' },
  { type: type('ltree', 'ext'), graphql: 'ltree', value: 'a.b', extension: 'ltree' },
  { type: type('citext', 'ext'), graphql: 'citext', value: 'X', extension: 'citext' },
  { type: type('geometry', 'ext'), graphql: 'geometry', value: POINT, extension: 'postgis' },
  { type: type('geography', 'ext'), graphql: 'geography', value: POINT, extension: 'postgis' },
];

test('prints types by their SQL names', () => {
  const names = ['int2', 'int4', 'int8', 'float4', 'float8', 'bool', 'text', 'timestamptz'].map((name) => types.print(type(name)));
  expect(names).toEqual(['smallint', 'integer', 'bigint', 'real', 'double precision', 'boolean', 'text', 'timestamptz']);
  expect(types.print({ ...type('int4'), array: true })).toBe('integer[]');
  expect(types.print(type('bool', 'public'))).toBe('bool');
});

describe('in a database', () => {
  let client: pg.Client;
  let drop: () => Promise<void>;
  const extensions = new Set<string>();

  beforeAll(async () => {
    const database = await testDatabase();
    drop = database.drop;
    client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query("create schema ext; create type mood as enum ('sad', 'happy'); set timezone = 'UTC'");
    const available = await availableExtensions(EXTENSIONS);
    for (const name of EXTENSIONS.filter((extension) => available.has(extension))) {
      await client.query(`create extension ${name} schema ext`);
      extensions.add(name);
    }
    await client.query('set search_path = public, ext');
  });
  afterAll(async () => {
    await client.end();
    await drop();
  });

  const sqlName = (of: CatalogType) => `${of.schema === 'pg_catalog' ? '' : `${of.schema}.`}"${of.name}"`;
  const run = async (
    query: Parameters<ReturnType<typeof compiler>['select']>[0][number]['query'],
    stringifyNumericTypes = false,
  ): Promise<Json> => (await runSelect(client, compiler({ stringifyNumericTypes }).select([{ alias: 'x', query }])))[0] as Json;

  async function makeTable(of: CatalogType): Promise<void> {
    await client.query(`drop table if exists sample; create table sample (id int, one ${sqlName(of)}, many ${sqlName(of)}[])`);
  }

  async function insert(of: CatalogType, value: Json): Promise<void> {
    await makeTable(of);
    await client.query('insert into sample (id) values (1)');
    const bind = async (name: string, bound: CatalogType, json: Json) => {
      const query = rows(table('sample'), [], { where: equals(column(name, bound), operand(literal(json), bound)) });
      const statement = compiler({ stringifyNumericTypes: false }).select([{ alias: 'x', query }]);
      // The expression of the operand, extracted from the condition.
      const expression = /"one" = (.*)\)\) as "t2"$|"many" = (.*)\)\) as "t2"$/.exec(statement.text);
      await client.query(
        `update sample set ${name} = ${expression?.[1] ?? expression?.[2]}`,
        statement.parameters.map((p) => p.encode(json)),
      );
    };
    await bind('one', of, value);
    await bind('many', { ...of, array: true }, [value, value]);
  }

  function equals(left: ReturnType<typeof column>, right: ReturnType<typeof operand>): BoolExp {
    return { kind: 'compare', left, operator: '_eq', argument: { kind: 'operand', operand: right }, nullSafe: false };
  }

  describe.each(SAMPLES.map((sample) => [sample.graphql === sample.type.name ? sample.graphql : `${sample.type.name}`, sample] as const))(
    '%s',
    (_type, sample) => {
      const skip = () => sample.extension !== undefined && !extensions.has(sample.extension);

      test('writes and reads values', async (context) => {
        if (skip()) context.skip();
        expect(postgresqlScalar(sample.type).graphql).toBe(sample.graphql);
        await insert(sample.type, sample.value);
        const [row] = (await run(rows(table('sample'), [field('one', sample.type), field('many', { ...sample.type, array: true })]))) as [
          JsonObject,
        ];
        if (sample.extension === 'postgis') {
          const output = { ...(POINT as JsonObject), crs: { type: 'name', properties: { name: 'urn:ogc:def:crs:EPSG::4326' } } };
          expect(row).toEqual({ one: output, many: [output, output] });
        } else {
          const output = sample.output ?? sample.value;
          expect(row).toEqual({ one: output, many: [output, output] });
        }
      });

      test('runs every operator', async (context) => {
        if (skip()) context.skip();
        await insert(sample.type, sample.value);
        const scalar = postgresqlScalar(sample.type);
        for (const comparison of [...COMMON_COMPARISONS, ...scalar.comparisons]) {
          if (comparison.argument.kind === 'cast') continue;
          const argument = argumentOf(comparison, sample.type, sample.value);
          const where: BoolExp = {
            kind: 'compare',
            left: column('one', sample.type),
            operator: comparison.name,
            argument,
            nullSafe: false,
          };
          await expect(run(rows(table('sample'), [field('id')], { where })), comparison.name).resolves.toBeInstanceOf(Array);
        }
        const found = await run(
          rows(table('sample'), [field('id')], { where: equals(column('one', sample.type), operand(literal(sample.value), sample.type)) }),
        );
        expect(found).toEqual([{ id: 1 }]);
      });

      test('runs every array operator', async (context) => {
        if (skip()) context.skip();
        await insert(sample.type, sample.value);
        const array = { ...sample.type, array: true };
        for (const comparison of [...COMMON_COMPARISONS, ...types.arrayComparisons] as readonly Comparison[]) {
          const value: Json = comparison.argument.kind === 'list' ? [[sample.value]] : [sample.value];
          const argument: ComparisonArgument = {
            kind: 'operand',
            operand: operand(literal(value), array, comparison.argument.kind === 'list'),
          };
          const where: BoolExp = { kind: 'compare', left: column('many', array), operator: comparison.name, argument, nullSafe: false };
          await expect(run(rows(table('sample'), [field('id')], { where })), comparison.name).resolves.toBeInstanceOf(Array);
        }
      });
    },
  );

  function argumentOf(comparison: Comparison, of: CatalogType, value: Json): ComparisonArgument {
    const sampleOf = (other: CatalogType): Json =>
      ({ text: 'a', float4: 1, bool: true, int4: 1, lquery: 'a.*', ltxtquery: 'a', geometry: LINE, geography: LINE })[other.name] ?? value;
    switch (comparison.argument.kind) {
      case 'same':
        return { kind: 'operand', operand: operand(literal(value), of) };
      case 'list':
        return { kind: 'operand', operand: operand(literal([value, value]), of, true) };
      case 'type': {
        const { type: other, list } = comparison.argument;
        return { kind: 'operand', operand: operand(literal(list ? [sampleOf(other)] : sampleOf(other)), other, list) };
      }
      case 'input':
        return {
          kind: 'fields',
          fields: Object.fromEntries(comparison.argument.fields.map((f) => [f.name, operand(literal(sampleOf(f.type)), f.type)])),
        };
      case 'cast':
        throw new Error('a cast has no argument');
    }
  }

  test('returns numbers as strings with stringifyNumericTypes', async () => {
    for (const [name, output] of [
      ['int8', '7'],
      ['numeric', '7'],
      ['float8', '7'],
      ['money', '$7.00'],
      ['int4', 7],
      ['float4', 7],
    ] as const) {
      await insert(type(name), 7);
      const fields = [field('one', type(name)), field('many', type(`${name}[]`))];
      expect(await run(rows(table('sample'), fields), true), name).toEqual([{ one: output, many: [output, output] }]);
    }
  });

  test('accepts the same times with time zone as the database', async () => {
    const texts = ['13:00', '1:05 pm', '24:00:00Z', '13:00:60.5 -08:00', '13:00+2', '13:00:00+15:59:59', '13:00:00 PST', '130000.25+0230'];
    for (const text of texts) {
      expect(types.scalar(type('timetz')).check(text, ROOT)).toBe(text);
      await insert(type('timetz'), text);
    }
    for (const text of ['25:00+00', '13:60Z', '13:00:61Z', '24:00:01Z', '13:00+16', '13:00+02:60']) {
      expect(() => types.scalar(type('timetz')).check(text, ROOT)).toThrow('could not parse timetz');
      await expect(insert(type('timetz'), text), text).rejects.toThrow();
    }
  });

  test('returns infinite numbers as strings', async () => {
    await makeTable(type('float8'));
    await client.query("insert into sample values (1, 'NaN', '{Infinity,-Infinity,1e300}')");
    expect(await run(rows(table('sample'), [field('one', type('float8')), field('many', type('float8[]'))]))).toMatchObject([
      { one: 'NaN', many: ['Infinity', '-Infinity', { text: '1e+300' }] },
    ]);
  });

  test('compares a cast as its target type', async () => {
    await insert(type('jsonb'), { a: 1 });
    const cast = { kind: 'cast' as const, read: column('one', type('jsonb')), type: type('text') };
    const where: BoolExp = {
      kind: 'compare',
      left: cast,
      operator: '_like',
      argument: { kind: 'operand', operand: operand(literal('%"a": 1%'), type('text')) },
      nullSafe: false,
    };
    expect(await run(rows(table('sample'), [field('id')], { where }))).toEqual([{ id: 1 }]);
  });

  test('compares spatial values in text form, from session variables and in lists', async (context) => {
    if (!extensions.has('postgis')) context.skip();
    const geometry = type('geometry', 'ext');
    await insert(geometry, POINT);
    const where = (value: Parameters<typeof operand>[0], list = false): BoolExp => ({
      kind: 'compare',
      left: column('one', geometry),
      operator: list ? '_in' : '_eq',
      argument: { kind: 'operand', operand: operand(value, geometry, list) },
      nullSafe: false,
    });
    const ids = async (exp: BoolExp, session: Record<string, string> = {}) =>
      (
        await runSelect(
          client,
          compiler({ stringifyNumericTypes: false }).select([{ alias: 'x', query: rows(table('sample'), [field('id')], { where: exp }) }]),
          { session },
        )
      )[0];
    const point = { kind: 'session' as const, name: 'point' };
    expect(await ids(where(literal('SRID=4326;POINT(1 2)')))).toEqual([{ id: 1 }]);
    expect(await ids(where(point), { point: 'SRID=4326;POINT(1 2)' })).toEqual([{ id: 1 }]);
    expect(await ids(where(point), { point: '{"type":"Point","coordinates":[1,2]}' })).toEqual([{ id: 1 }]);
    expect(await ids(where(literal([POINT, 'POINT(3 3)']), true))).toEqual([{ id: 1 }]);
    expect(await ids(where(literal([LINE]), true))).toEqual([]);
  });

  test('runs raster operators', async (context) => {
    if (!extensions.has('postgis_raster')) context.skip();
    const raster = type('raster', 'ext');
    await makeTable(raster);
    await client.query("insert into sample (id, one) values (1, st_addband(st_makeemptyraster(10, 10, 0, 10, 1), '8BUI'::text, 1, 0))");
    const hex = (await client.query('select one::text as hex from sample')).rows[0].hex as string;
    expect(postgresqlScalar(raster).check(hex, { parent: undefined, key: '$' })).toBe(hex);
    for (const comparison of postgresqlScalar(raster).comparisons) {
      const where: BoolExp = {
        kind: 'compare',
        left: column('one', raster),
        operator: comparison.name,
        argument: rasterArgument(comparison, raster, hex),
        nullSafe: false,
      };
      expect(await run(rows(table('sample'), [field('id')], { where })), comparison.name).toEqual([{ id: 1 }]);
    }
    expect(await run(rows(table('sample'), [field('one', raster)]))).toEqual([{ one: hex }]);
  });

  function rasterArgument(comparison: Comparison, raster: CatalogType, hex: string): ComparisonArgument {
    if (comparison.argument.kind !== 'input') return { kind: 'operand', operand: operand(literal(hex), raster) };
    const line = operand(literal('LINESTRING(0 0, 5 5)'), type('geometry', 'ext'));
    return {
      kind: 'fields',
      fields:
        comparison.name === '_st_intersects_geom_nband' ? { geommin: line } : { geommin: line, nband: operand(literal(1), type('int4')) },
    };
  }
});

describe('traits', () => {
  test('returns the traits of the element type for an array, as the same object', () => {
    expect(postgresqlScalar(type('int4[]'))).toBe(postgresqlScalar(type('int4')));
    expect(postgresqlScalar(type('geometry', 'a'))).not.toBe(postgresqlScalar(type('geometry', 'b')));
  });

  test('describes which types are numeric, comparable, ordered or JSON', () => {
    const names = ['int2', 'int4', 'int8', 'float4', 'float8', 'numeric', 'money', 'bool', 'text', 'uuid', 'date', 'json', 'jsonb', 'inet'];
    expect(names.filter((name) => postgresqlScalar(type(name)).numeric)).toEqual([
      'int2',
      'int4',
      'int8',
      'float4',
      'float8',
      'numeric',
      'money',
    ]);
    expect(names.filter((name) => !postgresqlScalar(type(name)).comparable)).toEqual(['bool', 'json', 'jsonb', 'inet']);
    expect(
      ['mood', 'pair'].map((name) => postgresqlScalar(type(name, 'public', name === 'mood' ? 'enum' : 'composite')).comparable),
    ).toEqual([true, false]);
    expect(names.filter((name) => !postgresqlScalar(type(`${name}[]`)).arraysComparable)).toEqual(['json']);
    expect(postgresqlScalar(type('raster', 'public')).ordered).toBe(false);
    const having = (trait: 'json' | 'jsonOperators' | 'hasEquality', value: boolean) =>
      names.filter((name) => postgresqlScalar(type(name))[trait] === value);
    expect([having('json', true), having('jsonOperators', true), having('hasEquality', false)]).toEqual([
      ['json', 'jsonb'],
      ['jsonb'],
      ['json'],
    ]);
    expect(postgresqlScalar(type('address', 'public', 'composite')).graphql).toBe('address_scalar');
    expect(postgresqlScalar(type('text', 'public', 'enum')).graphql).toBe('text');
    expect(postgresqlScalar(type('text', 'public', 'enum')).comparisons).toEqual([]);
  });
});
