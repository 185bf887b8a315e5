/** Only field of a query root without other fields: GraphQL objects must have a field. */
export const PLACEHOLDER_FIELD = 'no_queries_available';
