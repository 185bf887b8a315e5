/** Queries on BigQuery: values, computed fields, joins, limits, explain, costs and cancellation. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { hasBigQuery } from '../support/bigquery-emulator/index.ts';
import { type BigQueryService, configurationOf, startBigQueryService } from './bigquery.ts';

const TABLES = `
create table shop.writer (id int64 not null options (description = 'who it is'), name string, boss_id int64) options (description = 'who writes');
create table shop.book (id int64 not null, writer_id int64, title string, price numeric);
create table shop.many (n int64);
create table shop.thing (id int64 not null, big int64, exact bignumeric, ratio float64, flag bool, raw bytes, day date, \`at\` datetime, seen timestamp, hour time,
  doc json, tags array<string>, numbers array<int64>, part struct<a int64, b array<string>>);
create view shop.cheap as select id, title from shop.book where price < 2;
create table function shop.books_of(writer int64, most numeric) as (select * from shop.book where writer_id = writer and price <= most);
insert into shop.writer (id, name, boss_id) values (1, 'a', null), (2, 'B', 1), (3, null, 1);
insert into shop.book (id, writer_id, title, price) values (1, 1, 'one', 1.5), (2, 1, 'two', 2.25), (3, 2, 'three', 0), (4, null, 'four', 7);
insert into shop.many (n) select n from unnest(generate_array(1, 30)) as n;
insert into shop.thing (id, big, exact, ratio, flag, raw, day, \`at\`, seen, hour, doc, tags, numbers, part) values
  (1, 9007199254740993, bignumeric '12345678901234567890.0123456789', 0.1, true, b'\\xff\\x00x', date '2024-02-29', datetime '2024-01-02 03:04:05.5', timestamp '2024-01-02 03:04:05.123456+00:00',
   time '03:04:05', json '{"k": [1, "ü", null]}', ['x', 'y"\\\\'], [1, 9007199254740993], struct(7 as a, ['q'] as b)),
  (2, null, null, cast('nan' as float64), null, null, null, null, null, null, null, [], [], null);`;

const dataset = 'shop';
const computed = { function: { dataset, name: 'books_of' }, argument_mapping: { writer: 'id' }, return_table: { dataset, name: 'book' } };

describe.skipIf(!hasBigQuery())('a source of BigQuery', () => {
  let both: BigQueryService;
  const run = (operation: string, args: JsonObject): Promise<Json> => both.service.metadata(`dwh_${operation}`, { source: 'w', ...args });
  const data = async (query: string, options: JsonObject = {}): Promise<Json> => {
    const answer = await both.service.graphql(query, options);
    expect(answer).not.toHaveProperty('errors');
    return answer['data'] as Json;
  };
  const error = async (query: string, options: JsonObject = {}): Promise<string> =>
    JSON.stringify((await both.service.graphql(query, options))['errors']);

  beforeAll(async () => {
    const visit = { byIngestion: true, fields: [{ name: 'id', type: 'INTEGER' }], rows: [{ id: 7 }] };
    both = await startBigQueryService(TABLES, { ENABLED_LOG_TYPES: 'startup,http-log,query-log' }, { visit });
    const { service, bigquery } = both;
    await service.sql(
      'create table note (id int primary key, writer_id int, text text); insert into note values (1, 1, $$n1$$), (2, 2, $$n2$$), (3, 9, $$n3$$)',
    );
    await service.metadata('pg_track_table', { table: 'note' });
    await service.metadata('dwh_add_source', {
      name: 'w',
      configuration: { ...configurationOf(bigquery, dataset), global_select_limit: 20 },
    });
    for (const name of ['writer', 'book', 'many', 'thing', 'cheap', 'visit']) await run('track_table', { table: { dataset, name } });
    const relate = (type: string, table: string, name: string, target: string, mapping: JsonObject): Promise<Json> =>
      run(`create_${type}_relationship`, {
        table: { dataset, name: table },
        name,
        using: { manual_configuration: { remote_table: { dataset, name: target }, column_mapping: mapping } },
      });
    await relate('array', 'writer', 'books', 'book', { id: 'writer_id' });
    await relate('object', 'book', 'writer', 'writer', { writer_id: 'id' });
    await run('add_computed_field', { table: { dataset, name: 'writer' }, name: 'cheap_books', definition: computed });
    const select = (name: string, role: string, permission: JsonObject): Promise<Json> =>
      run('create_select_permission', { table: { dataset, name }, role, permission });
    await select('book', 'some', { columns: ['id', 'title'], filter: { id: { _in: 'X-Svc-Ids' } }, limit: 2 });
    await select('writer', 'some', { columns: ['id'], filter: {} });
    await select('writer', 'named', { columns: ['id', 'name'], filter: { books: { title: { _eq: 'X-Svc-Title' } } } });
    await service.metadata('add_inherited_role', { role_name: 'both', role_set: ['some', 'named'] });
  });
  afterAll(() => both?.stop());

  it('exposes columns of ingestion-time partitioned tables without pseudo-columns', async () => {
    const info = (await run('get_table_info', { table: { dataset, name: 'visit' } })) as { columns: readonly JsonObject[] };
    expect(info.columns.map(({ name }) => name)).toEqual(['id']);
    expect(await data('{ shop_visit { id } }')).toEqual({ shop_visit: [{ id: 7 }] });
  });

  it('labels jobs with their operation if configured', async () => {
    await both.service.metadata('set_query_tags', { source_name: 'w', format: 'standard' });
    const before = both.bigquery.requests.length;
    await data('query Labelled_One { shop_many(limit: 1) { n } }');
    const [sent] = both.bigquery.requests
      .slice(before)
      .flatMap(({ path, body }) => (path.split('?')[0]?.endsWith('/queries') === true ? [JSON.parse(body) as JsonObject] : []));
    const parameterized_query_hash = expect.stringMatching(/^[0-9a-f]{40}$/) as string;
    expect(sent?.['labels']).toEqual({ application: 'svc-graphql', operation_name: 'labelled_one', parameterized_query_hash });
    expect(sent?.['query']).not.toContain('Labelled');
    await both.service.metadata('set_query_tags', { source_name: 'w', disabled: true });
  });

  it('returns values of all types', async () => {
    const answer = await both.service.send('/v1/graphql', {
      method: 'POST',
      body: JSON.stringify({
        query: '{ shop_thing(order_by: {id: asc}) { id big exact ratio flag raw day at seen hour doc tags numbers part __typename } }',
      }),
    });
    expect(answer.text).toBe(
      '{"data":{"shop_thing":[{"id":1,"big":9007199254740993,"exact":12345678901234567890.0123456789,"ratio":0.1,"flag":true,"raw":"/wB4","day":"2024-02-29",' +
        '"at":"2024-01-02T03:04:05.500","seen":"2024-01-02T03:04:05.123456Z","hour":"03:04:05","doc":{"k":[1,"ü",null]},"tags":["x","y\\"\\\\"],' +
        '"numbers":[1,9007199254740993],"part":{"a":7,"b":["q"]},"__typename":"shop_thing"},' +
        '{"id":2,"big":null,"exact":null,"ratio":"NaN","flag":null,"raw":null,"day":null,"at":null,"seen":null,"hour":null,"doc":null,"tags":[],"numbers":[],"part":null,"__typename":"shop_thing"}]}}',
    );
  });

  it.each([
    ['big: {_eq: "9007199254740993"}'],
    ['big: {_gt: 9007199254740992}'],
    ['exact: {_eq: "12345678901234567890.0123456789"}'],
    ['ratio: {_in: [0.1, 2]}'],
    ['flag: {_neq: false}'],
    ['raw: {_eq: "/wB4"}'],
    ['raw: {_like: "JXg="}'],
    ['day: {_gte: "2024-02-29", _lt: "2024-03-01"}'],
    ['at: {_eq: "2024-01-02T03:04:05.5"}'],
    ['seen: {_eq: "2024-01-02T05:04:05.123456+02:00"}'],
    ['hour: {_nin: ["03:04"]}'],
    ['doc: {_is_null: false}'],
    ['part: {_is_null: false}'],
  ])('finds rows by %s', async (where) => {
    expect(await data(`{ shop_thing(where: {${where}}) { id } }`)).toEqual({ shop_thing: [{ id: 1 }] });
  });

  it.each([
    ['where: {big: {_eq: "x"}}', 'invalid value for type INT64: \\"x\\"'],
    ['where: {big: {_eq: "9223372036854775808"}}', 'is out of range for type INT64'],
    ['where: {day: {_eq: "2023-02-29"}}', 'invalid value for type DATE'],
    ['where: {seen: {_eq: "now"}}', 'invalid value for type TIMESTAMP'],
    ['where: {raw: {_eq: "???"}}', 'invalid value for type BYTES'],
    ['where: {tags: {_eq: ["x"]}}', 'BigQuery cannot compare values of type ARRAY<STRING>: _eq is not available for them'],
    ['where: {_not: {numbers: {_in: [[1]]}}}', 'values of type ARRAY<INT64>: _in'],
    ['where: {doc: {_neq: {k: 1}}}', 'values of type JSON: _neq'],
    ['where: {part: {_nin: [{a: 7}]}}', 'values of type STRUCT: _nin'],
    ['order_by: {doc: asc}', 'order_by must not name such a column'],
    ['distinct_on: part', 'distinct_on must not name such a column'],
  ])('refuses %s without running a job', async (argument, message) => {
    const before = both.bigquery.requests.length;
    expect(await error(`{ shop_thing(${argument}) { id } }`)).toContain(message);
    expect(both.bigquery.requests.length).toBe(before);
  });

  it('refuses a pattern that ends within an escape, whatever rows exist', async () => {
    expect(await error('{ shop_writer(where: {id: {_gt: 99}, name: {_like: "a\\\\"}}) { id } }')).toContain(
      'must not end with a single backslash',
    );
  });

  it('limits the rows of SQL for administrators', async () => {
    const run = async (sql: string, max_rows: number): Promise<Json> => {
      const body = JSON.stringify({ type: 'dwh_run_sql', args: { source: 'w', sql, max_rows } });
      return (await both.service.send('/v2/query', { method: 'POST', body })).json as Json;
    };
    const many = 'select n from shop.many order by n';
    expect(await run(many, 2)).toEqual({ result_type: 'TuplesOk', result: [['n'], ['1'], ['2']], truncated: true });
    expect(await run(`${many} limit 2`, 2)).toEqual({ result_type: 'TuplesOk', result: [['n'], ['1'], ['2']] });
  });

  it('exposes views and descriptions', async () => {
    expect(await data('{ shop_cheap(order_by: {id: asc}) { id title } }')).toEqual({
      shop_cheap: [
        { id: 1, title: 'one' },
        { id: 3, title: 'three' },
      ],
    });
    const { __type } = (await data('{ __type(name: "shop_writer") { description fields { name description } } }')) as JsonObject;
    expect(__type).toMatchObject({ description: 'who writes' });
    expect((__type as JsonObject)['fields']).toContainEqual({ name: 'id', description: 'who it is' });
  });

  it('exposes functions of columns as computed fields', async () => {
    const answer = await data(
      '{ shop_writer(order_by: {id: asc}) { id cheap_books(args: {most: 2}, order_by: {id: desc}, limit: 1) { id writer { name } } } }',
    );
    expect(answer).toEqual({
      shop_writer: [
        { id: 1, cheap_books: [{ id: 1, writer: { name: 'a' } }] },
        { id: 2, cheap_books: [{ id: 3, writer: { name: 'B' } }] },
        { id: 3, cheap_books: [] },
      ],
    });
    const session = { ids: '{1,2}' };
    expect(
      await data('{ shop_writer(order_by: {id: asc}) { cheap_books(args: {most: 9}) { title } } }', { role: 'some', session }),
    ).toEqual({
      shop_writer: [
        { cheap_books: expect.arrayContaining([{ title: 'one' }, { title: 'two' }]) },
        { cheap_books: [] },
        { cheap_books: [] },
      ],
    });
  });

  it('restricts rows, columns and limits by role', async () => {
    const session = { ids: '{1,2,3}', title: 'two' };
    expect(await data('{ shop_book(order_by: {id: desc}) { id title } }', { role: 'some', session })).toEqual({
      shop_book: [
        { id: 3, title: 'three' },
        { id: 2, title: 'two' },
      ],
    });
    expect(await error('{ shop_book { price } }', { role: 'some', session })).toContain("field 'price' not found");
    expect(await data('{ shop_writer { id name } }', { role: 'named', session })).toEqual({ shop_writer: [{ id: 1, name: 'a' }] });
    expect(await data('{ shop_writer(order_by: {id: asc}) { id name } }', { role: 'both', session })).toEqual({
      shop_writer: [
        { id: 1, name: 'a' },
        { id: 2, name: null },
        { id: 3, name: null },
      ],
    });
    expect(await error('{ shop_writer { id } }', { role: 'named' })).toContain('missing session variable');
  });

  it('checks whether unrelated tables have rows, but refuses to compare with them', async () => {
    const exists = (_where: JsonObject): JsonObject => ({
      columns: ['id'],
      filter: { _exists: { _table: { dataset, name: 'many' }, _where } },
    });
    const table = { dataset, name: 'writer' };
    await run('create_select_permission', { table, role: 'near', permission: exists({ n: { _gt: 29 } }) });
    await run('create_select_permission', { table, role: 'far', permission: exists({ n: { _cgt: ['$', 'id'] } }) });
    expect(await data('{ shop_writer(order_by: {id: asc}) { id } }', { role: 'near' })).toEqual({
      shop_writer: [{ id: 1 }, { id: 2 }, { id: 3 }],
    });
    expect(await error('{ shop_writer { id } }', { role: 'far' })).toContain('not-supported');
  });

  it('limits the rows of each level', async () => {
    const answer = (await data('{ shop_many(limit: 25) { n } shop_many_aggregate { aggregate { count } nodes { n } } }')) as JsonObject;
    expect(answer['shop_many']).toHaveLength(20);
    expect(answer['shop_many_aggregate']).toMatchObject({ aggregate: { count: 30 } });
    expect((answer['shop_many_aggregate'] as JsonObject)['nodes']).toHaveLength(20);
  });

  it('joins other sources in both directions', async () => {
    const to = (source: string, table: Json, field_mapping: JsonObject): JsonObject => ({
      to_source: { relationship_type: 'array', source, table, field_mapping },
    });
    await run('create_remote_relationship', {
      table: { dataset, name: 'writer' },
      name: 'notes',
      definition: to('default', 'note', { id: 'writer_id' }),
    });
    await both.service.metadata('pg_create_remote_relationship', {
      table: 'note',
      name: 'writers',
      definition: to('w', { dataset, name: 'writer' }, { writer_id: 'id' }),
    });
    expect(await data('{ shop_writer(order_by: {id: asc}) { id notes { text } } }')).toEqual({
      shop_writer: [
        { id: 1, notes: [{ text: 'n1' }] },
        { id: 2, notes: [{ text: 'n2' }] },
        { id: 3, notes: [] },
      ],
    });
    expect(
      await data(
        '{ note(order_by: {id: asc}) { id writers { name books(order_by: {id: asc}) { id } } writers_aggregate { aggregate { count } } } }',
      ),
    ).toEqual({
      note: [
        { id: 1, writers: [{ name: 'a', books: [{ id: 1 }, { id: 2 }] }], writers_aggregate: { aggregate: { count: 1 } } },
        { id: 2, writers: [{ name: 'B', books: [{ id: 3 }] }], writers_aggregate: { aggregate: { count: 1 } } },
        { id: 3, writers: [], writers_aggregate: { aggregate: { count: 0 } } },
      ],
    });
  });

  it('explains what a query would read and logs what it has read', async () => {
    const explain = await both.service.send('/v1/graphql/explain', {
      method: 'POST',
      body: JSON.stringify({ query: { query: '{ shop_book { title } }' } }),
    });
    expect(explain.json).toMatchObject([
      {
        field: 'shop_book',
        sql: expect.stringContaining('from `shop`.`book`'),
        plan: [expect.stringMatching(/^Bytes processed: \d+$/), 'Bytes billed on demand, at least: 10485760', 'Tables: shop.book'],
      },
    ]);
    await data('{ shop_book { title } }');
    const cost = both.service.observations.findLast(({ kind }) => kind === 'query-cost');
    expect(cost).toMatchObject({ source: 'w', processedBytes: expect.any(Number) });
  });

  it('runs SQL of administrators, and only selects in read-only mode', async () => {
    const sql = (text: string, more: JsonObject = {}) =>
      both.service.send('/v2/query', {
        method: 'POST',
        body: JSON.stringify({ type: 'dwh_run_sql', args: { source: 'w', sql: text, ...more } }),
      });
    expect((await sql('select id, tags, part, seen, big from shop.thing order by id', { read_only: true })).json).toEqual({
      result_type: 'TuplesOk',
      result: [
        ['id', 'tags', 'part', 'seen', 'big'],
        ['1', '["x","y\\"\\\\"]', '{"a":"7","b":["q"]}', '2024-01-02T03:04:05.123456Z', '9007199254740993'],
        ['2', '[]', 'NULL', 'NULL', 'NULL'],
      ],
    });
    expect((await sql('insert into shop.many (n) values (31)', { read_only: true })).json).toMatchObject({
      code: 'database-error',
      internal: { error: { message: expect.stringContaining('must be a single SELECT, not INSERT') } },
    });
    expect((await sql('insert into shop.many (n) values (31)')).json).toMatchObject({ result_type: 'TuplesOk' });
    expect((await sql('select nope from shop.many')).json).toMatchObject({
      code: 'database-error',
      internal: { error: { reason: 'invalidQuery', message: expect.stringContaining('Unrecognized name: nope') } },
    });
  });

  it('supports neither mutations nor subscriptions', async () => {
    expect(await error('mutation { insert_shop_book(objects: []) { affected_rows } }')).toMatch(/no mutations|not found/);
    const explained = await both.service.send('/v1/graphql/explain', {
      method: 'POST',
      body: JSON.stringify({ query: { query: 'subscription { shop_book { id } }' } }),
    });
    expect(explained.json).toMatchObject({ code: 'not-supported', error: 'source w does not support subscriptions' });
  });

  it('refuses queries beyond the configured maximum of billed bytes', async () => {
    await both.service.metadata('dwh_add_source', {
      name: 'small',
      configuration: { ...configurationOf(both.bigquery, dataset), maximum_bytes_billed: 10 * 1024 * 1024 },
      customization: { root_fields: { prefix: 'small_' }, type_names: { prefix: 'small_' } },
    });
    for (const name of ['many', 'book']) await both.service.metadata('dwh_track_table', { source: 'small', table: { dataset, name } });
    expect(await data('{ small_shop_many(limit: 1, order_by: {n: asc}) { n } }')).toEqual({ small_shop_many: [{ n: 1 }] });
    // A minimum is billed for each table that is read.
    expect(await error('{ small_shop_many { n } small_shop_book { id } }')).toContain('the query reads more than the source allows');
  });
});
