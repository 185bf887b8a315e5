import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { printFilter, readFilter, switched, unwrapped, valueOfText, wrapped } from './filter-tree.ts';
import type { Json } from './json.ts';

const { filter } = fc.letrec<{ filter: Json; value: Json }>((tie) => ({
  value: fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.array(fc.integer(), { maxLength: 2 })),
  filter: fc.oneof(
    { depthSize: 'small' },
    fc.constant({}),
    fc.dictionary(
      fc.constantFrom('id', 'title', 'owner'),
      fc.dictionary(fc.constantFrom('_eq', '$in', '_ceq'), tie('value'), { minKeys: 1 }),
    ),
    fc.dictionary(fc.constantFrom('id', 'title'), tie('value')),
    fc.record({ _and: fc.array(tie('filter'), { maxLength: 3 }) }),
    fc.record({ $or: fc.array(tie('filter'), { maxLength: 3 }), id: tie('value') }),
    fc.record({ _not: tie('filter') }),
    fc.record({ _exists: fc.record({ _table: fc.constant('author'), _where: tie('filter'), odd: fc.constant(1) }) }),
    fc.record({ artist: tie('filter'), _unknown: tie('value') }),
    tie('value'),
  ),
}));

describe('condition tree', () => {
  it('prints any condition as it was read', () => {
    fc.assert(
      fc.property(filter, (json) => {
        expect(printFilter(readFilter(json))).toEqual(json);
      }),
      { numRuns: 500 },
    );
  });

  it('keeps all parts when it is wrapped, switched and unwrapped', () => {
    const node = readFilter({ id: { _eq: 1 }, title: { _like: 'a%' } });
    const any = wrapped(node, 'any');
    expect(printFilter(any)).toEqual({ _or: [{ id: { _eq: 1 } }, { title: { _like: 'a%' } }] });
    expect(printFilter(switched(any, 'all'))).toEqual({ _and: [{ id: { _eq: 1 } }, { title: { _like: 'a%' } }] });
    const not = switched(any, 'not');
    expect(printFilter(not)).toEqual({ _not: { _and: [{ id: { _eq: 1 } }, { title: { _like: 'a%' } }] } });
    expect(printFilter(switched(not, 'any'))).toEqual(printFilter(any));
    const inner = unwrapped(not);
    expect(inner && printFilter(inner)).toEqual({ _and: [{ id: { _eq: 1 } }, { title: { _like: 'a%' } }] });
  });

  it('puts several tests of one column into a list', () => {
    const test = { kind: 'test', column: 'id', tests: [['_gt', 1]] } as const;
    expect(printFilter({ kind: 'all', key: null, children: [test, test] })).toEqual({ _and: [{ id: { _gt: 1 } }, { id: { _gt: 1 } }] });
  });

  it('reads typed values by the type of the column', () => {
    expect(valueOfText('12', 'int4', '_eq')).toBe(12);
    expect(valueOfText('12', 'text', '_eq')).toBe('12');
    expect(valueOfText('9007199254740993', 'int8', '_eq')).toBe('9007199254740993');
    expect(valueOfText('X-Svc-User-Id', 'int4', '_eq')).toBe('X-Svc-User-Id');
    expect(valueOfText('1, 2', 'int4', '_in')).toEqual([1, 2]);
    expect(valueOfText('true', 'text', '_is_null')).toBe(true);
  });
});
