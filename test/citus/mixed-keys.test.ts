/** Joins by columns of different types return the same rows as PostgreSQL, or are refused. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { watchShapes } from './watch-shapes.ts';
import { comparable } from '../support/twins.ts';

const NUMBERS = ['-1', '0', '1', '7'];
/** Values that are equal in some types and not in others. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  int2: [...NUMBERS, '32767'],
  int4: [...NUMBERS, '32767', '16777216', '16777217', '2147483647'],
  int8: [...NUMBERS, '16777217', '2147483647', '9007199254740992', '9007199254740993'],
  numeric: [...NUMBERS, '1.00', '1.50', '9007199254740993', '32767.0', 'NaN'],
  float4: [...NUMBERS, '-0', '0.1', '16777216', '2147483648', 'NaN'],
  float8: [...NUMBERS, '-0', '0.1', '16777217', '2147483647', '1e300', 'NaN'],
  text: ['a', 'a ', 'A', '', 'ä'],
  varchar: ['a', 'a ', 'A', '', 'ä'],
  name: ['a', 'a ', 'A', '', 'ä'],
  date: ['2020-01-01', '1999-12-31'],
  timestamp: ['2020-01-01 00:00', '2020-01-01 00:00:00.000001', '1999-12-31'],
  inet: ['10.0.0.1', '10.0.0.0/8', '::1'],
  cidr: ['10.0.0.1/32', '10.0.0.0/8', '::1/128'],
};
const FAMILIES = [
  ['int2', 'int4', 'int8', 'numeric'],
  ['int2', 'int4', 'float4', 'float8'],
  ['text', 'varchar', 'name'],
  ['date', 'timestamp'],
  ['inet', 'cidr'],
];
const PAIRS = new Map(
  Object.keys(VALUES).map((type) => [type, new Set(FAMILIES.filter((family) => family.includes(type)).flat())] as const),
);

const TABLES = [...PAIRS.keys()]
  .map((type) => {
    const values = (VALUES[type] ?? []).map((value) => `('${value}'), ('${value}')`);
    return `create table t_${type} (id serial primary key, k ${type}); insert into t_${type} (k) values ${values.join(', ')}, (null);`;
  })
  .join('\n');
const OTHERS = `create table odd (id int primary key, u uuid, t text, c char(4), i bigint, n numeric, r real, f double precision, d date, s timestamp, z timestamptz, h time, hz timetz, j json, p point);
create table keyed (f double precision primary key);
create table keying (id int primary key, i bigint references keyed (f));`;

describe('keys of different types', () => {
  let service: TestService;
  const shapes = watchShapes();
  const relate = (kind: string, source: string, table: string, name: string, remote_table: string, mapping: JsonObject): Promise<Json> =>
    service.metadata(`${kind}_create_array_relationship`, {
      source,
      table,
      name,
      using: { manual_configuration: { remote_table, column_mapping: mapping } },
    });

  beforeAll(async () => {
    service = await startTestService();
    await service.sql(TABLES + OTHERS);
    await service.metadata('pg_update_source', {
      name: 'default',
      customization: { root_fields: { prefix: 'pg_' }, type_names: { prefix: 'pg_' } },
    });
    await service.metadata('dbc_add_source', {
      name: 'spread',
      configuration: { connection_info: { database_url: service.databaseUrl } },
      customization: { root_fields: { prefix: 'dbc_' }, type_names: { prefix: 'dbc_' } },
    });
    const tables = [...PAIRS].map(([type, others]) => ({
      table: { schema: 'public', name: `t_${type}` },
      array_relationships: [...others].map((other) => ({
        name: other,
        using: { manual_configuration: { remote_table: { schema: 'public', name: `t_${other}` }, column_mapping: { k: 'k' } } },
      })),
    }));
    const { metadata, resource_version } = (await service.metadata('export_metadata', {}, { version: 2 })) as JsonObject;
    const sources = ((metadata as JsonObject)['sources'] as readonly JsonObject[]).map((source): Json => ({ ...source, tables }));
    await service.metadata(
      'replace_metadata',
      { metadata: { ...(metadata as JsonObject), sources }, resource_version: resource_version ?? null },
      { version: 2 },
    );
    for (const table of ['odd', 'keyed', 'keying']) await service.metadata('dbc_track_table', { source: 'spread', table });
  });
  afterAll(() => service?.stop());

  it.each([...PAIRS])('of %s return the rows that PostgreSQL returns', async (type, others) => {
    const fields = [...others].map((other) => `${other}(order_by: {id: asc}) { id } ${other}_aggregate { aggregate { count } }`).join(' ');
    const conditions = [...others].map((other) => `${other}: _t_${type}(where: {${other}: {id: {_gt: 2}}}, order_by: {id: asc}) { id }`);
    const order = [...others].map((other) => `{${other}_aggregate: {count: asc}}`).join(', ');
    const request = `{ _t_${type}(order_by: {id: asc}) { id ${fields} } ${conditions.join(' ')} sorted: _t_${type}(order_by: [${order}, {id: asc}]) { id } }`;
    const answer = async (kind: string): Promise<string> =>
      comparable(JSON.stringify(await service.graphql(request.replaceAll(' _t_', ` ${kind}_t_`))));
    const theirs = await answer('pg');
    expect(theirs).toContain('"data"');
    expect(await answer('dbc')).toBe(theirs);
    expect(shapes.problems).toEqual([]);
  });

  it.each([
    ['u', 't'],
    ['t', 'c'],
    ['i', 'f'],
    ['n', 'r'],
    ['d', 'z'],
    ['s', 'z'],
    ['h', 'hz'],
    ['j', 'j'],
    ['p', 'p'],
  ])('are refused if Citus would return other rows: %s and %s', async (one, other) => {
    await expect(relate('dbc', 'spread', 'odd', 'odds', 'odd', { [one]: other })).rejects.toThrow(
      new RegExp(`incompatible column types: column .."${one}`.replace('.."', '\\\\"')),
    );
  });

  it('are refused as foreign keys, too', async () => {
    const add = service.metadata('dbc_create_object_relationship', {
      source: 'spread',
      table: 'keying',
      name: 'key',
      using: { foreign_key_constraint_on: 'i' },
    });
    await expect(add).rejects.toThrow('incompatible column types');
  });
});
