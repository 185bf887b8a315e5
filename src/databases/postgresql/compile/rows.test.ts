import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BlogDatabase, blogDatabase } from '../../../../test/support/blog-database.ts';
import {
  all,
  by,
  call,
  column,
  compare,
  exists,
  field,
  int,
  joined,
  literal,
  operand,
  related,
  rows,
  table,
  text,
  type,
  variable,
} from '../../../../test/support/ir.ts';
import { runSelect } from '../../../../test/support/run-select.ts';
import type { RowsQuery } from '../../../ir/select.ts';
import { compiler } from './compiler.ts';

const author = table('author');
const article = table('article');
const byId = [by(column('id'))];

let blog: BlogDatabase;
beforeAll(async () => {
  blog = await blogDatabase();
});
afterAll(() => blog.close());

function compiled(query: RowsQuery): string {
  return compiler({ stringifyNumericTypes: false }).select([{ alias: 'x', query }]).text;
}

function articles(set: Parameters<typeof rows>[2] = {}, fields = [field('title', text)]) {
  return related('articles', joined('id', 'author_id', false), rows(article, fields, { orderBy: byId, ...set }));
}

const profile = related('profile', joined('id', 'author_id', true), rows(table('profile'), [field('bio', text)], {}, 'single'));

describe('compiled SQL', () => {
  test('selects one row by its key', () => {
    expect(
      compiled(rows(author, [field('name', text)], { where: compare(column('id'), '_eq', variable('id')) }, 'single')),
    ).toMatchInlineSnapshot(
      `"select coalesce((select row_to_json("t2".*) as "json" from (select "t1"."name" as "name" from "public"."author" as "t1" where ("t1"."id" = ($1)::"int4")) as "t2" limit 1), 'null') as "0""`,
    );
  });

  test('limits a page before it joins related rows', () => {
    expect(
      compiled(rows(author, [field('name', text), profile, articles({ limit: 2 })], { orderBy: byId, limit: 3, offset: variable('skip') })),
    ).toMatchInlineSnapshot(
      `"select coalesce(json_agg("t9".*), '[]') as "json" from (select "t2"."name" as "name", "t3"."json" as "profile", "t6"."json" as "articles" from (select "t1"."name" as "name", "t1"."id" as "id" from "public"."author" as "t1" order by "t1"."id" limit 3 offset ($1)::"int8") as "t2" left join lateral (select row_to_json("t5".*) as "json" from (select "t4"."bio" as "bio" from "public"."profile" as "t4" where "t4"."author_id" = "t2"."id") as "t5") as "t3" on true left join lateral (select coalesce(json_agg("t8".*), '[]') as "json" from (select "t7"."title" as "title" from "public"."article" as "t7" where "t7"."author_id" = "t2"."id" order by "t7"."id" limit 2) as "t8") as "t6" on true order by "t2"."id") as "t9""`,
    );
  });

  test('needs one level for a list without a page', () => {
    expect(compiled(rows(author, [field('name', text), profile], { orderBy: byId }))).toMatchInlineSnapshot(
      `"select coalesce(json_agg("t5".*), '[]') as "json" from (select "t1"."name" as "name", "t2"."json" as "profile" from "public"."author" as "t1" left join lateral (select row_to_json("t4".*) as "json" from (select "t3"."bio" as "bio" from "public"."profile" as "t3" where "t3"."author_id" = "t1"."id") as "t4") as "t2" on true order by "t1"."id") as "t5""`,
    );
  });
});

test('filters by another table in a subselect before it joins related rows', async () => {
  const hasArticles = exists(joined('id', 'author_id', false), article, compare(column('views'), '_gt', 5));
  const query = rows(author, [field('name', text), profile], { where: hasArticles, orderBy: byId });
  expect(compiled(query)).toMatch(/exists \(.*\) as "t\d+" left join lateral/);
  expect(await blog.one(query)).toEqual([{ name: 'Ann', profile: { bio: 'painter' } }]);
});

