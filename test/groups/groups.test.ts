/** Groups of rows: keys, aggregates, order, pages, and where they are. */
import { describe, expect, it } from 'vitest';
import { useLibrary, resultOf } from './library.ts';
import type { GraphqlOptions } from '../support/service.ts';
import { type Json, type JsonObject, printJson } from '../../src/util/json.ts';

const library = useLibrary();

async function ask(query: string, options: GraphqlOptions = {}): Promise<Json> {
  return resultOf(await library().graphql(query, options));
}

/** The groups of `article_aggregate`, with counts by key: `{"x":1}` is 2. */
async function counts(
  key: string,
  options: GraphqlOptions & { args?: string } = {},
): Promise<readonly (readonly [string, number])[] | Json> {
  const { args = '', ...rest } = options;
  const result = await ask(`{ article_aggregate { groups${args} { key { ${key} } aggregate { count } } } }`, rest);
  if (typeof result === 'string') return result;
  const { groups } = result as unknown as { groups: readonly { key: JsonObject; aggregate: { count: number } }[] };
  return groups.map((group) => [JSON.stringify(group.key), group.aggregate.count]);
}

const PATH = '$.selectionSet.article_aggregate.selectionSet.groups';

describe('keys', () => {
  it('groups by a column, with nulls as one group', async () => {
    expect(await counts('author_id')).toEqual([
      ['{"author_id":1}', 2],
      ['{"author_id":2}', 1],
      ['{"author_id":3}', 1],
      ['{"author_id":4}', 1],
      ['{"author_id":null}', 1],
    ]);
  });

  it('groups by related rows, and distinguishes no row from a row with nulls', async () => {
    expect(await counts('author { country }')).toEqual([
      ['{"author":{"country":"AU"}}', 1],
      ['{"author":{"country":"NZ"}}', 3],
      ['{"author":{"country":null}}', 1],
      ['{"author":null}', 1],
    ]);
    expect(await counts('author { __typename }')).toEqual([
      ['{"author":{"__typename":"author_aggregate_group_key"}}', 5],
      ['{"author":null}', 1],
    ]);
  });

  it('groups by a computed field, and by one value under several names once', async () => {
    expect(await counts('a: title b: title')).toEqual([
      ['{"a":"x","b":"x"}', 2],
      ['{"a":"y","b":"y"}', 2],
      ['{"a":"z","b":"z"}', 2],
    ]);
    expect(await counts('heat')).toEqual([
      ['{"heat":0}', 2],
      ['{"heat":1}', 2],
      ['{"heat":2}', 2],
    ]);
  });

  it('groups by what all keys select, and by what directives include', async () => {
    const query = `query($on: Boolean!) { article_aggregate(where: {author_id: {_eq: 1}}) {
      groups { a: key { title @include(if: $on) __typename } b: key { author_id } aggregate { count } } } }`;
    const typed = { __typename: 'article_aggregate_group_key' };
    expect(await ask(query, { variables: { on: true } })).toEqual({
      groups: [
        { a: { title: 'x', ...typed }, b: { author_id: 1 }, aggregate: { count: 1 } },
        { a: { title: 'y', ...typed }, b: { author_id: 1 }, aggregate: { count: 1 } },
      ],
    });
    expect(await ask(query, { variables: { on: false } })).toEqual({
      groups: [{ a: typed, b: { author_id: 1 }, aggregate: { count: 2 } }],
    });
  });

  it('returns one group of all rows without a part, also without rows, and no group of no rows with one', async () => {
    const query = `{ article_aggregate(where: {id: {_lt: 0}}) { none: groups { key { __typename } aggregate { count sum { views } } }
      bare: groups { __typename } by: groups { key { title } } } }`;
    expect(await ask(query)).toEqual({
      none: [{ key: { __typename: 'article_aggregate_group_key' }, aggregate: { count: 0, sum: { views: null } } }],
      bare: [{ __typename: 'article_aggregate_group' }],
      by: [],
    });
    expect(await ask('{ article_aggregate { groups { __typename } } }')).toEqual({ groups: [{ __typename: 'article_aggregate_group' }] });
  });

  it('prints the smallest of equal values', async () => {
    expect(await counts('rating')).toEqual([
      ['{"rating":"1.0"}', 2],
      ['{"rating":2}', 1],
      ['{"rating":"NaN"}', 2],
      ['{"rating":null}', 1],
    ]);
    expect(await counts('score')).toEqual([
      ['{"score":"-0"}', 2],
      ['{"score":0.5}', 1],
      ['{"score":"NaN"}', 2],
      ['{"score":null}', 1],
    ]);
    expect(await counts('word')).toEqual([
      ['{"word":"ONE"}', 2],
      ['{"word":"Two"}', 3],
      ['{"word":null}', 1],
    ]);
    expect(await counts('label')).toEqual([
      ['{"label":"a   "}', 2],
      ['{"label":"b   "}', 2],
      ['{"label":"c   "}', 1],
      ['{"label":null}', 1],
    ]);
    expect(await counts('facts')).toEqual([
      ['{"facts":{"a":"1.0"}}', 2],
      ['{"facts":{"b":"1.00"}}', 2],
      ['{"facts":null}', 2],
    ]);
  });

  it('has no values without an equality as keys', async () => {
    const missing = (name: string) =>
      `${PATH}.selectionSet.key.selectionSet.${name}: field '${name}' not found in type: 'article_aggregate_group_key' (validation-failed)`;
    for (const name of ['notes', 'place']) expect(await counts(name)).toBe(missing(name));
  });

  it('limits the related rows and the parts of a key', async () => {
    const mentors = (levels: number): string => (levels === 0 ? 'id' : `mentor { ${mentors(levels - 1)} }`);
    expect(await counts(`author { ${mentors(31)} }`)).toHaveLength(5);
    expect(await counts(`author { ${mentors(32)} }`)).toMatch(/: a key reads at most 32 related rows \(validation-failed\)$/);
    const names = Array.from({ length: 300 }, (_, i) => `n${i}: author { id }`).join(' ');
    expect(await counts(names)).toHaveLength(5);
  });
});

