import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BlogDatabase, blogDatabase } from '../../../../test/support/blog-database.ts';
import { by, call, column, compare, field, joined, related, rows, table, text } from '../../../../test/support/ir.ts';
import { TRUE } from '../../../ir/bool-exp.ts';
import type { OrderBy, OrderTerm } from '../../../ir/select.ts';

let blog: BlogDatabase;
beforeAll(async () => {
  blog = await blogDatabase();
});
afterAll(() => blog.close());

async function ordered(of: 'author' | 'article', orderBy: readonly OrderBy[], limit: number | null = null): Promise<number[]> {
  const found = await blog.one(rows(table(of), [field('id')], { orderBy, limit }));
  return (found as { id: number }[]).map((row) => row.id);
}

const id = column('id');
const author = (term: OrderTerm, where = TRUE): OrderTerm => ({
  kind: 'related',
  join: joined('author_id', 'id', true),
  from: table('author'),
  where,
  term,
});
const read = (name: string, of = text): OrderTerm => ({ kind: 'read', read: column(name, of) });
const articles = (fn: string, ...args: string[]): OrderTerm => ({
  kind: 'related-aggregate',
  join: joined('id', 'author_id', false),
  from: table('article'),
  where: TRUE,
  function: fn,
  arguments: args.map((name) => column(name)),
});

test('orders by all directions and null positions', async () => {
  const country = column('country', text);
  const direction = (direction: OrderBy['direction'], nulls: OrderBy['nulls']) =>
    ordered('author', [{ term: { kind: 'read', read: country }, direction, nulls }, by(id)]);
  expect(await direction('asc', 'last')).toEqual([4, 1, 2, 3]);
  expect(await direction('asc', 'first')).toEqual([3, 4, 1, 2]);
  expect(await direction('desc', 'first')).toEqual([3, 1, 2, 4]);
  expect(await direction('desc', 'last')).toEqual([1, 2, 4, 3]);
});

test('orders through relationships, within the filter of the target', async () => {
  expect(await ordered('article', [by(author(read('name')), 'desc'), by(id)])).toEqual([6, 4, 5, 1, 2, 3]);
  expect(await ordered('article', [by(author(read('name'), compare(column('name', text), '_neq', 'Ann'))), by(id)])).toEqual([
    4, 5, 1, 2, 3, 6,
  ]);
  const profile: OrderTerm = {
    kind: 'related',
    join: joined('id', 'author_id', true),
    from: table('profile'),
    where: TRUE,
    term: read('bio'),
  };
  expect(await ordered('article', [by(author(profile)), by(id, 'desc')], 3)).toEqual([5, 4, 3]);
});

test('orders by aggregates of related rows, of a relationship and of a function', async () => {
  expect(await ordered('author', [by(articles('count'), 'desc'), by(id)])).toEqual([1, 2, 3, 4]);
  expect(await ordered('author', [by(articles('max', 'views')), by(id)])).toEqual([2, 1, 3, 4]);
  const computed: OrderTerm = {
    kind: 'related-aggregate',
    join: null,
    from: call('articles_of', [{ kind: 'row' }], false),
    where: TRUE,
    function: 'count',
    arguments: [],
  };
  expect(await ordered('author', [by(computed), by(id)])).toEqual([3, 4, 2, 1]);
});

test('returns the related rows of a page that is ordered by related rows', async () => {
  const name = related('author', joined('author_id', 'id', true), rows(table('author'), [field('name', text)], {}, 'single'));
  const query = rows(table('article'), [field('id'), name], { orderBy: [by(author(read('name')), 'desc'), by(id)], limit: 3 });
  expect(await blog.one(query)).toEqual([
    { id: 6, author: null },
    { id: 4, author: { name: 'Bob' } },
    { id: 5, author: { name: 'Bob' } },
  ]);
});

test('does not multiply rows when it orders by a to-many relationship', async () => {
  const any: OrderTerm = {
    kind: 'related',
    join: joined('id', 'author_id', false),
    from: table('article'),
    where: TRUE,
    term: read('author_id'),
  };
  expect(await ordered('author', [by(any, 'desc'), by(id)])).toEqual([3, 4, 2, 1]);
});

test('orders by masked columns and scalar computed fields', async () => {
  const masked = column('name', text, compare(id, '_neq', 1));
  expect(await ordered('author', [by(masked), by(id)])).toEqual([2, 3, 1, 4]);
  const shout = { kind: 'computed-field' as const, call: call('shout', [{ kind: 'row' }], false).call, type: text };
  expect(await ordered('author', [by(shout, 'desc')])).toEqual([4, 3, 2, 1]);
});
