/** Rows of groups. */
import { describe, expect, it } from 'vitest';
import { resultOf, useLibrary } from './library.ts';
import type { GraphqlOptions } from '../support/service.ts';
import type { Json, JsonObject } from '../../src/util/json.ts';

const library = useLibrary();

async function ask(query: string, options: GraphqlOptions = {}): Promise<Json> {
  return resultOf(await library().graphql(query, options));
}

describe('rows of groups', () => {
  it('has the rows in an order, with related rows and computed fields', async () => {
    expect(await ask('{ article_aggregate { groups { key { title } nodes(order_by: {id: desc}) { id heat author { name } } } } }')).toEqual(
      {
        groups: [
          {
            key: { title: 'x' },
            nodes: [
              { id: 3, heat: 1, author: { name: 'Bob' } },
              { id: 1, heat: 0, author: { name: 'Ann' } },
            ],
          },
          {
            key: { title: 'y' },
            nodes: [
              { id: 4, heat: 1, author: { name: 'Cid' } },
              { id: 2, heat: 0, author: { name: 'Ann' } },
            ],
          },
          {
            key: { title: 'z' },
            nodes: [
              { id: 6, heat: 2, author: { name: 'Dan' } },
              { id: 5, heat: 2, author: null },
            ],
          },
        ],
      },
    );
  });

  it('has no rows beyond the greatest offset, and a limited number of lists', async () => {
    const groups = (nodes: string): Promise<Json> => ask(`{ article_aggregate { groups(limit: 1) { ${nodes} } } }`);
    expect(await groups('nodes(offset: "9223372036854775807", limit: 1) { id }')).toEqual({ groups: [{ nodes: [] }] });
    const lists = (count: number): string => Array.from({ length: count }, (_, i) => `n${i}: nodes(limit: 1) { id }`).join(' ');
    expect(Object.keys((((await groups(lists(16))) as JsonObject)['groups'] as JsonObject[])[0] ?? {})).toHaveLength(16);
    expect(await groups(lists(17))).toMatch(/: groups have at most 16 lists of nodes \(validation-failed\)$/);
  });

  it('cuts the rows of each group, several times under several names', async () => {
    const query = `query($skip: Int) { article_aggregate(order_by: {views: desc}) { groups(limit: 2) { key { author { country } } aggregate { count }
      first: nodes(limit: 1) { id } rest: nodes(offset: $skip, limit: 5, order_by: {author: {name: asc}}) { id author { name } } none: nodes(limit: 0) { id } } } }`;
    expect(await ask(query, { variables: { skip: 1 } })).toEqual({
      groups: [
        { key: { author: { country: 'AU' } }, aggregate: { count: 1 }, first: [{ id: 6 }], rest: [], none: [] },
        {
          key: { author: { country: 'NZ' } },
          aggregate: { count: 3 },
          first: [{ id: 4 }],
          rest: [
            { id: 2, author: { name: 'Ann' } },
            { id: 4, author: { name: 'Cid' } },
          ],
          none: [],
        },
      ],
    });
  });

  it('orders by the primary key what the order does not separate', async () => {
    expect(await ask('{ article_aggregate { groups { nodes(order_by: {title: desc}, limit: 3) { id } } } }')).toEqual({
      groups: [{ nodes: [{ id: 5 }, { id: 6 }, { id: 2 }] }],
    });
  });

  it('has the rows of a page, and of tables without a primary key', async () => {
    expect(
      await ask(
        '{ article_aggregate(limit: 3, order_by: {id: desc}) { nodes { id } groups { key { title } nodes { id } } aggregate { count } } }',
      ),
    ).toEqual({
      nodes: [{ id: 6 }, { id: 5 }, { id: 4 }],
      groups: [
        { key: { title: 'y' }, nodes: [{ id: 4 }] },
        { key: { title: 'z' }, nodes: [{ id: 6 }, { id: 5 }] },
      ],
      aggregate: { count: 3 },
    });
    expect(await ask('{ loose_aggregate { groups { key { title } nodes(order_by: {views: asc}) { views } } } }')).toEqual({
      groups: [
        { key: { title: 'a' }, nodes: [{ views: 1 }, { views: 2 }] },
        { key: { title: 'b' }, nodes: [{ views: 3 }] },
      ],
    });
    expect(
      await ask('{ article_aggregate(where: {id: {_lt: 0}}) { groups { nodes { id } } by: groups { key { id } nodes { id } } } }'),
    ).toEqual({
      groups: [{ nodes: [] }],
      by: [],
    });
  });

  it('has groups of groups in related rows', async () => {
    expect(
      await ask(`{ article_aggregate(where: {id: {_lte: 3}}) { groups { key { author { country } }
        nodes(limit: 1) { author { articles_aggregate { groups { key { title } nodes { id } } } } } } } }`),
    ).toEqual({
      groups: [
        {
          key: { author: { country: 'NZ' } },
          nodes: [
            {
              author: {
                articles_aggregate: {
                  groups: [
                    { key: { title: 'x' }, nodes: [{ id: 1 }] },
                    { key: { title: 'y' }, nodes: [{ id: 2 }] },
                  ],
                },
              },
            },
          ],
        },
        {
          key: { author: { country: null } },
          nodes: [{ author: { articles_aggregate: { groups: [{ key: { title: 'x' }, nodes: [{ id: 3 }] }] } } }],
        },
      ],
    });
  });

  it('has at most as many rows in each group as the role may read, and only their visible values', async () => {
    const reader = { role: 'reader' };
    expect(
      await ask('{ article_aggregate { groups { nodes(order_by: {title: desc}) { title author { country risk } } } } }', reader),
    ).toEqual({
      groups: [
        {
          nodes: [
            { title: 'y', author: { country: 'NZ', risk: 12 } },
            { title: 'y', author: { country: 'NZ', risk: -12 } },
          ],
        },
      ],
    });
    expect(await ask('{ article_aggregate { groups { nodes { views } } } }', reader)).toMatch(/field 'views' not found/);
  });
});
