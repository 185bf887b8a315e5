import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  aggregate,
  by,
  column,
  compare,
  count,
  exists,
  field,
  int,
  joined,
  related,
  rows,
  table,
  text,
  variable,
} from '../../../../../test/support/ir.ts';
import { type MutationDatabase, mutationDatabase, planMutation } from '../../../../../test/support/mutation-database.ts';
import {
  affected,
  conflict,
  insert,
  insertRows,
  nestedArray,
  nestedObject,
  OBJECTS,
  oneRow,
  response,
  returning,
  row,
} from '../../../../../test/support/mutation-ir.ts';
import { along } from '../../../../util/path.ts';

const SCHEMA = `
  create table author (id serial primary key, name text not null constraint author_name_key unique);
  create table detail (id int primary key references author, bio text constraint detail_bio_key unique);
  create table article (id serial primary key, author_id int references author, title text constraint article_title_key unique);
  create table tag (id serial primary key, article_id int references article, label text not null);
  create schema other;
  create table other.pair (a int, b text, "odd ""name" json, primary key (a, b));
  create table half (id serial primary key, pair_a int, pair_b text, foreign key (pair_a, pair_b) references other.pair);
  create view titles as select id, title from article;
`;

let db: MutationDatabase;
beforeAll(async () => {
  db = await mutationDatabase(SCHEMA);
});
afterAll(() => db.close());
beforeEach(() => db.client.query('truncate author, detail, article, tag, half, other.pair restart identity cascade'));

const byId = { orderBy: [by(column('id'))] };
const tags = related('tags', joined('id', 'article_id', false), rows(table('tag'), [field('label', text)], byId));
const articles = related('articles', joined('id', 'author_id', false), rows(table('article'), [field('title', text), tags], byId));
const author = related('author', joined('author_id', 'id', true), rows(table('author'), [field('id'), field('name', text)], {}, 'single'));
const tagRows = (...labels: readonly (string | null)[]) =>
  nestedArray(
    'tags',
    'id',
    'article_id',
    insertRows(
      'tag',
      labels.map((label) => row({ label })),
    ),
  );
const articleRows = (...of: readonly ReturnType<typeof row>[]) => nestedArray('articles', 'id', 'author_id', insertRows('article', of));
const everything = async () =>
  await db.column(
    "select (select count(*) from author) || ',' || (select count(*) from detail) || ',' || (select count(*) from article) || ',' || (select count(*) from tag)",
  );

