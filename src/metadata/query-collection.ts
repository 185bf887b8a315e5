import { SvcError } from '../errors/svc-error.ts';
import { type Codec, leaf, like, list, nonEmptyText, object, optional, required, text } from './codec.ts';
import type { WithUnknownKeys } from './unknown-keys.ts';

/** A named GraphQL document. Its text is not parsed here: an invalid query is an inconsistency. */
export interface CollectedQuery {
  readonly name: string;
  readonly query: string;
}

export interface QueryCollection extends WithUnknownKeys {
  readonly name: string;
  /** Queries by name, in the order of the document. */
  readonly queries: ReadonlyMap<string, CollectedQuery>;
  readonly comment?: string;
}

const collectedQueryCodec: Codec<CollectedQuery> = object('CollectedQuery', { name: required(nonEmptyText), query: required(text) });

/** @throws SvcError also for duplicate names (`not-supported`) */
const queriesCodec: Codec<ReadonlyMap<string, CollectedQuery>> = leaf(
  'CollectedQueries',
  (json, path) => {
    const queries = new Map<string, CollectedQuery>();
    const duplicates = new Set<string>();
    for (const query of list(collectedQueryCodec).decode(json, path)) {
      if (queries.has(query.name)) duplicates.add(query.name);
      queries.set(query.name, query);
    }
    if (duplicates.size > 0) throw new SvcError('not-supported', `found duplicate query names ${[...duplicates].join(', ')}`, { path });
    return queries;
  },
  (queries) => [...queries.values()].map((query) => collectedQueryCodec.encode(query)),
  { description: 'A list with unique names.', of: [collectedQueryCodec] },
);

const definitionCodec = object('CollectionDef', { queries: required(queriesCodec) });

const written = object('CreateCollection', {
  name: required(nonEmptyText),
  definition: required(definitionCodec),
  comment: optional(text),
});

/** Entry of `query_collections`, and the arguments of `create_query_collection`. */
export const queryCollectionCodec: Codec<QueryCollection> = leaf(
  'CreateCollection',
  (json, path) => {
    const { definition, ...rest } = written.decode(json, path);
    return { ...rest, queries: definition.queries };
  },
  ({ queries, ...rest }) => written.encode({ ...rest, definition: { queries } }),
  like(written),
);
