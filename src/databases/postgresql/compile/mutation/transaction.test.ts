/** Mutations with all isolation levels, with and without prepared statements. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { by, column, compare, field, int, joined, related, rows, table, text } from '../../../../../test/support/ir.ts';
import { type MutationDatabase, type MutationDatabaseOptions, mutationDatabase } from '../../../../../test/support/mutation-database.ts';
import {
  affected,
  insert,
  insertRows,
  nestedArray,
  response,
  returning,
  row,
  set,
  update,
} from '../../../../../test/support/mutation-ir.ts';

const SCHEMA = `
  create table author (id serial primary key, name text not null unique, age int);
  create table article (id serial primary key, author_id int references author, title text not null, level text default current_setting('transaction_isolation'));
  create table late (id int primary key, author_id int references author deferrable initially deferred);
`;

const articles = related(
  'articles',
  joined('id', 'author_id', false),
  rows(table('article'), [field('title', text), field('level', text)], { orderBy: [by(column('id'))] }),
);

describe.each<[string, MutationDatabaseOptions, string]>([
  ["at the server's isolation level", {}, 'read committed'],
  ['serializable', { isolation: 'serializable' }, 'serializable'],
  ['repeatable read, without prepared statements', { isolation: 'repeatable-read', prepare: false }, 'repeatable read'],
  ['without prepared statements', { prepare: false }, 'read committed'],
])('%s', (_name, options, level) => {
  let db: MutationDatabase;
  beforeAll(async () => {
    db = await mutationDatabase(SCHEMA, options);
  });
  afterAll(() => db.close());

  const tree = (...titles: readonly (string | null)[]) =>
    insert(
      insertRows('author', [
        row(
          { name: `a${titles.length}` },
          {
            after: [
              nestedArray(
                'articles',
                'id',
                'author_id',
                insertRows(
                  'article',
                  titles.map((title) => row({ title }, {})),
                ),
              ),
            ],
          },
        ),
      ]),
      response(affected, returning(field('name', text), articles)),
    );

  test('runs several statements in one transaction', async () => {
    const more = update('author', [set('age', 5)], response(affected, returning(field('age'), articles)));
    expect(await db.run([tree('t', 'u'), more])).toEqual([
      {
        affected_rows: 3,
        returning: [
          {
            name: 'a2',
            articles: [
              { title: 't', level },
              { title: 'u', level },
            ],
          },
        ],
      },
      {
        affected_rows: 1,
        returning: [
          {
            age: 5,
            articles: [
              { title: 't', level },
              { title: 'u', level },
            ],
          },
        ],
      },
    ]);
  });

  test('rolls back after any failure and reuses the session', async () => {
    const bad = update('author', [set('age', 1)], response(affected), { check: compare(column('age'), '_gt', 18) });
    for (const roots of [[tree('x', null, 'y')], [tree('x', 'y', 'z'), bad], [tree('x', 'y', 'z'), bad, tree('v')]]) {
      for (const once of [false, true]) expect(await db.failure(roots, { once })).toMatch(/^(permission-error|constraint-violation)/);
    }
    expect(await db.column('select count(*)::int from author')).toEqual([1]);
    expect(await db.column('select count(*)::int from article')).toEqual([2]);
    expect(await db.run([tree('p', 'q', 'r')], { once: true })).toMatchObject([{ affected_rows: 4 }]);
  });

  test('rolls back after a violation of a deferred constraint', async () => {
    const late = insert(insertRows('late', [row({ id: 1, author_id: 999 })]), response(affected));
    expect(await db.failure([late, update('author', [set('age', 77, int)], response(affected))])).toBe(
      'constraint-violation: Foreign key violation. insert or update on table "late" violates foreign key constraint "late_author_id_fkey" @ $',
    );
    expect(await db.column('select count(*)::int from late')).toEqual([0]);
    expect(await db.column('select count(*)::int from author where age = 77')).toEqual([0]);
  });
});
