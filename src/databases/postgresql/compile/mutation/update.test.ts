import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  aggregate,
  all,
  by,
  column,
  compare,
  count,
  exists,
  field,
  int,
  joined,
  literal,
  related,
  rows,
  table,
  text,
  type,
  variable,
} from '../../../../../test/support/ir.ts';
import { type MutationDatabase, mutationDatabase, planMutation } from '../../../../../test/support/mutation-database.ts';
import {
  affected,
  insert,
  insertRows,
  jsonb,
  oneRow,
  remove,
  response,
  returning,
  row,
  set,
  update,
} from '../../../../../test/support/mutation-ir.ts';
import type { Update } from '../../../../ir/mutation.ts';

const SCHEMA = `
  create table author (id int primary key, name text, country text, age int);
  create table article (id int primary key, author_id int references author on delete cascade on update cascade, title text, views int, data jsonb, big numeric);
  create table employee (id int primary key, name text, boss_id int references employee);
  create table stock (id int primary key, amount int check (amount >= 0));
  create table loud (id int primary key, name text);
  create function shout() returns trigger language plpgsql as $$ begin new.name = upper(new.name); return new; end $$;
  create trigger shout before update on loud for each row execute function shout();
`;

let db: MutationDatabase;
beforeAll(async () => {
  db = await mutationDatabase(SCHEMA);
});
afterAll(() => db.close());
beforeEach(() =>
  db.client.query(`truncate author, article, employee, stock, loud cascade;
    insert into author values (1, 'Ann', 'NL', 30), (2, 'Bob', 'DE', 40), (3, 'Cid', 'NL', 50);
    insert into article values (1, 1, 'Sky', 10, '{"a": [1, 2, 3], "b": {"c": 1}}', 1.5), (2, 1, 'Sea', 20, '[1, 2, 3]', null), (3, 2, 'Sun', null, null, null);
    insert into employee values (1, 'A', null), (2, 'B', 1), (3, 'C', 1);
    insert into stock values (1, 5), (2, 0);
    insert into loud values (1, 'x')`),
);

const byId = { orderBy: [by(column('id'))] };
const id = (value: number) => compare(column('id'), '_eq', value);
const articles = related('articles', joined('id', 'author_id', false), rows(table('article'), [field('id')], byId));
const author = related('author', joined('author_id', 'id', true), rows(table('author'), [field('name', text)], {}, 'single'));
const CHECK_FAILED = 'permission-error: check constraint of an insert/update permission has failed @ $';