describe('order and pages', () => {
  it('orders by parts, aggregates and both, and appends the other parts', async () => {
    expect(await counts('title', { args: '(order_by: {key: {title: desc}}, limit: 2)' })).toEqual([
      ['{"title":"z"}', 2],
      ['{"title":"y"}', 2],
    ]);
    expect(
      await counts('title author_id', {
        args: '(order_by: [{aggregate: {sum: {views: desc}}}, {key: {author_id: asc}}], limit: 3, offset: "1")',
      }),
    ).toEqual([
      ['{"title":"z","author_id":null}', 1],
      ['{"title":"y","author_id":3}', 1],
      ['{"title":"x","author_id":2}', 1],
    ]);
    expect(
      await counts('author { country }', { args: '(order_by: {key: {author: {country: desc_nulls_last}}, aggregate: {count: asc}})' }),
    ).toEqual([
      ['{"author":{"country":"NZ"}}', 3],
      ['{"author":{"country":"AU"}}', 1],
      ['{"author":{"country":null}}', 1],
      ['{"author":null}', 1],
    ]);
    expect(await counts('title', { args: '(order_by: [{key: null}, {aggregate: null}, {}], limit: 0)' })).toEqual([]);
  });

  it('rejects an order by what is not in the key, and numbers below zero', async () => {
    expect(await counts('author_id', { args: '(order_by: {key: {title: asc}})' })).toBe(
      `${PATH}.args.order_by[0].key.title: "title" is not part of the key (validation-failed)`,
    );
    expect(await counts('title author { id }', { args: '(order_by: {key: {author: {country: asc}}})' })).toBe(
      `${PATH}.args.order_by[0].key.author.country: "country" is not part of the key (validation-failed)`,
    );
    expect(await counts('title', { args: '(limit: -1)' })).toMatch(/non-negative 32-bit integer/);
    expect(await counts('title', { args: '(offset: -1)' })).toMatch(/non-negative/);
  });
});