describe('order of statements', () => {
  test('inserts nested arrays of any depth and counts all tables', async () => {
    const objects = [
      row(
        { name: 'A' },
        {
          after: [
            articleRows(
              row({ title: 'a1' }, { after: [tagRows('x', 'y')] }),
              row({ title: 'a2' }),
              row({ title: 'a3' }, { after: [tagRows('z')] }),
            ),
          ],
        },
      ),
      row({ name: 'plain' }),
      row({ name: 'B' }, { after: [articleRows(row({ title: 'b1' }))] }),
    ];
    const root = insert(insertRows('author', objects), response(affected, returning(field('id'), field('name', text), articles)));
    expect(await db.one(root)).toEqual({
      affected_rows: 10,
      returning: [
        {
          id: 1,
          name: 'A',
          articles: [
            { title: 'a1', tags: [{ label: 'x' }, { label: 'y' }] },
            { title: 'a2', tags: [] },
            { title: 'a3', tags: [{ label: 'z' }] },
          ],
        },
        { id: 2, name: 'plain', articles: [] },
        { id: 3, name: 'B', articles: [{ title: 'b1', tags: [] }] },
      ],
    });
  });

  test('inserts an object before the row, and one after it', async () => {
    const detail = nestedObject('detail', 'id', 'id', insertRows('detail', [row({ bio: 'painter' })]));
    const writer = nestedObject('author', 'author_id', 'id', insertRows('author', [row({ name: variable('name') }, { after: [detail] })]));
    const objects = [row({ title: 'T' }, { before: [writer], after: [tagRows('x')] }), row({ title: 'U' })];
    const root = insert(
      insertRows('article', objects),
      response(affected, returning(field('title', text), field('author_id'), author, tags)),
    );
    expect(await db.one(root, { variables: { name: 'Ann' } })).toEqual({
      affected_rows: 5,
      returning: [
        { title: 'T', author_id: 1, author: { id: 1, name: 'Ann' }, tags: [{ label: 'x' }] },
        { title: 'U', author_id: null, author: null, tags: [] },
      ],
    });
    expect(await db.column('select bio from detail where id = 1')).toEqual(['painter']);
  });

  test('inserts keys of several columns in another schema, with special characters', async () => {
    const odd = { table: { schema: 'other', name: 'pair' } };
    const pair = insertRows(
      'pair',
      [
        row(
          { a: 5, b: 'x,"y")(\\ {', 'odd "name': { q: '"' } },
          { types: { 'odd "name': { schema: 'pg_catalog', name: 'json', kind: 'base', array: false } } },
        ),
      ],
      odd,
    );
    const before = {
      ...nestedObject('pair', 'pair_a', 'a', pair),
      columns: [
        { local: 'pair_a', remote: 'a', type: int },
        { local: 'pair_b', remote: 'b', type: text },
      ],
    };
    const root = insert(insertRows('half', [row({}, { before: [before] })]), oneRow(field('pair_a'), field('pair_b', text)));
    expect(await db.one(root)).toEqual({ pair_a: 5, pair_b: 'x,"y")(\\ {' });
  });

  test('inserts many children by one statement', async () => {
    const labels = Array.from({ length: 3_000 }, (_, i) => `l${i}`);
    const root = insert(
      insertRows('article', [row({ title: 'T' }, { after: [tagRows(...labels)] })]),
      response(affected, returning(field('id'), tags)),
    );
    expect(planMutation([root]).steps[0]).toMatchObject({ statements: [{}, {}, {}] });
    expect(await db.one(root)).toEqual({ affected_rows: 3_001, returning: [{ id: 1, tags: labels.map((label) => ({ label })) }] });
  });

  test('inserts many parents with children', async () => {
    const objects = Array.from({ length: 400 }, (_, i) =>
      row({ name: `n${i}` }, { after: [articleRows(row({ title: `t${i}` }), row({ title: `u${i}` }))] }),
    );
    const root = insert(insertRows('author', objects), response(affected, returning(field('name', text), articles)));
    expect(await db.one(root, { once: true })).toEqual({
      affected_rows: 1_200,
      returning: objects.map((_, i) => ({
        name: `n${i}`,
        articles: [
          { title: `t${i}`, tags: [] },
          { title: `u${i}`, tags: [] },
        ],
      })),
    });
  });

  test('returns affected rows only, rows only, or neither', async () => {
    const object = (name: string) => insertRows('author', [row({ name }, { after: [articleRows(row({ title: name }))] })]);
    expect(
      await db.run([
        insert(object('a'), response(affected)),
        insert(object('b'), response(returning(field('id')))),
        insert(object('c'), response()),
      ]),
    ).toEqual([{ affected_rows: 2 }, { returning: [{ id: 2 }] }, {}]);
    const total = related(
      'total',
      { columns: [], unique: false },
      aggregate(table('article'), [{ kind: 'aggregate', alias: 'a', fields: [count()] }]),
    );
    expect(await db.one(insert(object('d'), oneRow(field('id'), total)))).toEqual({ id: 4, total: { a: { count: 4 } } });
  });
});

