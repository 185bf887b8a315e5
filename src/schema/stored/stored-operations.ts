/**
 * Query collections and the allow-list and REST endpoints that use them. They are checked last, against the schema of administrators,
 * because they depend on all other metadata.
 */
import type { AllowListEntry } from '../../metadata/allow-list.ts';
import { entryCodecs, type Metadata } from '../../metadata/metadata.ts';
import type { CollectedQuery, QueryCollection } from '../../metadata/query-collection.ts';
import type { SchemaApi } from '../../metadata/schema-api.ts';
import { unknownParts } from '../../metadata/unknown-parts.ts';
import { inconsistent } from '../../schema-cache/inconsistency.ts';
import { objectId } from '../../schema-cache/object-id.ts';
import type { Inconsistency } from '../../schema-cache/schema-cache.ts';
import { groupBy } from '../../util/group-by.ts';
import type { Cooperative } from '../../util/cooperative.ts';
import { analyseOperation, type OperationAnalysis } from '../../graphql-engine/analysis/analyse.ts';
import type { OperationLimits } from '../../graphql-engine/engine.ts';
import { lazy, type RootTypes } from '../../graphql-engine/types.ts';
import { DocumentIndex, type DocumentLookup, hashOf, type StoredDocument } from './document-index.ts';
import { type EndpointInfo, type Endpoints, resolveEndpoints } from './endpoint.ts';
import { normalForm } from './normal-form.ts';
import { readQuery } from './read-query.ts';
import { hasUnknownKeys } from '../../metadata/unknown-keys.ts';

type Sections = Pick<Metadata, 'queryCollections' | 'allowlist' | 'restEndpoints'>;

export interface StoredOperations {
  readonly endpoints: readonly EndpointInfo[];
  readonly inconsistencies: readonly Inconsistency[];
  /** Returns true if the allow-list has a document of this normal form for the role. */
  allows(role: string, normalForm: string): boolean;
  /** Returns the document of an id; `null` if the role has none. @param role `null` for the documents of all collections */
  document(lookup: DocumentLookup, role: string | null): StoredDocument | null;
  /** Returns the schema and the problems of a query, against the schemas of administrators. */
  summary(query: CollectedQuery): QuerySummary;
  /** Like `summary`, with its operations. These are not kept: they are many times the text. */
  analyse(query: CollectedQuery): QueryAnalysis;
  /** Returns the problems of a query in another schema, such as a role's; none if it cannot be parsed. */
  problemsIn(roots: RootTypes, query: CollectedQuery): readonly string[];
}

export interface QuerySummary {
  /** The schema in which the query is valid: that of Relay only if it is not valid in the other one. */
  readonly api: SchemaApi;
  readonly problems: readonly string[];
}

export interface QueryAnalysis extends QuerySummary {
  readonly operations: readonly OperationAnalysis[];
}

/** Schemas that stored queries may be for; called only if there is something to check. */
export interface StoredSchemas {
  graphql(): RootTypes;
  /** `null` if it is not served. */
  readonly relay: (() => RootTypes) | null;
}

/**
 * Parses and checks the queries one by one, because there may be thousands.
 * @param schemas of administrators
 * @param previous result before a change: unaffected parts are reused
 */
export function* resolveStoredOperations(
  metadata: Sections,
  schemas: StoredSchemas,
  limits: OperationLimits,
  previous?: StoredOperations,
): Cooperative<StoredOperations> {
  const before = previous instanceof ResolvedOperations ? previous : undefined;
  const { queryCollections, allowlist, restEndpoints } = metadata;
  if (queryCollections.size === 0 && allowlist.size === 0 && restEndpoints.size === 0) return NOTHING;
  const resolved = new ResolvedOperations({ queryCollections, allowlist, restEndpoints }, schemas, limits, before);
  if (before?.isSame(resolved) === true) return before;
  yield* resolved.prepare();
  return resolved;
}

class ResolvedOperations implements StoredOperations {
  readonly #metadata: Sections;
  readonly #roots: RootTypes;
  readonly #relayRoots: StoredSchemas['relay'];
  readonly #limits: OperationLimits;
  readonly #summaries: WeakMap<CollectedQuery, QuerySummary>;
  readonly #resolved: () => Endpoints;
  readonly #inconsistencies: () => readonly Inconsistency[];
  readonly #allowed: () => ReadonlyMap<string, ReadonlySet<string> | null>;
  readonly #documents: () => DocumentIndex;

