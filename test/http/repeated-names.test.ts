/** Fields under several aliases are read once, and printed as if each had been read. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { MODERN, TestSocket } from '../support/websocket.ts';

let service: TestService;

beforeAll(async () => {
  service = await startTestService({
    RESPONSE_LIMIT: '2000000',
    ENABLED_LOG_TYPES: 'query-log',
    LIVE_QUERIES_MULTIPLEXED_REFETCH_INTERVAL: '100',
  });
  await service.sql(`
    create table author (id int primary key, name text, data jsonb);
    create table book (id int primary key, author_id int references author, title text, pages int);
    insert into author values (1, 'Ann "A" \\ {[,:]}', '{"a": [1, {"b": "}"}], "b": null}'), (2, 'Bob', null), (3, repeat('ü€', 10000), '[]');
    insert into book select n, 1 + n % 2, 'title ' || n, n from generate_series(1, 5) n;
    create table note (id int primary key, data jsonb);
    create function same(author_row author) returns text language sql stable as $$ select author_row.name $$;
  `);
  for (const name of ['author', 'book', 'note']) await service.metadata('pg_track_table', { source: 'default', table: name });
  await service.metadata('pg_create_array_relationship', {
    source: 'default',
    table: 'author',
    name: 'books',
    using: { foreign_key_constraint_on: { table: 'book', column: 'author_id' } },
  });
  await service.metadata('pg_create_object_relationship', {
    source: 'default',
    table: 'book',
    name: 'author',
    using: { foreign_key_constraint_on: 'author_id' },
  });
  await service.metadata('pg_add_computed_field', { source: 'default', table: 'author', name: 'same', definition: { function: 'same' } });
});

afterAll(() => service.stop());

async function data(query: string, variables: JsonObject = {}): Promise<JsonObject> {
  const answer = await service.graphql(query, { variables });
  expect(answer['errors']).toBeUndefined();
  return answer['data'] as JsonObject;
}

function lastSql(): string {
  const logged = service.observations.flatMap((o) => (o.kind === 'query' ? [[...(o.statements?.values() ?? [])]] : [])).at(-1);
  return JSON.stringify(logged?.[0] ?? '').replaceAll('\\"', '"');
}

/** A selection under two aliases, and the same twice separately, with the form in which its value is read. */
const SELECTIONS: readonly (readonly [name: string, selection: string, read: RegExp])[] = [
  ['a column', 'author(order_by: {id: asc}) { id A name B }', /"name"/g],
  ['a column of JSON', 'author(order_by: {id: asc}) { A data B }', /"data"/g],
  ['a part of a column of JSON', 'author(order_by: {id: asc}) { A data(path: "a") B }', /"data"/g],
  ['a computed field', 'author(order_by: {id: asc}) { A same B }', /"same"/g],
  ['a list', 'author(order_by: {id: asc}) { A books(order_by: {id: asc}, limit: 2) { id title } B }', /"book"/g],
  ['an object', 'book(order_by: {id: asc}) { id A author { id name } B }', /"author"/g],
  ['rows of an aggregate', 'author(order_by: {id: asc}) { A books_aggregate { aggregate { count } nodes { id } } B }', /"book"/g],
  ['a function of an aggregate', 'author_aggregate { aggregate { A max { id } B } nodes { id } }', /max\(/g],
  ['a column of an aggregate', 'author_aggregate { aggregate { max { A id B } } }', /max\(/g],
  ['a type name', 'author(order_by: {id: asc}) { A __typename B }', /'author'/g],
  ['a root', 'A author(order_by: {id: asc}) { id name } B', /"public"\."author"/g],
  ['a row', 'A author_by_pk(id: 1) { id name } B', /"public"\."author"/g],
  ['an aggregate', 'A author_aggregate { aggregate { count } } B', /"public"\."author"/g],
];

/** The selection with its marked field under these names. */
function named(selection: string, names: readonly string[]): string {
  const [, before = '', field = '', after = ''] = /^(.*?)A (.*) B(.*)$/.exec(selection) ?? [];
  return `{ ${before}${names.map((name) => (name === '' ? field : `${name}: ${field}`)).join(' ')}${after} }`;
}

/** Gives each name the value of the first one. */
function spread(value: Json, field: string, names: readonly string[]): Json {
  if (Array.isArray(value)) return value.map((item: Json) => spread(item, field, names));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value as JsonObject).flatMap(([key, inner]) =>
      key === field ? names.map((name) => [name, inner] as const) : [[key, spread(inner, field, names)] as const],
    ),
  );
}