describe('update', () => {
  test('updates filtered rows and returns their new values', async () => {
    const root = update(
      'author',
      [set('country', 'BE'), set('age', null, int)],
      response(affected, returning(field('id'), field('country', text), field('age'))),
      {
        where: compare(column('country', text), '_eq', 'NL'),
      },
    );
    expect(await db.one(root)).toEqual({
      affected_rows: 2,
      returning: [
        { id: 1, country: 'BE', age: null },
        { id: 3, country: 'BE', age: null },
      ],
    });
    expect(await db.column('select country from author order by id')).toEqual(['BE', 'DE', 'BE']);
  });

  test('updates one row by its key, or returns null', async () => {
    const root = (key: number): Update =>
      update('author', [set('name', variable('name'))], oneRow(field('name', text)), { where: id(key) });
    expect(await db.one(root(2), { variables: { name: 'Rob' } })).toEqual({ name: 'Rob' });
    expect(await db.one(root(9), { variables: { name: 'Rob' } })).toBeNull();
    const related_ = (key: number) => update('author', [set('name', 'X')], oneRow(articles), { where: id(key) });
    expect(await db.run([related_(1), related_(9)])).toEqual([{ articles: [{ id: 1 }, { id: 2 }] }, null]);
  });

  test('runs no statement without an operator', async () => {
    const fields = response(affected, returning(field('id')));
    expect(planMutation([update('author', [], fields)]).steps).toEqual([]);
    expect(await db.run([update('author', [], fields), update('author', [], oneRow(field('id')))])).toEqual([
      { affected_rows: 0, returning: [] },
      null,
    ]);
  });

  test('returns nothing if no row matches', async () => {
    const fields = response(affected, returning(field('id'), articles));
    expect(await db.one(update('author', [set('name', 'x')], fields, { where: id(9), check: id(1) }))).toEqual({
      affected_rows: 0,
      returning: [],
    });
    expect(
      await db.one(update('author', [set('name', 'x')], response(affected, returning(field('id'))), { where: id(9), check: id(1) })),
    ).toEqual({ affected_rows: 0, returning: [] });
  });

  test.each([
    ['_inc', 1, set('views', 5, int, 'inc'), { views: 15 }],
    ['_inc of null', 3, set('views', 5, int, 'inc'), { views: null }],
    ['_inc of numeric', 1, set('big', '0.25', type('numeric'), 'inc'), { big: 1.75 }],
    ['_append', 2, set('data', [4], jsonb, 'append'), { data: [1, 2, 3, 4] }],
    ['_append to null', 3, set('data', { x: 1 }, jsonb, 'append'), { data: null }],
    ['_prepend', 2, set('data', [0], jsonb, 'prepend'), { data: [0, 1, 2, 3] }],
    ['_append an object', 1, set('data', { b: 2 }, jsonb, 'append'), { data: { a: [1, 2, 3], b: 2 } }],
    ['_delete_key', 1, set('data', 'b', text, 'delete-key'), { data: { a: [1, 2, 3] } }],
    ['_delete_elem', 2, set('data', 0, int, 'delete-elem'), { data: [2, 3] }],
    ['_delete_elem from the end', 2, set('data', -1, int, 'delete-elem'), { data: [1, 2] }],
    ['_delete_at_path', 1, set('data', ['a', '1'], text, 'delete-at-path'), { data: { a: [1, 3], b: { c: 1 } } }],
  ])('applies %s', async (_name, key, assignment, expected) => {
    const column_ = field(assignment.column, assignment.column === 'data' ? jsonb : assignment.column === 'big' ? type('numeric') : int);
    const result = await db.one(update('article', [assignment], oneRow(column_), { where: id(key) }));
    expect(result).toEqual(expected);
  });

  test('applies operators to variables', async () => {
    const assignments = [set('data', variable('path'), text, 'delete-at-path'), set('views', variable('by'), int, 'inc')];
    const result = await db.one(update('article', assignments, oneRow(field('data', jsonb), field('views')), { where: id(1) }), {
      variables: { path: ['b', 'c'], by: -10 },
    });
    expect(result).toEqual({ data: { a: [1, 2, 3], b: {} }, views: 0 });
    expect(await db.failure([update('article', [set('data', 1, int, 'delete-elem')], response(), { where: id(1) })])).toBe(
      'data-exception: cannot delete from object using integer index @ $',
    );
  });

  test('checks rows after the write and its triggers', async () => {
    const root = (age: number) =>
      update('author', [set('age', age)], response(affected), {
        where: compare(column('age'), '_lt', 45),
        check: compare(column('age'), '_gt', 18),
      });
    expect(await db.failure([root(3)])).toBe(CHECK_FAILED);
    expect(await db.column('select age from author order by id')).toEqual([30, 40, 50]);
    expect(await db.one(root(20))).toEqual({ affected_rows: 2 });
    const loud = (name: string) =>
      update('loud', [set('name', name)], oneRow(field('name', text)), { check: compare(column('name', text), '_eq', 'OK') });
    expect(await db.one(loud('ok'))).toEqual({ name: 'OK' });
    expect(await db.failure([loud('no')])).toBe(CHECK_FAILED);
  });

  test('rejects an update whose check is null', async () => {
    const check = compare(column('age'), '_gt', 18);
    expect(await db.failure([update('author', [set('age', null, int)], response(affected), { where: id(1), check })])).toBe(CHECK_FAILED);
    expect(await db.failure([update('author', [set('age', null, int)], oneRow(articles), { where: id(1), check })])).toBe(CHECK_FAILED);
  });

  test('filters and checks over relationships', async () => {
    const ofAnn = exists(
      joined('author_id', 'id', true),
      table('author'),
      compare(column('name', text), '_eq', { kind: 'session', name: 'x-svc-name' }),
    );
    const root = (to: number) =>
      update('article', [set('author_id', to)], response(affected, returning(field('id'), author)), { where: ofAnn, check: ofAnn });
    const session = { 'x-svc-name': 'Ann' };
    expect(await db.failure([root(2)], { session })).toBe(CHECK_FAILED);
    expect(await db.one(root(1), { session })).toEqual({
      affected_rows: 2,
      returning: [
        { id: 1, author: { name: 'Ann' } },
        { id: 2, author: { name: 'Ann' } },
      ],
    });
  });

  test('returns related rows after cascades and self-updates', async () => {
    expect(await db.one(update('author', [set('id', 10)], oneRow(field('id'), articles), { where: id(1) }))).toEqual({
      id: 10,
      articles: [{ id: 1 }, { id: 2 }],
    });
    const boss = related('boss', joined('boss_id', 'id', true), rows(table('employee'), [field('name', text)], {}, 'single'));
    for (const contained of [false, true]) {
      const root = update('employee', [set('name', 'Z', text)], response(returning(field('id'), boss)), { contained });
      expect(await db.one(root)).toEqual({
        returning: [
          { id: 1, boss: null },
          { id: 2, boss: { name: 'Z' } },
          { id: 3, boss: { name: 'Z' } },
        ],
      });
      await db.client.query('update employee set name = id::text');
    }
  });

  test('returns masked columns of inherited roles', async () => {
    const masked = {
      kind: 'read' as const,
      alias: 'name',
      read: column('name', text, compare(column('country', text), '_eq', 'NL')),
      jsonPath: null,
    };
    expect(await db.one(update('author', [set('age', 1)], response(returning(masked))))).toEqual({
      returning: [{ name: 'Ann' }, { name: null }, { name: 'Cid' }],
    });
    const other = exists(joined('id', 'author_id', false), table('article'), compare(column('views'), '_gt', 5));
    const byArticles = { ...masked, read: column('name', text, other) };
    const root = update('author', [set('age', 2)], response(returning(byArticles)), { where: all(compare(column('id'), '_lte', 2)) });
    expect(await db.one(root)).toEqual({ returning: [{ name: 'Ann' }, { name: null }] });
  });

  test('reports database errors at the path of the operation', async () => {
    expect(await db.failure([update('stock', [set('amount', -1, int, 'inc')], response(affected))])).toBe(
      'permission-error: Check constraint violation. new row for relation "stock" violates check constraint "stock_amount_check" @ $',
    );
    expect(await db.column('select amount from stock order by id')).toEqual([5, 0]);
    expect(await db.failure([update('author', [set('id', 2)], response(), { where: id(1) })])).toBe(
      'constraint-violation: Uniqueness violation. duplicate key value violates unique constraint "author_pkey" @ $',
    );
  });
});

