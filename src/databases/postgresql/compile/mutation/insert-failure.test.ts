import { describe, expect, test } from 'vitest';
import { CHECK_FAILED, names, useInsertDatabase } from '../../../../../test/support/insert-database.ts';
import { by, column, compare, exists, field, int, joined, related, rows, table, text } from '../../../../../test/support/ir.ts';
import type { MutationDatabase } from '../../../../../test/support/mutation-database.ts';
import { affected, insert, insertRows, oneRow, response, returning, row, set, update } from '../../../../../test/support/mutation-ir.ts';
import { FALSE } from '../../../../ir/bool-exp.ts';

let db: MutationDatabase;
useInsertDatabase((database) => {
  db = database;
});

const article = table('article');
const articles = related(
  'articles',
  joined('id', 'author_id', false),
  rows(article, [field('title', text)], { orderBy: [by(column('id'))] }),
);

describe('insert checks', () => {
  const adult = compare(column('age'), '_gte', 18);
  const authors = (check = adult, ...ages: (number | null)[]) =>
    insert(
      insertRows(
        'author',
        ages.map((age, i) => row({ name: `n${i}`, age }, { types: { age: int } })),
        { check },
      ),
      response(affected, returning(field('age'))),
    );

  test('rejects an insert if any row violates the check', async () => {
    expect(await db.one(authors(adult, 18, 40))).toMatchObject({ affected_rows: 2 });
    await db.client.query('truncate author cascade');
    for (const ages of [[17], [40, 17], [17, 40], [null], [40, null]]) {
      expect(await db.failure([authors(adult, ...ages)])).toBe(CHECK_FAILED);
    }
    expect(await db.failure([authors(FALSE, 40)])).toBe(CHECK_FAILED);
    expect(await db.column(names)).toEqual([]);
  });

  test('checks a single row, and rows whose related rows are selected later', async () => {
    const one = (age: number) => insert(insertRows('author', [row({ name: 'x', age })], { check: adult }), oneRow(field('age')));
    expect(await db.failure([one(1)])).toBe(CHECK_FAILED);
    expect(await db.one(one(20))).toEqual({ age: 20 });
    const later = (age: number) =>
      insert(insertRows('author', [row({ name: 'y', age })], { check: adult }), oneRow(field('age'), articles));
    expect(await db.failure([later(1)])).toBe(CHECK_FAILED);
    expect(await db.one(later(20))).toEqual({ age: 20, articles: [] });
    expect(await db.failure([insert(insertRows('author', [row({ name: 'z', age: 1 })], { check: adult }), response())])).toBe(CHECK_FAILED);
    expect(await db.column(names)).toEqual(['x', 'y']);
  });

  test('checks over a relationship with a session variable', async () => {
    await db.client.query("insert into author (name) values ('me'), ('other')");
    const mine = exists(
      joined('author_id', 'id', true),
      table('author'),
      compare(column('name', text), '_eq', { kind: 'session', name: 'x-svc-name' }),
    );
    const root = (author_id: number) =>
      insert(insertRows('article', [row({ title: 'T', author_id })], { check: mine }), response(affected));
    const session = { 'x-svc-name': 'me' };
    expect(await db.one(root(1), { session })).toEqual({ affected_rows: 1 });
    expect(await db.failure([root(2)], { session })).toBe(CHECK_FAILED);
    expect(await db.failure([root(2)])).toBe('not-found: missing session variable: "x-svc-name" @ $');
    expect(await db.column('select author_id from article')).toEqual([1]);
  });

  test('checks rows after triggers have changed them', async () => {
    const check = compare(column('shouted', text), '_eq', 'OK');
    const root = (name: string) => insert(insertRows('noted', [row({ name })], { check }), oneRow(field('name', text)));
    const session = { 'x-svc-user-id': '1' };
    expect(await db.one(root('ok'), { session })).toEqual({ name: 'ok' });
    expect(await db.failure([root('no')], { session })).toBe(CHECK_FAILED);
    expect(await db.column('select what from log')).toEqual(['ok by 1']);
  });

  test('does not mistake a value of the user for a failed check', async () => {
    const root = insert(insertRows('author', [row({ name: 'x', age: 'svc:00:0' }, { types: { age: int } })]), response(affected));
    expect(await db.failure([root])).toBe(
      'data-exception: invalid input syntax for type integer: "svc:00:0" @ $.selectionSet.insert_it.args.objects',
    );
  });
});

describe('errors of the database', () => {
  const OBJECTS = '@ $.selectionSet.insert_it.args.objects';
  test.each([
    [
      'author',
      { name: 'Ann' },
      `constraint-violation: Uniqueness violation. duplicate key value violates unique constraint "author_name_key" ${OBJECTS}`,
    ],
    [
      'author',
      { name: null },
      `constraint-violation: Not-NULL violation. null value in column "name" of relation "author" violates not-null constraint ${OBJECTS}`,
    ],
    [
      'article',
      { title: 'x', author_id: 99 },
      `constraint-violation: Foreign key violation. insert or update on table "article" violates foreign key constraint "article_author_id_fkey" ${OBJECTS}`,
    ],
    ['author', { name: 'x', age: 99999999999 }, `data-exception: value "99999999999" is out of range for type integer ${OBJECTS}`],
    ['author', { name: 'x', nope: 1 }, `unexpected: database query error ${OBJECTS}`],
  ])('reports the error of an insert into %s of %o', async (name, cells, message) => {
    await db.client.query("insert into author (name) values ('Ann')");
    const first = insert(insertRows('author', [row({ name: 'Before' })]), response(affected));
    expect(await db.failure([first, insert(insertRows(name, [row(cells)]), response(affected, returning(field('id'))))])).toBe(message);
    expect(await db.column(names)).toEqual(['Ann']);
  });

  test('skips later fields and rolls back earlier ones after a failure', async () => {
    const good = (name: string) => insert(insertRows('author', [row({ name })]), response(affected));
    const bad = update('author', [set('age', 1)], response(affected), { check: FALSE });
    expect(await db.failure([good('a'), bad, good('b')])).toBe(
      'permission-error: check constraint of an insert/update permission has failed @ $',
    );
    expect(await db.column(names)).toEqual([]);
    expect(
      await db.run([good('a'), good('b'), { ...rows(table('author'), [field('name', text)], { orderBy: [by(column('id'))] }) }]),
    ).toEqual([{ affected_rows: 1 }, { affected_rows: 1 }, [{ name: 'a' }, { name: 'b' }]]);
  });
});
