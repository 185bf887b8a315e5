/**
 * Answers of queries with `@cached`, in memory. An answer is found by what it was made from: the snapshot, the role, the statements, and
 * the very values that they were bound with, those of session variables among them. So two sessions share an answer only where the
 * databases are asked the same. Where other servers are asked it is by the whole session and the headers of the client.
 */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Session } from '../auth/session.ts';
import { bindAll, type JoinValues } from '../plan/bind.ts';
import type { Plan } from '../plan/plan.ts';
import type { Variables } from '../schema/constraint.ts';
import { type Bytes, sizeOfBytes } from '../util/bytes.ts';
import { printJson } from '../util/json.ts';
import type { CachedOperation } from './operation-cache.ts';
import type { GraphqlRequest } from './request.ts';

export interface ResponseCacheOptions {
  /** Bytes of all answers. */
  readonly memory: number;
  /** Bytes of one answer. */
  readonly mostOfEntry: number;
  /** Seconds that an answer is kept at most. */
  readonly mostTtl: number;
}

/** What is told of an answer beside it. */
export interface CacheNote {
  readonly key: string;
  readonly family: string;
  readonly isHit: boolean;
  /** Seconds that it is kept for; null: it is not. */
  readonly left: number | null;
  /** Why it is not kept; null: it is, or must not be. */
  readonly warning: 'cache-store-size-limit-exceeded' | null;
}

export interface CacheQuestion {
  readonly plan: Plan;
  readonly operation: CachedOperation;
  /** Whatever the answer may depend on besides: another object, another answer. */
  readonly snapshot: object;
  readonly session: Session;
  readonly variables: Variables;
  readonly request: GraphqlRequest;
  readonly headers: IncomingHttpHeaders | undefined;
  readonly onNote: ((note: CacheNote) => void) | undefined;
}

/** Since the start. */
export interface CacheCounts {
  hits: number;
  misses: number;
  evictions: number;
}

export interface ResponseCache {
  /**
   * The answer, kept or made. Equal questions at the same time are asked once.
   * @param run makes it; `markUnique` says that the answer is for this client alone
   * @throws what `run` throws
   */
  answer(question: CacheQuestion, run: (markUnique: () => void) => Promise<readonly Bytes[]>): Promise<readonly Bytes[]>;
  /** Forgets answers; without a key or a family all of them. @returns how many */
  clear(which: { readonly key?: string; readonly family?: string }): number;
  readonly counts: CacheCounts;
  /** Bytes that are kept. */
  readonly memory: number;
}

interface Entry {
  readonly body: readonly Bytes[];
  readonly family: string;
  readonly size: number;
  /** By `performance.now()`. */
  readonly until: number;
}

/** Under way, for whoever asks the same meanwhile; null in the end: not to be shared. */
type Making = Promise<readonly Bytes[] | null>;

/** Bytes of an entry beside its answer. */
const ENTRY = 400;

export function createResponseCache(options: ResponseCacheOptions): ResponseCache {
  return new MemoryCache(options);
}

class MemoryCache implements ResponseCache {
  readonly #options: ResponseCacheOptions;
  /** In order of last use. */
  readonly #entries = new Map<string, Entry>();
  readonly #making = new Map<string, Making>();
  readonly counts: CacheCounts = { hits: 0, misses: 0, evictions: 0 };
  memory = 0;
  /** Grows when something is forgotten on purpose: what is under way then is not kept. */
  #generation = 0;

  constructor(options: ResponseCacheOptions) {
    this.#options = options;
  }

  async answer(question: CacheQuestion, run: (markUnique: () => void) => Promise<readonly Bytes[]>): Promise<readonly Bytes[]> {
    const { plan, onNote } = question;
    const { cached } = plan;
    if (cached === undefined || !mayBeKept(plan)) return run(ignore);
    const key = keyOf(question);
    const family = familyOf(question);
    if (!cached.refresh) {
      const known = this.#find(key);
      if (known !== undefined) {
        this.counts.hits += 1;
        onNote?.({ key, family, isHit: true, left: Math.ceil((known.until - performance.now()) / 1000), warning: null });
        return known.body;
      }
      const making = this.#making.get(key);
      // Without a pause where nobody is at it: whoever comes next finds that somebody is.
      const shared = making === undefined ? null : await making;
      if (shared !== null) {
        this.counts.hits += 1;
        const left = this.#entries.get(key)?.until;
        onNote?.({
          key,
          family,
          isHit: true,
          left: left === undefined ? null : Math.ceil((left - performance.now()) / 1000),
          warning: null,
        });
        return shared;
      }
    }
    this.counts.misses += 1;
    return this.#make(key, family, cached.ttl, run, onNote);
  }

  clear({ key, family }: { readonly key?: string; readonly family?: string }): number {
    this.#generation += 1;
    this.#making.clear();
    let count = 0;
    for (const [each, entry] of this.#entries) {
      if ((key !== undefined && each !== key) || (family !== undefined && entry.family !== family)) continue;
      this.#forget(each, entry);
      count += 1;
    }
    return count;
  }

