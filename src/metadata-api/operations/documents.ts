/** Operations on trusted documents, which are the entries of query collections. Manifests of clients are pushed with them. */
import { ADMIN_ROLE } from '../../auth/session.ts';
import { SvcError } from '../../errors/svc-error.ts';
import type { OperationLimits } from '../../graphql-engine/engine.ts';
import { type AllowListScope, allowListScopeCodec } from '../../metadata/allow-list.ts';
import { bool, defaulted, list, nonEmptyText, object, optional, required, text } from '../../metadata/codec.ts';
import { withEntry } from '../../metadata/edit.ts';
import type { Metadata } from '../../metadata/metadata.ts';
import type { CollectedQuery, QueryCollection } from '../../metadata/query-collection.ts';
import { idProblem } from '../../pipeline/document-reference.ts';
import { hashOf } from '../../schema/stored/document-index.ts';
import { documentProblems } from '../../schema/stored/document-problems.ts';
import { readQuery } from '../../schema/stored/read-query.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { type Cooperative, runCooperatively } from '../../util/cooperative.ts';
import type { Json } from '../../util/json.ts';
import { at, type Path } from '../../util/path.ts';
import { operation, type OperationGroup } from '../operation.ts';
import { refused } from '../operation-error.ts';

/** Maximum number of documents of a collection that documents are pushed to. */
const MAX_DOCUMENTS = 20_000;
/** Maximum number of invalid documents in an answer or error. */
const MAX_LISTED = 100;

interface Pushed {
  readonly id: string;
  readonly query: string;
}

const pushedCodec = object('Document', { id: required(nonEmptyText), query: required(text) });

const NO_COLLECTION = refused('not-exists', 'the collection does not exist');

/** A document that a role cannot run. */
interface InvalidDocument {
  readonly id: string;
  readonly role: string;
  readonly problems: readonly string[];
}

/** @throws SvcError not-exists */
function requireCollection({ queryCollections }: Metadata, name: string, path: Path): QueryCollection {
  const collection = queryCollections.get(name);
  if (collection === undefined)
    throw new SvcError('not-exists', `query collection with name "${name}" does not exist`, { path: at(path, 'collection') });
  return collection;
}

/** A push of documents into a collection. */
interface Push {
  readonly collection: string;
  readonly documents: readonly Pushed[];
  /** `undefined` if the request has none. */
  readonly scope: AllowListScope | undefined;
  /** True if roles find the documents of listed collections only. */
  readonly needsList: boolean;
  readonly path: Path;
}

/**
 * Returns the documents that a collection does not have yet.
 * @param made objects to use again: results are kept by object
 * @throws SvcError already-exists if an id has another text, or the collection another scope
 */
function newDocuments(metadata: Metadata, push: Push, made: ReadonlyMap<string, CollectedQuery> = new Map()): readonly CollectedQuery[] {
  const { documents, path } = push;
  checkScope(metadata, push);
  const known = metadata.queryCollections.get(push.collection)?.queries ?? new Map<string, CollectedQuery>();
  const others = visibleCollections(metadata, push);
  const added = new Map<string, CollectedQuery>();
  for (const [i, { id, query }] of documents.entries()) {
    const place = at(at(at(path, 'documents'), i), 'id');
    const problem = idProblem(id);
    if (problem !== null) throw new SvcError('invalid-params', problem, { path: place });
    const before = known.get(id) ?? added.get(id);
    if (before === undefined) added.set(id, made.get(id) ?? { name: id, query });
    else if (before.query !== query)
      throw new SvcError('already-exists', `the document "${id}" has another text, and an id never changes its text`, { path: place });
    const other = others.find(({ queries }) => (queries.get(id)?.query ?? query) !== query);
    if (other !== undefined) {
      const message = `the document "${id}" has another text in the query collection "${other.name}", so the id would find neither`;
      throw new SvcError('already-exists', message, { path: place });
    }
  }
  if (known.size + added.size > MAX_DOCUMENTS)
    throw new SvcError('invalid-params', `a collection can have at most ${MAX_DOCUMENTS} documents`, { path: at(path, 'documents') });
  return [...added.values()];
}

/** Returns the roles of a collection after a push: `null` for all, `undefined` if it is not in the allow-list. */
function scopeAfter({ allowlist }: Metadata, { collection, scope }: Pick<Push, 'collection' | 'scope'>): AllowListScope | undefined {
  const entry = allowlist.get(collection);
  return entry === undefined ? scope : entry.scope;
}

/** @throws SvcError already-exists if the collection is in the allow-list with another scope */
function checkScope(metadata: Metadata, { collection, scope, path }: Push): void {
  if (scope === undefined) return;
  const listed = scopeAfter(metadata, { collection, scope });
  const isSame =
    listed == null || scope === null ? listed === scope : new Set([...listed, ...scope]).size === Math.min(listed.length, scope.length);
  if (isSame) return;
  throw new SvcError('already-exists', `the query collection "${collection}" is in the allow-list with another scope`, {
    path: at(path, 'scope'),
  });
}

