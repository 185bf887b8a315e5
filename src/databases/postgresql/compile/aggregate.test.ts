import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BlogDatabase, blogDatabase } from '../../../../test/support/blog-database.ts';
import {
  aggregate,
  aggregated,
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
} from '../../../../test/support/ir.ts';
import { runSelect } from '../../../../test/support/run-select.ts';
import type { AggregateField, AggregateItem, Field } from '../../../ir/select.ts';
import { printJson } from '../../../util/json.ts';
import { compiler } from './compiler.ts';

let blog: BlogDatabase;
beforeAll(async () => {
  blog = await blogDatabase();
});
afterAll(() => blog.close());

const article = table('article');
const views = column('views');
const byId = [by(column('id'))];
const values = (...fields: AggregateItem[]): AggregateField => ({ kind: 'aggregate', alias: 'aggregate', fields });
const nodes = (...fields: Field[]): AggregateField => ({ kind: 'nodes', alias: 'nodes', fields });
const author = related('author', joined('author_id', 'id', true), rows(table('author'), [field('name', text)], {}, 'single'));

describe('aggregate values', () => {
  test('counts rows, a column, several columns and distinct values', async () => {
    const fields = [
      count(),
      count('one', [views]),
      count('distinct', [views], true),
      count('pairs', [views, column('author_id')]),
      count('distinctPairs', [views, column('author_id')], true),
      { kind: 'typename' as const, alias: '__typename', typeName: 'article_aggregate_fields' },
    ];
    expect(await blog.one(aggregate(article, [values(...fields)]))).toEqual({
      aggregate: { count: 6, one: 5, distinct: 4, pairs: 6, distinctPairs: 5, __typename: 'article_aggregate_fields' },
    });
  });

  test('computes aggregate functions, which are null without rows', async () => {
    const fields = [aggregated('sum', views), aggregated('max', column('title', text), views), aggregated('avg', views)];
    expect(await blog.one(aggregate(article, [values(...fields)], { where: compare(column('author_id'), '_eq', 2) }))).toEqual({
      aggregate: { sum: { views: 10 }, max: { title: 'Sand', views: 5 }, avg: { views: expect.anything() } },
    });
    expect(await blog.one(aggregate(article, [values(count(), ...fields), nodes()], { where: compare(column('id'), '_eq', 99) }))).toEqual({
      aggregate: { count: 0, sum: { views: null }, max: { title: null, views: null }, avg: { views: null } },
      nodes: [],
    });
  });

  test('returns numbers as strings with stringifyNumericTypes', async () => {
    const { select } = compiler({ stringifyNumericTypes: true });
    const score = column('score', type('numeric'));
    const query = aggregate(article, [values(count(), aggregated('sum', views, score), aggregated('avg', score))], {
      where: compare(column('id'), '_in', [1, 5], int, true),
    });
    expect(await runSelect(blog.client, select([{ alias: 'x', query }]))).toEqual([
      { aggregate: { count: 2, sum: { views: 15, score: '9007199254740994.60' }, avg: { score: '4503599627370497.3000' } } },
    ]);
    expect(printJson(await blog.one(query))).toContain('"score":9007199254740994.60');
  });

  test('aggregates masked columns as null', async () => {
    const masked = column('views', int, compare(column('id'), '_lte', 2));
    expect(await blog.one(aggregate(article, [values(count('count', [masked]), aggregated('sum', masked))]))).toEqual({
      aggregate: { count: 2, sum: { views: 40 } },
    });
    expect(
      await blog.one(aggregate(article, [values(aggregated('sum', masked)), nodes(field('id'))], { orderBy: byId, limit: 2 })),
    ).toEqual({
      aggregate: { sum: { views: 40 } },
      nodes: [{ id: 1 }, { id: 2 }],
    });
  });

  test('returns empty objects if nothing is selected', async () => {
    expect(await blog.one(aggregate(article, []))).toEqual({});
    expect(await blog.one(aggregate(article, [values()]))).toEqual({ aggregate: {} });
    expect(await blog.one(aggregate(article, [nodes()], { limit: 2 }))).toEqual({ nodes: [{}, {}] });
    const typename = { kind: 'typename' as const, alias: '__typename', typeName: 'article_aggregate' };
    expect(await blog.one(aggregate(article, [typename, { ...values(), alias: 'a' }], { limit: 2 }))).toEqual({
      __typename: 'article_aggregate',
      a: {},
    });
    expect(await blog.one(aggregate(article, [nodes()], { distinctOn: [column('author_id')] }))).toEqual({ nodes: [{}, {}, {}] });
  });

  test('selects more aggregates than a function has arguments', async () => {
    const many = Array.from({ length: 70 }, (_, i) => count(`c${i}`));
    const found = await blog.one(aggregate(article, [values(...many), nodes(field('id'))], { orderBy: byId, limit: 1 }));
    expect(found).toEqual({ aggregate: Object.fromEntries(many.map((item) => [item.alias, 1])), nodes: [{ id: 1 }] });
  });
});