describe('lists', () => {
  test('returns rows in order with related rows', async () => {
    expect(await blog.one(rows(author, [field('name', text), profile, articles()], { orderBy: byId }))).toEqual([
      { name: 'Ann', profile: { bio: 'painter' }, articles: [{ title: 'Sky' }, { title: 'Sea' }, { title: 'Sun' }] },
      { name: 'Bob', profile: { bio: 'baker' }, articles: [{ title: 'Sand' }, { title: 'Salt' }] },
      { name: 'Cid', profile: { bio: null }, articles: [] },
      { name: null, profile: null, articles: [] },
    ]);
  });

  test('applies limit and offset, also to related rows', async () => {
    const query = rows(author, [field('id'), articles({ limit: 1, offset: variable('skip') })], {
      orderBy: [by(column('id'), 'desc')],
      limit: 2,
      offset: literal(2),
    });
    expect(await blog.one(query, { variables: { skip: 1 } })).toEqual([
      { id: 2, articles: [{ title: 'Salt' }] },
      { id: 1, articles: [{ title: 'Sea' }] },
    ]);
    expect(await blog.one(query)).toEqual([
      { id: 2, articles: [{ title: 'Sand' }] },
      { id: 1, articles: [{ title: 'Sky' }] },
    ]);
    expect(await blog.one(rows(author, [field('id')], { limit: 0 }))).toEqual([]);
  });

  test('keeps the order of a page with hash joins', async () => {
    await blog.client.query('set enable_nestloop = off; set enable_mergejoin = off; set work_mem = 64');
    await blog.client.query('create table item as select i as id, i % 1000 as owner from generate_series(1, 20000) i');
    await blog.client.query("create table owner as select i as id, repeat('x', 500) || i as name from generate_series(0, 999) i");
    await blog.client.query('alter table owner add primary key (id); analyze item; analyze owner');
    const owner = related('owner', joined('owner', 'id', true), rows(table('owner'), [field('name', text)], {}, 'single'));
    const found = (await blog.one(rows(table('item'), [field('id'), owner], { orderBy: byId, limit: 15000 }))) as { id: number }[];
    await blog.client.query('reset all');
    expect(found.map((row) => row.id)).toEqual(Array.from({ length: 15000 }, (_, i) => i + 1));
  });

  test('distinct on, with and without related rows', async () => {
    const set = { distinctOn: [column('country', text)], orderBy: [by(column('country', text)), by(column('id'), 'desc')] };
    expect(await blog.one(rows(author, [field('id')], set))).toEqual([{ id: 4 }, { id: 2 }, { id: 3 }]);
    expect(await blog.one(rows(author, [field('id'), profile], set))).toEqual([
      { id: 4, profile: null },
      { id: 2, profile: { bio: 'baker' } },
      { id: 3, profile: { bio: null } },
    ]);
  });

  test('returns one row of a to-one relationship over columns that are not a key', async () => {
    const first = related('first', joined('id', 'author_id', false), rows(article, [field('author_id')], {}, 'single'));
    expect(await blog.one(rows(author, [field('id'), first], { orderBy: byId, limit: 3 }))).toEqual([
      { id: 1, first: { author_id: 1 } },
      { id: 2, first: { author_id: 2 } },
      { id: 3, first: null },
    ]);
  });

  test('nests to-one relationships', async () => {
    const nested = related('author', joined('author_id', 'id', true), rows(author, [field('name', text), profile], {}, 'single'));
    expect(await blog.one(rows(article, [field('id'), nested], { orderBy: byId, where: compare(column('id'), '_gte', 5) }))).toEqual([
      { id: 5, author: { name: 'Bob', profile: { bio: 'baker' } } },
      { id: 6, author: null },
    ]);
  });
});

