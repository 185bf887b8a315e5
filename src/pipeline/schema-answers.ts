/**
 * Caches the responses of queries that read only the schema of their role, such as the introspection queries of clients: the bytes of the
 * body, and its compressed copies. A response belongs to its plan, which belongs to one role schema, one document and one set of values
 * that the document depends on, so it disappears with the schema. All responses together are bounded in bytes.
 */
import type { OperationPlan } from '../plan/plan.ts';
import { BoundedCache } from '../util/bounded-cache.ts';
import { type Body, type Bytes, sizeOfBytes, wholeBytes } from '../util/bytes.ts';
import type { CompressedCopies } from './response-cache.ts';

/** Default limit of all responses with their copies, in bytes. */
const MAX_BYTES = 16 * 1024 * 1024;
/** Maximum share of one response. */
const ENTRY_SHARE = 1 / 4;
/** Estimated bytes of an entry without its body. */
const ENTRY_OVERHEAD = 500;

class Entry {
  /** `null` after the entry was evicted. */
  body: Body | null;
  size: number;
  readonly compressed = new Map<string, Bytes>();

  constructor(body: Bytes) {
    this.body = [body];
    this.size = body.length + ENTRY_OVERHEAD;
  }

  release(): void {
    this.body = null;
    this.compressed.clear();
  }
}

/** A cached response. */
export interface SchemaAnswer {
  readonly body: Body;
  readonly copies: CompressedCopies;
}

export class SchemaAnswers {
  readonly #maxBytes: number;
  readonly #ofPlan = new WeakMap<OperationPlan, Entry>();
  readonly #entries: BoundedCache<Entry, Entry>;
  /** Removes the responses of plans that no longer exist. */
  readonly #plans = new FinalizationRegistry<Entry>((entry) => this.#drop(entry));

  /** @param maxBytes maximum size of all responses with their compressed copies. Default 16 MiB. */
  constructor(maxBytes = MAX_BYTES) {
    this.#maxBytes = maxBytes;
    this.#entries = new BoundedCache({ bytes: maxBytes }, (entry) => {
      this.#plans.unregister(entry);
      entry.release();
    });
  }

  /** Size of all responses with their copies in bytes, estimated. */
  get bytes(): number {
    return this.#entries.bytes;
  }

  /** Returns the cached response of a plan, if there is one. */
  find(plan: OperationPlan): SchemaAnswer | undefined {
    const entry = this.#ofPlan.get(plan);
    if (entry === undefined || this.#entries.get(entry) === undefined) return undefined;
    return entry.body === null ? undefined : { body: entry.body, copies: this.#copiesOf(entry) };
  }

  /** Caches the response of a plan for which `readsSchemaOnly` holds, unless it is too large. */
  store(plan: OperationPlan, body: Body): SchemaAnswer | undefined {
    const known = this.find(plan);
    if (known !== undefined) return known;
    if (sizeOfBytes(body) + ENTRY_OVERHEAD > this.#maxBytes * ENTRY_SHARE) return undefined;
    const entry = new Entry(wholeBytes(body).join('') as Bytes);
    this.#ofPlan.set(plan, entry);
    this.#plans.register(plan, entry, entry);
    this.#entries.set(entry, entry, entry.size);
    return this.find(plan);
  }

  #copiesOf(entry: Entry): CompressedCopies {
    return {
      get: (encoding) => entry.compressed.get(encoding),
      store: (encoding, compressed) => {
        if (entry.body === null || entry.compressed.has(encoding) || entry.size + compressed.length > this.#maxBytes) return;
        entry.compressed.set(encoding, compressed);
        entry.size += compressed.length;
        this.#entries.grow(entry, compressed.length);
      },
    };
  }

  #drop(entry: Entry): void {
    this.#entries.delete(entry);
    entry.release();
  }
}

/** Returns whether the response depends on nothing but the plan. */
export function readsSchemaOnly({ kind, reusable, steps, joins, validations, template }: OperationPlan): boolean {
  if (kind !== 'query' || !reusable || steps.length > 0 || joins.length > 0 || validations.length > 0) return false;
  let produces = false;
  for (const part of template) {
    if (typeof part === 'string') continue;
    if (!('produce' in part)) return false;
    produces = true;
  }
  return produces;
}
