/** Variant of a role's schema: `backend` includes `backend_only` permissions, for trusted requests that select it. */
export type SchemaVariant = 'frontend' | 'backend';

/** Server options that change the contents or the meaning of role schemas. */
export interface FieldOptions {
  /** `SVC_GRAPHQL_V1_BOOLEAN_NULL_COLLAPSE`: a null operand counts as absent, that is true. */
  readonly nullCollapse: boolean;
  /** If true, every role that may select from its table may call a query function. */
  readonly inferFunctionPermissions: boolean;
  /** Omits `<relationship>_aggregate` from `where`. */
  readonly hideAggregationPredicates: boolean;
  /** Omits `groups` of aggregates. */
  readonly hideAggregateGroups: boolean;
  /** Omits the `update_many` roots. */
  readonly hideUpdateManyFields: boolean;
  /** Makes the schema a subgraph of a federated graph: `_service` and `_entities`. */
  readonly federation: boolean;
}

export const DEFAULT_BUILD_OPTIONS: FieldOptions = {
  nullCollapse: false,
  inferFunctionPermissions: true,
  hideAggregationPredicates: false,
  hideAggregateGroups: false,
  hideUpdateManyFields: false,
  federation: false,
};
