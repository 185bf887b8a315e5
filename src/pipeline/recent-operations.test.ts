import { describe, expect, it } from 'vitest';
import type { OperationPlan } from '../plan/plan.ts';
import type { PreparedOperation } from '../graphql-engine/translation.ts';
import type { CachedOperation } from './operation-cache.ts';
import { type FinishedOperation, RecentOperations, withoutValues } from './recent-operations.ts';

function finished(query: string, changes: Partial<FinishedOperation> = {}): FinishedOperation {
  const { name = null } = changes;
  const operation: CachedOperation = { prepared: { kind: 'query', name } as PreparedOperation, plans: [], counts: null };
  return { at: 0, requestId: 'r', name: null, role: 'reader', duration: 1, error: null, query, operation, ...changes };
}

describe('the record of operations', () => {
  it('keeps the last 500, newest first', () => {
    const recent = new RecentOperations();
    for (let count = 0; count < 1234; count++) recent.add(finished('{ a }', { name: `N${count}` }));
    const names = recent.list().map(({ name }) => name);
    expect(names.length).toBe(500);
    expect([names[0], names.at(-1)]).toEqual(['N1233', 'N734']);
  });

  it('limits the length of all texts', () => {
    const recent = new RecentOperations();
    const long = 'x'.repeat(100_000);
    recent.add(finished(`{ ${long} }`, { name: long, role: long, requestId: long }));
    expect(JSON.stringify(recent.list()).length).toBeLessThan(1000);
  });

  it('leaves out introspection, subscriptions, and the document of a request that was not accepted', () => {
    const recent = new RecentOperations();
    const introspection = { reusable: true, steps: [], joins: [], validations: [], template: [{ produce: async () => [] }] };
    const of = (kind: OperationPlan['kind'], plans: readonly object[]): Partial<FinishedOperation> => ({
      operation: { prepared: { kind, name: null as string | null } as PreparedOperation, plans: plans as OperationPlan[], counts: null },
    });
    recent.add(finished('{ __schema { queryType { name } } }', of('query', [{ ...introspection, kind: 'query' }])));
    recent.add(finished('subscription { item { id } }', of('subscription', [])));
    recent.add(finished('password', { operation: null, error: 'validation-failed' }));
    recent.add(finished('query A { __typename } mutation B { delete_item }', of('mutation', [{ ...introspection, kind: 'mutation' }])));
    expect(recent.list().map(({ type, error }) => [type, error])).toEqual([
      ['mutation', null],
      ['unknown', 'validation-failed'],
    ]);
  });

  it.each([
    ['{ a(x: "secret", y: -5.1e3, z: $z1) { b1 } }', '{ a(x: "…", y: 0, z: $z1) { b1 } }'],
    ['{ a(x: "with \\" quote # no comment") # a "comment"\n }', '{ a(x: "…")  \n }'],
    ['{ a(x: """block \\""" " secret""") }', '{ a(x: "…") }'],
    ['{ a(x: "cut', '{ a(x: "…"'],
    ['{ a(x: """cut "" ', '{ a(x: "…"'],
  ])('has no values: %s', (document, expected) => {
    expect(withoutValues(document)).toBe(expected);
  });
});
