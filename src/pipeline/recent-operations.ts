/**
 * The last GraphQL queries and mutations of this instance, for administrators. They are kept in memory, within a fixed size, and contain no
 * values: neither variables, nor the strings and numbers of documents.
 */
import { shortened } from '../errors/shortened.ts';
import type { CachedOperation } from './operation-cache.ts';
import { readsSchemaOnly } from './schema-answers.ts';

export interface RecentOperation {
  /** When it ended, in ms since the epoch. */
  readonly at: number;
  readonly requestId: string;
  /** `unknown` if the document was not accepted. */
  readonly type: 'query' | 'mutation' | 'subscription' | 'unknown';
  readonly name: string | null;
  readonly role: string;
  /** In ms. */
  readonly duration: number;
  /** Code of the error, or `null` on success. */
  readonly error: string | null;
  /** Beginning of the document without values; `null` if it was not accepted. */
  readonly document: string | null;
}

/** Maximum number of operations. With the limits below, they take less than 1 MB. */
const CAPACITY = 500;
/** Maximum length of a name, in characters. */
const MAX_NAME = 100;
/** Maximum length of a document, in characters. */
const MAX_DOCUMENT = 300;
/** Maximum length of the part of a document that is read for it, in characters. */
const MAX_READ = 3000;

export type FinishedOperation = Omit<RecentOperation, 'type' | 'document'> & {
  /** Name in the request, if the document was not accepted. */
  readonly name: string | null;
  readonly query: string;
  /** `null` if the document was not accepted. */
  readonly operation: CachedOperation | null;
};

export class RecentOperations {
  readonly #ring: RecentOperation[] = [];
  #next = 0;
  /** Names and documents without values, of operations that may run again. */
  readonly #known = new WeakMap<CachedOperation, Pick<RecentOperation, 'name' | 'document'>>();

  /** Replaces the oldest operation if the record is full. Subscriptions and operations that only read the schema are left out. */
  add({ query, operation, at, name, role, requestId, duration, error }: FinishedOperation): void {
    if (operation !== null && (operation.prepared.kind === 'subscription' || isIntrospection(operation))) return;
    const known = operation === null ? null : this.#describe(operation, query);
    this.#ring[this.#next] = {
      at,
      // Texts of headers and tokens, which are no parts of longer ones.
      requestId: requestId.length <= MAX_NAME ? requestId : copied(requestId),
      role: role.length <= MAX_NAME ? role : copied(role),
      duration,
      error,
      type: operation === null ? 'unknown' : operation.prepared.kind,
      name: known !== null ? known.name : name === null ? null : copied(name),
      document: known === null ? null : known.document,
    };
    this.#next = (this.#next + 1) % CAPACITY;
  }

  /** Returns the operations, newest first. */
  list(): readonly RecentOperation[] {
    return [...this.#ring.slice(this.#next), ...this.#ring.slice(0, this.#next)].reverse();
  }

  #describe(operation: CachedOperation, query: string): Pick<RecentOperation, 'name' | 'document'> {
    const known = this.#known.get(operation);
    if (known !== undefined) return known;
    const { name } = operation.prepared;
    const described = {
      name: name === null ? null : copied(name),
      document: copied(withoutValues(query.slice(0, MAX_READ)).replace(/\s+/g, ' ').trim(), MAX_DOCUMENT),
    };
    this.#known.set(operation, described);
    return described;
  }
}

function isIntrospection({ plans }: CachedOperation): boolean {
  return plans.length > 0 && plans.every(readsSchemaOnly);
}

/** Strings, comments and numbers; also those that the end of the text cuts. */
const VALUES = /"""(?:\\"""|[\s\S])*?(?:"""|$)|"(?:[^"\\\n]|\\.)*"?|#[^\n]*|(?<![\w$])-?\d[\w.+-]*/g;

/** Replaces the strings and numbers of a document, and drops its comments. */
export function withoutValues(document: string): string {
  return document.replace(VALUES, (value) => (value.startsWith('"') ? '"…"' : value.startsWith('#') ? ' ' : '0'));
}

/** Copies the beginning of a text, so that the record does not keep the text alive of which it is a part. */
function copied(text: string, length = MAX_NAME): string {
  return Buffer.from(shortened(text, length)).toString();
}
