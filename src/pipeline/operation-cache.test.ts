import { describe, expect, test } from 'vitest';
import type { OperationPlan } from '../plan/plan.ts';
import type { RoleSchema } from '../graphql-engine/translation.ts';
import type { Bytes } from '../util/bytes.ts';
import { createOperationCache } from './operation-cache.ts';

const schema = { role: 'user', prepare: () => ({ memory: 100 }) } as unknown as RoleSchema;

function plan(reusable: boolean, equals: number | null = null): OperationPlan {
  const constraints = equals === null ? [] : [{ variable: 'x', path: [], fact: { kind: 'equals' as const, json: equals } }];
  return { kind: 'mutation', constraints, reusable, template: [], steps: [], joins: [], validations: [] };
}

test('does not cache a plan that contains data of one request', () => {
  const cache = createOperationCache({ operations: 10, plansPerOperation: 2, memory: 1_000_000 });
  const operation = cache.operation(schema, 'mutation', null);
  const kept = plan(true, 1);
  expect(cache.plan(operation, { x: 1 }, () => kept)).toBe(kept);
  for (let i = 0; i < 5; i++) {
    const once = plan(false);
    expect(cache.plan(operation, { x: 2 }, () => once)).toBe(once);
  }
  expect(operation.plans).toEqual([kept]);
  expect(cache.plan(operation, { x: 1 }, () => plan(true))).toBe(kept);
});

const MEGABYTE = 1_000_000;
const role = (name: string, memory: number): RoleSchema => ({ role: name, prepare: () => ({ memory }) }) as unknown as RoleSchema;
const planOf = (bytes: number, equals: number): OperationPlan => ({ ...plan(true, equals), template: ['x'.repeat(bytes) as Bytes] });

describe('the size of the operation cache is limited', () => {
  const options = { operations: 1000, plansPerOperation: 16, memory: 10 * MEGABYTE };
  const isKept = (cache: ReturnType<typeof createOperationCache>, of: RoleSchema, query: string): boolean => {
    const first = cache.operation(of, query, null);
    return cache.operation(of, query, null) === first;
  };

  test('per role', () => {
    const cache = createOperationCache(options);
    const user = role('user', 200_000);
    const first = cache.operation(user, 'first', null);
    for (let n = 0; n < 100; n++) {
      cache.operation(user, `query ${n}`, null);
      expect(cache.memory).toBeLessThanOrEqual(5 * MEGABYTE);
    }
    expect(cache.memory).toBeGreaterThan(4 * MEGABYTE);
    expect(cache.operation(user, 'first', null)).not.toBe(first);
  });

  test('over all roles, evicting from the largest', () => {
    const cache = createOperationCache(options);
    const quiet = role('quiet', 100_000);
    const own = cache.operation(quiet, 'own', null);
    const roles = Array.from({ length: 20 }, (_, n) => role(`role ${n}`, 200_000));
    for (const of of roles) {
      for (let n = 0; n < 50; n++) cache.operation(of, `query ${n}`, null);
      expect(cache.memory).toBeLessThanOrEqual(10 * MEGABYTE);
    }
    expect(cache.memory).toBeGreaterThan(9 * MEGABYTE);
    expect(cache.operation(quiet, 'own', null)).toBe(own);
  });

  test('including plans', () => {
    const cache = createOperationCache(options);
    const operation = cache.operation(role('user', 1000), 'query', null);
    for (let x = 0; x < 16; x++) cache.plan(operation, { x }, () => planOf(200_000, x));
    expect(operation.plans.length).toBe(6);
    expect(cache.memory).toBeLessThanOrEqual(1.25 * MEGABYTE);
    const kept = operation.plans[0];
    expect(cache.plan(operation, { x: 15 }, () => planOf(1, 15))).toBe(kept);
  });

  test('without very large entries', () => {
    const cache = createOperationCache(options);
    expect(isKept(cache, role('user', 400_000), 'query')).toBe(false);
    expect(isKept(cache, role('user', 300_000), 'query')).toBe(true);
    const small = cache.operation(role('user', 1000), 'query', null);
    cache.plan(small, { x: 1 }, () => planOf(400_000, 1));
    expect(small.plans).toEqual([]);
  });
});

