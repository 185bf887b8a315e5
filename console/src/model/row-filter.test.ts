import { expect, it } from 'vitest';
import type { JsonObject } from './json.ts';
import { printRowFilter, readRowFilter } from './row-filter.ts';

it('reads and prints tests that are joined by AND or by OR', () => {
  const filters: readonly JsonObject[] = [
    {},
    { a: { _eq: 1 } },
    { _and: [{ a: { _eq: 1 } }, { a: { _neq: 2 } }] },
    { _or: [{ a: { _eq: 1 } }, { b: { _in: ['x', 'y'] } }] },
  ];
  for (const where of filters) {
    const filter = readRowFilter(where);
    expect(filter === undefined ? undefined : printRowFilter(filter)).toEqual(where);
  }
  expect(readRowFilter({ a: { _gt: 1, _lt: 3 } })).toEqual({
    join: '_and',
    parts: [
      { column: 'a', operator: '_gt', value: 1 },
      { column: 'a', operator: '_lt', value: 3 },
    ],
  });
});

it('leaves other conditions to JSON', () => {
  const others: readonly JsonObject[] = [
    { _not: { a: { _eq: 1 } } },
    { _or: [{ a: { _gt: 1, _lt: 3 } }] },
    { author: { name: { _eq: 'x' } } },
    { _or: [{}] },
  ];
  for (const where of others) expect(readRowFilter(where)).toBeUndefined();
});
