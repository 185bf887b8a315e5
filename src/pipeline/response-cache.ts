/**
 * In-memory cache for responses of queries with `@cached`. The key consists of everything that a response is made from: snapshot, role,
 * statements, and the bound values, those of session variables included. So two sessions share a response only if the database requests
 * are equal. If other servers are called, the key has the whole session and the headers of the client. Compressed copies of responses are
 * cached too, within the same limits.
 */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Session } from '../auth/session.ts';
import { bindAll, type JoinValues } from '../plan/bind.ts';
import type { CacheDirective } from '../graphql-engine/cache-directive.ts';
import { dependsOnClient } from '../plan/client-dependence.ts';
import type { OperationPlan } from '../plan/plan.ts';
import { tableRead } from '../plan/plan-reads.ts';
import type { Variables } from '../graphql-engine/constraint.ts';
import { SvcError } from '../errors/svc-error.ts';
import { BoundedCache } from '../util/bounded-cache.ts';
import { type Body, type Bytes, sizeOfBytes, wholeBytes } from '../util/bytes.ts';
import { type Cancellation, isPrompt, onCancel } from '../util/cancellation.ts';
import { printJson } from '../util/json.ts';
import type { CachedOperation } from './operation-cache.ts';
import type { GraphqlRequest } from './request.ts';

export interface ResponseCacheOptions {
  /** Maximum size of all responses, in bytes. */
  readonly memory: number;
  /** Maximum size of one response, not compressed, in bytes. */
  readonly maxEntrySize: number;
  /** Maximum time to live of a response, in seconds. */
  readonly maxTtl: number;
}

/** Compressed copies of a cached response. */
export interface CompressedCopies {
  get(encoding: string): Bytes | undefined;
  /** Stores a copy as long as the response itself, if there is room. */
  store(encoding: string, compressed: Bytes): void;
}

/** Cache status of a response, for headers. */
export interface CacheStatus {
  /** Equal on all instances. */
  readonly key: string;
  readonly family: string;
  readonly isHit: boolean;
  /** Remaining time to live in seconds, with fractions; `null` if the response is not cached. */
  readonly left: number | null;
  /** Time since the response was made, in seconds. */
  readonly age: number;
  /** Reason why the response is not cached; `null` if it is cached or must not be. */
  readonly warning: 'cache-store-size-limit-exceeded' | null;
  /** `null` if the response is not cached. */
  readonly copies: CompressedCopies | null;
  readonly directive: CacheDirective;
  /** Tables and functions that the response was read from, as `planReads` names them. */
  readonly reads: ReadonlySet<string>;
  /** Returns true if other clients of the role may get another response. */
  readonly dependsOnClient: () => boolean;
  /** Returns the digest of the cached response, computed once; `null` if it is not cached. */
  readonly digest: (() => string) | null;
}

/** Selects cached responses; all of them if all are absent. */
export interface CacheSelection {
  readonly key?: string;
  readonly family?: string;
  /** Responses that were read from one of these tables, as `readsOfTables` names them. */
  readonly reads?: readonly string[];
}

export interface CacheRequest {
  readonly plan: OperationPlan;
  readonly operation: CachedOperation;
  /** Everything else that the response may depend on: another object means another response. */
  readonly snapshot: object;
  readonly session: Session;
  readonly variables: Variables;
  readonly request: GraphqlRequest;
  readonly headers: IncomingHttpHeaders | undefined;
  readonly onNote: ((note: CacheStatus) => void) | undefined;
  /** Cancellation of the request, which may wait for the response that is made for another one. */
  readonly signal: Cancellation | undefined;
  /** Epoch milliseconds. */
  readonly deadline: number | undefined;
  /** True for an operation of a batch: it may exceed the limits of the batch where an equal request would succeed. */
  readonly isOfBatch: boolean;
}

/** Totals since the start. */
export interface CacheCounts {
  hits: number;
  misses: number;
  evictions: number;
}

