/** Which permissions count: `backend_only` ones are for trusted requests that ask for them. */
export type SchemaVariant = 'frontend' | 'backend';

/** Server options that change what role schemas contain or mean. */
export interface FieldOptions {
  /** `SVC_GRAPHQL_V1_BOOLEAN_NULL_COLLAPSE`: a null operand counts as absent, that is true. */
  readonly nullCollapse: boolean;
  /** Query functions are open to every role that may select from their table. */
  readonly inferFunctionPermissions: boolean;
  /** Leaves `<relationship>_aggregate` out of `where`. */
  readonly hideAggregationPredicates: boolean;
  /** Leaves the `update_many` roots out. */
  readonly hideUpdateManyFields: boolean;
  /** The schema is a subgraph of a federated graph: `_service` and `_entities`. */
  readonly federation: boolean;
}

export const DEFAULT_BUILD_OPTIONS: FieldOptions = {
  nullCollapse: false,
  inferFunctionPermissions: true,
  hideAggregationPredicates: false,
  hideUpdateManyFields: false,
  federation: false,
};