/** Returns the other collections that a role has besides this one. */
function visibleCollections(metadata: Metadata, push: Push): readonly QueryCollection[] {
  const own = scopeAfter(metadata, push);
  const overlaps = (name: string): boolean => {
    if (!push.needsList) return true;
    const scope = metadata.allowlist.get(name)?.scope;
    if (own === undefined || scope === undefined) return false;
    return own === null || scope === null || own.some((role) => scope.includes(role));
  };
  return [...metadata.queryCollections.values()].filter(({ name }) => name !== push.collection && overlaps(name));
}

function withDocuments(metadata: Metadata, name: string, added: readonly CollectedQuery[], scope: AllowListScope | undefined): Metadata {
  const collection = metadata.queryCollections.get(name) ?? { name, queries: new Map() };
  const isListed = metadata.allowlist.has(name);
  const queries = new Map(collection.queries);
  for (const query of added) queries.set(query.name, query);
  const queryCollections =
    added.length === 0 && metadata.queryCollections.has(name)
      ? metadata.queryCollections
      : withEntry(metadata.queryCollections, name, { ...collection, queries });
  const allowlist = scope === undefined || isListed ? metadata.allowlist : withEntry(metadata.allowlist, name, { collection: name, scope });
  if (queryCollections === metadata.queryCollections && allowlist === metadata.allowlist) return metadata;
  return { ...metadata, queryCollections, allowlist };
}

/** Roles that may run a collection, those that are not listed by name left out. */
function rolesOf(scope: AllowListScope | undefined): readonly string[] {
  return [ADMIN_ROLE, ...(scope ?? []).filter((role) => role !== ADMIN_ROLE)];
}

function* invalidDocuments(
  { roleSchema, storedOperations, metadata }: Pick<Snapshot, 'roleSchema' | 'storedOperations' | 'metadata'>,
  queries: Iterable<CollectedQuery>,
  roles: readonly string[],
  limits: OperationLimits,
): Cooperative<readonly InvalidDocument[]> {
  const found: InvalidDocument[] = [];
  for (const query of queries) {
    for (const role of roles) {
      yield;
      const variant = role === ADMIN_ROLE ? 'backend' : 'frontend';
      const schemas = { graphql: () => roleSchema(role, variant).roots, relay: () => roleSchema(role, variant, 'relay').roots };
      // Without collections, nothing is known about administrators.
      const isKnown = role === ADMIN_ROLE && metadata.queryCollections.size > 0;
      const problems = isKnown ? storedOperations.summary(query).problems : documentProblems(query, schemas, limits);
      if (problems.length > 0) found.push({ id: query.name, role, problems });
      // What administrators cannot run, no role can.
      if (problems.length > 0 && role === ADMIN_ROLE) break;
    }
  }
  return found;
}

function printedInvalid(invalid: readonly InvalidDocument[]): string {
  return invalid
    .slice(0, MAX_LISTED)
    .map(({ id, role, problems }) => `"${id}" for the role "${role}": ${problems.join('; ')}`)
    .join(', ');
}

function invalidJson(invalid: readonly InvalidDocument[]): Json {
  return invalid.slice(0, MAX_LISTED).map(({ id, role, problems }) => ({ id, role, problems: [...problems] }));
}

const push: OperationGroup = () => [
  operation({
    type: 'push_documents',
    args: object('PushDocuments', {
      collection: required(nonEmptyText),
      documents: required(list(pushedCodec)),
      scope: optional(allowListScopeCodec),
      allowInconsistent: defaulted(bool, () => false),
      dryRun: defaulted(bool, () => false),
    }),
    changes: 'metadata',
    readOnly: ({ dryRun }) => dryRun,
    errors: [
      refused(
        'already-exists',
        'an id has another text, here or in another collection of the same roles, or the collection is listed with another scope',
      ),
      refused('invalid-configuration', 'a document is invalid for administrators or for a role of the scope; the message lists them'),
      refused('invalid-params', 'requests cannot send an id, or the collection would have more than 20,000 documents'),
    ],
    documentation: {
      summary: 'Adds trusted documents to a query collection, which is created if it does not exist.',
      details:
        'An id never changes its text; documents that are known already are not changed. An id with another text in another collection of the same roles is refused, because it would find neither. With `scope`, the collection is added to the allow-list; if it is there, the scope has to be the same. Documents are checked for administrators and for the roles of the scope, or of the existing entry; with `allow_inconsistent`, the answer lists invalid ones under `invalid` instead. With `dry_run`, nothing is changed.',
      example: {
        collection: 'web',
        scope: { global: false, roles: ['user'] },
        documents: [{ id: '563d41d810a37c45c7e274e4ab427472', query: 'query Authors { author { id name } }' }],
      },
    },
    async run({ collection, documents, scope, allowInconsistent, dryRun }, { change, snapshot, services, path }) {
      const { metadata } = snapshot;
      const pushed: Push = { collection, documents, scope, needsList: services.pipeline.allowList !== null, path };
      const added = newDocuments(metadata, pushed);
      const roles = rolesOf(scopeAfter(metadata, pushed));
      const invalid = await runCooperatively(invalidDocuments(snapshot, added, roles, services.pipeline.limits));
      if (invalid.length > 0 && !allowInconsistent && !dryRun)
        throw new SvcError('invalid-configuration', `documents are invalid: ${printedInvalid(invalid)}`, { path: at(path, 'documents') });
      if (!dryRun) {
        const made = new Map(added.map((query) => [query.name, query]));
        await change({ edit: (current) => withDocuments(current, collection, newDocuments(current, pushed, made), scope) });
      }
      return {
        message: 'success',
        added: added.length,
        known: documents.length - added.length,
        ...(invalid.length === 0 ? {} : { invalid: invalidJson(invalid) }),
      };
    },
  }),
];

