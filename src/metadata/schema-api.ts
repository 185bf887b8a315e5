/** GraphQL schema of a role. `relay`: the schema for clients of Relay. */
export type SchemaApi = 'graphql' | 'relay';
