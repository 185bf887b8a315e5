/** The field of a query root that has no other: GraphQL has no objects without fields. */
export const PLACEHOLDER_FIELD = 'no_queries_available';
