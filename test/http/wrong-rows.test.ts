/** The position of the invalid row if only the database detects the error. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Json } from '../../src/util/json.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;

const SCHEMA = `
  create type mood as enum ('good', 'bad');
  create table shelf (id int primary key, name text);
  create table book (
    id int primary key, shelf_id int references shelf, title text not null constraint book_title_key unique, code uuid unique,
    pages int constraint positive check (pages > 0), rating numeric(4, 1), price numeric, mood mood, day date, at timestamptz, hour time);
  create table watched (id serial primary key, size int check (size > 0), shelf_id int references shelf, price numeric);
  create function half() returns trigger language plpgsql as $$ begin new.size = new.size - 10; return new; end $$;
  create trigger half before insert on watched for each row execute function half();
`;

beforeAll(async () => {
  service = await startTestService();
  await service.sql(SCHEMA);
  for (const table of ['shelf', 'book', 'watched']) await service.metadata('pg_track_table', { table });
  const books = { table: 'shelf', name: 'books', using: { foreign_key_constraint_on: { table: 'book', column: 'shelf_id' } } };
  await service.metadata('pg_create_array_relationship', books);
});
afterAll(() => service.stop());
beforeEach(() => service.sql("truncate shelf, book, watched; insert into shelf values (1, 'one')"));

const at = (table: string): string => `$.selectionSet.insert_${table}.args.objects`;
const AT = at('book');

async function fault(table: string, rows: Json, clause = ''): Promise<string> {
  const query = `mutation ($rows: [${table}_insert_input!]!) { insert_${table}(objects: $rows${clause}) { affected_rows } }`;
  const answer = (await service.graphql(query, { variables: { rows } })) as {
    readonly errors?: readonly { readonly message: string; readonly extensions: { readonly path: string } }[];
  };
  const [error] = answer.errors ?? [];
  return error === undefined ? 'none' : error.extensions.path;
}

const ID = '00000000-0000-0000-0000-0000000000';
/** Rows that are valid except for some. */
const books = (count: number, wrong: Readonly<Record<number, Readonly<Record<string, Json>>>>, unlike = false): Json[] =>
  Array.from({ length: count }, (_, i) => ({
    id: i,
    title: `t${i}`,
    code: `${ID}${10 + i}`,
    pages: i + 1,
    ...(unlike && i % 2 === 0 ? { price: '1.50' } : {}),
    ...wrong[i],
  }));

describe.each([
  ['alike', 80, false],
  ['few', 9, false],
  ['unlike', 80, true],
] as const)('the error for rows that are %s', (_, count, unlike) => {
  it.each<[string, Readonly<Record<string, Json>>]>([
    ['a text that is no number', { rating: 'x', pages: 4 }],
    ['a number that is too large', { rating: '1', pages: '99999999999' }],
    ['an unknown enum value', { mood: 'so "so"' }],
    ['an invalid date', { day: '2020-13-45' }],
    ['an invalid timestamp', { at: '10:00', hour: '10:00' }],
    ['an unknown foreign key', { shelf_id: 99 }],
    ['an existing key', { id: 0, title: 'other' }],
    ['an existing unique text', { title: 'taken' }],
    ['a value that violates a check', { pages: -5 }],
  ])('names the row with %s', async (_name, cells) => {
    await service.sql("insert into book (id, title) values (-1, 'taken')");
    const same = Object.fromEntries(Object.keys(cells).map((name) => [name, name === 'hour' ? '10:00' : null]));
    const keep = 'title' in cells || 'pages' in cells || 'id' in cells ? {} : same;
    const wrong = Object.fromEntries(Array.from({ length: count }, (_unused, i) => [i, i === 5 ? { ...keep, ...cells } : keep]));
    const rows = books(count, wrong, unlike);
    // A value that another row has too does not identify a row.
    const expected = 'id' in cells ? AT : `${AT}[5]`;
    expect(await fault('book', rows)).toBe(expected);
  });

  it('names the first of several invalid rows', async () => {
    expect(await fault('book', books(count, { 4: { shelf_id: 99 }, 7: { shelf_id: 99 } }, unlike))).toBe(`${AT}[4]`);
    expect(await fault('book', books(count, { 4: { title: null, pages: 3 } }, unlike))).toBe(`${AT}[4].title`);
  });
});

it('names a row below others', async () => {
  const shelves = Array.from({ length: 20 }, (_, i) => ({
    id: i + 10,
    books: { data: Array.from({ length: 3 }, (_unused, k) => ({ id: 3 * i + k, title: `${i}.${k}`, pages: i === 6 && k === 1 ? 0 : 1 })) },
  }));
  expect(await fault('shelf', shelves)).toBe(`${at('shelf')}[6].books.data[1]`);
});

it('names no row if it could be another one', async () => {
  expect(await fault('book', [...books(3, {}), { id: 9, title: '-1', pages: 2 }, { id: 2000, title: '2', pages: -1 }])).toBe(`${AT}[4]`);
  // Three rows match the description.
  const swapped = [
    { id: -7, title: '3', pages: 8 },
    { id: 3, title: '8', pages: -7 },
    { id: 8, title: '-7', pages: 3 },
  ];
  expect(await fault('book', swapped)).toBe(AT);
  // The same key twice: which row is invalid depends on the stored rows.
  expect(await fault('book', books(4, { 2: { title: 't0' } }))).toBe(AT);
  // A single row needs no index.
  expect(await fault('book', books(1, { 0: { pages: 0 } }))).toBe(AT);
  // An update changes existing rows by its own rules.
  const clause = ', on_conflict: {constraint: book_pkey, update_columns: [pages]}';
  expect(await fault('book', books(4, { 2: { pages: 0 } }), clause)).toBe(AT);
  expect(await fault('book', books(4, { 2: { price: 'x' } }), clause)).toBe(`${AT}[2]`);
});

it('names no row if a trigger changes rows, except for invalid values', async () => {
  const sizes = (...of: readonly number[]): Json => of.map((size, i) => ({ id: i, size, shelf_id: 1, price: i === 3 ? 'x' : '1' }));
  expect(await fault('watched', sizes(20, 5, -5))).toBe(at('watched'));
  expect(await fault('watched', sizes(20, 20, 20, 20, 20))).toBe(`${at('watched')}[3]`);
});
