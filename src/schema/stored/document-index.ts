/**
 * Documents of query collections by the SHA-256 of their text and by their name. A role finds those of the listed collections that are in
 * scope for it; administrators, and all roles without an allow-list, find those of all collections.
 */
import { createHash } from 'node:crypto';
import type { Metadata } from '../../metadata/metadata.ts';
import type { CollectedQuery } from '../../metadata/query-collection.ts';
import { hasUnknownKeys } from '../../metadata/unknown-keys.ts';

/** A document of a query collection. */
export interface StoredDocument {
  /** Lower-case hexadecimal digits. */
  readonly sha256: string;
  readonly collection: string;
  readonly query: CollectedQuery;
}

export type DocumentLookup = { readonly kind: 'hash'; readonly hash: string } | { readonly kind: 'name'; readonly name: string };

/** Roles of a collection; `null` for all roles. */
type Scope = ReadonlySet<string> | null;

interface Entry {
  readonly document: StoredDocument;
  readonly scope: Scope;
}

const NO_ROLES: ReadonlySet<string> = new Set();

export class DocumentIndex {
  readonly #byHash = new Map<string, Entry[]>();
  readonly #byName = new Map<string, Entry[]>();

  constructor({ queryCollections, allowlist }: Pick<Metadata, 'queryCollections' | 'allowlist'>) {
    for (const { name: collection, queries } of queryCollections.values()) {
      const entry = allowlist.get(collection);
      // An unknown key may restrict the entry.
      const scope = entry === undefined || hasUnknownKeys(entry) ? NO_ROLES : entry.scope === null ? null : new Set(entry.scope);
      for (const query of queries.values()) {
        const indexed = { document: { sha256: hashOf(query), collection, query }, scope };
        push(this.#byHash, indexed.document.sha256, indexed);
        push(this.#byName, query.name, indexed);
      }
    }
  }

  /** A name with different texts in the collections of the role finds nothing. */
  find(lookup: DocumentLookup, role: string | null): StoredDocument | null {
    const entries = lookup.kind === 'hash' ? this.#byHash.get(lookup.hash) : this.#byName.get(lookup.name);
    let found: StoredDocument | null = null;
    for (const { document, scope } of entries ?? []) {
      if (role !== null && scope?.has(role) === false) continue;
      if (found !== null && found.sha256 !== document.sha256) return null;
      found ??= document;
    }
    return found;
  }
}

function push<V>(map: Map<string, V[]>, key: string, value: V): void {
  const values = map.get(key);
  if (values === undefined) map.set(key, [value]);
  else values.push(value);
}

const hashes = new WeakMap<CollectedQuery, string>();

/** Returns the SHA-256 of a stored text, computed once per query object. */
export function hashOf(query: CollectedQuery): string {
  let hash = hashes.get(query);
  if (hash === undefined) {
    hash = sha256(query.query);
    hashes.set(query, hash);
  }
  return hash;
}

/** Returns the SHA-256 of the UTF-8 bytes of a text, in lower-case hexadecimal digits. */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
