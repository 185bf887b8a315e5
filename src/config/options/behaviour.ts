/** Deployment at the start, GraphQL behaviour, and subscriptions. */
import { optionsOf } from '../option.ts';
import { boolean, choice, wholeNumber, wordList, milliseconds, nonEmpty, orNull, seconds } from '../option-types.ts';

// Other names are rejected until the feature exists. The first three are always on, but existing configurations name them.
const EXPERIMENTAL_FEATURES = [
  'naming_convention',
  'inherited_roles',
  'streaming_subscriptions',
  'hide_aggregation_predicates',
  'hide_aggregate_groups',
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
    orNull(nonEmpty),
    null,
    'Project folder to deploy at the start: first migrations, then metadata. The service exits if the deployment fails, and is healthy only after it. If the database has a newer migration than the folder, another instance has deployed a newer project, and nothing is changed.',
  ),
  projectEnvironment: behaviour('env', orNull(nonEmpty), null, 'Environment of config.yaml whose overlays are deployed with --project.'),
  metadataDir: behaviour(
    'metadata-dir',
    orNull(nonEmpty),
    null,
    'Metadata folder to deploy at the start, instead of that of --project or without a project.',
  ),
  migrationsDir: behaviour(
    'migrations-dir',
    orNull(nonEmpty),
    null,
    'Migrations folder to deploy at the start, instead of that of --project. Without a project, it needs --metadata-dir.',
  ),
  stringifyNumericTypes: behaviour(
    'stringify-numeric-types',
    boolean,
    false,
    'Return bigint, numeric and double precision as JSON strings.',
  ),
  v1BooleanNullCollapse: behaviour(
    'v1-boolean-null-collapse',
    boolean,
    false,
    'Treat null in a boolean expression as true, like Hasura version 1.',
  ),
  nullInNonnullableVariables: behaviour('null-in-nonnullable-variables', boolean, false, 'Accept null for a variable of a non-null type.', {
    env: 'BACKWARDS_COMPAT_NULL_IN_NONNULLABLE_VARIABLES',
  }),
  version2OpenapiDocument: behaviour(
    'version2-openapi-document',
    boolean,
    false,
    'Describe REST endpoints like Hasura version 2. The OpenAPI document then has invalid component names, and no security, servers or errors.',
  ),
  unsentVariablesAreNull: behaviour(
    'unsent-variables-are-null',
    boolean,
    false,
    'Treat an unsent nullable variable as null, so that it sets a column to null. Otherwise the column, argument or key is omitted, and an unsent variable in a condition is rejected.',
  ),
  inferFunctionPermissions: behaviour(
    'infer-function-permissions',
    boolean,
    true,
    'Allow roles with select permission on its table to call a query function.',
  ),
  asyncActionsFetchInterval: behaviour(
    'async-actions-fetch-interval',
    milliseconds(0),
    1000,
    'Interval for polling calls of asynchronous actions, in milliseconds. Instances also notify each other. 0 disables the calls.',
  ),
  asyncActionsFetchBatchSize: behaviour(
    'async-actions-fetch-batch-size',
    wholeNumber(1, 1000),
    10,
    'Maximum number of asynchronous action calls fetched from the log at once.',
  ),
  asyncActionsLogRetention: behaviour(
    'async-actions-log-retention',
    seconds(0),
    0,
    'Retention of completed calls of asynchronous actions, in seconds; 0 keeps them forever.',
  ),
  configuredHeaderPrecedence: behaviour(
    'configured-header-precedence',
    boolean,
    false,
    'Give configured headers precedence over those of the service and the client, in calls of action handlers. Otherwise they have the lowest precedence.',
  ),
  enableRemoteSchemaPermissions: behaviour(
    'enable-remote-schema-permissions',
    boolean,
    false,
    'Enforce permissions of remote schemas. Otherwise every role sees all remote schemas.',
  ),
  defaultNamingConvention: behaviour(
    'default-naming-convention',
    choice('svc-default', 'graphql-default'),
    'svc-default',
    'Naming convention of sources, unless their metadata sets it.',
  ),
  liveQueriesMultiplexedRefetchInterval: behaviour(
    'live-queries-multiplexed-refetch-interval',
    milliseconds(1),
    1000,
    'Minimum interval between two runs of a live query, in milliseconds. It runs only after changes, if the source can detect them.',
  ),
  liveQueriesMultiplexedBatchSize: behaviour(
    'live-queries-multiplexed-batch-size',
    wholeNumber(1, 10_000),
    100,
    'Maximum number of cohorts per live query statement. A cohort is the subscribers with the same values and session variables.',
  ),
  streamingQueriesMultiplexedRefetchInterval: behaviour(
    'streaming-queries-multiplexed-refetch-interval',
    milliseconds(1),
    1000,
    'Minimum interval between two batches of a stream, in milliseconds.',
  ),
  streamingQueriesMultiplexedBatchSize: behaviour(
    'streaming-queries-multiplexed-batch-size',
    wholeNumber(1, 10_000),
    100,
    'Maximum number of cohorts per statement of a streaming subscription.',
  ),
  subscriptionsDetectorInterval: behaviour(
    'subscriptions-detector-interval',
    milliseconds(1, 3_600_000),
    100,
    'Interval for polling changes of a source with subscribers, in milliseconds. After five seconds without a change, it is 1.6 times as long.',
  ),
  experimentalFeatures: behaviour(
    'experimental-features',
    wordList(EXPERIMENTAL_FEATURES),
    new Set<ExperimentalFeature>(),
    'Comma-separated list of features to enable. naming_convention, inherited_roles and streaming_subscriptions are always enabled.',
  ),
  enableAllowlist: behaviour('enable-allowlist', boolean, false, 'Restrict roles other than admin to the operations on the allow list.'),
  documentsOnly: behaviour(
    'documents-only',
    boolean,
    false,
    'Restrict roles other than admin to listed documents, by id. Texts are rejected unread. Includes --enable-allowlist.',
  ),
  enableApq: behaviour(
    'enable-apq',
    boolean,
    false,
    'Let clients register documents by hash (APQ). No effect with --enable-allowlist or --documents-only.',
  ),
  apqMemory: behaviour(
    'apq-memory',
    wholeNumber(65_536, 1024 ** 3),
    8 * 1024 * 1024,
    'Maximum size of registered documents, in bytes. The least recently used ones are dropped.',
  ),
  legacyRowsForAllRoles: behaviour(
    'legacy-rows-for-all-roles',
    boolean,
    false,
    'Allow all roles to use data operations (select, count, insert, update, delete) on /v1/query and /v2/query, within their permissions and limits. For old clients. Otherwise, and always with --enable-allowlist, they are restricted to admin.',
  ),
  enableExtFederation: behaviour(
    'enable-ext-federation',
    boolean,
    false,
    'Make the schema a federation subgraph. Tables take part by their federation setting. Same as the experimental feature ext_federation.',
  ),
  enableRelay: behaviour(
    'enable-relay',
    boolean,
    true,
    'Serve the schema for Relay clients on /v1/relay and /v1beta1/relay, with node ids and connections.',
  ),
  enableTelemetry: behaviour('enable-telemetry', boolean, false, 'Only shown in the startup log: the service never sends telemetry.'),
} as const;
