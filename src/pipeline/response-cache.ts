/**
 * Answers of queries with `@cached`, in memory. An answer is found by what it was made from: the snapshot, the role, the statements, and
 * the very values that they were bound with, those of session variables among them. So two sessions share an answer only where the
 * databases are asked the same. Where other servers are asked it is by the whole session and the headers of the client.
 * Answers that were compressed for somebody are kept so too, within the same bounds.
 */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Session } from '../auth/session.ts';
import { bindAll, type JoinValues } from '../plan/bind.ts';
import type { Plan } from '../plan/plan.ts';
import type { Variables } from '../graphql-engine/constraint.ts';
import { SvcError } from '../errors/svc-error.ts';
import { BoundedCache } from '../util/bounded-cache.ts';
import { type Body, type Bytes, sizeOfBytes, wholeBytes } from '../util/bytes.ts';
import { type Cancellation, isPrompt, onCancel } from '../util/cancellation.ts';
import { printJson } from '../util/json.ts';
import type { CachedOperation } from './operation-cache.ts';
import type { GraphqlRequest } from './request.ts';

export interface ResponseCacheOptions {
  /** Bytes of all answers. */
  readonly memory: number;
  /** Bytes of one answer, not compressed. */
  readonly mostOfEntry: number;
  /** Seconds that an answer is kept at most. */
  readonly mostTtl: number;
}

/** An answer that is kept, compressed. */
export interface CompressedCopies {
  get(encoding: string): Bytes | undefined;
  /** Keeps it as long as the answer itself, if there is room. */
  keep(encoding: string, compressed: Bytes): void;
}

/** What is told of an answer beside it. */
export interface CacheNote {
  /** The same on all instances. */
  readonly key: string;
  readonly family: string;
  readonly isHit: boolean;
  /** Seconds that it is kept for; null: it is not. */
  readonly left: number | null;
  /** Why it is not kept; null: it is, or must not be. */
  readonly warning: 'cache-store-size-limit-exceeded' | null;
  /** null: the answer is not kept. */
  readonly copies: CompressedCopies | null;
}

/** Which answers are meant; without either all of them. */
export interface CacheSelection {
  readonly key?: string;
  readonly family?: string;
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
  /** Of whoever asks: it waits for the answer that is made for another one no longer than this says. */
  readonly signal: Cancellation | undefined;
  /** epoch milliseconds */
  readonly deadline: number | undefined;
  /** The request shares bounds with others, by which it may fail alone. */
  readonly isOfBatch: boolean;
}

/** Since the start. */
export interface CacheCounts {
  hits: number;
  misses: number;
  evictions: number;
}

export interface ResponseCache {
  /**
   * The answer, kept or made. Equal questions at the same time are asked once, and fail together; where the one that asks is given up, the
   * next one asks.
   * @param run makes it; `markUnique` says that the answer is for this client alone
   * @throws what `run` throws; SvcError timeout when it waits for another one
   */
  answer(question: CacheQuestion, run: (markUnique: () => void) => Promise<Body>): Promise<Body>;
  /** Forgets answers. @returns how many could have been given again */
  clear(which: CacheSelection): number;
  /** From now on questions are asked of this snapshot: answers of others are forgotten, and such that are under way are not kept. */
  follow(snapshot: object): void;
  readonly counts: CacheCounts;
  /** Bytes that are kept. */
  readonly memory: number;
}

interface Entry {
  readonly body: Body;
  readonly key: string;
  /** Of all operations that were answered with it; null: of too many to tell. */
  families: Set<string> | null;
  /** With its compressed copies and its families. */
  size: number;
  /** By `performance.now()`. */
  readonly until: number;
  readonly copies: Map<string, Bytes>;
  readonly snapshot: object;
}

/** What became of an answer, for whoever waits for it. */
type Made =
  | { readonly kind: 'answer'; readonly body: Body }
  /** For one client alone. */
  | { readonly kind: 'unique' }
  /** As it would for everybody. */
  | { readonly kind: 'failed'; readonly error: unknown }
  /** Only whoever asked has given up. */
  | { readonly kind: 'abandoned' };

interface Names {
  /** Within this process: the same key under another snapshot is another answer. */
  readonly place: string;
  readonly key: string;
  readonly family: string;
}