export interface ResponseCache {
  /**
   * Returns the cached response or makes one. Concurrent equal requests run once and fail together; if the request that runs is cancelled,
   * the next one runs.
   * @param run makes the response; `markUnique` marks it as being for this client alone
   * @throws errors of `run`; SvcError timeout while waiting for another request
   */
  answer(request: CacheRequest, run: (markUnique: () => void) => Promise<Body>): Promise<Body>;
  /** Removes responses. Returns how many of them were still valid. */
  clear(which: CacheSelection): number;
  /** Sets the current snapshot: responses of others are removed, and those in progress are not cached. */
  follow(snapshot: object): void;
  readonly counts: CacheCounts;
  /** Size of the cache in bytes. */
  readonly memory: number;
}

interface Entry {
  readonly body: Body;
  readonly key: string;
  /** Families of all operations with this response; `null` if there are too many. */
  families: Set<string> | null;
  /** Size including compressed copies and families, in bytes. */
  size: number;
  /** Expiry, by `performance.now()`. */
  readonly until: number;
  /** Start, by `performance.now()`. */
  readonly since: number;
  readonly copies: Map<string, Bytes>;
  readonly snapshot: object;
  readonly reads: ReadonlySet<string> | undefined;
  /** `null` until it is needed. */
  digest: string | null;
}

/** Result of running a request, for those that wait for it. */
type Outcome =
  | { readonly kind: 'answer'; readonly body: Body }
  /** The response is for one client alone. */
  | { readonly kind: 'unique' }
  /** Every equal request would fail like this. */
  | { readonly kind: 'failed'; readonly error: unknown }
  /** Only the request that ran was cancelled. */
  | { readonly kind: 'abandoned' };

interface Names {
  /** Key within this process, the snapshot included. */
  readonly entryKey: string;
  readonly key: string;
  readonly family: string;
}

/** Bytes of an entry in addition to its response. */
const ENTRY_OVERHEAD = 400;
/** Bytes of each family of an entry but the first. */
const FAMILY_SIZE = 100;
/** Maximum number of families of an entry; with more, clearing any family clears it. */
const MAX_FAMILIES = 20;

export function createResponseCache(options: ResponseCacheOptions): ResponseCache {
  return new MemoryCache(options);
}

class MemoryCache implements ResponseCache {
  readonly #options: ResponseCacheOptions;
  readonly #entries: BoundedCache<string, Entry>;
  readonly #running = new Map<string, Promise<Outcome>>();
  /** Entries by the response from which they were made. */
  readonly #entryOfBody = new WeakMap<Body, Entry>();
  readonly counts: CacheCounts = { hits: 0, misses: 0, evictions: 0 };
  /** Incremented when responses are cleared: those in progress are not cached then. */
  #generation = 0;
  readonly #snapshotIds = new WeakMap<object, number>();
  #snapshots = 0;
  /** `null` until the first snapshot is set. */
  #currentSnapshot: object | null = null;

