import { expect, it } from 'vitest';
import { warmUpSnapshot } from '../app/warm-up/schema.ts';
import { backends } from '../databases/index.ts';
import { DEFAULT_LIMITS } from '../graphql-engine/engine.ts';
import { DEFAULT_ROLE_SCHEMAS_OPTIONS } from '../schema/role-schemas.ts';
import { runSync } from '../util/cooperative.ts';
import { compilersOf } from './compilers.ts';
import { createOperationCache } from './operation-cache.ts';
import { preparation } from './prepare-documents.ts';

it('plans the listed documents of roles, and drops those that are gone', () => {
  const queries = new Map(
    Object.entries({
      byKey: 'query A($id: Int!) { author_by_pk(id: $id) { name } }',
      list: 'query B($limit: Int = 3, $code: bpchar) { author(limit: $limit, where: {code: {_eq: $code}}) { id books { title } } }',
      input: 'query C($where: author_bool_exp!) { author(where: $where) { id } }',
      two: 'query D { author { id } } query E { book { id } }',
      invalid: 'query F { nothing }',
      broken: 'query {',
    }).map(([name, query]) => [name, { name, query }] as const),
  );
  // Administrators see the tables of this snapshot; another role name would see nothing.
  const { roleSchema, ...rest } = warmUpSnapshot(DEFAULT_ROLE_SCHEMAS_OPTIONS);
  const snapshot = {
    ...rest,
    roleSchema: (_role: string, variant: 'frontend' | 'backend') => roleSchema('admin', variant),
    metadata: {
      queryCollections: new Map([
        ['web', { name: 'web', queries }],
        ['unlisted', { name: 'unlisted', queries: new Map([['g', { name: 'g', query: 'query G { author { id } }' }]]) }],
      ]),
      allowlist: new Map([['web', { collection: 'web', scope: ['user'] }]]),
    },
  };
  const operations = createOperationCache({ operations: 100, plansPerOperation: 4, memory: 10_000_000 });
  const pipeline = { operations, limits: DEFAULT_LIMITS, compilerOf: compilersOf(backends, { stringifyNumericTypes: false }) };
  runSync(preparation(pipeline, snapshot));
  const schema = snapshot.roleSchema('user', 'frontend');
  const { operationMisses, planMisses } = operations.counts;
  const operationOf = (name: string, operationName: string | null) => {
    const stored = queries.get(name);
    return operations.operation(schema, stored?.query ?? '', operationName, stored);
  };
  const plansOf = (name: string, operationName: string | null): number => operationOf(name, operationName).plans.length;
  expect([plansOf('byKey', null), plansOf('byKey', 'A'), plansOf('list', 'B'), plansOf('two', 'D'), plansOf('two', 'E')]).toEqual([
    1, 1, 1, 1, 1,
  ]);
  expect(plansOf('input', 'C')).toBe(0);
  // A request with another value needs no further plan.
  const byKey = operationOf('byKey', 'A');
  operations.plan(byKey, byKey.prepared.variables({ id: 77 }), () => {
    throw new Error('it was planned again');
  });
  expect([operations.counts.operationMisses, operations.counts.planMisses]).toEqual([operationMisses, planMisses]);
  runSync(preparation(pipeline, { ...snapshot, metadata: { queryCollections: new Map(), allowlist: new Map() } }));
  expect(operations.memory).toBe(0);
});

it('prepares one role after the other, and leaves half of the role schemas to other clients', () => {
  const { roleSchema, ...rest } = warmUpSnapshot(DEFAULT_ROLE_SCHEMAS_OPTIONS);
  const roles: string[] = [];
  const document = (name: string) => [name, { name, query: `query ${name} { author { id } }` }] as const;
  const names = Array.from({ length: 200 }, (_, n) => `r${n}`);
  const snapshot = {
    ...rest,
    roleSchema: (role: string, variant: 'frontend' | 'backend') => {
      if (role !== roles.at(-1)) roles.push(role);
      return roleSchema('admin', variant);
    },
    metadata: {
      queryCollections: new Map([
        ['one', { name: 'one', queries: new Map([document('A'), document('B')]) }],
        ['two', { name: 'two', queries: new Map([document('C')]) }],
      ]),
      allowlist: new Map([
        ['one', { collection: 'one', scope: names }],
        ['two', { collection: 'two', scope: names.toReversed() }],
      ]),
    },
  };
  const operations = createOperationCache({ operations: 100, plansPerOperation: 4, memory: 10_000_000 });
  const pipeline = { operations, limits: DEFAULT_LIMITS, compilerOf: compilersOf(backends, { stringifyNumericTypes: false }) };
  runSync(preparation(pipeline, snapshot));
  expect(roles).toEqual(names.slice(0, 128));
  // A document with one operation is prepared once, for requests with its name and without it.
  expect(operations.counts.operationMisses).toBe(3);
});
