import { SvcError } from '../../errors/svc-error.ts';
import type { CollectedQuery } from '../../metadata/query-collection.ts';
import { type Definitions, readDefinitions } from '../../graphql-engine/document.ts';
import { BoundedCache } from '../../util/bounded-cache.ts';

export type ReadQuery = { readonly definitions: Definitions } | { readonly error: SvcError };

/** Number of queries whose definitions are kept: those of one query are read several times in a row, and are many times its text. */
const MAX_READ = 64;
const read = new BoundedCache<CollectedQuery, ReadQuery>({ entries: MAX_READ });

/** Returns the definitions of a stored query. */
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
