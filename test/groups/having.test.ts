/** Conditions on groups. */
import { describe, expect, it } from 'vitest';
import { resultOf, useLibrary } from './library.ts';
import type { GraphqlOptions } from '../support/service.ts';
import type { Json, JsonObject } from '../../src/util/json.ts';

const library = useLibrary();

/** Titles of the groups by title for which a condition holds. */
async function titles(having: string, options: GraphqlOptions & { declared?: string } = {}): Promise<readonly string[] | Json> {
  const { declared = '', ...rest } = options;
  const result = resultOf(
    await library().graphql(`query${declared} { article_aggregate { groups(having: ${having}) { key { title } } } }`, rest),
  );
  if (typeof result === 'string') return result;
  return (result as unknown as { groups: readonly { key: JsonObject }[] }).groups.map(({ key }) => key['title'] as string);
}

describe('conditions on groups', () => {
  it('compares aggregates, of which several must hold', async () => {
    expect(await titles('{sum: {views: {_gte: 60}}}')).toEqual(['y', 'z']);
    expect(await titles('{sum: {views: {_gte: 60}}, max: {views: {_lt: 60}}}')).toEqual(['y']);
    expect(await titles('{sum: {views: {_gte: 60, _lt: 100}}}')).toEqual(['y']);
    expect(await titles('{avg: {views: {_in: ["20", 55]}}, min: {title: {_like: "%z%"}}}')).toEqual(['z']);
    expect(await titles('{stddev_pop: {views: {_gt: "5.5"}}}')).toEqual(['x', 'y']);
    expect(await titles('{max: {published_at: {_is_null: true}}}')).toEqual([]);
    expect(await titles('{}')).toEqual(['x', 'y', 'z']);
  });

  it('combines conditions, and keeps no group for which they are unknown', async () => {
    expect(await titles('{_or: [{sum: {views: {_lt: 50}}}, {sum: {views: {_gt: 100}}}]}')).toEqual(['x', 'z']);
    expect(await titles('{_not: {sum: {views: {_lt: 50}}}}')).toEqual(['y', 'z']);
    expect(await titles('{_and: [], _or: []}')).toEqual([]);
    const unknown = 'where: {rating: {_is_null: true}}';
    const query = (having: string) => `{ article_aggregate(${unknown}) { groups(having: ${having}) { key { title } } } }`;
    expect(resultOf(await library().graphql(query('{sum: {rating: {_gt: 0}}}')))).toEqual({ groups: [] });
    expect(resultOf(await library().graphql(query('{_not: {sum: {rating: {_gt: 0}}}}')))).toEqual({ groups: [] });
  });

  it('counts rows, values, distinct values, and rows that meet a condition', async () => {
    expect(await titles('{count: {predicate: {_eq: 2}}}')).toEqual(['x', 'y', 'z']);
    expect(await titles('{count: {arguments: [author_id], predicate: {_eq: 1}}}')).toEqual(['z']);
    expect(await titles('{count: {arguments: [author_id], distinct: true, predicate: {_gt: 1}}}')).toEqual(['x', 'y']);
    expect(await titles('{count: {filter: {author: {country: {_eq: "NZ"}}}, predicate: {_eq: 2}}}')).toEqual(['y']);
    expect(await titles('{count: {predicate: {}}}')).toEqual(['x', 'y', 'z']);
    expect(await titles('{count: {filter: {views: {_gt: 100}}}}')).toMatch(/predicate/);
  });

  it('takes variables', async () => {
    expect(await titles('{sum: {views: {_gte: $least}}}', { declared: '($least: bigint)', variables: { least: '60' } })).toEqual([
      'y',
      'z',
    ]);
    const whole = { declared: '($having: article_aggregate_having)', variables: { having: { count: { predicate: { _gt: 2 } } } } };
    expect(await titles('$having', whole)).toEqual([]);
  });

  it('keeps or drops the one group of all rows', async () => {
    const query = (most: number) =>
      `{ article_aggregate { groups(having: {count: {predicate: {_lt: ${most}}}}) { aggregate { count } } } }`;
    expect(resultOf(await library().graphql(query(7)))).toEqual({ groups: [{ aggregate: { count: 6 } }] });
    expect(resultOf(await library().graphql(query(6)))).toEqual({ groups: [] });
  });

  it('applies to visible values only', async () => {
    const reader = { role: 'reader' };
    expect(await titles('{sum: {views: {_gt: 0}}}', reader)).toMatch(/field 'views' not found/);
    expect(await titles('{count: {filter: {views: {_gt: 0}}, predicate: {_gt: 0}}}', reader)).toMatch(/field 'views' not found/);
    // The filter fails for the author with id 2, which the role does not see.
    expect(await titles('{count: {filter: {author: {risk: {_gt: 0}}}, predicate: {_gt: 0}}}', reader)).toEqual(['x', 'y']);
  });
});
