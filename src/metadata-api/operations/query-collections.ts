/** Operations on query collections and the allow-list. */
import { SvcError } from '../../errors/svc-error.ts';
import { type AllowListEntry, allowListEntryCodec, allowListScopeCodec } from '../../metadata/allow-list.ts';
import { bool, nonEmptyText, object, required, text } from '../../metadata/codec.ts';
import { withEntry, withoutEntry } from '../../metadata/edit.ts';
import type { Metadata } from '../../metadata/metadata.ts';
import { type QueryCollection, queryCollectionCodec } from '../../metadata/query-collection.ts';
import type { Json } from '../../util/json.ts';
import { at, type Path } from '../../util/path.ts';
import { operation, type OperationGroup, SUCCESS } from '../operation.ts';
import { refused } from '../operation-error.ts';

const NO_COLLECTION = refused('not-exists', 'the collection does not exist');
const NOT_LISTED = refused('not-found', 'the collection is not in the allow-list');

/** @throws SvcError not-exists at the argument that names the collection */
function requireCollection(metadata: Metadata, name: string, path: Path): QueryCollection {
  const collection = metadata.queryCollections.get(name);
  if (collection === undefined) throw new SvcError('not-exists', `query collection with name "${name}" does not exist`, { path });
  return collection;
}

function requireFree(metadata: Metadata, name: string, path: Path): void {
  if (metadata.queryCollections.has(name))
    throw new SvcError('already-exists', `query collection with name "${name}" already exists`, { path });
}

function withCollection(metadata: Metadata, collection: QueryCollection): Metadata {
  return { ...metadata, queryCollections: withEntry(metadata.queryCollections, collection.name, collection) };
}

const create: OperationGroup = () => [
  operation({
    type: 'create_query_collection',
    args: queryCollectionCodec,
    changes: 'metadata',
    errors: [refused('already-exists', 'a collection with this name exists'), refused('not-supported', 'two queries have the same name')],
    documentation: {
      summary:
        'Adds a collection of GraphQL operations, for the allow-list and for REST endpoints. A query that is invalid for administrators is stored with a warning.',
      example: {
        name: 'shop',
        definition: { queries: [{ name: 'authors', query: 'query { author { id name } }' }] },
        comment: 'operations of the shop',
      },
    },
    edit(metadata, collection, { path }) {
      requireFree(metadata, collection.name, at(path, 'name'));
      return withCollection(metadata, collection);
    },
  }),
];

const rename: OperationGroup = () => [
  operation({
    type: 'rename_query_collection',
    args: object('RenameCollection', { name: required(nonEmptyText), newName: required(nonEmptyText) }),
    changes: 'metadata',
    errors: [NO_COLLECTION, refused('already-exists', 'a collection with the new name exists')],
    documentation: {
      summary: 'Renames a collection, also in the allow-list and in REST endpoints.',
      example: { name: 'shop', new_name: 'storefront' },
    },
    edit(metadata, { name, newName }, { path }) {
      const collection = requireCollection(metadata, name, at(path, 'name'));
      requireFree(metadata, newName, at(path, 'new_name'));
      return renameReferences(withCollection(withoutCollection(metadata, name), { ...collection, name: newName }), name, newName);
    },
  }),
];

function withoutCollection(metadata: Metadata, name: string): Metadata {
  return { ...metadata, queryCollections: withoutEntry(metadata.queryCollections, name) };
}

function renameReferences(metadata: Metadata, from: string, to: string): Metadata {
  const entry = metadata.allowlist.get(from);
  const allowlist =
    entry === undefined ? metadata.allowlist : withEntry(withoutEntry(metadata.allowlist, from), to, { ...entry, collection: to });
  const endpoints = [...metadata.restEndpoints].map(([name, endpoint]) => {
    const { query } = endpoint.definition;
    const renamed = query.collectionName !== from ? endpoint : { ...endpoint, definition: { query: { ...query, collectionName: to } } };
    return [name, renamed] as const;
  });
  return { ...metadata, allowlist, restEndpoints: new Map(endpoints) };
}

const drop: OperationGroup = () => [
  operation({
    type: 'drop_query_collection',
    args: object('DropCollection', { collection: required(nonEmptyText), cascade: required(bool) }),
    changes: 'metadata',
    errors: [
      NO_COLLECTION,
      refused('dependency-error', 'the collection is in the allow-list, or REST endpoints use its queries, and `cascade` is false'),
    ],
    documentation: {
      summary:
        'Removes a collection. With `cascade`, also removes it from the allow-list, and removes the REST endpoints that use its queries.',
      example: { collection: 'shop', cascade: true },
    },
    edit(metadata, { collection, cascade }, { path }) {
      requireCollection(metadata, collection, at(path, 'collection'));
      if (metadata.allowlist.has(collection) && !cascade) {
        throw new SvcError(
          'dependency-error',
          `query collection with name "${collection}" is present in the allowlist; cannot proceed to drop. Use "cascade" to remove it from the allowlist as well`,
        );
      }
      const users = endpointsOf(metadata, collection);
      if (!cascade) requireUnused(users);
      const restEndpoints = users.reduce(withoutEntry, metadata.restEndpoints);
      return { ...withoutCollection(metadata, collection), allowlist: withoutEntry(metadata.allowlist, collection), restEndpoints };
    },
  }),
];

