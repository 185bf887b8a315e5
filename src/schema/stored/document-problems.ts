import { analyseOperation } from '../../graphql-engine/analysis/analyse.ts';
import type { OperationLimits } from '../../graphql-engine/engine.ts';
import type { RootTypes } from '../../graphql-engine/types.ts';
import type { CollectedQuery } from '../../metadata/query-collection.ts';
import { readQuery } from './read-query.ts';

/** Schemas in which a document may be valid. */
export interface DocumentSchemas {
  graphql(): RootTypes;
  /** Schema of Relay; called only if the document is not valid in the other one. */
  relay(): RootTypes;
}

/** Returns the problems of a text that need not be stored, as it would have them in a query collection. */
export function documentProblems(query: CollectedQuery, schemas: DocumentSchemas, limits: OperationLimits): readonly string[] {
  const read = readQuery(query, limits.maxTokens);
  if ('error' in read) {
    const { printedPath, message, explanation } = read.error;
    return [`${printedPath}: ${message}${explanation === undefined ? '' : ` (${explanation})`}`];
  }
  const { operations, fragments } = read.definitions;
  if (operations.length === 0) return ['$: the document has no operation'];
  const problemsIn = (roots: RootTypes): readonly string[] =>
    operations.flatMap((operation) => analyseOperation(roots, operation, fragments, limits).problems);
  const own = problemsIn(schemas.graphql());
  return own.length === 0 || problemsIn(schemas.relay()).length === 0 ? [] : own;
}