  constructor(metadata: Sections, schemas: StoredSchemas, limits: OperationLimits, before: ResolvedOperations | undefined) {
    this.#metadata = metadata;
    const roots = schemas.graphql();
    this.#roots = roots;
    this.#relayRoots = schemas.relay;
    this.#limits = limits;
    const sameQueries = before !== undefined && before.#metadata.queryCollections === metadata.queryCollections;
    const sameEndpoints = sameQueries && before.#metadata.restEndpoints === metadata.restEndpoints;
    const sameAllowList = sameQueries && before.#metadata.allowlist === metadata.allowlist;
    this.#summaries = before !== undefined && before.#roots === roots ? before.#summaries : new WeakMap();
    this.#resolved = sameEndpoints ? before.#resolved : lazy(() => resolveEndpoints(metadata, limits.maxTokens));
    this.#allowed = sameAllowList ? before.#allowed : lazy(() => allowedForms(metadata, limits.maxTokens));
    this.#documents = sameAllowList ? before.#documents : lazy(() => new DocumentIndex(metadata));
    this.#inconsistencies =
      sameEndpoints && sameAllowList && this.#summaries === before.#summaries ? before.#inconsistencies : lazy(() => this.#check());
  }

  /** Does work in advance, query by query, that the first caller would otherwise do at once. */
  *prepare(): Cooperative<void> {
    const { queryCollections, allowlist } = this.#metadata;
    for (const collection of queryCollections.values()) {
      const isListed = allowlist.has(collection.name);
      for (const query of collection.queries.values()) {
        this.summary(query);
        if (isListed) formOf(query, this.#limits.maxTokens);
        hashOf(query);
        yield;
      }
    }
    this.#documents();
  }

  isSame(other: ResolvedOperations): boolean {
    return this.#inconsistencies === other.#inconsistencies;
  }

  get endpoints(): readonly EndpointInfo[] {
    return this.#resolved().endpoints;
  }

  get inconsistencies(): readonly Inconsistency[] {
    return this.#inconsistencies();
  }

  allows(role: string, form: string): boolean {
    const roles = this.#allowed().get(form);
    return roles === null || roles?.has(role) === true;
  }

  document(lookup: DocumentLookup, role: string | null): StoredDocument | null {
    return this.#documents().find(lookup, role);
  }

  summary(query: CollectedQuery): QuerySummary {
    let summary = this.#summaries.get(query);
    if (summary === undefined) {
      const { api, problems } = this.analyse(query);
      summary = { api, problems };
      this.#summaries.set(query, summary);
    }
    return summary;
  }

  analyse(query: CollectedQuery): QueryAnalysis {
    const read = readQuery(query, this.#limits.maxTokens);
    if ('error' in read) {
      const reason = read.error.explanation === undefined ? '' : ` (${read.error.explanation})`;
      return { api: 'graphql', operations: [], problems: [`${read.error.printedPath}: ${read.error.message}${reason}`] };
    }
    const { operations, fragments } = read.definitions;
    if (operations.length === 0) return { api: 'graphql', operations: [], problems: ['$: the document has no operation'] };
    const analyseIn = (roots: RootTypes): QueryAnalysis => {
      const analyses = operations.map((operation) => analyseOperation(roots, operation, fragments, this.#limits));
      return { api: 'graphql', operations: analyses, problems: analyses.flatMap(({ problems }) => problems) };
    };
    const own = analyseIn(this.#roots);
    if (own.problems.length === 0 || this.#relayRoots === null) return own;
    // The same roles see the same tables in both schemas, so results are reused for both at once.
    const ofRelay = analyseIn(this.#relayRoots());
    return ofRelay.problems.length === 0 ? { ...ofRelay, api: 'relay' } : own;
  }

  problemsIn(roots: RootTypes, query: CollectedQuery): readonly string[] {
    const read = readQuery(query, this.#limits.maxTokens);
    if ('error' in read) return [];
    const { operations, fragments } = read.definitions;
    return operations.flatMap((operation) => analyseOperation(roots, operation, fragments, this.#limits).problems);
  }

  #check(): readonly Inconsistency[] {
    const { queryCollections, allowlist, restEndpoints } = this.#metadata;
    const users = groupBy(restEndpoints.values(), ({ definition: { query } }) => keyOf(query.collectionName, query.queryName));
    const found: Inconsistency[] = [];
    for (const collection of queryCollections.values()) {
      for (const query of collection.queries.values()) {
        const { problems } = this.summary(query);
        if (problems.length === 0) continue;
        const endpoints = (users.get(keyOf(collection.name, query.name)) ?? []).map(({ name }) => name).sort();
        found.push(invalidQuery(collection, query, problems, endpoints, allowlist.has(collection.name)));
      }
    }
    for (const entry of allowlist.values()) {
      if (!queryCollections.has(entry.collection))
        found.push(brokenEntry(entry, `query collection with name "${entry.collection}" does not exist`));
      for (const { problem, key } of unknownParts(entry)) found.push(brokenEntry(entry, `${problem} (at ${key})`));
    }
    return [...found, ...this.#resolved().inconsistencies];
  }
}

const NOTHING: StoredOperations = {
  endpoints: [],
  inconsistencies: [],
  allows: () => false,
  document: () => null,
  summary: () => ({ api: 'graphql', problems: [] }),
  analyse: () => ({ api: 'graphql', operations: [], problems: [] }),
  problemsIn: () => [],
};

function keyOf(collection: string, query: string): string {
  return JSON.stringify([collection, query]);
}

function quoted(texts: readonly string[]): string {
  return texts.map((text) => `"${text}"`).join(', ');
}

function invalidQuery(
  collection: QueryCollection,
  query: CollectedQuery,
  problems: readonly string[],
  endpoints: readonly string[],
  inAllowList: boolean,
): Inconsistency {
  const object = {
    objectId: objectId.collectedQuery(collection.name, query.name),
    type: 'query_collections',
    name: `query_collections ${query.name} in ${collection.name}`,
    definition: { name: query.name, query: query.query },
  };
  const where = `In query collection "${collection.name}" the query "${query.name}" is invalid with the following error(s): ${quoted(problems)}`;
  const used = endpoints.length === 0 ? '' : `. This query is being used in the following REST endpoint(s): ${quoted(endpoints)}`;
  return { ...inconsistent(object, `${where}${used}${inAllowList ? '. This query is in allowlist.' : ''}`), tolerated: true };
}

function brokenEntry(entry: AllowListEntry, reason: string): Inconsistency {
  const object = {
    objectId: objectId.allowListEntry(entry.collection),
    type: 'allowlist',
    name: `allowlist ${entry.collection}`,
    definition: entryCodecs.allowListEntry.encode(entry),
  };
  return inconsistent(object, reason);
}

const forms = new WeakMap<CollectedQuery, string | null>();

/** Returns the normal form of a stored query, computed once per query object; null if it cannot be parsed. */
function formOf(query: CollectedQuery, maxTokens: number): string | null {
  let form = forms.get(query);
  if (form === undefined) {
    form = 'error' in readQuery(query, maxTokens) ? null : normalForm(query.query, maxTokens);
    forms.set(query, form);
  }
  return form;
}

/** Returns the roles for which a normal form is listed; null for all roles. */
function allowedForms({ queryCollections, allowlist }: Sections, maxTokens: number): ReadonlyMap<string, ReadonlySet<string> | null> {
  const allowed = new Map<string, Set<string> | null>();
  for (const entry of allowlist.values()) {
    // The unknown key may restrict the entry.
    if (hasUnknownKeys(entry)) continue;
    const { collection, scope } = entry;
    for (const query of queryCollections.get(collection)?.queries.values() ?? []) {
      const form = formOf(query, maxTokens);
      if (form === null) continue;
      const known = allowed.get(form);
      if (known === null) continue;
      if (scope === null) allowed.set(form, null);
      else if (known === undefined) allowed.set(form, new Set(scope));
      else for (const role of scope) known.add(role);
    }
  }
  return allowed;
}