describe('aggregate nodes', () => {
  test('returns nodes with and without an order, with related rows', async () => {
    const fields = [values(count()), nodes(field('id'), author)];
    const where = compare(column('id'), '_gte', 5);
    const expected = [
      { id: 6, author: null },
      { id: 5, author: { name: 'Bob' } },
    ];
    expect(await blog.one(aggregate(article, fields, { where, orderBy: [by(column('id'), 'desc')] }))).toEqual({
      aggregate: { count: 2 },
      nodes: expected,
    });
    const unordered = (await blog.one(aggregate(article, fields, { where }))) as { nodes: unknown[] };
    expect(unordered.nodes).toHaveLength(2);
    expect(unordered.nodes).toEqual(expect.arrayContaining(expected));
  });

  test('limits aggregates and nodes to the page', async () => {
    const fields = [
      values(count(), aggregated('sum', views)),
      nodes(field('id'), author),
      { ...nodes(field('title', text)), alias: 'titles' },
    ];
    expect(await blog.one(aggregate(article, fields, { orderBy: byId, limit: 2, offset: literal(1) }))).toEqual({
      aggregate: { count: 2, sum: { views: 50 } },
      nodes: [
        { id: 2, author: { name: 'Ann' } },
        { id: 3, author: { name: 'Ann' } },
      ],
      titles: [{ title: 'Sea' }, { title: 'Sun' }],
    });
    expect(await blog.one(aggregate(article, [values(count())], { distinctOn: [column('author_id')] }))).toEqual({
      aggregate: { count: 3 },
    });
    expect(await blog.one(aggregate(article, [values(count())], { limit: 4 }))).toEqual({ aggregate: { count: 4 } });
  });

  test.each([
    ['plain', nodes(field('id')), (id: number) => ({ id })],
    ['with related rows', nodes(field('id'), author), (id: number) => ({ id, author: { name: id > 3 ? 'Bob' : 'Ann' } })],
  ] as const)('limits only nodes to the limit of the permission: %s', async (_name, field_, node) => {
    const fields = [values(count(), aggregated('max', views)), field_];
    expect(await blog.one(aggregate(article, fields, { orderBy: [by(views), by(column('id'), 'desc')] }, 2))).toEqual({
      aggregate: { count: 6, max: { views: 30 } },
      nodes: [node(5), node(4)],
    });
    expect(await blog.one(aggregate(article, fields, { orderBy: byId, limit: 4, offset: literal(1) }, 3))).toEqual({
      aggregate: { count: 4, max: { views: 30 } },
      nodes: [node(2), node(3), node(4)],
    });
    const unordered = (await blog.one(aggregate(article, fields, {}, 2))) as { nodes: unknown[] };
    expect(unordered).toMatchObject({ aggregate: { count: 6 } });
    expect(unordered.nodes).toHaveLength(2);
    expect(
      await blog.one(
        aggregate(article, [...fields], { distinctOn: [column('author_id')], orderBy: [by(column('author_id')), by(column('id'))] }, 1),
      ),
    ).toEqual({
      aggregate: { count: 3, max: { views: 10 } },
      nodes: [node(1)],
    });
  });

  test('returns keys that are too long for names in SQL', async () => {
    const long = 'n'.repeat(70);
    const fields = [values(count(long)), { ...nodes(field('id', int, `${long}1`), author), alias: `${long}2` }];
    for (const set of [{}, { orderBy: byId }]) {
      expect(await blog.one(aggregate(article, fields, { ...set, where: compare(column('id'), '_eq', 1) }))).toEqual({
        aggregate: { [long]: 1 },
        [`${long}2`]: [{ [`${long}1`]: 1, author: { name: 'Ann' } }],
      });
    }
  });
});

test('aggregates related rows of each parent', async () => {
  const articles = (alias: string, ...of: Parameters<typeof aggregate> extends [unknown, ...infer R] ? R : never) =>
    related(alias, joined('id', 'author_id', false), aggregate(article, ...of));
  const query = rows(
    table('author'),
    [
      field('id'),
      articles('all', [values(count(), aggregated('max', views)), nodes(field('title', text))], { orderBy: byId }),
      articles('limited', [values(count()), nodes(field('id'))], { orderBy: byId }, 1),
      articles('dutch', [values(count())], {
        where: exists(joined('author_id', 'id', true), table('author'), compare(column('country', text), '_eq', 'NL')),
      }),
    ],
    { orderBy: byId, limit: 3, offset: literal(1) },
  );
  expect(await blog.one(query)).toEqual([
    {
      id: 2,
      all: { aggregate: { count: 2, max: { views: 5 } }, nodes: [{ title: 'Sand' }, { title: 'Salt' }] },
      limited: { aggregate: { count: 2 }, nodes: [{ id: 4 }] },
      dutch: { aggregate: { count: 2 } },
    },
    ...[3, 4].map((id) => ({
      id,
      all: { aggregate: { count: 0, max: { views: null } }, nodes: [] },
      limited: { aggregate: { count: 0 }, nodes: [] },
      dutch: { aggregate: { count: 0 } },
    })),
  ]);
});
