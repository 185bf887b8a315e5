/** Counts GraphQL operations by kind and result, and by name up to a limit. */
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
  /** Called when an operation arrives. */
  begin(request: Pick<GraphqlRequest, 'query' | 'operationName'>): MeteredOperation;
  /** Returns the labels of an operation in metrics. */
  labelsOf(operation: CachedOperation, request: Pick<GraphqlRequest, 'query' | 'operationName'>): OperationLabels;
}

export interface MeteredOperation {
  /** Called once the document has been parsed. */
  known(operation: CachedOperation): void;
  succeeded(): void;
  failed(thrown: unknown): void;
}

export interface OperationMeterOptions {
  /** Maximum number of operations with labels of their own; 0 for none. */
  readonly names: number;
  /** Returns true for names in a query collection, which have a limit of their own. */
  readonly isCollected: (name: string) => boolean;
}

export function createOperationMeter(registry: Registry, options: OperationMeterOptions): OperationMeter {
  return new Meter(registry, options);
}

const KINDS = ['query', 'mutation', 'subscription'] as const;

class Meter implements OperationMeter {
  readonly #registry: Registry;
  readonly #options: OperationMeterOptions;
  /** Name and hash of operations with labels of their own. */
  readonly #named = new Set<string>();
  #collected = 0;
  readonly #unnamed: Readonly<Record<(typeof KINDS)[number], OperationCounts>>;
  readonly #unparsed: Counter;
  readonly times: Readonly<Record<'query' | 'mutation', { observe(value: number): void }>>;

  constructor(registry: Registry, options: OperationMeterOptions) {
    this.#registry = registry;
    this.#options = options;
    this.#unnamed = {
      query: this.#counters('query', OTHER, OTHER),
      mutation: this.#counters('mutation', OTHER, OTHER),
      subscription: this.#counters('subscription', OTHER, OTHER),
    };
    this.#unparsed = registry.counter(METRICS.graphqlRequests, 'unknown', 'failed', '', '');
    this.times = {
      query: registry.histogram(METRICS.graphqlExecutionTime, 'query'),
      mutation: registry.histogram(METRICS.graphqlExecutionTime, 'mutation'),
    };
  }

  begin(request: Pick<GraphqlRequest, 'query' | 'operationName'>): MeteredOperation {
    return new Metered(this, request);
  }

  countsOf(operation: CachedOperation, request: Pick<GraphqlRequest, 'query' | 'operationName'>): OperationCounts {
    // Stored in the operation cache, for later requests.
    operation.counts ??= this.#newCounts(operation, request);
    return operation.counts;
  }

  labelsOf(operation: CachedOperation, request: Pick<GraphqlRequest, 'query' | 'operationName'>): OperationLabels {
    return this.countsOf(operation, request).labels;
  }

  failure(thrown: unknown, counts: OperationCounts | null): void {
    (counts === null ? this.#unparsed : counts.failed).add();
    this.#registry.counter(METRICS.graphqlErrors, toSvcError(thrown).code).add();
    if (thrown instanceof LimitExceeded) this.#registry.counter(METRICS.limitRejections, thrown.limit).add();
  }

  #newCounts(
    { prepared: { kind, name } }: CachedOperation,
    { query, operationName }: Pick<GraphqlRequest, 'query' | 'operationName'>,
  ): OperationCounts {
    const { names, isCollected } = this.#options;
    const isOfCollection = name !== null && isCollected(name);
    const isFull = isOfCollection ? this.#collected >= names : this.#named.size - this.#collected >= names;
    // Once the limit is reached, only documents with a known name are hashed.
    if (isFull && (name === null || !this.#hasName(name))) return this.#unnamed[kind];
    const hash = operationHash(query, operationName);
    const key = `${name ?? ''} ${hash}`;
    if (!this.#named.has(key)) {
      if (isFull) return this.#unnamed[kind];
      this.#named.add(key);
      if (isOfCollection) this.#collected += 1;
    }
    return this.#counters(kind, name ?? '', hash);
  }

  #hasName(name: string): boolean {
    for (const key of this.#named) if (key.startsWith(`${name} `)) return true;
    return false;
  }

  #counters(kind: (typeof KINDS)[number], name: string, hash: string): OperationCounts {
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
