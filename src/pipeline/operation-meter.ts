/** Counts GraphQL operations: by kind, by what became of them, and by name as far as there is room for names. */
import { toSvcError } from '../errors/encode.ts';
import { METRICS } from '../observability/metrics/definitions.ts';
import type { Counter } from '../observability/metrics/registry.ts';
import { OTHER, type Registry } from '../observability/metrics/registry.ts';
import { LimitExceeded } from './limit-exceeded.ts';
import { operationHash } from './operation-hash.ts';
import type { CachedOperation } from './operation-cache.ts';
import type { GraphqlRequest } from './request.ts';
import type { OperationCounts, OperationLabels } from './operation-counts.ts';

export interface OperationMeter {
  /** An operation has come. */
  begin(request: Pick<GraphqlRequest, 'query' | 'operationName'>): MeteredOperation;
  /** What metrics call an operation; it has found a place among the names, or not. */
  labelsOf(operation: CachedOperation, request: Pick<GraphqlRequest, 'query' | 'operationName'>): OperationLabels;
}

export interface MeteredOperation {
  /** It was read. */
  known(operation: CachedOperation): void;
  succeeded(): void;
  failed(thrown: unknown): void;
}

export interface OperationMeterOptions {
  /** Operations that are told by their names; 0: none. */
  readonly names: number;
  /** Whether an operation of this name is in a query collection: those find room when the others have none. */
  readonly isCollected: (name: string) => boolean;
}

export function createOperationMeter(registry: Registry, options: OperationMeterOptions): OperationMeter {
  return new Meter(registry, options);
}

const KINDS = ['query', 'mutation', 'subscription'] as const;

class Meter implements OperationMeter {
  readonly #registry: Registry;
  readonly #options: OperationMeterOptions;
  /** Of those that are told by their names. */
  readonly #named = new Set<string>();
  #collected = 0;
  readonly #others: Readonly<Record<(typeof KINDS)[number], OperationCounts>>;
  readonly #unknown: Counter;
  readonly times: Readonly<Record<'query' | 'mutation', { observe(value: number): void }>>;

  constructor(registry: Registry, options: OperationMeterOptions) {
    this.#registry = registry;
    this.#options = options;
    this.#others = {
      query: this.#cells('query', OTHER, OTHER),
      mutation: this.#cells('mutation', OTHER, OTHER),
      subscription: this.#cells('subscription', OTHER, OTHER),
    };
    this.#unknown = registry.counter(METRICS.graphqlRequests, 'unknown', 'failed', '', '');
    this.times = {
      query: registry.histogram(METRICS.graphqlExecutionTime, 'query'),
      mutation: registry.histogram(METRICS.graphqlExecutionTime, 'mutation'),
    };
  }

  begin(request: Pick<GraphqlRequest, 'query' | 'operationName'>): MeteredOperation {
    return new Metered(this, request);
  }

  countsOf(operation: CachedOperation, request: Pick<GraphqlRequest, 'query' | 'operationName'>): OperationCounts {
    // On the kept operation: it is there again with the next request.
    operation.counts ??= this.#place(operation, request);
    return operation.counts;
  }

  labelsOf(operation: CachedOperation, request: Pick<GraphqlRequest, 'query' | 'operationName'>): OperationLabels {
    return this.countsOf(operation, request).labels;
  }

  failure(thrown: unknown, counts: OperationCounts | null): void {
    (counts === null ? this.#unknown : counts.failed).add();
    this.#registry.counter(METRICS.graphqlErrors, toSvcError(thrown).code).add();
    if (thrown instanceof LimitExceeded) this.#registry.counter(METRICS.limitRejections, thrown.limit).add();
  }

  #place(
    { prepared: { kind, name } }: CachedOperation,
    { query, operationName }: Pick<GraphqlRequest, 'query' | 'operationName'>,
  ): OperationCounts {
    const { names, isCollected } = this.#options;
    const isOfCollection = name !== null && isCollected(name);
    const isFull = isOfCollection ? this.#collected >= names : this.#named.size - this.#collected >= names;
    // Whoever sends other documents all the time makes no work here once there is no room.
    if (isFull && (name === null || !this.#hasName(name))) return this.#others[kind];
    const hash = operationHash(query, operationName);
    const key = `${name ?? ''} ${hash}`;
    if (!this.#named.has(key)) {
      if (isFull) return this.#others[kind];
      this.#named.add(key);
      if (isOfCollection) this.#collected += 1;
    }
    return this.#cells(kind, name ?? '', hash);
  }

  #hasName(name: string): boolean {
    for (const key of this.#named) if (key.startsWith(`${name} `)) return true;
    return false;
  }

  #cells(kind: (typeof KINDS)[number], name: string, hash: string): OperationCounts {
    return {
      labels: [name, hash],
      success: this.#registry.counter(METRICS.graphqlRequests, kind, 'success', name, hash),
      failed: this.#registry.counter(METRICS.graphqlRequests, kind, 'failed', name, hash),
    };
  }
}

class Metered implements MeteredOperation {
  readonly #meter: Meter;
  readonly #request: Pick<GraphqlRequest, 'query' | 'operationName'>;
  readonly #began = performance.now();
  #counts: OperationCounts | null = null;
  #kind: (typeof KINDS)[number] | null = null;

  constructor(meter: Meter, request: Pick<GraphqlRequest, 'query' | 'operationName'>) {
    this.#meter = meter;
    this.#request = request;
  }

  known(operation: CachedOperation): void {
    this.#counts = this.#meter.countsOf(operation, this.#request);
    this.#kind = operation.prepared.kind;
  }

  succeeded(): void {
    if (this.#counts === null) return;
    this.#counts.success.add();
    if (this.#kind === 'query' || this.#kind === 'mutation')
      this.#meter.times[this.#kind].observe((performance.now() - this.#began) / 1000);
  }

  failed(thrown: unknown): void {
    this.#meter.failure(thrown, this.#counts);
  }
}
