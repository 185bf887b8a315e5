/**
 * Cache of prepared operations and their plans, by document text and operation name. It belongs to a role schema and is dropped with it,
 * so nothing has to be invalidated. Its size is limited per role schema and in total: a client that keeps sending new documents evicts only
 * those of its own role. Operations of stored documents that are requested by id have a part of their own, so that texts evict none of
 * them; beyond half of the memory, they are cached like texts.
 */
import { FETCH_BOUNDS, Histogram } from '../observability/metrics/histogram.ts';
import type { OperationPlan } from '../plan/plan.ts';
import { planSize } from '../plan/plan-size.ts';
import { type Constraint, holds, type Variables } from '../graphql-engine/constraint.ts';
import type { CollectedQuery } from '../metadata/query-collection.ts';
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
  /** @param stored the document, if the request named it by its id */
  operation(schema: RoleSchema, query: string, operationName: string | null, stored?: CollectedQuery): CachedOperation;
  /**
   * Returns an operation of a stored document from the part of the cache that is not evicted. Evicts nothing from the other part.
   * @returns `full` if there is no room left; `large` if the operation is too large to be cached
   */
  pin(schema: RoleSchema, stored: CollectedQuery, operationName: string | null): CachedOperation | 'full' | 'large';
  /** Drops the operations of documents that are not stored any more. */
  keepDocuments(isStored: (query: CollectedQuery) => boolean): void;
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
/** Maximum share of stored documents in the memory. */
const DOCUMENTS_SHARE = 1 / 2;

function fits(constraints: readonly Constraint[], variables: Variables): boolean {
  for (const constraint of constraints) if (!holds(constraint, variables)) return false;
  return true;
}

type RoleOperations = BoundedCache<string, Entry>;

/** Operations of stored documents of a role schema, by document and operation name. They are not evicted. */
class RoleDocuments {
  readonly entries = new Map<CollectedQuery, Map<string | null, Entry>>();
  bytes = 0;

  find(query: CollectedQuery, operationName: string | null): Entry | undefined {
    const ofQuery = this.entries.get(query);
    if (ofQuery === undefined || operationName === null) return ofQuery?.get(operationName);
    // An operation without the name in the request is the only one of its document.
    const only = ofQuery.get(null);
    return only?.prepared.name === operationName ? only : ofQuery.get(operationName);
  }

  add(query: CollectedQuery, operationName: string | null, entry: Entry): void {
    const ofQuery = this.entries.get(query);
    if (ofQuery === undefined) this.entries.set(query, new Map([[operationName, entry]]));
    else ofQuery.set(operationName, entry);
    this.bytes += entry.memory;
  }

  keep(isStored: (query: CollectedQuery) => boolean): void {
    for (const [query, ofQuery] of this.entries) {
      if (isStored(query)) continue;
      this.entries.delete(query);
      for (const entry of ofQuery.values()) {
        entry.owner = null;
        this.bytes -= entry.memory;
      }
    }
  }
}

class Entry implements CachedOperation {
  readonly key: string;
  readonly prepared: PreparedOperation;
  readonly plans: OperationPlan[] = [];
  readonly sizes: number[] = [];
  /** `null` if the operation is not cached; then its plans are not, either. */
  owner: RoleOperations | RoleDocuments | null = null;
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
  readonly #documentsBySchema = new WeakMap<RoleSchema, RoleDocuments>();
  /** Documents of the role schemas that have not been garbage collected. */
  #documents: WeakRef<RoleDocuments>[] = [];
  /** Size of all of these; too large until the next count if a role schema has disappeared. */
  #documentBytes = 0;

  constructor(options: OperationCacheOptions) {
    this.#options = options;
    this.#maxOfRole = options.memory * ROLE_SHARE;
    this.#maxOfOperation = this.#maxOfRole * OPERATION_SHARE;
    this.#maxOfEntry = this.#maxOfRole * ENTRY_SHARE;
  }

  get memory(): number {
    return this.#memory + this.#documentBytes;
  }

  entries(): number {
    const ofTexts = this.#roles.reduce((sum, role) => sum + (role.deref()?.size ?? 0), 0);
    return this.#documents.reduce((sum, role) => sum + (role.deref()?.entries.size ?? 0), ofTexts);
  }

