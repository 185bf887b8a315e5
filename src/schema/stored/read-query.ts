import { SvcError } from '../../errors/svc-error.ts';
import type { CollectedQuery } from '../../metadata/query-collection.ts';
import { type Definitions, readDefinitions } from '../../graphql-engine/document.ts';

export type ReadQuery = { readonly definitions: Definitions } | { readonly error: SvcError };

const read = new WeakMap<CollectedQuery, ReadQuery>();

/** Returns the definitions of a stored query, parsed once per query object. */
export function readQuery(query: CollectedQuery, maxTokens: number): ReadQuery {
  let known = read.get(query);
  if (known === undefined) {
    try {
      known = { definitions: readDefinitions(query.query, maxTokens) };
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      known = { error };
    }
    read.set(query, known);
  }
  return known;
}