describe('single rows and several roots', () => {
  const single = (id: number) => rows(author, [field('name', text)], { where: compare(column('id'), '_eq', id) }, 'single');

  test('returns a row, or null without one', async () => {
    expect(await blog.one(single(1))).toEqual({ name: 'Ann' });
    expect(await blog.one(single(99))).toBeNull();
  });

  test('returns one column per root', async () => {
    expect(
      await blog.select([
        single(1),
        rows(profile.kind === 'related' ? table('profile') : author, [field('id')], { orderBy: byId }),
        single(99),
      ]),
    ).toEqual([{ name: 'Ann' }, [{ id: 1 }, { id: 2 }, { id: 3 }], null]);
  });

  test('returns the first of several rows as the single row', async () => {
    expect(await blog.one(rows(author, [field('id')], { orderBy: byId }, 'single'))).toEqual({ id: 1 });
  });
});

describe('keys of objects', () => {
  const long = 'a'.repeat(63);

  test('returns no fields, only __typename and special aliases', async () => {
    const one = { where: compare(column('id'), '_eq', 1) };
    expect(await blog.one(rows(author, [], one))).toEqual([{}]);
    expect(await blog.one(rows(author, [], one, 'single'))).toEqual({});
    expect(await blog.one(rows(author, [], { distinctOn: [column('country', text)] }))).toEqual([{}, {}, {}]);
    expect(await blog.one(rows(author, [{ kind: 'typename', alias: '__typename', typeName: "O'Hara\\" }], one))).toEqual([
      { __typename: "O'Hara\\" },
    ]);
    const aliases = ['t1', 't2', 't3', 't4', 'json', 'key', 'x', 'k', 'v', 'list', 'pairs'];
    const fields = aliases.map((alias) => field('id', int, alias));
    const expected = Object.fromEntries(aliases.map((alias) => [alias, 1]));
    expect(await blog.one(rows(author, fields, one))).toEqual([expected]);
    expect(await blog.one(rows(author, [...fields, articles({ limit: 1 }, fields)], { ...one, limit: 1 }))).toEqual([
      { ...expected, articles: [expected] },
    ]);
  });

  test('returns keys longer than names in the database', async () => {
    const fields = [field('id', int, `${long}b`), field('name', text, `${long}c`), field('country', text, long)];
    expect(await blog.one(rows(author, [...fields, articles({}, fields.slice(0, 1))], { where: compare(column('id'), '_eq', 2) }))).toEqual(
      [{ [`${long}b`]: 2, [`${long}c`]: 'Bob', [long]: 'NL', articles: [{ [`${long}b`]: 4 }, { [`${long}b`]: 5 }] }],
    );
    expect(await blog.one(rows(author, fields, { limit: 1, where: compare(column('id'), '_eq', 3) }, 'single'))).toEqual({
      [`${long}b`]: 3,
      [`${long}c`]: 'Cid',
      [long]: null,
    });
  });

  test('returns more keys than a function has arguments', async () => {
    const aliases = Array.from({ length: 120 }, (_, i) => `${long}${i}`);
    const fields = [...aliases.map((alias) => field('name', text, alias)), articles()];
    const found = await blog.one(rows(author, fields, { where: compare(column('id'), '_eq', 3) }));
    expect(found).toEqual([{ ...Object.fromEntries(aliases.map((alias) => [alias, 'Cid'])), articles: [] }]);
    expect(Object.keys((found as object[])[0] as object)).toEqual([...aliases, 'articles']);
  });
});

describe('field reads', () => {
  const first = { where: compare(column('id'), '_eq', 1) };

  test('reads a JSON path from the document or a variable', async () => {
    const query = rows(
      article,
      [
        field('data', type('jsonb'), 'literal', literal(['a', 'b', '1'])),
        field('data', type('jsonb'), 'variable', variable('path')),
        field('data', type('jsonb'), 'missing', literal(['no'])),
      ],
      first,
    );
    expect(await blog.one(query, { variables: { path: ['k'] } })).toEqual([{ literal: 2, variable: 1, missing: null }]);
    expect(await blog.one(query)).toEqual([{ literal: 2, variable: { a: { b: [1, 2] }, k: 1 }, missing: null }]);
  });

  test('returns null for a masked column if the mask does not hold', async () => {
    const mask = all(compare(column('country', text), '_eq', 'NL'), compare(column('id'), '_gt', 1));
    const query = rows(author, [{ kind: 'read', alias: 'name', read: column('name', text, mask), jsonPath: null }, articles()], {
      orderBy: byId,
      limit: 3,
    });
    expect(((await blog.one(query)) as { name: string | null }[]).map((row) => row.name)).toEqual([null, 'Bob', null]);
  });

  test('reads columns named like internal names', async () => {
    const fields = [field('t1'), field(':0', text, 'colon'), articles({ limit: 1 }, [field('id')])];
    expect(await blog.one(rows(author, fields, { ...first, limit: 1 }))).toEqual([{ t1: 11, colon: 'a', articles: [{ id: 1 }] }]);
  });
});

