/** Requests that read very many related rows are planned in time, and have the same answers as small ones. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { sample } from '../support/deep.ts';
import { startTestService, type TestService } from '../support/service.ts';

const MANY = 150;
/** PostgreSQL would plan so many joins for longer than the timeout of a test. */
const VERY_MANY = 450;

let service: TestService;

beforeAll(async () => {
  // Each related table weighs as much as 25 values.
  service = await startTestService({ QUERY_NODE_LIMIT: '100000' });
  await service.sql(`
    create table author (id int primary key, name text, rank int, chief_id int references author);
    create table book (id int primary key, title text, author_id int references author);
    insert into author values (1, 'a', 2, null), (2, 'b', 1, 1), (3, 'c', 3, 2), (4, 'd', 4, 2);
    insert into book select n, 'book ' || n, case when n % 5 = 0 then null else n % 4 + 1 end from generate_series(1, 23) n`);
  for (const table of ['author', 'book']) await service.metadata('pg_track_table', { table });
  const foreignKey = (column: string): JsonObject => ({ using: { foreign_key_constraint_on: column } });
  await service.metadata('pg_create_object_relationship', { table: 'book', name: 'author', ...foreignKey('author_id') });
  await service.metadata('pg_create_object_relationship', { table: 'author', name: 'chief', ...foreignKey('chief_id') });
  const using = { foreign_key_constraint_on: { table: 'book', column: 'author_id' } };
  await service.metadata('pg_create_array_relationship', { table: 'author', name: 'books', using });
  const filter = { id: { _neq: 4 } };
  await service.metadata('pg_create_select_permission', {
    table: 'author',
    role: 'reader',
    permission: { columns: '*', filter },
  });
  await service.metadata('pg_create_select_permission', {
    table: 'book',
    role: 'reader',
    permission: { columns: '*', filter: {}, allow_aggregations: true },
  });
});
afterAll(() => service.stop());

const times = (count: number, text: (n: number) => string): string => Array.from({ length: count }, (_, n) => text(n)).join(' ');

async function rows(query: string, role: string, variables: JsonObject = {}): Promise<readonly JsonObject[]> {
  const answer = await service.graphql(query, { role, variables });
  expect(answer).not.toHaveProperty('errors');
  return (answer['data'] as { readonly rows: readonly JsonObject[] }).rows;
}

describe.each(sample(['admin', 'reader'], 1))('many joins as %s', (role) => {
  it.each([
    ['book', 'author', '{ id name chief { id name } }'],
    ['author', 'books', '(where: {id: {_lt: 9}}, order_by: {id: desc}, limit: 2) { id author { name } }'],
    ['author', 'books_aggregate', '{ aggregate { count max { title } } }'],
  ])('return, for each %s, %s repeatedly', async (table, name, selection) => {
    const one = await rows(`{ rows: ${table}(order_by: {id: asc}) { a: ${name}${selection} } }`, role);
    const many = await rows(`{ rows: ${table}(order_by: {id: asc}) { ${times(MANY, (n) => `a${n}: ${name}${selection}`)} } }`, role);
    const repeated = (row: JsonObject): Json => Object.fromEntries(Array.from({ length: MANY }, (_, n) => [`a${n}`, row['a'] ?? null]));
    expect(many).toEqual(one.map(repeated));
  });

  it('return an object in 450 positions', async () => {
    const one = await rows('{ rows: book(order_by: {id: asc}) { author { name } } }', role);
    const many = await rows(`{ rows: book(order_by: {id: asc}) { ${times(VERY_MANY, (n) => `a${n}: author { name }`)} } }`, role);
    expect(many.map((row) => row['a0'])).toEqual(one.map((row) => row['author']));
    expect(many.map((row) => row[`a${VERY_MANY - 1}`])).toEqual(one.map((row) => row['author']));
  });

  it.each<[string, JsonObject]>([
    ['a related column', { author: { rank: 'desc_nulls_last' } }],
    ['a column of rows related to them', { author: { chief: { name: 'asc_nulls_first' } } }],
    ['an aggregate', { author: { books_aggregate: { count: 'desc_nulls_last' } } }],
  ])('order by %s repeatedly', async (_what, order) => {
    const query = 'query ($order: [book_order_by!]) { rows: book(order_by: $order) { id } }';
    const paged = 'query ($order: [book_order_by!]) { rows: book(order_by: $order, limit: 7, offset: 2) { id a: author { name } } }';
    for (const text of [query, paged]) {
      const one = await rows(text, role, { order: [order, { id: 'asc' }] });
      expect(await rows(text, role, { order: [...Array.from({ length: MANY }, () => order), { id: 'asc' }] })).toEqual(one);
    }
  });

  it.each<[string, string, (n: number) => JsonObject]>([
    ['an object', 'book', (n) => ({ author: { name: { _neq: n % 3 === 0 ? 'a' : 'z' } } })],
    ['a list', 'author', (n) => ({ books: { id: { _gt: n % 6 } } })],
    ['objects of objects', 'book', (n) => ({ author: { chief: { id: { _lt: (n % 2) + 2 } } } })],
    ['lists of objects', 'author', (n) => ({ chief: { books: { id: { _gt: n % 6 } } } })],
  ])('filter by %s repeatedly', async (_what, table, condition) => {
    const query = `query ($where: ${table}_bool_exp!) { rows: ${table}(where: $where, order_by: {id: asc}) { id } }`;
    const few = await rows(query, role, { where: { _and: Array.from({ length: 6 }, (_, n) => condition(n)) } });
    expect(few.length).toBeGreaterThan(0);
    expect(await rows(query, role, { where: { _and: Array.from({ length: VERY_MANY }, (_, n) => condition(n)) } })).toEqual(few);
    const or = await rows(query, role, { where: { _or: Array.from({ length: VERY_MANY }, (_, n) => condition(n)) } });
    expect(or).toEqual(await rows(query, role, { where: { _or: Array.from({ length: 6 }, (_, n) => condition(n)) } }));
  });
});