  operation(schema: RoleSchema, query: string, operationName: string | null, stored?: CollectedQuery): CachedOperation {
    const pinned = stored === undefined ? undefined : this.#documentsBySchema.get(schema)?.find(stored, operationName);
    if (pinned !== undefined) {
      this.counts.operationHits += 1;
      return pinned;
    }
    const role = this.#operationsOf(schema);
    const key = operationName === null ? query : `${operationName}\u0000${query}`;
    const cached = role.get(key);
    if (cached !== undefined) {
      this.counts.operationHits += 1;
      return cached;
    }
    this.counts.operationMisses += 1;
    const entry = new Entry(key, schema.prepare(query, operationName));
    if (entry.memory > this.#maxOfEntry) return entry;
    if (stored === undefined || !this.#pinEntry(schema, stored, operationName, entry)) {
      entry.owner = role;
      this.#change(role, () => role.set(key, entry, entry.memory));
    }
    return entry;
  }

  pin(schema: RoleSchema, stored: CollectedQuery, operationName: string | null): CachedOperation | 'full' | 'large' {
    const pinned = this.#documentsBySchema.get(schema)?.find(stored, operationName);
    if (pinned !== undefined) return pinned;
    this.counts.operationMisses += 1;
    const entry = new Entry(stored.query, schema.prepare(stored.query, operationName));
    if (entry.memory > this.#maxOfEntry) return 'large';
    return this.#pinEntry(schema, stored, operationName, entry) ? entry : 'full';
  }

  /** Returns false if there is no room. */
  #pinEntry(schema: RoleSchema, stored: CollectedQuery, operationName: string | null, entry: Entry): boolean {
    if (!this.#growDocuments(entry.memory)) return false;
    const documents = this.#documentsOf(schema);
    documents.add(stored, operationName, entry);
    entry.owner = documents;
    return true;
  }

  keepDocuments(isStored: (query: CollectedQuery) => boolean): void {
    for (const each of this.#documents) each.deref()?.keep(isStored);
    this.#countDocuments();
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

  #store(plan: OperationPlan, entry: Entry, owner: RoleOperations | RoleDocuments): void {
    const size = planSize(plan);
    if (size > this.#maxOfEntry) return;
    if (owner instanceof RoleDocuments && !this.#growDocuments(size)) return;
    const freed = this.#dropPlans(entry, this.#maxOfOperation - size);
    entry.plans.unshift(plan);
    entry.sizes.unshift(size);
    entry.memory += size;
    if (owner instanceof RoleDocuments) {
      owner.bytes += size - freed;
      this.#documentBytes -= freed;
    } else this.#change(owner, () => owner.grow(entry.key, size - freed));
  }

  /** Counts further bytes of documents. Returns false if they would exceed their share. */
  #growDocuments(bytes: number): boolean {
    const limit = this.#options.memory * DOCUMENTS_SHARE;
    if (this.#documentBytes + bytes > limit) this.#countDocuments();
    if (this.#documentBytes + bytes > limit) return false;
    this.#documentBytes += bytes;
    return true;
  }

  #countDocuments(): void {
    this.#documents = this.#documents.filter((each) => each.deref() !== undefined);
    this.#documentBytes = this.#documents.reduce((sum, each) => sum + (each.deref()?.bytes ?? 0), 0);
  }

  #documentsOf(schema: RoleSchema): RoleDocuments {
    let documents = this.#documentsBySchema.get(schema);
    if (documents === undefined) {
      documents = new RoleDocuments();
      this.#documentsBySchema.set(schema, documents);
      this.#documents.push(new WeakRef(documents));
    }
    return documents;
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
    if (this.#memory > this.#room) this.#makeRoom();
  }

  /** Maximum size of operations that are no stored documents, in bytes. */
  get #room(): number {
    return this.#options.memory - this.#documentBytes;
  }

  /** Recounts the memory of the role schemas that still exist, then evicts from the largest. */
  #makeRoom(): void {
    this.#roles = this.#roles.filter((role) => role.deref() !== undefined);
    const living = this.#roles.flatMap((role) => role.deref() ?? []);
    this.#memory = living.reduce((sum, role) => sum + role.bytes, 0);
    while (this.#memory > this.#room) {
      const largest = living.reduce((a, b) => (b.bytes > a.bytes ? b : a));
      this.#memory -= largest.bytes;
      largest.evict();
      this.#memory += largest.bytes;
    }
  }
}
