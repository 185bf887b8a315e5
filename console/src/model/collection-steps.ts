/** Steps that store a query in a collection, and what follows from it: an entry of the allow-list, a REST endpoint. */
import { type JsonObject, objectOf, objectsIn } from './json.ts';
import type { Step } from './steps.ts';

export interface SavedQuery {
  readonly name: string;
  readonly text: string;
  readonly collection: string;
  /** Adds the collection to the allow-list. */
  readonly allow: boolean;
  readonly endpoint?: { readonly url: string; readonly methods: readonly string[] };
}

/** Query collections in the metadata. */
export interface KnownCollections {
  readonly collections: readonly JsonObject[];
  /** Names of the collections on the allow-list. */
  readonly allowed: readonly string[];
}

interface UndoableStep {
  readonly step: Step;
  readonly inverse: Step;
}

/** @returns the steps, and those that undo them in reverse order */
export function saveQuerySteps(
  query: SavedQuery,
  known: KnownCollections,
): { readonly steps: readonly Step[]; readonly inverse: readonly Step[] } {
  const all = [...collectionSteps(query, known), ...allowSteps(query, known), ...endpointSteps(query)];
  return { steps: all.map(({ step }) => step), inverse: all.map(({ inverse }) => inverse).reverse() };
}

function collectionSteps({ name, text, collection }: SavedQuery, { collections }: KnownCollections): readonly UndoableStep[] {
  const known = collections.find((each) => each['name'] === collection);
  if (known === undefined)
    return [
      {
        step: { type: 'create_query_collection', args: { name: collection, definition: { queries: [{ name, query: text }] } } },
        inverse: { type: 'drop_query_collection', args: { collection, cascade: true } },
      },
    ];
  const queries = objectsIn(objectOf(known['definition'])['queries']);
  if (queries.some((each) => each['name'] === name && each['query'] === text)) return [];
  return [
    {
      step: { type: 'add_query_to_collection', args: { collection_name: collection, query_name: name, query: text } },
      inverse: { type: 'drop_query_from_collection', args: { collection_name: collection, query_name: name } },
    },
  ];
}

function allowSteps({ allow, collection }: SavedQuery, { allowed }: KnownCollections): readonly UndoableStep[] {
  if (!allow || allowed.includes(collection)) return [];
  return [
    {
      step: { type: 'add_collection_to_allowlist', args: { collection } },
      inverse: { type: 'drop_collection_from_allowlist', args: { collection } },
    },
  ];
}

function endpointSteps({ name, collection, endpoint }: SavedQuery): readonly UndoableStep[] {
  if (endpoint === undefined) return [];
  const definition = { query: { collection_name: collection, query_name: name } };
  return [
    {
      step: {
        type: 'create_rest_endpoint',
        args: { name, url: endpoint.url, methods: [...endpoint.methods], definition, comment: null },
      },
      inverse: { type: 'drop_rest_endpoint', args: { name } },
    },
  ];
}