  constructor(options: ResponseCacheOptions) {
    this.#options = options;
    this.#entries = new BoundedCache({ bytes: options.memory }, () => {
      this.counts.evictions += 1;
    });
  }

  get memory(): number {
    return this.#entries.bytes;
  }

  async answer(request: CacheRequest, run: (markUnique: () => void) => Promise<Body>): Promise<Body> {
    const { plan } = request;
    const { cached } = plan;
    if (cached === undefined || !isCacheable(plan)) return run(ignore);
    const names = this.#namesOf(request);
    if (!cached.refresh) {
      const entry = this.#find(names.entryKey);
      if (entry !== undefined) return this.#hit(request, names, entry.body, entry);
      for (;;) {
        const running = this.#running.get(names.entryKey);
        // No await between here and #run: the next equal request has to find this one.
        if (running === undefined) break;
        const outcome = await withinLimits(running, request);
        if (outcome.kind === 'answer') return this.#hit(request, names, outcome.body, this.#entryOf(names.entryKey, outcome.body));
        if (outcome.kind === 'failed') throw outcome.error;
        // After a unique response each waiting request runs by itself; after a cancelled one the first runs for all.
        if (outcome.kind === 'unique') break;
      }
    }
    this.counts.misses += 1;
    return this.#run(request, names, cached.ttl, run);
  }

  #namesOf(request: CacheRequest): Names {
    const key = keyOf(request);
    return { entryKey: `${this.#idOf(request.snapshot)} ${key}`, key, family: familyOf(request) };
  }

  #idOf(snapshot: object): number {
    let id = this.#snapshotIds.get(snapshot);
    if (id === undefined) {
      this.#snapshots += 1;
      id = this.#snapshots;
      this.#snapshotIds.set(snapshot, id);
    }
    return id;
  }

  clear({ key, family, reads }: CacheSelection): number {
    this.#generation += 1;
    this.#running.clear();
    let count = 0;
    for (const [entryKey, entry] of this.#entries) {
      if ((key !== undefined && entry.key !== key) || (family !== undefined && entry.families?.has(family) === false)) continue;
      if (reads !== undefined && !reads.some((read) => entry.reads?.has(read) === true)) continue;
      this.#entries.delete(entryKey);
      if (entry.until > performance.now()) count += 1;
    }
    return count;
  }

  follow(snapshot: object): void {
    this.#currentSnapshot = snapshot;
    for (const [entryKey, entry] of this.#entries) if (entry.snapshot !== snapshot) this.#entries.delete(entryKey);
  }

  #hit({ onNote, plan }: CacheRequest, { entryKey, key, family }: Names, body: Body, entry: Entry | undefined): Body {
    this.counts.hits += 1;
    if (entry !== undefined) this.#addFamily(entryKey, entry, family);
    if (onNote !== undefined) {
      const now = performance.now();
      const left = entry === undefined ? null : (entry.until - now) / 1000;
      const age = entry === undefined ? 0 : (now - entry.since) / 1000;
      const kept = entry === undefined ? NOT_KEPT : { copies: this.#copiesOf(entryKey, entry), digest: () => digestOf(entry) };
      onNote({ key, family, isHit: true, left, age, warning: null, ...aboutPlan(plan), ...kept });
    }
    return body;
  }

  /** Adds the family under which the response was just returned, so that clearing that family clears it. */
  #addFamily(entryKey: string, entry: Entry, family: string): void {
    if (entry.families === null || entry.families.has(family) || this.#entries.peek(entryKey) !== entry) return;
    if (entry.families.size === MAX_FAMILIES) entry.families = null;
    else {
      entry.families.add(family);
      entry.size += FAMILY_SIZE;
      this.#entries.grow(entryKey, FAMILY_SIZE);
    }
  }

  /** Returns the entry of a response; `undefined` if it was cleared, or replaced by a newer response. */
  #entryOf(entryKey: string, body: Body): Entry | undefined {
    const entry = this.#entries.peek(entryKey);
    return entry !== undefined && this.#entryOfBody.get(body) === entry ? entry : undefined;
  }

  #find(entryKey: string): Entry | undefined {
    const entry = this.#entries.get(entryKey);
    if (entry === undefined) return undefined;
    if (entry.until <= performance.now()) {
      this.#entries.delete(entryKey);
      return undefined;
    }
    return entry;
  }

  async #run(
    request: CacheRequest,
    { entryKey, key, family }: Names,
    ttl: number,
    run: (markUnique: () => void) => Promise<Body>,
  ): Promise<Body> {
    const { onNote, plan } = request;
    const generation = this.#generation;
    let isUnique = false;
    const response = run(() => {
      isUnique = true;
    });
    const running = response.then(
      (body): Outcome => (isUnique ? { kind: 'unique' } : { kind: 'answer', body }),
      (error: unknown): Outcome => (isOwnFailure(request) ? { kind: 'abandoned' } : { kind: 'failed', error }),
    );
    this.#running.set(entryKey, running);
    try {
      const body = await response;
      const seconds = Math.min(ttl, this.#options.maxTtl);
      const size = sizeOfBytes(body) + ENTRY_OVERHEAD;
      const isSmall = size <= this.#options.maxEntrySize;
      const { snapshot } = request;
      const isCurrent = generation === this.#generation && (this.#currentSnapshot === null || this.#currentSnapshot === snapshot);
      const isStored = isSmall && !isUnique && seconds > 0 && isCurrent;
      let kept: Pick<CacheStatus, 'copies' | 'digest'> = NOT_KEPT;
      if (isStored) {
        const since = performance.now();
        const entry: Entry = {
          body: [wholeBytes(body).join('') as Bytes],
          key,
          families: new Set([family]),
          size,
          until: since + seconds * 1000,
          since,
          copies: new Map(),
          snapshot,
          reads: plan.reads,
          digest: null,
        };
        this.#entries.set(entryKey, entry, size);
        this.#entryOfBody.set(body, entry);
        kept = { copies: this.#copiesOf(entryKey, entry), digest: () => digestOf(entry) };
      }
      const warning = isSmall ? null : 'cache-store-size-limit-exceeded';
      onNote?.({ key, family, isHit: false, left: isStored ? seconds : null, age: 0, warning, ...aboutPlan(plan), ...kept });
      return body;
    } finally {
      if (this.#running.get(entryKey) === running) this.#running.delete(entryKey);
    }
  }

  #copiesOf(entryKey: string, entry: Entry): CompressedCopies {
    return {
      get: (encoding) => entry.copies.get(encoding),
      store: (encoding, compressed) => {
        // The entry may have been cleared or replaced meanwhile.
        if (this.#entries.get(entryKey) !== entry || entry.copies.has(encoding)) return;
        if (entry.size + compressed.length > this.#options.memory) return;
        entry.copies.set(encoding, compressed);
        entry.size += compressed.length;
        this.#entries.grow(entryKey, compressed.length);
      },
    };
  }
}

/** Returns the names of tables `<source>.<schema>.<table>`, for a selection. */
export function readsOfTables(tables: readonly string[]): readonly string[] {
  return tables.map(tableRead);
}

const NOTHING_READ: ReadonlySet<string> = new Set();
const NO_DIRECTIVE: CacheDirective = { ttl: 0, refresh: false };

function aboutPlan(plan: OperationPlan): Pick<CacheStatus, 'directive' | 'reads' | 'dependsOnClient'> {
  const { cached: directive = NO_DIRECTIVE, reads = NOTHING_READ } = plan;
  return { directive, reads, dependsOnClient: () => dependsOnClient(plan) };
}

const NOT_KEPT: Pick<CacheStatus, 'copies' | 'digest'> = { copies: null, digest: null };

/** Returns 22 characters: 128 bits of the SHA-256 of the response. */
function digestOf(entry: Entry): string {
  entry.digest ??= createHash('sha256').update(wholeBytes(entry.body).join(''), 'latin1').digest().subarray(0, 16).toString('base64url');
  return entry.digest;
}

function ignore(): void {
  // The response is not cached anyway.
}

/** Returns true if the client or the batch may have caused the failure, so that an equal request could succeed. */
function isOwnFailure({ signal, deadline, isOfBatch }: CacheRequest): boolean {
  return isOfBatch || signal?.aborted === true || (deadline !== undefined && Date.now() >= deadline);
}

/** Maximum delay of a Node timer, in ms. */
const MAX_DELAY = 2 ** 31 - 1;

/** Waits for the outcome until the caller cancels or its deadline passes. @throws SvcError timeout */
async function withinLimits<T>(running: Promise<T>, { signal, deadline }: CacheRequest): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let stopListening = ignore;
  const stopped = new Promise<never>((_, reject) => {
    const stop = (message: string) => (): void => reject(new SvcError('timeout', message));
    if (signal?.aborted === true) stop('the request was cancelled')();
    else if (isPrompt(signal)) stopListening = onCancel(signal, stop('the request was cancelled'));
    if (deadline !== undefined)
      timer = setTimeout(stop('the response was not available in time'), Math.min(Math.max(0, deadline - Date.now()), MAX_DELAY));
  });
  try {
    return await Promise.race([running, stopped]);
  } finally {
    clearTimeout(timer);
    stopListening();
  }
}

/** Only pure reads of rows are cacheable: no introspection, and no volatile functions. */
function isCacheable({ kind, steps, joins, template }: OperationPlan): boolean {
  if (kind !== 'query' || template.some((part) => typeof part !== 'string' && 'produce' in part)) return false;
  return (
    steps.every((step) => step.kind !== 'select' || step.statement.repeatable) &&
    joins.every((join) => join.kind !== 'source' || join.statement.repeatable)
  );
}

/** Digests of a plan's statements and response template, without values. */
const planTexts = new WeakMap<OperationPlan, string>();

function planText(plan: OperationPlan): string {
  let text = planTexts.get(plan);
  if (text === undefined) {
    const steps = plan.steps.map((step) => {
      if (step.kind === 'select') return [step.source, step.statement.text];
      return step.kind === 'remote' ? [step.remote, step.request.document] : [step.kind];
    });
    const joins = plan.joins.map((join) =>
      join.kind === 'source' ? [join.target.source, join.statement.text, join.layout] : [join.target.remote],
    );
    const template = plan.template.map((part) =>
      typeof part === 'string' ? part : 'column' in part ? [part.step, part.column, part.absent] : 'layout' in part ? [part] : [],
    );
    text = digest(JSON.stringify([steps, joins, template]));
    planTexts.set(plan, text);
  }
  return text;
}

/** Join values before anything has run: the keys follow from the other values. */
const NO_KEYS: JoinValues = { placeholderName: '', keys: [] };

/** @throws SvcError for an invalid value, as running the plan would */
function keyOf({ plan, session, variables, request, headers }: CacheRequest): string {
  const values: (readonly (string | null)[])[] = [];
  let callsServers = false;
  for (const step of plan.steps) {
    if (step.kind === 'select') values.push(bindAll(step.binders, variables, session, NO_KEYS));
    else callsServers = true;
  }
  for (const join of plan.joins) {
    if (join.kind === 'source')
      values.push(bindAll(join.binders, variables, session, { ...NO_KEYS, keys: join.target.columns.map(() => []) }));
    else callsServers = true;
  }
  const parts = [session.role, session.backendOnly, request.api, planText(plan), values];
  return digest(JSON.stringify(callsServers ? [...parts, ...clientParts(session, request, headers)] : parts));
}

/** Data that is sent to other servers: their responses are shared only by clients with equal data. */
function clientParts(
  session: Session,
  { query, operationName, variables }: GraphqlRequest,
  headers: IncomingHttpHeaders = {},
): readonly unknown[] {
  const sent = Object.entries(headers).filter(([name]) => !PER_REQUEST.has(name) && !name.startsWith('x-b3-'));
  return [query, operationName, printJson(variables), [...session.variables].sort(), sent.sort(([a], [b]) => (a < b ? -1 : 1))];
}

/** Headers that differ between requests of the same client. */
const PER_REQUEST: ReadonlySet<string> = new Set(['x-request-id', 'traceparent', 'tracestate', 'b3', 'content-length']);

const families = new WeakMap<CachedOperation, string>();

/** Returns the digest of the operation for a role, equal for all values of variables. */
function familyOf({ operation, session, request }: CacheRequest): string {
  let family = families.get(operation);
  if (family === undefined) {
    const { query, operationName, api } = request;
    family = digest(JSON.stringify([session.role, session.backendOnly, api, query.replace(/\s+/g, ' ').trim(), operationName]));
    families.set(operation, family);
  }
  return family;
}

/** Returns 40 hexadecimal digits. */
function digest(text: string): string {
  return createHash('sha1').update(text).digest('hex');
}
