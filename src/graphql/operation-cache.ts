/**
 * Prepared operations and their plans, by document text and operation name. The cache belongs to a
 * role schema and dies with it, so nothing is ever invalidated.
 */
import type { Plan } from '../plan/plan.ts';
import { type Constraint, holds, type Variables } from '../schema/constraint.ts';
import type { PreparedOperation, RoleSchema } from '../schema/translation.ts';
import { LruMap } from '../util/lru.ts';

export interface CachedOperation {
  readonly prepared: PreparedOperation;
  /** Most recently found first. */
  readonly plans: Plan[];
}

export interface OperationCacheOptions {
  /** Operations kept per role schema. */
  readonly operations: number;
  /** Plans kept per operation; more variable shapes than that are planned per request. */
  readonly plansPerOperation: number;
  /** Documents longer than this (characters) are not kept. */
  readonly documentLength: number;
}

export interface OperationCache {
  operation(schema: RoleSchema, query: string, operationName: string | null): CachedOperation;
  plan(operation: CachedOperation, variables: Variables, make: () => Plan): Plan;
}

function fits(constraints: readonly Constraint[], variables: Variables): boolean {
  for (const constraint of constraints) if (!holds(constraint, variables)) return false;
  return true;
}

export function createOperationCache(options: OperationCacheOptions): OperationCache {
  const bySchema = new WeakMap<RoleSchema, LruMap<string, CachedOperation>>();
  return {
    operation(schema, query, operationName) {
      let operations = bySchema.get(schema);
      if (operations === undefined) {
        operations = new LruMap(options.operations);
        bySchema.set(schema, operations);
      }
      const key = operationName === null ? query : `${operationName}\u0000${query}`;
      const known = operations.get(key);
      if (known !== undefined) return known;
      const made: CachedOperation = { prepared: schema.prepare(query, operationName), plans: [] };
      if (query.length <= options.documentLength) operations.set(key, made);
      return made;
    },
    plan(operation, variables, make) {
      const { plans } = operation;
      for (const plan of plans) if (fits(plan.constraints, variables)) return plan;
      const plan = make();
      if (!plan.reusable) return plan;
      if (plans.length >= options.plansPerOperation) plans.pop();
      plans.unshift(plan);
      return plan;
    },
  };
}
