import { describe, expect, it } from 'vitest';
import { warmUpSnapshot } from '../app/warm-up/schema.ts';
import type { Session } from '../auth/session.ts';
import { DEFAULT_LIMITS } from '../graphql-engine/engine.ts';
import { DEFAULT_ROLE_SCHEMAS_OPTIONS } from '../schema/role-schemas.ts';
import { createAllowList } from './allow-list.ts';
import { BatchBudget } from './batch-budget.ts';
import { createOperationCache } from './operation-cache.ts';
import { planOperationFor, prepare } from './prepare.ts';
import type { RoleLimits } from './api-limits.ts';

const session: Session = { role: 'admin', variables: new Map(), backendOnly: false };
const snapshot = warmUpSnapshot(DEFAULT_ROLE_SCHEMAS_OPTIONS);
const noLimits: RoleLimits = { depth: null, objects: null, time: null, batch: null, rate: null, concurrency: null };

const document = 'query q { author { id } } mutation m { delete_author(where: {}) { affected_rows } } subscription s { author { nope } }';

function pipeline() {
  return {
    allowList: null,
    operations: createOperationCache({ operations: 10, plansPerOperation: 4, memory: 1e6 }),
    compilerOf: () => {
      throw new Error('something was planned');
    },
  };
}

describe('prepare', () => {
  it.each(['query', 'mutation', 'subscription'] as const)('returns the kind of a %s without planning it', (kind) => {
    const operation = prepare(
      { pipeline: pipeline(), snapshot, session, request: { query: document, operationName: kind.charAt(0), api: 'graphql' }, options: {} },
      null,
    );
    expect(operation.prepared.kind).toBe(kind);
    expect(operation.plans).toEqual([]);
  });

  it('reuses a prepared operation', () => {
    const run = {
      pipeline: pipeline(),
      snapshot,
      session,
      request: { query: document, operationName: 'q', api: 'graphql' } as const,
      options: {},
    };
    const first = prepare(run, null);
    expect(prepare(run, null)).toBe(first);
    expect(() => planOperationFor(run, first, {})).toThrow('something was planned');
  });

  it('applies the allow-list and the limits of the role and the batch', () => {
    const request = { query: '{ author { books { id } } }', operationName: null, api: 'graphql' } as const;
    const listed = { ...snapshot, storedOperations: { allows: () => false, document: () => null } };
    const run = { pipeline: pipeline(), snapshot, session, request, options: {} };
    const restricted = { ...pipeline(), allowList: createAllowList({ maxTokens: 100, documentsOnly: false }) };
    expect(() => prepare({ ...run, pipeline: restricted, snapshot: listed, session: { ...session, role: 'reader' } }, null)).toThrow(
      'query is not allowed',
    );
    expect(() => prepare(run, { ...noLimits, depth: 2 })).toThrow('the operation is 3 levels deep');
    const budget = new BatchBudget({ ...DEFAULT_LIMITS, maxObjects: 3 }, { batch: 1000, operation: 1000 });
    prepare({ ...run, options: { budget } }, null);
    expect(() => prepare({ ...run, options: { budget } }, null)).toThrow('more than 3 fields with a selection');
  });
});
