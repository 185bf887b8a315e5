/**
 * Prepared operations and their plans, by document text and operation name. What belongs to a role
 * schema dies with it, so nothing is ever invalidated. Bounded in bytes, for each role schema and for
 * all together: a client that sends other documents all the time makes its own role forget, not others.
 */
import { FETCH_BOUNDS, Histogram } from '../observability/metrics/histogram.ts';
import type { Plan } from '../plan/plan.ts';
import { planSize } from '../plan/plan-size.ts';
import { type Constraint, holds, type Variables } from '../graphql-engine/constraint.ts';
import type { PreparedOperation, RoleSchema } from '../graphql-engine/translation.ts';
import { BoundedCache } from '../util/bounded-cache.ts';
import type { OperationCounts } from './operation-counts.ts';

export interface CachedOperation {
  readonly prepared: PreparedOperation;
  /** Most recently made first. */
  readonly plans: readonly Plan[];
  /** For whoever counts operations; null: it has not been counted. */
  counts: OperationCounts | null;
}

export interface OperationCacheOptions {
  /** Operations kept per role schema. */
  readonly operations: number;
  /** Plans kept per operation; more variable shapes than that are planned per request. */
  readonly plansPerOperation: number;
  /** Bytes of all operations and plans of all role schemas, estimated. */
  readonly memory: number;
}

export interface OperationCache {
  operation(schema: RoleSchema, query: string, operationName: string | null): CachedOperation;
  plan(operation: CachedOperation, variables: Variables, make: () => Plan): Plan;
  /** Bytes of what is kept, estimated. */
  readonly memory: number;
  readonly counts: OperationCacheCounts;
  /** Operations of all role schemas that are kept. */
  entries(): number;
}

/** Since the start. */
export interface OperationCacheCounts {
  operationHits: number;
  operationMisses: number;
  planHits: number;
  planMisses: number;
  evictions: number;
  /** Seconds that planning took, where a plan was missing. */
  readonly planTime: Histogram;
}

/** A role schema takes at most this part of the memory, ... */
const PART_OF_ROLE = 1 / 2;
/** ... an operation with its plans this part of what its role may take, ... */
const PART_OF_OPERATION = 1 / 4;
/** ... and neither document nor plan is kept that takes more than this part of it. */
const PART_OF_PIECE = 1 / 16;

function fits(constraints: readonly Constraint[], variables: Variables): boolean {
  for (const constraint of constraints) if (!holds(constraint, variables)) return false;
  return true;
}

type RoleOperations = BoundedCache<string, Entry>;

class Entry implements CachedOperation {
  readonly key: string;
  readonly prepared: PreparedOperation;
  readonly plans: Plan[] = [];
  readonly sizes: number[] = [];
  /** Null: not kept, so neither are its plans. */
  owner: RoleOperations | null = null;
  counts: OperationCounts | null = null;
  memory: number;

  constructor(key: string, prepared: PreparedOperation) {
    this.key = key;
    this.prepared = prepared;
    this.memory = prepared.memory;
  }
}

export function createOperationCache(options: OperationCacheOptions): OperationCache {
  const bySchema = new WeakMap<RoleSchema, RoleOperations>();
  /** Of the role schemas that are in use, and of those that are not yet collected. */
  let roles: WeakRef<RoleOperations>[] = [];
  let memory = 0;
  const counts: OperationCacheCounts = {
    operationHits: 0,
    operationMisses: 0,
    planHits: 0,
    planMisses: 0,
    evictions: 0,
    planTime: new Histogram(FETCH_BOUNDS),
  };
  const ofRole = options.memory * PART_OF_ROLE;
  const ofOperation = ofRole * PART_OF_OPERATION;
  const ofPiece = ofRole * PART_OF_PIECE;

  const operationsOf = (schema: RoleSchema): RoleOperations => {
    let operations = bySchema.get(schema);
    if (operations === undefined) {
      operations = new BoundedCache({ bytes: ofRole, entries: options.operations }, (entry) => {
        entry.owner = null;
        counts.evictions += 1;
      });
      bySchema.set(schema, operations);
      roles.push(new WeakRef(operations));
    }
    return operations;
  };

  /** What died with its schema no longer counts; then whoever keeps most forgets. */
  const makeRoom = (): void => {
    roles = roles.filter((role) => role.deref() !== undefined);
    const living = roles.flatMap((role) => role.deref() ?? []);
    memory = living.reduce((sum, role) => sum + role.bytes, 0);
    while (memory > options.memory) {
      const largest = living.reduce((a, b) => (b.bytes > a.bytes ? b : a));
      memory -= largest.bytes;
      largest.evict();
      memory += largest.bytes;
    }
  };

  /** Makes a change of what is kept for a role, and room for it. */
  const change = (role: RoleOperations, make: () => void): void => {
    memory -= role.bytes;
    make();
    memory += role.bytes;
    if (memory > options.memory) makeRoom();
  };

  /** @returns the bytes that became free */
  const dropPlans = (entry: Entry, room: number): number => {
    const before = entry.memory;
    while (entry.plans.length > 0 && (entry.plans.length >= options.plansPerOperation || entry.memory > room)) {
      entry.plans.pop();
      entry.memory -= entry.sizes.pop() ?? 0;
    }
    return before - entry.memory;
  };

  return {
    operation(schema, query, operationName) {
      const role = operationsOf(schema);
      const key = operationName === null ? query : `${operationName}\u0000${query}`;
      const known = role.get(key);
      if (known !== undefined) {
        counts.operationHits += 1;
        return known;
      }
      counts.operationMisses += 1;
      const entry = new Entry(key, schema.prepare(query, operationName));
      if (entry.memory <= ofPiece) {
        entry.owner = role;
        change(role, () => role.set(key, entry, entry.memory));
      }
      return entry;
    },
    plan(operation, variables, make) {
      for (const plan of operation.plans) {
        if (!fits(plan.constraints, variables)) continue;
        counts.planHits += 1;
        return plan;
      }
      counts.planMisses += 1;
      const began = performance.now();
      const plan = make();
      counts.planTime.observe((performance.now() - began) / 1000);
      if (!plan.reusable || !(operation instanceof Entry) || operation.owner === null) return plan;
      const size = planSize(plan);
      const { owner } = operation;
      if (size > ofPiece) return plan;
      const freed = dropPlans(operation, ofOperation - size);
      operation.plans.unshift(plan);
      operation.sizes.unshift(size);
      operation.memory += size;
      change(owner, () => owner.grow(operation.key, size - freed));
      return plan;
    },
    get memory() {
      return memory;
    },
    counts,
    entries: () => roles.reduce((sum, role) => sum + (role.deref()?.size ?? 0), 0),
  };
}