describe('operations of stored documents', () => {
  const options = { operations: 1000, plansPerOperation: 16, memory: 10 * MEGABYTE };
  const document = (n: number): { readonly name: string; readonly query: string } => ({ name: `d${n}`, query: `query d${n} { x }` });

  test('are not evicted by texts', () => {
    const cache = createOperationCache(options);
    const user = role('user', 200_000);
    const stored = document(1);
    const own = cache.operation(user, stored.query, null, stored);
    const kept = planOf(1000, 1);
    cache.plan(own, { x: 1 }, () => kept);
    for (let n = 0; n < 100; n++) {
      cache.operation(user, `query ${n}`, null);
      expect(cache.memory).toBeLessThanOrEqual(10 * MEGABYTE);
    }
    expect(cache.operation(user, stored.query, null, stored)).toBe(own);
    expect(cache.plan(own, { x: 1 }, () => planOf(1000, 1))).toBe(kept);
    expect(cache.operation(user, stored.query, 'd1', stored)).not.toBe(own);
  });

  test('have half of the memory; beyond it they are cached like texts', () => {
    const cache = createOperationCache(options);
    const users = Array.from({ length: 3 }, (_, n) => role(`user ${n}`, 200_000));
    const documents = Array.from({ length: 100 }, (_, n) => document(n));
    for (const user of users) {
      for (const stored of documents) {
        const operation = cache.operation(user, stored.query, null, stored);
        for (let n = 0; n < 3; n++) cache.plan(operation, { x: n }, () => planOf(20_000, n));
        expect(cache.memory).toBeLessThanOrEqual(10 * MEGABYTE);
      }
    }
    const first = documents[0] as ReturnType<typeof document>;
    const own = cache.operation(users[0] as RoleSchema, first.query, null, first);
    expect(cache.operation(users[0] as RoleSchema, first.query, null, first)).toBe(own);
  });

  test('are found with the name of the only operation and without it', () => {
    const cache = createOperationCache(options);
    const user = { role: 'user', prepare: () => ({ memory: 100, name: 'd1' }) } as unknown as RoleSchema;
    const stored = document(1);
    const own = cache.pin(user, stored, null);
    expect(cache.operation(user, stored.query, 'd1', stored)).toBe(own);
    expect(cache.operation(user, stored.query, null, stored)).toBe(own);
    expect(cache.counts.operationMisses).toBe(1);
  });

  test('that are prepared evict none of clients', () => {
    const cache = createOperationCache(options);
    const user = role('user', 200_000);
    const texts = Array.from({ length: 20 }, (_, n) => cache.operation(user, `query ${n}`, null));
    const pinned = Array.from({ length: 100 }, (_, n) => cache.pin(user, document(n), null));
    expect(pinned.filter((each) => each === 'full')).toHaveLength(75);
    expect(cache.counts.evictions).toBe(0);
    expect(texts.map((each, n) => cache.operation(user, `query ${n}`, null) === each)).not.toContain(false);
    expect(cache.pin(role('other', 400_000), document(0), null)).toBe('large');
  });

  test('are dropped when they are not stored any more', () => {
    const cache = createOperationCache(options);
    const user = role('user', 200_000);
    const [kept, gone] = [document(1), document(2)];
    const own = cache.operation(user, kept.query, null, kept);
    const other = cache.operation(user, gone.query, null, gone);
    const before = cache.memory;
    cache.keepDocuments((query) => query === kept);
    expect(cache.memory).toBe(before - 200_000);
    expect(cache.operation(user, kept.query, null, kept)).toBe(own);
    expect(cache.operation(user, gone.query, null, gone)).not.toBe(other);
  });
});