describe('update many', () => {
  const part = (key: number, views: number) =>
    update('article', [set('views', views, int, 'inc')], response(affected, returning(field('views'))), { where: id(key) });
  test('runs updates in order, each on the result of the previous one', async () => {
    expect(
      await db.one({ kind: 'update-many', updates: [part(1, 1), part(1, 1), part(99, 1), { ...part(1, 1), assignments: [] }] }),
    ).toEqual([
      { affected_rows: 1, returning: [{ views: 11 }] },
      { affected_rows: 1, returning: [{ views: 12 }] },
      { affected_rows: 0, returning: [] },
      { affected_rows: 0, returning: [] },
    ]);
    expect(
      await db.run([
        { kind: 'update-many', updates: [] },
        { kind: 'update-many', updates: [{ ...part(1, 1), assignments: [] }] },
      ]),
    ).toEqual([[], []]);
  });

  test('rolls back all updates after a failure', async () => {
    const bad = { ...part(2, 1), check: compare(column('views'), '_lt', 0) };
    expect(await db.failure([{ kind: 'update-many', updates: [part(1, 1), bad] }])).toBe(CHECK_FAILED);
    expect(await db.column('select views from article where id = 1')).toEqual([10]);
  });
});

describe('delete', () => {
  test('returns deleted rows with their remaining related rows, and does not count cascades', async () => {
    const total = related(
      'total',
      { columns: [], unique: false },
      aggregate(table('author'), [{ kind: 'aggregate', alias: 'a', fields: [count()] }]),
    );
    const root = remove('author', response(affected, returning(field('name', text), articles, total)), {
      where: compare(column('country', text), '_eq', 'NL'),
    });
    expect(await db.one(root)).toEqual({
      affected_rows: 2,
      returning: [
        { name: 'Ann', articles: [], total: { a: { count: 1 } } },
        { name: 'Cid', articles: [], total: { a: { count: 1 } } },
      ],
    });
    expect(await db.column('select id from article')).toEqual([3]);
  });

  test('deletes one row by its key, or returns null', async () => {
    const root = (key: number) => remove('author', oneRow(field('name', text)), { where: id(key) });
    expect(await db.run([root(2), root(2), root(9)])).toEqual([{ name: 'Bob' }, null, null]);
  });

  test('deletes all rows, and none', async () => {
    expect(await db.run([remove('article', response(affected)), remove('article', response(affected, returning(field('id'))))])).toEqual([
      { affected_rows: 3 },
      { affected_rows: 0, returning: [] },
    ]);
  });

  test('rejects the deletion of a referenced row', async () => {
    expect(
      await db.failure([remove('author', response(affected), { where: id(3) }), remove('employee', response(affected), { where: id(1) })]),
    ).toBe(
      'constraint-violation: Foreign key violation. update or delete on table "employee" violates foreign key constraint "employee_boss_id_fkey" on table "employee" @ $',
    );
    expect(await db.column('select count(*)::int from author')).toEqual([3]);
  });
});

test('runs fields of one transaction on the results of earlier ones', async () => {
  const result = await db.run([
    insert(insertRows('author', [row({ id: 7, name: 'New' })]), oneRow(field('id'))),
    update('author', [set('age', 5)], response(affected, returning(field('name', text))), { where: id(7) }),
    remove('author', oneRow(field('age')), { where: id(7) }),
    remove('author', oneRow(field('age')), { where: id(7) }),
  ]);
  expect(result).toEqual([{ id: 7 }, { affected_rows: 1, returning: [{ name: 'New' }] }, { age: 5 }, null]);
});

test('reuses a plan with other values', async () => {
  const root = update('author', [set('age', variable('age'), int)], oneRow(field('age')), {
    where: compare(column('id'), '_eq', variable('id')),
  });
  expect(await db.one(root, { variables: { id: 1, age: 8 } })).toEqual({ age: 8 });
  expect(await db.one(root, { variables: { id: 2, age: null } })).toEqual({ age: null });
  expect(await db.one(update('author', [set('name', literal(null), text)], oneRow(field('name', text)), { where: id(1) }))).toEqual({
    name: null,
  });
});