describe('rows', () => {
  it('groups the rows of the page, which all fields share', async () => {
    const query = `{ article_aggregate(limit: 3, offset: 1, order_by: {id: desc}) { aggregate { count } nodes { id }
      a: groups { key { author { name } } aggregate { max { id } } } b: groups { aggregate { sum { views } } } } }`;
    expect(await ask(query)).toEqual({
      aggregate: { count: 3 },
      nodes: [{ id: 5 }, { id: 4 }, { id: 3 }],
      a: [
        { key: { author: { name: 'Bob' } }, aggregate: { max: { id: 3 } } },
        { key: { author: { name: 'Cid' } }, aggregate: { max: { id: 4 } } },
        { key: { author: null }, aggregate: { max: { id: 5 } } },
      ],
      b: [{ aggregate: { sum: { views: 120 } } }],
    });
    expect(
      await ask('{ article_aggregate(distinct_on: [title], order_by: [{title: asc}, {id: desc}]) { groups { key { id } } } }'),
    ).toEqual({
      groups: [{ key: { id: 3 } }, { key: { id: 4 } }, { key: { id: 6 } }],
    });
  });

  it('groups related rows and those of functions', async () => {
    expect(
      await ask(
        '{ author(where: {id: {_lte: 2}}, order_by: {id: asc}) { articles_aggregate(limit: 1, order_by: {id: desc}) { nodes { id } groups { key { title author { name } } } } } }',
      ),
    ).toEqual([
      { articles_aggregate: { nodes: [{ id: 2 }], groups: [{ key: { title: 'y', author: { name: 'Ann' } } }] } },
      { articles_aggregate: { nodes: [{ id: 3 }], groups: [{ key: { title: 'x', author: { name: 'Bob' } } }] } },
    ]);
    expect(await ask('{ top_aggregate(args: {n: 3}) { aggregate { count } groups { key { author_id } aggregate { count } } } }')).toEqual({
      aggregate: { count: 3 },
      groups: [
        { key: { author_id: 1 }, aggregate: { count: 2 } },
        { key: { author_id: 2 }, aggregate: { count: 1 } },
      ],
    });
  });

  it('explains the statement with its groups', async () => {
    const body = printJson({ query: { query: '{ article_aggregate { groups { key { title } } } }' } });
    const { text } = await library().send('/v1/graphql/explain', {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', 'x-svc-admin-secret': 'hush' },
    });
    expect(text).toContain('group by');
  });
});

describe('permissions', () => {
  const reader = { role: 'reader' };

  it('groups visible rows by visible values, within the limit of the role', async () => {
    expect(await counts('title', reader)).toEqual([
      ['{"title":"x"}', 2],
      ['{"title":"y"}', 2],
    ]);
    expect(await counts('author_id', { ...reader, args: '(limit: 5)' })).toEqual([
      ['{"author_id":1}', 2],
      ['{"author_id":2}', 1],
    ]);
    expect(await counts('author { country }', reader)).toEqual([
      ['{"author":{"country":"NZ"}}', 3],
      ['{"author":null}', 1],
    ]);
    expect(await counts('views', reader)).toMatch(/field 'views' not found/);
    expect(await counts('author { name }', reader)).toMatch(/field 'name' not found/);
    expect(await counts('title', { ...reader, args: '(order_by: {aggregate: {max: {views: asc}}})' })).toMatch(/views/);
  });

  it('computes no field of a related row that the role does not see', async () => {
    // It fails for the author with id 2.
    expect(await counts('author { risk }', reader)).toEqual([
      ['{"author":{"risk":-12}}', 1],
      ['{"author":{"risk":12}}', 2],
    ]);
    expect(await counts('author { risk }')).toMatch(/data-exception/);
  });

  it('counts masked values as null', async () => {
    expect(await counts('title views', { role: 'both' })).toEqual([
      ['{"title":"x","views":null}', 1],
      ['{"title":"y","views":20}', 1],
      ['{"title":null,"views":30}', 1],
      ['{"title":null,"views":40}', 1],
      ['{"title":null,"views":50}', 1],
      ['{"title":null,"views":60}', 1],
    ]);
  });

  it('has no groups for roles without aggregates or without columns', async () => {
    expect(await counts('title', { role: 'lister' })).toMatch(/field 'article_aggregate' not found/);
    expect(await counts('title', { role: 'counter' })).toMatch(/field 'groups' not found/);
  });
});
