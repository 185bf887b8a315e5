import { beforeEach, describe, expect, test } from 'vitest';
import { CHECK_FAILED, useInsertDatabase } from '../../../../../test/support/insert-database.ts';
import { by, column, compare, field, int, joined, related, rows, table, text, type } from '../../../../../test/support/ir.ts';
import type { MutationDatabase } from '../../../../../test/support/mutation-database.ts';
import { affected, conflict, insert, insertRows, oneRow, response, returning, row } from '../../../../../test/support/mutation-ir.ts';

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

describe('on conflict', () => {
  beforeEach(() => db.client.query("insert into author (name, age, locked) values ('Ann', 1, false), ('Bob', 2, true)"));
  const output = response(affected, returning(field('name', text), field('age')));
  const upsert = (objects: readonly Parameters<typeof row>[0][], onConflict: ReturnType<typeof conflict>, more = {}) =>
    insert(
      insertRows(
        'author',
        objects.map((cells) => row(cells)),
        { onConflict, ...more },
      ),
      output,
    );

  test('skips conflicting rows without update columns', async () => {
    expect(
      await db.one(
        upsert(
          [
            { name: 'Ann', age: 9 },
            { name: 'New', age: 3 },
          ],
          conflict('author_name_key'),
        ),
      ),
    ).toEqual({
      affected_rows: 1,
      returning: [{ name: 'New', age: 3 }],
    });
    const one = insert(insertRows('author', [row({ name: 'Ann' })], { onConflict: conflict('author_name_key') }), oneRow(field('id')));
    expect(await db.one(one)).toBeNull();
    expect(await db.one({ ...one, output: oneRow(field('id'), articles) })).toBeNull();
  });

  test('updates columns and presets of existing rows that match a condition', async () => {
    const where = compare(column('locked', type('bool')), '_eq', false);
    const presets = new Map([['age', { value: { kind: 'session' as const, name: 'x-svc-age' }, type: int, list: false }]]);
    const objects = [
      { name: 'Ann', age: 9 },
      { name: 'Bob', age: 9 },
      { name: 'New', age: 3 },
    ];
    expect(await db.one(upsert(objects, conflict('author_name_key', ['age'], { where })))).toEqual({
      affected_rows: 2,
      returning: [
        { name: 'Ann', age: 9 },
        { name: 'New', age: 3 },
      ],
    });
    expect(
      await db.one(upsert(objects.slice(0, 1), conflict('author_name_key', ['age'], { presets })), { session: { 'x-svc-age': '44' } }),
    ).toEqual({
      affected_rows: 1,
      returning: [{ name: 'Ann', age: 44 }],
    });
    expect(await db.column('select age from author order by id')).toEqual([44, 2, 3]);
  });

  test('checks inserted and updated rows separately', async () => {
    const check = compare(column('age'), '_lt', 10);
    const updated = conflict('author_name_key', ['age'], { check: compare(column('age'), '_gt', 100) });
    expect(
      await db.one(
        upsert(
          [
            { name: 'Ann', age: 101 },
            { name: 'New', age: 3 },
          ],
          updated,
          { check },
        ),
      ),
    ).toMatchObject({ affected_rows: 2 });
    expect(await db.failure([upsert([{ name: 'Ann', age: 5 }], updated, { check })])).toBe(CHECK_FAILED);
    expect(await db.failure([upsert([{ name: 'Newer', age: 101 }], updated, { check })])).toBe(CHECK_FAILED);
    // Without an update check, an updated row is not checked like an inserted one.
    expect(await db.one(upsert([{ name: 'Ann', age: 50 }], conflict('author_name_key', ['age']), { check }))).toMatchObject({
      affected_rows: 1,
    });
    expect(await db.column('select age from author order by id')).toEqual([50, 2, 3]);
  });

  test('inserts into a partitioned table with on conflict', async () => {
    await db.client.query("insert into parted values (1, 'a'), (101, 'b')");
    const upserts = (more: Partial<Parameters<typeof insertRows>[2]> = {}) =>
      insert(
        insertRows('parted', [row({ id: 1, name: 'c' }), row({ id: 101, name: 'd' })], {
          onConflict: conflict('parted_pkey', ['name']),
          ...more,
        }),
        response(affected, returning(field('name', text))),
      );
    expect(await db.one(upserts())).toEqual({ affected_rows: 2, returning: [{ name: 'c' }, { name: 'd' }] });
    // PostgreSQL does not reveal whether a row of a partition is new: if the checks differ, the upsert is rejected.
    expect(await db.failure([upserts({ check: compare(column('name', text), '_neq', '') })])).toBe(
      'unexpected: database query error @ $.selectionSet.insert_it.args.objects',
    );
    const checked = (name: string) =>
      insert(
        insertRows('parted', [row({ id: 120, name })], { check: compare(column('name', text), '_eq', 'new') }),
        oneRow(field('name', text)),
      );
    expect(await db.failure([checked('old')])).toBe(CHECK_FAILED);
    expect(await db.one(checked('new'))).toEqual({ name: 'new' });
    const self = related('self', joined('id', 'id', true), rows(table('parted'), [field('name', text)], {}, 'single'));
    const many = insert(
      insertRows('parted', [row({ id: 150, name: 'x' }), row({ id: 50, name: 'y' })]),
      response(affected, returning(field('id'), self)),
    );
    expect(await db.one(many)).toEqual({
      affected_rows: 2,
      returning: [
        { id: 150, self: { name: 'x' } },
        { id: 50, self: { name: 'y' } },
      ],
    });
  });

  test('rejects the same row twice and an unknown constraint', async () => {
    expect(
      await db.failure([
        upsert(
          [
            { name: 'Ann', age: 1 },
            { name: 'Ann', age: 2 },
          ],
          conflict('author_name_key', ['age']),
        ),
      ]),
    ).toBe('unexpected: database query error @ $.selectionSet.insert_it.args.objects');
    expect(await db.failure([upsert([{ name: 'Ann', age: 1 }], conflict('no_such', ['age']))])).toBe(
      'constraint-error: constraint "no_such" for table "author" does not exist @ $.selectionSet.insert_it.args.objects',
    );
  });
});
