/**
 * Cache of prepared operations and their plans, by document text and operation name. It belongs to a role schema and is dropped with it,
 * so nothing has to be invalidated. Its size is limited per role schema and in total: a client that keeps sending new documents evicts only
 * those of its own role.
 */
import { FETCH_BOUNDS, Histogram } from '../observability/metrics/histogram.ts';
import type { OperationPlan } from '../plan/plan.ts';
import { planSize } from '../plan/plan-size.ts';
import { type Constraint, holds, type Variables } from '../graphql-engine/constraint.ts';
import type { PreparedOperation, RoleSchema } from '../graphql-engine/translation.ts';
import { BoundedCache } from '../util/bounded-cache.ts';
import type { OperationCounts } from './operation-counts.ts';

export interface CachedOperation {
  readonly prepared: PreparedOperation;
  /** Newest first. */
  readonly plans: readonly OperationPlan[];
  /** Metrics of the operation; `null` until it is counted. */
  counts: OperationCounts | null;
}

export interface OperationCacheOptions {
  /** Maximum number of operations per role schema. */
  readonly operations: number;
  /** Maximum number of plans per operation; further variable shapes are planned per request. */
  readonly plansPerOperation: number;
  /** Maximum size of all operations and plans of all role schemas, in bytes, estimated. */
  readonly memory: number;
}

export interface OperationCache {
  operation(schema: RoleSchema, query: string, operationName: string | null): CachedOperation;
  plan(operation: CachedOperation, variables: Variables, make: () => OperationPlan): OperationPlan;
  /** Size of the cache in bytes, estimated. */
  readonly memory: number;
  readonly counts: OperationCacheCounts;
  /** Returns the number of cached operations of all role schemas. */
  entries(): number;
}

/** Totals since the start. */
export interface OperationCacheCounts {
  operationHits: number;
  operationMisses: number;
  planHits: number;
  planMisses: number;
  evictions: number;
  /** Seconds per planning of a missing plan. */
  readonly planTime: Histogram;
}

/** Maximum share of a role schema in the memory. */
const ROLE_SHARE = 1 / 2;
/** Maximum share of an operation with its plans in the memory of its role. */
const OPERATION_SHARE = 1 / 4;
/** Maximum share of a single document or plan in the memory of its role. */
const ENTRY_SHARE = 1 / 16;

function fits(constraints: readonly Constraint[], variables: Variables): boolean {
  for (const constraint of constraints) if (!holds(constraint, variables)) return false;
  return true;
}

type RoleOperations = BoundedCache<string, Entry>;

class Entry implements CachedOperation {
  readonly key: string;
  readonly prepared: PreparedOperation;
  readonly plans: OperationPlan[] = [];
  readonly sizes: number[] = [];
  /** `null` if the operation is not cached; then its plans are not, either. */
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
  return new BoundedOperations(options);
}

class BoundedOperations implements OperationCache {
  readonly counts: OperationCacheCounts = {
    operationHits: 0,
    operationMisses: 0,
    planHits: 0,
    planMisses: 0,
    evictions: 0,
    planTime: new Histogram(FETCH_BOUNDS),
  };
  readonly #options: OperationCacheOptions;
  readonly #maxOfRole: number;
  readonly #maxOfOperation: number;
  readonly #maxOfEntry: number;
  readonly #bySchema = new WeakMap<RoleSchema, RoleOperations>();
  /** Operations of the role schemas that have not been garbage collected. */
  #roles: WeakRef<RoleOperations>[] = [];
  #memory = 0;

  constructor(options: OperationCacheOptions) {
    this.#options = options;
    this.#maxOfRole = options.memory * ROLE_SHARE;
    this.#maxOfOperation = this.#maxOfRole * OPERATION_SHARE;
    this.#maxOfEntry = this.#maxOfRole * ENTRY_SHARE;
  }

  get memory(): number {
    return this.#memory;
  }

  entries(): number {
    return this.#roles.reduce((sum, role) => sum + (role.deref()?.size ?? 0), 0);
  }

  operation(schema: RoleSchema, query: string, operationName: string | null): CachedOperation {
    const role = this.#operationsOf(schema);
    const key = operationName === null ? query : `${operationName}\u0000${query}`;
    const cached = role.get(key);
    if (cached !== undefined) {
      this.counts.operationHits += 1;
      return cached;
    }
    this.counts.operationMisses += 1;
    const entry = new Entry(key, schema.prepare(query, operationName));
    if (entry.memory <= this.#maxOfEntry) {
      entry.owner = role;
      this.#change(role, () => role.set(key, entry, entry.memory));
    }
    return entry;
  }

  plan(operation: CachedOperation, variables: Variables, make: () => OperationPlan): OperationPlan {
    for (const plan of operation.plans) {
      if (!fits(plan.constraints, variables)) continue;
      this.counts.planHits += 1;
      return plan;
    }
    this.counts.planMisses += 1;
    const began = performance.now();
    const plan = make();
    this.counts.planTime.observe((performance.now() - began) / 1000);
    if (plan.reusable && operation instanceof Entry && operation.owner !== null) this.#store(plan, operation, operation.owner);
    return plan;
  }

  #store(plan: OperationPlan, entry: Entry, owner: RoleOperations): void {
    const size = planSize(plan);
    if (size > this.#maxOfEntry) return;
    const freed = this.#dropPlans(entry, this.#maxOfOperation - size);
    entry.plans.unshift(plan);
    entry.sizes.unshift(size);
    entry.memory += size;
    this.#change(owner, () => owner.grow(entry.key, size - freed));
  }

  #operationsOf(schema: RoleSchema): RoleOperations {
    let operations = this.#bySchema.get(schema);
    if (operations === undefined) {
      operations = new BoundedCache({ bytes: this.#maxOfRole, entries: this.#options.operations }, (entry) => {
        entry.owner = null;
        this.counts.evictions += 1;
      });
      this.#bySchema.set(schema, operations);
      this.#roles.push(new WeakRef(operations));
    }
    return operations;
  }

  /** Drops the oldest plans of an operation. Returns the freed bytes. */
  #dropPlans(entry: Entry, room: number): number {
    const before = entry.memory;
    while (entry.plans.length > 0 && (entry.plans.length >= this.#options.plansPerOperation || entry.memory > room)) {
      entry.plans.pop();
      entry.memory -= entry.sizes.pop() ?? 0;
    }
    return before - entry.memory;
  }

  /** Applies a change to the cache of a role and makes room for it. */
  #change(role: RoleOperations, make: () => void): void {
    this.#memory -= role.bytes;
    make();
    this.#memory += role.bytes;
    if (this.#memory > this.#options.memory) this.#makeRoom();
  }

  /** Recounts the memory of the role schemas that still exist, then evicts from the largest. */
  #makeRoom(): void {
    this.#roles = this.#roles.filter((role) => role.deref() !== undefined);
    const living = this.#roles.flatMap((role) => role.deref() ?? []);
    this.#memory = living.reduce((sum, role) => sum + role.bytes, 0);
    while (this.#memory > this.#options.memory) {
      const largest = living.reduce((a, b) => (b.bytes > a.bytes ? b : a));
      this.#memory -= largest.bytes;
      largest.evict();
      this.#memory += largest.bytes;
    }
  }
}