describe('reads repeated fields once, with the same answer', () => {
  test.each(SELECTIONS)('%s', async (_, selection, read) => {
    const once = await data(named(selection, ['first']));
    const reads = lastSql().match(read)?.length;
    const names = ['x', 'first', 'longer_name', 'y'];
    expect(JSON.stringify(await data(named(selection, names)))).toBe(JSON.stringify(spread(once, 'first', names)));
    expect(lastSql().match(read)?.length).toBe(reads);
  });

  test('the rows of several selections with the same fields', async () => {
    const found = await data(
      `query ($id: Int!) { a: author(where: {id: {_eq: $id}}) { x: id t: name } b: author(where: {id: {_eq: $id}}) { t: name y: id z: name }
        c: author(where: {id: {_lt: $id}}) { id name } d: author(where: {id: {_eq: $id}}) { z: books { id } } }`,
      { id: 2 },
    );
    const books = [{ id: 1 }, { id: 3 }, { id: 5 }];
    expect(found).toEqual({
      a: [{ x: 2, t: 'Bob' }],
      b: [{ t: 'Bob', y: 2, z: 'Bob' }],
      c: [{ id: 1, name: 'Ann "A" \\ {[,:]}' }],
      d: [{ z: books }],
    });
    expect(lastSql().match(/"public"\."author"/g)?.length).toBe(3);
  });

  test.each([
    ['roots', (fields: string) => `{ ${fields} }`, 'author(order_by: {id: asc})', /"public"\."author"/g],
    ['related rows', (fields: string) => `{ author_by_pk(id: 1) { ${fields} } }`, 'books', /"book"/g],
    ['nodes', (fields: string) => `{ author_aggregate { ${fields} } }`, 'nodes', /_agg\(/g],
  ])('but nothing that only other names print: %s', async (_, query, field, read) => {
    await data(query(`a: ${field} { id }`));
    const reads = lastSql().match(read)?.length ?? 0;
    const names = Array.from({ length: 20 }, (__, i) => `a${i}: ${field} { id }`).join(' ');
    await data(query(`${names} big: ${field} { i: id t: __typename }`));
    expect(reads).toBeGreaterThan(0);
    expect(lastSql().match(read)?.length).toBe(reads + 1);
  });

  test.each(['at', 'check', 'kind', 'volatile', 'function'])(
    'reads rows separately that differ in a JSON argument below "%s"',
    async (key) => {
      const json = (value: string): string => (key === 'at' ? `{at: ${value}}` : `{at: {}, ${key}: ${value}}`);
      const filter = (value: string): string => `note(where: {data: {_contains: ${json(value)}}}) { id }`;
      await service.sql(`delete from note; insert into note values (1, '{"at": {}, "${key}": 1}'), (2, '{"at": {}, "${key}": "x"}')`);
      const found = await data(`{ a: ${filter('1')} b: ${filter('"x"')} c: ${filter('1')} d: ${filter('null')} }`);
      expect(found).toEqual({ a: [{ id: 1 }], b: [{ id: 2 }], c: [{ id: 1 }], d: [] });
      expect(lastSql().match(/"public"\."note"/g)?.length).toBe(3);
    },
  );

  test('the result of a mutation', async () => {
    const found = await data(
      `mutation { a: update_author_by_pk(pk_columns: {id: 2}, _set: {name: "B"}) { x: name y: name books { id i: id } }
        b: update_author(where: {id: {_eq: 2}}, _set: {name: "Bob"}) { affected_rows r: returning { n: name m: name } s: returning { n: id } }
        c: update_book_many(updates: [{where: {id: {_eq: 1}}, _set: {pages: 1}}, {where: {id: {_eq: -1}}, _set: {pages: 1}}]) { n: affected_rows returning { p: pages q: pages } } }`,
    );
    const books = [1, 3, 5].map((id) => ({ id, i: id }));
    expect(found).toEqual({
      a: { x: 'B', y: 'B', books },
      b: { affected_rows: 1, r: [{ n: 'Bob', m: 'Bob' }], s: [{ n: 2 }] },
      c: [
        { n: 1, returning: [{ p: 1, q: 1 }] },
        { n: 0, returning: [] },
      ],
    });
  });
});

test('rejects an answer whose printed form exceeds the limit', async () => {
  const names = Array.from({ length: 100 }, (_, i) => `a${i}: name`).join(' ');
  const answer = await service.graphql(`{ author(where: {id: {_eq: 3}}) { ${names} } }`);
  expect(answer['errors']).toMatchObject([{ message: 'the response exceeds 2000000 bytes' }]);
});

test('reads repeated fields once in a subscription', async () => {
  const socket = await new TestSocket(service.url, { protocol: MODERN }).init();
  try {
    socket.start('1', 'subscription { a: author_by_pk(id: 2) { id n: name m: name } }');
    const message = await socket.next();
    expect(message).toMatchObject({ payload: { data: { a: { id: 2, n: 'Bob', m: 'Bob' } } } });
  } finally {
    socket.close();
  }
});
