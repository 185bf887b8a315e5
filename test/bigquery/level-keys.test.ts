/** Levels below a limited one read only rows with its keys, and lose none if the order is ambiguous. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { hasBigQuery } from '../support/bigquery-emulator/index.ts';
import { type BigQueryService, configurationOf, startBigQueryService } from './bigquery.ts';

const TABLES = `
create table shop.writer (id int64 not null, land string, grade int64, town string);
create table shop.book (id int64 not null, writer_id int64, land string, town string, price numeric);
create table shop.page (book_id int64, n int64);
create view shop.some_writers as select * from shop.writer;
insert into shop.writer (id, land, grade, town) select n, concat('l', cast(mod(n, 3) as string)), 1, concat('t', cast(mod(n, 5) as string)) from unnest(generate_array(1, 30)) as n;
insert into shop.book (id, writer_id, land, town, price)
  select w * 10 + b, w, concat('l', cast(mod(w, 3) as string)), concat('t', cast(mod(w, 5) as string)), b from unnest(generate_array(1, 30)) as w cross join unnest(generate_array(1, 3)) as b;
insert into shop.page (book_id, n) select w * 10 + b, p from unnest(generate_array(1, 30)) as w cross join unnest(generate_array(1, 3)) as b cross join unnest([1, 2]) as p;`;

const dataset = 'shop';

describe.skipIf(!hasBigQuery())('levels below a limited level of BigQuery', () => {
  let both: BigQueryService;
  const run = (operation: string, args: JsonObject): Promise<Json> => both.service.metadata(`dwh_${operation}`, { source: 'w', ...args });

  beforeAll(async () => {
    both = await startBigQueryService(TABLES);
    await both.service.sql('create table note (id int primary key, writer_id int); insert into note values (1, 1), (2, 9)');
    await both.service.metadata('pg_track_table', { table: 'note' });
    await both.service.metadata('dwh_add_source', { name: 'w', configuration: configurationOf(both.bigquery, dataset) });
    for (const name of ['writer', 'book', 'page', 'some_writers']) await run('track_table', { table: { dataset, name } });
    const relate = (table: string, name: string, target: string, column_mapping: JsonObject, kind = 'array'): Promise<Json> =>
      run(`create_${kind}_relationship`, {
        table: { dataset, name: table },
        name,
        using: { manual_configuration: { remote_table: { dataset, name: target }, column_mapping } },
      });
    await relate('writer', 'books', 'book', { id: 'writer_id' });
    await relate('writer', 'neighbours', 'book', { land: 'land', town: 'town' });
    await relate('some_writers', 'books', 'book', { id: 'writer_id' });
    await relate('book', 'pages', 'page', { id: 'book_id' });
    await relate('book', 'writer', 'writer', { writer_id: 'id' }, 'object');
    const to_source = {
      source: 'w',
      table: { dataset, name: 'book' },
      field_mapping: { writer_id: 'writer_id' },
      relationship_type: 'array',
    };
    await both.service.metadata('pg_create_remote_relationship', { table: 'note', name: 'books', definition: { to_source } });
  });
  beforeEach(() => {
    both.bigquery.requests.length = 0;
  });
  afterAll(() => both?.stop());

  const ask = async (query: string): Promise<JsonObject> => {
    const answer = await both.service.graphql(query);
    expect(answer).not.toHaveProperty('errors');
    return answer['data'] as JsonObject;
  };
  /** Returns the SQL after each scan of a table, in textual order. */
  const scans = (table: string): readonly string[] =>
    both.bigquery.requests.flatMap(({ path, body }) => {
      if (path.split('?')[0]?.endsWith('/queries') !== true) return [];
      const { query } = JSON.parse(body) as { query: string };
      return query.split(new RegExp(`from \`shop\`\\.\`${table}\` as \\S+?(?=[ )])`)).slice(1);
    });
  const isRestricted = (scan: string): boolean => /^ where \(?(?:struct\([^)]*\)|\S+) in (?:\(select|unnest)/.test(scan);

  it('read only rows with the keys of a limited root, list by list', async () => {
    const data = await ask(
      '{ shop_writer(order_by: {id: desc}, limit: 2) { id books(order_by: {id: asc}, limit: 1) { id pages(order_by: {n: asc}) { n } } } }',
    );
    expect(data).toEqual({
      shop_writer: [30, 29].map((id) => ({ id, books: [{ id: id * 10 + 1, pages: [{ n: 1 }, { n: 2 }] }] })),
    });
    for (const table of ['book', 'page']) {
      expect(scans(table)).not.toEqual([]);
      expect(scans(table).every(isRestricted), table).toBe(true);
    }
  });

  it('have all rows of each root row even if its order is ambiguous', async () => {
    for (const root of [
      'limit: 4, order_by: {grade: asc}',
      'limit: 4',
      'limit: 3, offset: 5, order_by: {land: asc}',
      'distinct_on: town, order_by: {town: asc}, limit: 3',
    ]) {
      const { shop_writer: writers } = (await ask(
        `{ shop_writer(${root}) { id neighbours { writer_id land town } books { writer_id } more: books_aggregate { aggregate { count } } } }`,
      )) as { shop_writer: { id: number; neighbours: { land: string; town: string }[]; books: { writer_id: number }[]; more: Json }[] };
      expect(writers.length).toBeGreaterThan(2);
      for (const { id, neighbours, books, more } of writers) {
        expect(books).toEqual(Array(3).fill({ writer_id: id }));
        expect(neighbours).toHaveLength(6);
        expect(more).toEqual({ aggregate: { count: 3 } });
      }
      expect(scans('book').every(isRestricted)).toBe(true);
      // The emulator has a fixed order, so the statement itself is checked to be unambiguous.
      for (const scan of scans('writer')) expect(scan.split(' limit ')[0]).toMatch(/order by .*`(?:id|land)`/);
      both.bigquery.requests.length = 0;
    }
  });

  it('read single rows and rows below nodes by keys', async () => {
    expect(await ask('{ shop_book(order_by: {id: asc}, limit: 1) { writer { id } } }')).toEqual({ shop_book: [{ writer: { id: 1 } }] });
    expect(scans('writer').every(isRestricted)).toBe(true);
    const data = await ask('{ shop_writer_aggregate(order_by: {id: asc}, limit: 1) { nodes { books(order_by: {id: asc}) { id } } } }');
    expect(data).toEqual({ shop_writer_aggregate: { nodes: [{ books: [11, 12, 13].map((id) => ({ id })) }] } });
    expect(isRestricted(scans('book').at(-1) ?? '')).toBe(true);
  });

  it('read rows with the keys of a join from another source', async () => {
    expect(await ask('{ note(order_by: {id: asc}) { books(order_by: {id: asc}, limit: 1) { id } } }')).toEqual({
      note: [{ books: [{ id: 11 }] }, { books: [{ id: 91 }] }],
    });
    expect(scans('book').map(isRestricted)).toEqual([true]);
  });

  it('are read completely below a view, which may return other rows when it is read again', async () => {
    expect(await ask('{ shop_some_writers(order_by: {id: asc}, limit: 1) { books_aggregate { aggregate { count } } } }')).toEqual({
      shop_some_writers: [{ books_aggregate: { aggregate: { count: 3 } } }],
    });
    expect(scans('book').some(isRestricted)).toBe(false);
  });
});
