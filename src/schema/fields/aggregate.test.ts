import { describe, expect, it } from 'vitest';
import { libraryCache, OWN_ARTICLES } from '../../../test/support/library-fixture.ts';
import { failure, translate, type TranslateOptions } from '../../../test/support/translate.ts';
import type { AggregateQuery, OrderBy } from '../../ir/select.ts';

const cache = libraryCache();

function aggregate(text: string, how: TranslateOptions = {}): AggregateQuery {
  return translate(cache, text, how).roots[0]?.root.query as AggregateQuery;
}

describe('aggregates', () => {
  it('apply the limit of the permission to the nodes, not to the aggregates', () => {
    const query = aggregate('{ article_aggregate(limit: 7) { aggregate { count __typename } nodes { id } } }', { role: 'user' });
    expect(query).toMatchObject({
      kind: 'aggregate',
      rows: { where: OWN_ARTICLES, limit: 7 },
      nodesLimit: 5,
      fields: [
        {
          kind: 'aggregate',
          alias: 'aggregate',
          fields: [
            { kind: 'count', alias: 'count', columns: [], distinct: false },
            { kind: 'typename', typeName: 'article_aggregate_fields' },
          ],
        },
        { kind: 'nodes', fields: [{ alias: 'id' }] },
      ],
    });
  });

  it('accept numeric, comparable and computed operands', () => {
    const query = aggregate(
      '{ author_aggregate { aggregate { n: count(columns: [name, born], distinct: true) sum { id } stddev_pop { rating } max { born full_name } } } }',
    );
    expect(query.fields).toMatchObject([
      {
        fields: [
          { kind: 'count', alias: 'n', columns: [{ column: 'name' }, { column: 'born' }], distinct: true },
          { function: 'sum', fields: [{ read: { column: 'id' }, columnType: { name: 'int4' } }] },
          { function: 'stddev_pop', fields: [{ read: { column: 'rating' } }] },
          { function: 'max', fields: [{ read: { column: 'born' } }, { read: { kind: 'computed-field' }, columnType: { name: 'text' } }] },
        ],
      },
    ]);
    const max = (column: string) => failure(() => aggregate(`{ author_aggregate { aggregate { max { ${column} } } } }`));
    for (const column of ['active', 'data']) expect(max(column)).toContain(`field '${column}' not found in type: 'author_max_fields'`);
  });

  it('have no columns argument for count if the role sees no columns', () => {
    const path = '$.selectionSet.author_aggregate.selectionSet.aggregate.selectionSet.count';
    expect(failure(() => aggregate('{ author_aggregate { aggregate { count(columns: [id]) } } }', { role: 'blind' }))).toBe(
      `${path}: 'count' has no argument named 'columns'`,
    );
    expect(failure(() => aggregate('{ author_aggregate { aggregate { count } } }', { role: 'user' }))).toContain(
      "field 'author_aggregate' not found",
    );
  });

  it('are fields of related rows if the target allows them', () => {
    const query = aggregate('{ author { articles_aggregate(where: {title: {_eq: "a"}}) { aggregate { count } } } }', { role: 'user' });
    expect(query.fields).toMatchObject([
      { kind: 'related', join: { columns: [{ local: 'id' }] }, query: { kind: 'aggregate', nodesLimit: 5 } },
    ]);
  });
});

describe('order', () => {
  function order(args: string, how: TranslateOptions = {}): readonly OrderBy[] {
    const query = translate(cache, `query ($o: [article_order_by!]) { article(${args}) { id } }`, how).roots[0]?.root.query;
    if (query?.kind !== 'rows') throw new Error('expected rows');
    return query.rows.orderBy;
  }

  it('keeps the order of keys and has defaults for nulls', () => {
    expect(order('order_by: [{title: desc, id: asc}, {views: asc_nulls_first}, {}, {id: null}]')).toMatchObject([
      { term: { read: { column: 'title' } }, direction: 'desc', nulls: 'first' },
      { term: { read: { column: 'id' } }, direction: 'asc', nulls: 'last' },
      { term: { read: { column: 'views' } }, direction: 'asc', nulls: 'first' },
    ]);
    expect(order('order_by: $o', { variables: { o: { id: 'desc_nulls_last' } } })).toMatchObject([{ direction: 'desc', nulls: 'last' }]);
  });

  it('goes through relationships and aggregates', () => {
    expect(
      order('order_by: {author: {articles_aggregate: {count: desc, max: {views: asc}}, full_name: asc, drafts_aggregate: {count: asc}}}'),
    ).toMatchObject([
      { term: { kind: 'related', join: { unique: true }, term: { kind: 'related-aggregate', function: 'count', arguments: [] } } },
      { term: { term: { kind: 'related-aggregate', function: 'max', arguments: [{ column: 'views' }] } } },
      { term: { term: { kind: 'read', read: { kind: 'computed-field' } } } },
      { term: { term: { kind: 'related-aggregate', join: null, from: { kind: 'function' } } } },
    ]);
  });

  it('begins with the distinct columns', () => {
    expect(order('distinct_on: [id, title], order_by: [{title: asc}, {id: desc}, {views: asc}]')).toHaveLength(3);
    expect(order('distinct_on: [id]')).toEqual([]);
    for (const args of [
      'distinct_on: [id], order_by: {title: asc}',
      'distinct_on: [id, title], order_by: {id: asc}',
      'distinct_on: id, order_by: {author: {id: asc}}',
    ]) {
      expect(failure(() => order(args))).toBe('$.selectionSet.article.args: "distinct_on" columns must match initial "order_by" columns');
    }
  });
});