/** Bytes of an entry beside its answer. */
const ENTRY = 400;
/** Bytes of each of its families but the first, and how many an entry tells apart: with more, clearing any of them clears it. */
const FAMILY = 100;
const MOST_FAMILIES = 20;

export function createResponseCache(options: ResponseCacheOptions): ResponseCache {
  return new MemoryCache(options);
}

class MemoryCache implements ResponseCache {
  readonly #options: ResponseCacheOptions;
  readonly #entries: BoundedCache<string, Entry>;
  readonly #making = new Map<string, Promise<Made>>();
  /** By the answers as they were made. */
  readonly #keptAs = new WeakMap<Body, Entry>();
  readonly counts: CacheCounts = { hits: 0, misses: 0, evictions: 0 };
  /** Grows when something is forgotten on purpose: what is under way then is not kept. */
  #generation = 0;
  /** null: nobody has said which one. */
  #followed: object | null = null;

  constructor(options: ResponseCacheOptions) {
    this.#options = options;
    this.#entries = new BoundedCache({ bytes: options.memory }, () => {
      this.counts.evictions += 1;
    });
  }

  get memory(): number {
    return this.#entries.bytes;
  }

  async answer(question: CacheQuestion, run: (markUnique: () => void) => Promise<Body>): Promise<Body> {
    const { plan } = question;
    const { cached } = plan;
    if (cached === undefined || !mayBeKept(plan)) return run(ignore);
    const names = namesOf(question);
    if (!cached.refresh) {
      const known = this.#find(names.place);
      if (known !== undefined) return this.#hit(question, names, known.body, known);
      for (;;) {
        const making = this.#making.get(names.place);
        // Without a pause where nobody is at it: whoever comes next finds that somebody is.
        if (making === undefined) break;
        const made = await patiently(making, question);
        if (made.kind === 'answer') return this.#hit(question, names, made.body, this.#entryOf(names.place, made.body));
        if (made.kind === 'failed') throw made.error;
        // Each of those who wait needs its own; after one that was given up, the first of them asks for the others.
        if (made.kind === 'unique') break;
      }
    }
    this.counts.misses += 1;
    return this.#make(question, names, cached.ttl, run);
  }

  clear({ key, family }: CacheSelection): number {
    this.#generation += 1;
    this.#making.clear();
    let count = 0;
    for (const [place, entry] of this.#entries) {
      if ((key !== undefined && entry.key !== key) || (family !== undefined && entry.families?.has(family) === false)) continue;
      this.#entries.delete(place);
      if (entry.until > performance.now()) count += 1;
    }
    return count;
  }

  follow(snapshot: object): void {
    this.#followed = snapshot;
    for (const [place, entry] of this.#entries) if (entry.snapshot !== snapshot) this.#entries.delete(place);
  }

  #hit({ onNote }: CacheQuestion, { place, key, family }: Names, body: Body, entry: Entry | undefined): Body {
    this.counts.hits += 1;
    if (entry !== undefined) this.#join(place, entry, family);
    if (onNote !== undefined) {
      const left = entry === undefined ? null : Math.ceil((entry.until - performance.now()) / 1000);
      onNote({ key, family, isHit: true, left, warning: null, copies: entry === undefined ? null : this.#copiesOf(place, entry) });
    }
    return body;
  }

  /** Whoever clears the family that it was told of means this answer too. */
  #join(place: string, entry: Entry, family: string): void {
    if (entry.families === null || entry.families.has(family) || this.#entries.peek(place) !== entry) return;
    if (entry.families.size === MOST_FAMILIES) entry.families = null;
    else {
      entry.families.add(family);
      entry.size += FAMILY;
      this.#entries.grow(place, FAMILY);
    }
  }

  /** Where the answer is what is kept: another one may have been made since it was forgotten. */
  #entryOf(place: string, body: Body): Entry | undefined {
    const entry = this.#entries.peek(place);
    return entry !== undefined && this.#keptAs.get(body) === entry ? entry : undefined;
  }

  #find(place: string): Entry | undefined {
    const entry = this.#entries.get(place);
    if (entry === undefined) return undefined;
    if (entry.until <= performance.now()) {
      this.#entries.delete(place);
      return undefined;
    }
    return entry;
  }

  async #make(
    question: CacheQuestion,
    { place, key, family }: Names,
    ttl: number,
    run: (markUnique: () => void) => Promise<Body>,
  ): Promise<Body> {
    const { onNote } = question;
    const generation = this.#generation;
    let isUnique = false;
    const made = run(() => {
      isUnique = true;
    });
    const making = made.then(
      (body): Made => (isUnique ? { kind: 'unique' } : { kind: 'answer', body }),
      (error: unknown): Made => (isOwnFailure(question) ? { kind: 'abandoned' } : { kind: 'failed', error }),
    );
    this.#making.set(place, making);
    try {
      const body = await made;
      const seconds = Math.min(ttl, this.#options.mostTtl);
      const size = sizeOfBytes(body) + ENTRY;
      const isSmall = size <= this.#options.mostOfEntry;
      const { snapshot } = question;
      const isWanted = generation === this.#generation && (this.#followed === null || this.#followed === snapshot);
      const isKept = isSmall && !isUnique && seconds > 0 && isWanted;
      let copies: CompressedCopies | null = null;
      if (isKept) {
        const until = performance.now() + seconds * 1000;
        const entry: Entry = {
          body: [wholeBytes(body).join('') as Bytes],
          key,
          families: new Set([family]),
          size,
          until,
          copies: new Map(),
          snapshot,
        };
        this.#entries.set(place, entry, size);
        this.#keptAs.set(body, entry);
        copies = this.#copiesOf(place, entry);
      }
      const warning = isSmall ? null : 'cache-store-size-limit-exceeded';
      onNote?.({ key, family, isHit: false, left: isKept ? seconds : null, warning, copies });
      return body;
    } finally {
      if (this.#making.get(place) === making) this.#making.delete(place);
    }
  }

  #copiesOf(place: string, entry: Entry): CompressedCopies {
    return {
      get: (encoding) => entry.copies.get(encoding),
      keep: (encoding, compressed) => {
        // Meanwhile it may have been forgotten, or another one be there.
        if (this.#entries.get(place) !== entry || entry.copies.has(encoding)) return;
        if (entry.size + compressed.length > this.#options.memory) return;
        entry.copies.set(encoding, compressed);
        entry.size += compressed.length;
        this.#entries.grow(place, compressed.length);
      },
    };
  }
}

function ignore(): void {
  // Nothing is kept anyhow.
}

/** Whether it failed for what is the matter with whoever asks, and not with the question. */
function isOwnFailure({ signal, deadline, isOfBatch }: CacheQuestion): boolean {
  return isOfBatch || signal?.aborted === true || (deadline !== undefined && Date.now() >= deadline);
}

/** ms; timers cannot wait longer. */
const LONGEST = 2 ** 31 - 1;

/** What comes of it, as long as whoever asks may wait. @throws SvcError timeout */
async function patiently<T>(making: Promise<T>, { signal, deadline }: CacheQuestion): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let leave = ignore;
  const givenUp = new Promise<never>((_, reject) => {
    const giveUp = (message: string) => (): void => reject(new SvcError('timeout', message));
    if (signal?.aborted === true) giveUp('the request was cancelled')();
    else if (isPrompt(signal)) leave = onCancel(signal, giveUp('the request was cancelled'));
    if (deadline !== undefined)
      timer = setTimeout(giveUp('the answer was not there in time'), Math.min(Math.max(0, deadline - Date.now()), LONGEST));
  });
  try {
    return await Promise.race([making, givenUp]);
  } finally {
    clearTimeout(timer);
    leave();
  }
}

/** Answers that only reads of rows have made: not of schemas, and not of functions that give something else each time. */
function mayBeKept({ kind, steps, joins, template }: Plan): boolean {
  if (kind !== 'query' || template.some((part) => typeof part !== 'string' && 'produce' in part)) return false;
  return (
    steps.every((step) => step.kind !== 'select' || step.statement.repeatable) &&
    joins.every((join) => join.kind !== 'source' || join.statement.repeatable)
  );
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

/** What a join is bound with before anything has run: the keys follow from the rest. */
const NO_KEYS: JoinValues = { holeName: '', keys: [] };

function namesOf(question: CacheQuestion): Names {
  const key = keyOf(question);
  return { place: `${idOf(question.snapshot)} ${key}`, key, family: familyOf(question) };
}

/** @throws SvcError of a value that does not fit, as running the plan would */
function keyOf({ plan, session, variables, request, headers }: CacheQuestion): string {
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
  const parts = [session.role, session.backendOnly, planText(plan), values];
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
