import { describe, expect, test } from 'vitest';
import { cases, DEEP } from '../../../../../test/support/deep.ts';
import { names, useInsertDatabase } from '../../../../../test/support/insert-database.ts';
import {
  by,
  column,
  compare,
  count,
  aggregate,
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
import { type MutationDatabase, planMutation } from '../../../../../test/support/mutation-database.ts';
import { affected, insert, insertRows, jsonb, oneRow, response, returning, row } from '../../../../../test/support/mutation-ir.ts';
import type { Relation } from '../../../../ir/relation.ts';

let db: MutationDatabase;
useInsertDatabase((database) => {
  db = database;
});

const article = table('article');
const stored = (name: string): Relation => ({ kind: 'table', name: { schema: 'public', name }, stored: true });
const articles = related(
  'articles',
  joined('id', 'author_id', false),
  rows(article, [field('title', text)], { orderBy: [by(column('id'))] }),
);
const author = related('author', joined('author_id', 'id', true), rows(table('author'), [field('name', text)], {}, 'single'));

describe('rows of one table', () => {
  test('returns affected rows and rows in the order of the input', async () => {
    const root = insert(
      insertRows('author', [row({ name: 'Zoe', age: 3 }), row({ name: 'Ann' }), row({ age: 5, name: 'Bob' })]),
      response(affected, returning(field('id'), field('name', text), field('age')), {
        kind: 'typename',
        alias: 't',
        typeName: 'author_mutation_response',
      }),
    );
    expect(await db.one(root)).toEqual({
      affected_rows: 3,
      returning: [
        { id: 1, name: 'Zoe', age: 3 },
        { id: 2, name: 'Ann', age: null },
        { id: 3, name: 'Bob', age: 5 },
      ],
      t: 'author_mutation_response',
    });
  });

  test('runs no statement without rows', async () => {
    const fields = response(affected, returning(field('id')), { kind: 'typename', alias: 't', typeName: 'x"y' });
    expect(planMutation([insert(insertRows('author', []), fields)]).steps).toEqual([]);
    expect(await db.run([insert(insertRows('author', []), fields), insert(insertRows('author', []), oneRow(field('id')))])).toEqual([
      { affected_rows: 0, returning: [], t: 'x"y' },
      null,
    ]);
  });

  test('inserts rows with defaults only', async () => {
    expect(await db.one(insert(insertRows('log', [row({})]), oneRow(field('id'), field('what', text))))).toEqual({ id: 1, what: null });
    expect(await db.one(insert(insertRows('log', [row({}), row({}), row({})]), response(affected)))).toEqual({ affected_rows: 3 });
    expect(
      await db.one(insert(insertRows('log', [row({}), row({ what: 'a' }), row({})]), response(returning(field('what', text))))),
    ).toEqual({
      returning: [{ what: null }, { what: 'a' }, { what: null }],
    });
  });

  test('inserts variables, literals, and generated and identity columns', async () => {
    const types = { data: jsonb, tags: type('text[]'), score: type('numeric') };
    const cells = { title: variable('title'), data: variable('data'), tags: ['x', 'a"b,{'], score: '1.50', id: 77 };
    const root = insert(
      insertRows('article', [row(cells, { types })]),
      oneRow(
        field('id'),
        field('slug', text),
        field('data', jsonb),
        field('tags', types.tags),
        field('score', types.score),
        field('at', type('timestamptz')),
      ),
    );
    const variables = { title: "O'Hara $1", data: { a: [1, null] } };
    expect(await db.one(root, { variables })).toEqual({
      id: 77,
      slug: "o'hara $1",
      data: { a: [1, null] },
      tags: ['x', 'a"b,{'],
      score: expect.anything(),
      at: '2020-01-01T00:00:00+00:00',
    });
    expect(
      await db.one(insert(insertRows('article', [row({ title: 'B', data: null }, { types })]), oneRow(field('id'), field('data', jsonb)))),
    ).toEqual({ id: 1, data: null });
  });

  test('inserts into tables and columns with special names', async () => {
    const cells = { t1: 1, ':0': 'a', ':checked': 'b', ':row': 2, 'xm"ax': 3 };
    const fields = [field('t1'), field(':0', text), field(':checked', text, 'k'.repeat(70)), field(':row'), field('xm"ax')];
    const check = compare(column(':checked', text), '_eq', 'b');
    const types = { ':row': int };
    expect(
      await db.one(insert(insertRows('We"ird T1', [row(cells, { types })], { check }), response(affected, returning(...fields)))),
    ).toEqual({
      affected_rows: 1,
      returning: [{ t1: 1, ':0': 'a', ['k'.repeat(70)]: 'b', ':row': 2, 'xm"ax': 3 }],
    });
    const self = related('self', joined('t1', 't1', true), rows(table('We"ird T1'), [field(':0', text)], {}, 'single'));
    expect(
      await db.one(
        insert(insertRows('We"ird T1', [row({ ...cells, t1: 2 }, { types })], { check }), response(affected, returning(...fields, self))),
      ),
    ).toEqual({
      affected_rows: 1,
      returning: [{ t1: 2, ':0': 'a', ['k'.repeat(70)]: 'b', ':row': 2, 'xm"ax': 3, self: { ':0': 'a' } }],
    });
  });

  test('passes the session to triggers and returns their changes', async () => {
    const session = { 'x-svc-user-id': '7', 'x-svc-role': 'user' };
    const logs = related('logs', { columns: [], unique: false }, rows(table('log'), [field('what', text)]));
    const root = insert(insertRows('noted', [row({ name: 'hey' })]), oneRow(field('shouted', text), logs));
    expect(await db.one(root, { session })).toEqual({ shouted: 'HEY', logs: [{ what: 'hey by 7' }] });
    expect(await db.column("select coalesce(current_setting('svc.user', true), '')")).toEqual(['']);
  });

  test('computes a field after all rows are written', async () => {
    const label = {
      kind: 'computed-field' as const,
      call: { function: { schema: 'public', name: 'label' }, arguments: [{ kind: 'row' as const }], volatile: false },
      type: text,
    };
    const fields = [{ kind: 'read' as const, alias: 'label', read: label, jsonPath: null }];
    const root = insert(insertRows('noted', [row({ name: 'a' }), row({ name: 'b' })]), response(returning(...fields)));
    expect(await db.one(root, { session: { 'x-svc-user-id': '1' } })).toEqual({ returning: [{ label: 'a/2' }, { label: 'b/2' }] });
  });

  test('returns related rows after the write, also of the same table', async () => {
    const boss = related('boss', joined('boss_id', 'id', true), rows(table('employee'), [field('name', text)], {}, 'single'));
    const staff = related('staff', joined('id', 'boss_id', false), rows(table('employee'), [field('id')], { orderBy: [by(column('id'))] }));
    const total = related(
      'total',
      { columns: [], unique: false },
      aggregate(table('employee'), [{ kind: 'aggregate', alias: 'a', fields: [count()] }]),
    );
    const objects = [row({ id: 3, name: 'C' }), row({ id: 1, name: 'A', boss_id: 3 }), row({ id: 2, name: 'B', boss_id: 1 })];
    for (const contained of [false, true]) {
      await db.client.query('truncate employee');
      const root = insert(insertRows('employee', objects), response(affected, returning(field('id'), boss, staff, total)), contained);
      expect(await db.one(root)).toEqual({
        affected_rows: 3,
        returning: [
          { id: 3, boss: null, staff: [{ id: 1 }], total: { a: { count: 3 } } },
          { id: 1, boss: { name: 'C' }, staff: [{ id: 2 }], total: { a: { count: 3 } } },
          { id: 2, boss: { name: 'A' }, staff: [], total: { a: { count: 3 } } },
        ],
      });
    }
  });

  test('needs one statement if the related table cannot have changed', async () => {
    await db.client.query("insert into author (name) values ('Ann')");
    const related_ = related('author', joined('author_id', 'id', true), rows(stored('author'), [field('name', text)], {}, 'single'));
    const objects = [row({ title: 'A', author_id: 1 }), row({ title: 'B' })];
    const roots = (contained: boolean) => [
      insert(insertRows('article', objects), response(returning(field('title', text), related_)), contained),
    ];
    const steps = (contained: boolean) => planMutation(roots(contained)).steps[0];
    expect(steps(true)).toMatchObject({ statements: [{}] });
    expect(steps(false)).toMatchObject({ statements: [{}, {}] });
    for (const contained of [false, true]) {
      expect(await db.run(roots(contained))).toEqual([
        {
          returning: [
            { title: 'A', author: { name: 'Ann' } },
            { title: 'B', author: null },
          ],
        },
      ]);
    }
  });

  test('inserts into views', async () => {
    const root = insert(insertRows('young', [row({ name: 'Kid', age: 3 })]), oneRow(field('name', text), articles));
    expect(await db.one(root)).toEqual({ name: 'Kid', articles: [] });
    expect(await db.failure([insert(insertRows('young', [row({ name: 'Old', age: 90 })]), oneRow(field('id')))])).toMatch(
      /^unexpected: |^permission-error: /,
    );
    expect(await db.column(names)).toEqual(['Kid']);
  });
});

describe('many rows', () => {
  test.each([49, 50, 51, cases(10_000, 1_000)])('inserts %i rows with the same columns', async (n) => {
    const types = { tags: type('text[]'), data: jsonb };
    const preset = { kind: 'session' as const, name: 'x-svc-user-id' };
    await db.client.query("insert into author (name) select 'n' || i from generate_series(1, 3) i");
    const shared = row({ author_id: preset }).values.get('author_id');
    const objects = Array.from({ length: n }, (_, i) => {
      const made = row(
        { title: i === 7 ? `ti"t,l{e}\\${i}` : `T${i}`, tags: i % 2 === 0 ? ['a b', 'c'] : null, data: i === 3 ? null : { i } },
        { types },
      );
      return { ...made, values: new Map([...made.values, ['author_id', shared]]) as typeof made.values };
    });
    for (const contained of [true, false]) {
      await db.client.query('truncate article restart identity');
      const root = insert(
        insertRows('article', objects),
        response(affected, returning(field('id'), field('title', text), field('tags', types.tags), field('data', jsonb), author)),
        contained,
      );
      const result = (await db.one(root, { session: { 'x-svc-user-id': '2' }, once: true })) as {
        affected_rows: number;
        returning: unknown[];
      };
      expect(result.affected_rows).toBe(n);
      expect(result.returning).toEqual(
        objects.map((_, i) => ({
          id: i + 1,
          title: i === 7 ? 'ti"t,l{e}\\7' : `T${i}`,
          tags: i % 2 === 0 ? ['a b', 'c'] : null,
          data: i === 3 ? null : { i },
          author: { name: 'n2' },
        })),
      );
    }
  });

  test('uses the same statement for any number of rows', () => {
    const text_ = (n: number) => {
      const objects = Array.from({ length: n }, (_, i) => row({ title: `T${i}`, author_id: i }));
      const step = planMutation([insert(insertRows('article', objects), response(affected))]).steps[0];
      return step?.kind === 'mutation' ? step.statements[0]?.statement : undefined;
    };
    expect(text_(60)?.text).toBe(text_(6000)?.text);
    expect(text_(6000)?.parameters).toHaveLength(2);
  });

  test.runIf(DEEP)('inserts rows with different columns and more values than parameters', async () => {
    const objects = Array.from({ length: 40_000 }, (_, i) => row(i % 3 === 0 ? { title: `T${i}` } : { title: `T${i}`, id: 100_000 + i }));
    const root = insert(insertRows('article', objects), response(affected, returning(field('title', text))));
    const result = (await db.one(root, { once: true })) as { affected_rows: number; returning: unknown[] };
    expect(result.affected_rows).toBe(40_000);
    expect(result.returning).toEqual(objects.map((_, i) => ({ title: `T${i}` })));
  });

  test.runIf(DEEP)('rolls back after a failure in the last of several statements', async () => {
    const objects = [
      ...Array.from({ length: 30_000 }, (_, i) => row(i % 2 === 0 ? { title: `T${i}` } : { title: `T${i}`, id: 100_000 + i })),
      row({ title: null }),
    ];
    expect(await db.failure([insert(insertRows('article', objects), response(affected))], { once: true })).toBe(
      'constraint-violation: Not-NULL violation. null value in column "title" of relation "article" violates not-null constraint @ $.selectionSet.insert_it.args.objects',
    );
    expect(await db.column('select count(*)::int from article')).toEqual([0]);
  });
});

test('does not mix up literal values of a list column', async () => {
  const types = { tags: type('text[]') };
  const objects = Array.from({ length: 60 }, (_, i) =>
    row({ title: `T${i}`, tags: { kind: 'list', items: [literal(`a${i}`), variable('b')] } }, { types }),
  );
  const result = await db.one(insert(insertRows('article', objects), response(returning(field('tags', types.tags)))), {
    variables: { b: 'B' },
  });
  expect(result).toEqual({ returning: objects.map((_, i) => ({ tags: [`a${i}`, 'B'] })) });
});
