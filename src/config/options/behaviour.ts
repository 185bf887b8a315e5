/** How operations are answered. */
import { optionsOf } from '../option.ts';
import { boolean, choice, integer, listOf, milliseconds, nonEmpty, optional, seconds } from '../option-types.ts';

// Others of the field's known names are refused until the feature exists. The first three need no switch, but set-ups name them.
const EXPERIMENTAL_FEATURES = [
  'naming_convention',
  'inherited_roles',
  'streaming_subscriptions',
  'hide_aggregation_predicates',
  'hide_update_many_fields',
  'no_null_unbound_variable_default',
  'ext_federation',
  'multiple-subscription-roots',
] as const;

type ExperimentalFeature = (typeof EXPERIMENTAL_FEATURES)[number];

const behaviour = optionsOf('Behaviour');

export const behaviourOptions = {
  project: behaviour(
    'project',
    optional(nonEmpty),
    null,
    'Folder of a project that is deployed at the start: its migrations, then its metadata. The service ends when that fails, and is healthy only after it. Migrations that the folder does not have mean that another instance has deployed a newer project: then nothing is changed.',
  ),
  metadataDir: behaviour(
    'metadata-dir',
    optional(nonEmpty),
    null,
    'Folder of metadata that is deployed at the start, in place of that of --project, or without a project.',
  ),
  migrationsDir: behaviour(
    'migrations-dir',
    optional(nonEmpty),
    null,
    'Folder of migrations that are run at the start, in place of that of --project; needs --metadata-dir where there is no project.',
  ),
  stringifyNumericTypes: behaviour(
    'stringify-numeric-types',
    boolean,
    false,
    'Answer bigint, numeric and double precision as JSON strings.',
  ),
  v1BooleanNullCollapse: behaviour(
    'v1-boolean-null-collapse',
    boolean,
    false,
    'Take null in a boolean expression as true, as version 1 did.',
  ),
  nullInNonnullableVariables: behaviour('null-in-nonnullable-variables', boolean, false, 'Accept null for a variable of a non-null type.', {
    env: 'BACKWARDS_COMPAT_NULL_IN_NONNULLABLE_VARIABLES',
  }),
  version2OpenapiDocument: behaviour(
    'version2-openapi-document',
    boolean,
    false,
    'Describe REST endpoints as version 2 did: with names of components that OpenAPI does not allow, without security, servers and errors.',
  ),
  unsentVariablesAreNull: behaviour(
    'unsent-variables-are-null',
    boolean,
    false,
    'Take a nullable variable that was not sent for null: columns are set to null by it. Without it, the column, argument or key is left out; in conditions it is refused.',
  ),
  inferFunctionPermissions: behaviour(
    'infer-function-permissions',
    boolean,
    true,
    'A role that may select from the table of a function may call the function, if it is a query.',
  ),
  asyncActionsFetchInterval: behaviour(
    'async-actions-fetch-interval',
    milliseconds(0),
    1000,
    'How often to look for calls of asynchronous actions, besides being told of them; 0 makes none.',
  ),
  asyncActionsFetchBatchSize: behaviour(
    'async-actions-fetch-batch-size',
    integer(1, 1000),
    10,
    'Most calls of asynchronous actions that are taken from the log at once.',
  ),
  asyncActionsLogRetention: behaviour(
    'async-actions-log-retention',
    seconds(0),
    0,
    'Forget calls of asynchronous actions so long after their answer; 0 keeps them.',
  ),
  configuredHeaderPrecedence: behaviour(
    'configured-header-precedence',
    boolean,
    false,
    'In calls of handlers of actions, configured headers count more than those of the service and those of the client; else they count less.',
  ),
  enableRemoteSchemaPermissions: behaviour(
    'enable-remote-schema-permissions',
    boolean,
    false,
    'Roles see of remote schemas only what they are granted. Without it every role sees all of them.',
  ),
  defaultNamingConvention: behaviour(
    'default-naming-convention',
    choice('svc-default', 'graphql-default'),
    'svc-default',
    'Naming convention of sources that choose none.',
  ),
  liveQueriesMultiplexedRefetchInterval: behaviour(
    'live-queries-multiplexed-refetch-interval',
    milliseconds(1),
    1000,
    'Least time between two runs of a live query; it runs only after changes, where these can be told.',
  ),
  liveQueriesMultiplexedBatchSize: behaviour(
    'live-queries-multiplexed-batch-size',
    integer(1, 10_000),
    100,
    'Groups of subscribers that one statement answers; a group has the same values and session variables.',
  ),
  streamingQueriesMultiplexedRefetchInterval: behaviour(
    'streaming-queries-multiplexed-refetch-interval',
    milliseconds(1),
    1000,
    'Least time between two batches of a stream.',
  ),
  streamingQueriesMultiplexedBatchSize: behaviour(
    'streaming-queries-multiplexed-batch-size',
    integer(1, 10_000),
    100,
    'Groups of subscribers that one statement answers.',
  ),
  subscriptionsDetectorInterval: behaviour(
    'subscriptions-detector-interval',
    milliseconds(1, 3_600_000),
    100,
    'How often a source with subscribers is asked for changes; where nothing has changed for five seconds, after 1.6 times as long.',
  ),
  experimentalFeatures: behaviour(
    'experimental-features',
    listOf(EXPERIMENTAL_FEATURES),
    new Set<ExperimentalFeature>(),
    'Comma separated list of features to switch on; naming_convention, inherited_roles and streaming_subscriptions are always on.',
  ),
  enableAllowlist: behaviour(
    'enable-allowlist',
    boolean,
    false,
    'Let roles other than admin run only the operations on the allow-list, those of its collections.',
  ),
  legacyRowsForAllRoles: behaviour(
    'legacy-rows-for-all-roles',
    boolean,
    false,
    'For clients of old: let every role use select, count, insert, update and delete on /v1/query and /v2/query, as its permissions and limits allow. Otherwise these are for admin alone; with the allow-list on they always are.',
  ),
  enableExtFederation: behaviour(
    'enable-ext-federation',
    boolean,
    false,
    'Make the schema a subgraph for federation; tables join in by their federation setting. The experimental feature ext_federation does the same.',
  ),
  enableTelemetry: behaviour(
    'enable-telemetry',
    boolean,
    false,
    'Reported in the start-up log only: the service sends no telemetry, whatever this says.',
  ),
} as const;