describe('functions', () => {
  const shout = {
    kind: 'read' as const,
    alias: 'shout',
    read: { kind: 'computed-field' as const, call: call('shout', [{ kind: 'row' }], false).call, type: text },
    jsonPath: null,
  };
  const articlesOf = (least: number) =>
    call('articles_of', [{ kind: 'row' }, { kind: 'value', name: 'at_least', operand: operand(literal(least), int) }], false);

  test('reads scalar and table computed fields, with and without a page', async () => {
    const fields = [shout, related('popular', null, rows(articlesOf(20), [field('id')], { orderBy: byId }))];
    const expected = [
      { shout: 'ANN', popular: [{ id: 2 }, { id: 3 }] },
      { shout: 'BOB', popular: [] },
    ];
    expect(await blog.one(rows(author, fields, { orderBy: byId, where: compare(column('id'), '_lte', 2) }))).toEqual(expected);
    expect(await blog.one(rows(author, fields, { orderBy: byId, limit: 2 }))).toEqual(expected);
  });

  test('passes a row, other arguments and the session to a function', async () => {
    const { call: with_ } = call('shout_with', [
      { kind: 'row' },
      { kind: 'value', name: 'suffix', operand: operand(literal('!'), text) },
      { kind: 'value', name: 'session', operand: operand({ kind: 'session-variables' }, type('json')) },
    ]);
    const read = { kind: 'read' as const, alias: 'x', read: { kind: 'computed-field' as const, call: with_, type: text }, jsonPath: null };
    expect(await blog.one(rows(author, [read], { orderBy: byId, limit: 1 }), { session: { 'x-svc-user-id': '7' } })).toEqual([
      { x: 'ANN!7' },
    ]);
  });

  test('selects rows of a function with named arguments and defaults', async () => {
    const named = call(
      'search',
      [
        { kind: 'value', name: 'at_least', operand: operand(literal(6), int) },
        { kind: 'value', name: 'query', operand: operand(literal('S%'), text) },
      ],
      false,
    );
    expect(await blog.one(rows(named, [field('id')], { orderBy: byId }))).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }]);
    const positional = call('search', [{ kind: 'value', name: null, operand: operand(literal('Sa%'), text) }], false);
    expect(
      await blog.one(
        rows(
          positional,
          [field('id'), related('author', joined('author_id', 'id', true), rows(author, [field('name', text)], {}, 'single'))],
          { orderBy: byId, limit: 1 },
        ),
      ),
    ).toEqual([{ id: 4, author: { name: 'Bob' } }]);
  });

  test('marks only statements without volatile functions as repeatable', async () => {
    const { select } = compiler({ stringifyNumericTypes: false });
    const repeatable = (query: RowsQuery) => select([{ alias: 'x', query }]).repeatable;
    expect(repeatable(rows(author, [shout]))).toBe(true);
    expect(repeatable(rows(call('noise', [], true), [field('id')]))).toBe(false);
    expect(repeatable(rows(call('search', []), [field('id')]))).toBe(false);
    expect(
      await runSelect(
        blog.client,
        select([{ alias: 'x', query: rows(call('noise', [], true), [field('id')], { limit: 1, orderBy: byId }) }]),
      ),
    ).toEqual([[{ id: 1 }]]);
  });
});