interface Selection {
  readonly keep: ReadonlySet<string>;
  /** `null` for all that are not kept. */
  readonly remove: ReadonlySet<string> | null;
}

/** Returns the names of the entries of a collection that a prune removes: not kept, and used by no REST endpoint. */
function prunable({ restEndpoints }: Metadata, { name, queries }: QueryCollection, { keep, remove }: Selection): readonly string[] {
  const used = new Set(
    [...restEndpoints.values()].flatMap(({ definition: { query } }) => (query.collectionName === name ? [query.queryName] : [])),
  );
  return [...queries.keys()].filter((query) => !keep.has(query) && !used.has(query) && remove?.has(query) !== false);
}

const prune: OperationGroup = () => [
  operation({
    type: 'prune_documents',
    args: object('PruneDocuments', {
      collection: required(nonEmptyText),
      keep: required(list(nonEmptyText)),
      remove: optional(list(nonEmptyText)),
      dryRun: defaulted(bool, () => false),
    }),
    changes: 'metadata',
    readOnly: ({ dryRun }) => dryRun,
    errors: [NO_COLLECTION],
    documentation: {
      summary: 'Removes the documents of a query collection that are not kept.',
      details:
        'Documents that REST endpoints use stay. With `remove`, only those of this list are removed, such as those that a dry run has shown. With `dry_run`, the answer lists what would be removed, and nothing is changed.',
      example: { collection: 'shop', keep: ['author'] },
    },
    async run({ collection: name, keep, remove, dryRun }, { change, snapshot, path }) {
      const kept: Selection = { keep: new Set(keep), remove: remove === undefined ? null : new Set(remove) };
      let collection = requireCollection(snapshot.metadata, name, path);
      let removed = prunable(snapshot.metadata, collection, kept);
      if (!dryRun && removed.length > 0) {
        await change({
          edit(metadata) {
            collection = requireCollection(metadata, name, path);
            removed = prunable(metadata, collection, kept);
            const queries = new Map(collection.queries);
            for (const query of removed) queries.delete(query);
            return { ...metadata, queryCollections: withEntry(metadata.queryCollections, name, { ...collection, queries }) };
          },
        });
      }
      return { removed: [...removed], kept: collection.queries.size - removed.length };
    },
  }),
];

const get: OperationGroup = () => [
  operation({
    type: 'get_documents',
    args: object('GetDocuments', { collection: required(nonEmptyText) }),
    changes: 'nothing',
    errors: [NO_COLLECTION],
    documentation: {
      summary: 'Returns the documents of a query collection: id, SHA-256 of the text, names of the operations, and problems by role.',
      details: 'Problems are those of administrators and of the roles of the allow-list entry, for up to 100 documents.',
      example: { collection: 'shop' },
    },
    async run({ collection: name }, { snapshot, services, path }) {
      const { metadata } = snapshot;
      const { queries } = requireCollection(metadata, name, path);
      const { limits } = services.pipeline;
      const roles = rolesOf(metadata.allowlist.get(name)?.scope);
      const invalid = await runCooperatively(invalidDocuments(snapshot, queries.values(), roles, limits));
      return { documents: await runCooperatively(described(queries.values(), limits)), invalid: invalidJson(invalid) };
    },
  }),
];

function* described(queries: Iterable<CollectedQuery>, limits: OperationLimits): Cooperative<Json> {
  const documents: Json[] = [];
  for (const query of queries) {
    yield;
    documents.push({ id: query.name, sha256: hashOf(query), operations: operationNames(query, limits) });
  }
  return documents;
}

/** Returns the names of the operations of a document; those without a name are left out. */
function operationNames(query: CollectedQuery, { maxTokens }: OperationLimits): Json {
  const read = readQuery(query, maxTokens);
  return 'error' in read ? [] : read.definitions.operations.flatMap(({ name }) => name?.value ?? []);
}

export const documentOperations: readonly OperationGroup[] = [push, prune, get];