describe('missing rows in nested inserts', () => {
  const skip = { onConflict: conflict('author_name_key') };
  beforeEach(() => db.client.query("insert into author (name) values ('Ann')"));

  test('rejects a skipped object that a row depends on', async () => {
    const writer = nestedObject('author', 'author_id', 'id', insertRows('author', [row({ name: 'Ann' })], skip));
    expect(await db.failure([insert(insertRows('article', [row({ title: 'T' }, { before: [writer] })]), response(affected))])).toBe(
      'not-supported: cannot proceed to insert object relation "author" since insert to table "author" affects zero rows @ $.selectionSet.insert_it.args.objects[0].author',
    );
    expect(await everything()).toEqual(['1,0,0,0']);
  });

  test('rejects a skipped row that other rows depend on', async () => {
    const message =
      'not-supported: cannot proceed to insert array relations since insert to table "author" affects zero rows @ $.selectionSet.insert_it.args.objects[1]';
    const path = along(OBJECTS, 1);
    const parent = row({ name: 'Ann' }, { after: [articleRows(row({ title: 'T' }))], path });
    expect(await db.failure([insert(insertRows('author', [row({ name: 'New' }), parent], skip), response(affected))])).toBe(message);
    // The row is itself an object that another row depends on.
    const writer = nestedObject('author', 'author_id', 'id', insertRows('author', [parent], skip));
    expect(await db.failure([insert(insertRows('article', [row({ title: 'T' }, { before: [writer] })]), response(affected))])).toBe(
      message,
    );
    expect(await everything()).toEqual(['1,0,0,0']);
  });

  test('names a schema other than the default in the error', async () => {
    await db.client.query("insert into other.pair values (1, 'b')");
    const pair = insertRows('pair', [row({ a: 1, b: 'b' })], {
      table: { schema: 'other', name: 'pair' },
      onConflict: conflict('pair_pkey'),
    });
    const before = nestedObject('pair', 'pair_a', 'a', pair);
    expect(await db.failure([insert(insertRows('half', [row({}, { before: [before] })]), response())])).toContain(
      'since insert to table "other.pair" affects zero rows',
    );
  });

  test('accepts skipped children and counts updates', async () => {
    await db.client.query("insert into article (title) values ('T')");
    const children = nestedArray(
      'articles',
      'id',
      'author_id',
      insertRows('article', [row({ title: 'T' }), row({ title: 'U' })], { onConflict: conflict('article_title_key') }),
    );
    expect(await db.one(insert(insertRows('author', [row({ name: 'B' }, { after: [children] })]), response(affected)))).toEqual({
      affected_rows: 2,
    });
    const updating = nestedObject(
      'author',
      'author_id',
      'id',
      insertRows('author', [row({ name: 'Ann' })], { onConflict: conflict('author_name_key', ['name']) }),
    );
    expect(
      await db.one(insert(insertRows('article', [row({ title: 'V' }, { before: [updating] })]), response(affected, returning(author)))),
    ).toEqual({
      affected_rows: 2,
      returning: [{ author: { id: 1, name: 'Ann' } }],
    });
  });
});

describe('failures in nested inserts', () => {
  const CHECK_FAILED =
    'permission-error: check constraint of an insert/update permission has failed @ $.selectionSet.insert_it.args.objects';

  test('checks each level, with rows that were written before', async () => {
    const byAnn = exists(joined('author_id', 'id', true), table('author'), compare(column('name', text), '_eq', 'Ann'));
    const root = (name: string, check = byAnn) => {
      const children = nestedArray('articles', 'id', 'author_id', insertRows('article', [row({ title: 'T' })], { check }));
      return insert(insertRows('author', [row({ name }, { after: [children] })]), response(affected));
    };
    expect(await db.failure([root('Bob')])).toBe(CHECK_FAILED);
    expect(await everything()).toEqual(['0,0,0,0']);
    expect(await db.one(root('Ann'))).toEqual({ affected_rows: 2 });
  });

  test('rolls back after a database error in the deepest level', async () => {
    const objects = [row({ name: 'A' }, { after: [articleRows(row({ title: 'a1' }, { after: [tagRows('x', null)] }))] })];
    expect(await db.failure([insert(insertRows('author', objects), response(affected))])).toBe(
      'constraint-violation: Not-NULL violation. null value in column "label" of relation "tag" violates not-null constraint @ $.selectionSet.insert_it.args.objects',
    );
    expect(await everything()).toEqual(['0,0,0,0']);
  });
});

test('does not leak settings to the next request', async () => {
  await db.one(
    insert(
      insertRows('author', [row({ name: 'secret' }, { after: [articleRows(row({ title: 't' }))] })]),
      response(affected, returning(articles)),
    ),
  );
  const select = rows(table('author'), [field('id')], { where: compare(column('name', text), '_eq', 'secret') });
  expect(await db.run([select])).toEqual([[{ id: 1 }]]);
  await db.client.query(
    "create or replace view settings as select coalesce(current_setting('svc.rows0', true), '') || coalesce(current_setting('svc.rows', true), '') as all",
  );
  const settings = await Promise.all(Array.from({ length: 9 }, () => db.one(rows(table('settings'), [field('all', text)]))));
  expect(settings).toEqual(Array.from({ length: 9 }, () => [{ all: '' }]));
});
