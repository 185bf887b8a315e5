import type { Metadata } from '../metadata/metadata.ts';
import type { Inconsistency } from '../schema-cache/schema-cache.ts';
import { removeObjects } from './remove-objects.ts';

/** Removes the objects of all records that are not informational, and the REST endpoints of removed queries. */
export function dropInconsistent(metadata: Metadata, inconsistencies: readonly Inconsistency[]): Metadata {
  const ids = new Set(inconsistencies.filter((each) => each.informational !== true).map((each) => each.objectId));
  return withoutDanglingEndpoints(removeObjects(metadata, ids));
}

function withoutDanglingEndpoints(metadata: Metadata): Metadata {
  const { restEndpoints, queryCollections } = metadata;
  const kept = [...restEndpoints].filter(
    ([
      ,
      {
        definition: { query },
      },
    ]) => queryCollections.get(query.collectionName)?.queries.has(query.queryName),
  );
  return kept.length === restEndpoints.size ? metadata : { ...metadata, restEndpoints: new Map(kept) };
}
