import { expect, test } from 'vitest';
import type { Plan } from '../plan/plan.ts';
import type { RoleSchema } from '../schema/translation.ts';
import { createOperationCache } from './operation-cache.ts';

const schema = { role: 'user', prepare: () => ({}) } as unknown as RoleSchema;

function plan(reusable: boolean, equals: number | null = null): Plan {
  const constraints = equals === null ? [] : [{ variable: 'x', path: [], fact: { kind: 'equals' as const, json: equals } }];
  return { kind: 'mutation', constraints, reusable, template: [], steps: [], joins: [], validations: [] };
}

test('a plan made for the data of one request is not kept', () => {
  const cache = createOperationCache({ operations: 10, plansPerOperation: 2, documentLength: 100 });
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