  #find(key: string): Entry | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.until <= performance.now()) {
      this.#forget(key, entry);
      return undefined;
    }
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry;
  }

  async #make(
    key: string,
    family: string,
    ttl: number,
    run: (markUnique: () => void) => Promise<readonly Bytes[]>,
    onNote: CacheQuestion['onNote'],
  ): Promise<readonly Bytes[]> {
    const generation = this.#generation;
    let isUnique = false;
    const made = run(() => {
      isUnique = true;
    });
    // Who waits for it asks anew where it fails: the fault may be this client's, which has gone.
    const making: Making = made.then(
      (body) => (isUnique ? null : body),
      () => null,
    );
    this.#making.set(key, making);
    try {
      const body = await made;
      const seconds = Math.min(ttl, this.#options.mostTtl);
      const size = sizeOfBytes(body) + ENTRY;
      const isSmall = size <= this.#options.mostOfEntry;
      const isKept = isSmall && !isUnique && seconds > 0 && generation === this.#generation;
      if (isKept) this.#keep(key, { body: [body.join('') as Bytes], family, size, until: performance.now() + seconds * 1000 });
      onNote?.({ key, family, isHit: false, left: isKept ? seconds : null, warning: isSmall ? null : 'cache-store-size-limit-exceeded' });
      return body;
    } finally {
      if (this.#making.get(key) === making) this.#making.delete(key);
    }
  }

  #keep(key: string, entry: Entry): void {
    const before = this.#entries.get(key);
    if (before !== undefined) this.#forget(key, before);
    this.#entries.set(key, entry);
    this.memory += entry.size;
    for (const [oldest, other] of this.#entries) {
      if (this.memory <= this.#options.memory) break;
      this.#forget(oldest, other);
      this.counts.evictions += 1;
    }
  }

  #forget(key: string, entry: Entry): void {
    this.#entries.delete(key);
    this.memory -= entry.size;
  }
}

function ignore(): void {
  // Nothing is kept anyhow.
}

/** Answers that only reads of rows have made: not of schemas, and not of functions that give something else each time. */
function mayBeKept({ kind, steps, template }: Plan): boolean {
  if (kind !== 'query' || template.some((part) => typeof part !== 'string' && 'produce' in part)) return false;
  return steps.every((step) => step.kind !== 'select' || step.statement.repeatable);
}

const snapshotIds = new WeakMap<object, number>();
let snapshots = 0;

function idOf(snapshot: object): number {
  let id = snapshotIds.get(snapshot);
  if (id === undefined) {
    snapshots += 1;
    id = snapshots;
    snapshotIds.set(snapshot, id);
  }
  return id;
}

/** What a plan asks and how its answer is put together, without values. */
const planTexts = new WeakMap<Plan, string>();

function planText(plan: Plan): string {
  let text = planTexts.get(plan);
  if (text === undefined) {
    const steps = plan.steps.map((step) => {
      if (step.kind === 'select') return [step.source, step.statement.text];
      return step.kind === 'remote' ? [step.remote, step.request.document] : [step.kind];
    });
    const joins = plan.joins.map((join) => (join.kind === 'source' ? [join.target.source, join.statement.text] : [join.target.remote]));
    const template = plan.template.map((part) =>
      typeof part === 'string' ? part : 'column' in part ? [part.step, part.column, part.absent] : [],
    );
    text = digest(JSON.stringify([steps, joins, template]));
    planTexts.set(plan, text);
  }
  return text;
}

/** What a join is bound with before anything has run: the keys follow from the rest. */
const NO_KEYS: JoinValues = { holeName: '', keys: [] };

/** @throws SvcError of a value that does not fit, as running the plan would */
function keyOf({ plan, snapshot, session, variables, request, headers }: CacheQuestion): string {
  const values: (readonly (string | null)[])[] = [];
  let asksOthers = false;
  for (const step of plan.steps) {
    if (step.kind === 'select') values.push(bindAll(step.binders, variables, session, NO_KEYS));
    else asksOthers = true;
  }
  for (const join of plan.joins) {
    if (join.kind === 'source')
      values.push(bindAll(join.binders, variables, session, { ...NO_KEYS, keys: join.target.columns.map(() => []) }));
    else asksOthers = true;
  }
  const parts = [idOf(snapshot), session.role, session.backendOnly, planText(plan), values];
  return digest(JSON.stringify(asksOthers ? [...parts, ...ofClient(session, request, headers)] : parts));
}

/** Servers of others are told of the client: their answers are for it, and for who says the very same. */
function ofClient(
  session: Session,
  { query, operationName, variables }: GraphqlRequest,
  headers: IncomingHttpHeaders = {},
): readonly unknown[] {
  const sent = Object.entries(headers).filter(([name]) => !PER_REQUEST.has(name) && !name.startsWith('x-b3-'));
  return [query, operationName, printJson(variables), [...session.variables].sort(), sent.sort(([a], [b]) => (a < b ? -1 : 1))];
}

/** Headers that differ from request to request and tell nothing of the client. */
const PER_REQUEST: ReadonlySet<string> = new Set(['x-request-id', 'traceparent', 'tracestate', 'b3', 'content-length']);

const families = new WeakMap<CachedOperation, string>();

/** The same for all values of variables. */
function familyOf({ operation, session, request }: CacheQuestion): string {
  let family = families.get(operation);
  if (family === undefined) {
    family = digest(JSON.stringify([session.role, session.backendOnly, request.query.replace(/\s+/g, ' ').trim(), request.operationName]));
    families.set(operation, family);
  }
  return family;
}

/** 40 hexadecimal digits. */
function digest(text: string): string {
  return createHash('sha1').update(text).digest('hex');
}