/** Returns the names of the REST endpoints that use a query of a collection. @param query defaults to all of its queries */
function endpointsOf({ restEndpoints }: Metadata, collection: string, query?: string): readonly string[] {
  return [...restEndpoints.values()].flatMap(({ name, definition: { query: used } }) =>
    used.collectionName === collection && (query === undefined || used.queryName === query) ? [name] : [],
  );
}

/** @throws SvcError dependency-error */
function requireUnused(endpoints: readonly string[]): void {
  if (endpoints.length === 0) return;
  const list = endpoints.map((name) => `REST endpoint ${name}`).sort();
  throw new SvcError('dependency-error', `cannot drop due to the following dependent objects: ${list.join(', ')}`);
}

const addQuery: OperationGroup = () => [
  operation({
    type: 'add_query_to_collection',
    args: object('AddQueryToCollection', {
      collectionName: required(nonEmptyText),
      queryName: required(nonEmptyText),
      query: required(text),
    }),
    changes: 'metadata',
    errors: [NO_COLLECTION, refused('already-exists', 'the collection has a query with this name')],
    documentation: {
      summary: 'Adds a GraphQL operation to a collection. An operation that is invalid for administrators is stored with a warning.',
      example: { collection_name: 'shop', query_name: 'titles', query: 'query { article { title } }' },
    },
    edit(metadata, { collectionName, queryName, query }, { path }) {
      const collection = requireCollection(metadata, collectionName, at(path, 'collection_name'));
      if (collection.queries.has(queryName)) {
        throw new SvcError('already-exists', `query with name "${queryName}" already exists in collection "${collectionName}"`);
      }
      return withCollection(metadata, { ...collection, queries: withEntry(collection.queries, queryName, { name: queryName, query }) });
    },
  }),
];

const dropQuery: OperationGroup = () => [
  operation({
    type: 'drop_query_from_collection',
    args: object('DropQueryFromCollection', { collectionName: required(nonEmptyText), queryName: required(nonEmptyText) }),
    changes: 'metadata',
    errors: [
      NO_COLLECTION,
      refused('not-found', 'the query does not exist in the collection'),
      refused('dependency-error', 'REST endpoints use the query'),
    ],
    documentation: {
      summary: 'Removes a GraphQL operation from a collection.',
      example: { collection_name: 'shop', query_name: 'titles' },
    },
    edit(metadata, { collectionName, queryName }, { path }) {
      const collection = requireCollection(metadata, collectionName, at(path, 'collection_name'));
      if (!collection.queries.has(queryName)) {
        throw new SvcError('not-found', `query with name "${queryName}" not found in collection "${collectionName}"`);
      }
      requireUnused(endpointsOf(metadata, collectionName, queryName));
      return withCollection(metadata, { ...collection, queries: withoutEntry(collection.queries, queryName) });
    },
  }),
];

function alreadyListed(collection: string): Json {
  const advice = 'use update_scope_of_collection_in_allowlist to change the scope';
  return { message: `collection "${collection}" already exists in the allowlist, scope ignored; ${advice}` };
}

const addToAllowList: OperationGroup = () => [
  operation<AllowListEntry>({
    type: 'add_collection_to_allowlist',
    args: allowListEntryCodec,
    changes: 'metadata',
    errors: [NO_COLLECTION],
    documentation: {
      summary: 'Adds a collection to the allow-list, for all roles or for some.',
      example: { collection: 'shop', scope: { global: false, roles: ['user'] } },
    },
    // Not an `edit`: the answer depends on whether the collection is already listed, in which case nothing changes.
    async run(entry, { change, path }) {
      let known = false;
      await change({
        edit(metadata) {
          requireCollection(metadata, entry.collection, at(path, 'collection'));
          known = metadata.allowlist.has(entry.collection);
          return known ? metadata : { ...metadata, allowlist: withEntry(metadata.allowlist, entry.collection, entry) };
        },
      });
      return known ? alreadyListed(entry.collection) : SUCCESS;
    },
  }),
];

function requireListed(metadata: Metadata, collection: string): void {
  if (!metadata.allowlist.has(collection)) throw new SvcError('not-found', `collection "${collection}" doesn't exist in the allowlist`);
}

const updateScope: OperationGroup = () => [
  operation({
    type: 'update_scope_of_collection_in_allowlist',
    args: object('UpdateScopeOfCollectionInAllowlist', { collection: required(nonEmptyText), scope: required(allowListScopeCodec) }),
    changes: 'metadata',
    errors: [NOT_LISTED],
    documentation: {
      summary: 'Changes the roles for which a collection is in the allow-list.',
      example: { collection: 'shop', scope: { global: true } },
    },
    edit(metadata, entry) {
      requireListed(metadata, entry.collection);
      return { ...metadata, allowlist: withEntry(metadata.allowlist, entry.collection, entry) };
    },
  }),
];

const dropFromAllowList: OperationGroup = () => [
  operation({
    type: 'drop_collection_from_allowlist',
    args: object('DropCollectionFromAllowlist', { collection: required(nonEmptyText) }),
    changes: 'metadata',
    errors: [NOT_LISTED],
    documentation: { summary: 'Removes a collection from the allow-list.', example: { collection: 'shop' } },
    edit(metadata, { collection }) {
      requireListed(metadata, collection);
      return { ...metadata, allowlist: withoutEntry(metadata.allowlist, collection) };
    },
  }),
];

export const queryCollectionOperations: readonly OperationGroup[] = [
  create,
  rename,
  drop,
  addQuery,
  dropQuery,
  addToAllowList,
  updateScope,
  dropFromAllowList,
];
