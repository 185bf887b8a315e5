import {
  boolean,
  type CorsDomains,
  choice,
  corsDomains,
  databaseName,
  type HookMethod,
  type HostNames,
  hostNames,
  httpMethod,
  httpUrl,
  integer,
  listOf,
  milliseconds,
  nameList,
  absolutePath,
  nonEmpty,
  type OptionType,
  optional,
  password,
  postgresUrl,
  seconds,
  secret,
  secretList,
  text,
} from './option-types.ts';
import { jwtSecret, jwtSecrets } from './jwt-secret.ts';

/**
 * Every option of the service, once: flags, environment variables, defaults, validation, `--help`
 * and the documentation page come from this table. A new option is a row here, and whoever owns the
 * feature reads it from `Config`. All durations in `Config` are milliseconds.
 */
export interface Option<T> {
  /** Without the dashes. */
  readonly flag: string;
  readonly short?: string;
  /** Absent: the flag only. */
  readonly env?: string;
  /** Read when the other one is not set. */
  readonly olderEnv?: string;
  readonly type: OptionType<T>;
  readonly default: T;
  readonly group: OptionGroup;
  readonly help: string;
  /** Of a list: values that are accepted, for set-ups name them, although their feature is not there; until what. */
  readonly withoutEffect?: ReadonlyMap<string, string>;
}

export type OptionGroup = 'Databases' | 'HTTP' | 'Access' | 'Behaviour' | 'Events' | 'Limits' | 'Logging';

interface Details extends Pick<Option<unknown>, 'withoutEffect'> {
  readonly short?: string;
  /** Replaces the upper-case flag behind the prefix; null: there is no variable. */
  readonly env?: string | null;
  readonly olderEnv?: string;
}

/** Of the environment variables of all options. */
export const VARIABLE_PREFIX = 'SVC_GRAPHQL_';

function row(group: OptionGroup) {
  return <T>(flag: string, type: OptionType<T>, byDefault: NoInfer<T>, help: string, details: Details = {}): Option<T> => ({
    flag,
    ...(details.short === undefined ? {} : { short: details.short }),
    ...(details.env === null ? {} : { env: VARIABLE_PREFIX + (details.env ?? flag.toUpperCase().replaceAll('-', '_')) }),
    ...(details.olderEnv === undefined ? {} : { olderEnv: VARIABLE_PREFIX + details.olderEnv }),
    ...(details.withoutEffect === undefined ? {} : { withoutEffect: details.withoutEffect }),
    type,
    default: byDefault,
    group,
    help,
  });
}

const API_TYPES = ['metadata', 'graphql', 'pgdump', 'developer', 'config', 'metrics'] as const;
const LOG_TYPES = [
  'startup',
  'http-log',
  'webhook-log',
  'websocket-log',
  'jwk-refresh-log',
  'query-log',
  'execution-log',
  'livequery-poller-log',
  'action-handler-log',
  'health-check-log',
] as const;
// Others of the field's known names are refused until the feature exists. Naming conventions need no switch, but
// set-ups name them.
const EXPERIMENTAL_FEATURES = [
  'naming_convention',
  'hide_aggregation_predicates',
  'hide_update_many_fields',
  'no_null_unbound_variable_default',
  'ext_federation',
  'multiple-subscription-roots',
] as const;

export type ApiType = (typeof API_TYPES)[number];
export type LogType = (typeof LOG_TYPES)[number];
export type ExperimentalFeature = (typeof EXPERIMENTAL_FEATURES)[number];

const databases = row('Databases');
const http = row('HTTP');
const access = row('Access');
const behaviour = row('Behaviour');
const events = row('Events');
const limits = row('Limits');
const logging = row('Logging');

export const options = {
  databaseUrl: databases(
    'database-url',
    optional(postgresUrl),
    null,
    'PostgreSQL that becomes the source "default". Without this and without a metadata database, the embedded PostgreSQL provides both.',
  ),
  metadataDatabaseUrl: databases(
    'metadata-database-url',
    optional(postgresUrl),
    null,
    'PostgreSQL that keeps the metadata (schema svc_catalog). Absent: the one of --database-url.',
  ),
  host: databases(
    'host',
    optional(nonEmpty),
    null,
    'Host of the PostgreSQL of --database-url, or the folder of its socket, in place of that option; needs --user and --dbname too.',
    { env: null },
  ),
  port: databases('port', optional(integer(1, 65_535)), null, 'Port, with --host. Absent: 5432.', { env: null }),
  user: databases('user', optional(nonEmpty), null, 'User, with --host.', { short: 'u', env: null }),
  password: databases(
    'password',
    optional(password),
    null,
    'Password, with --host. Other users of the machine can see the flags of a process: the variable of --database-url is safer.',
    { short: 'p', env: null },
  ),
  dbname: databases('dbname', optional(databaseName), null, 'Name of the database, with --host.', { short: 'd', env: null }),
  pgConnectionOptions: databases(
    'pg-connection-options',
    optional(nonEmpty),
    null,
    'Settings of the server for each connection, with --host, such as "-c statement_timeout=10s".',
    { short: 'o', env: null },
  ),
  dynamicSecretsAllowedPathPrefix: databases(
    'dynamic-secrets-allowed-path-prefix',
    optional(absolutePath),
    null,
    'Folder below which database URLs may be read from files: "dynamic_from_file" in the metadata, and dynamic-from-file:///path for the URLs above. Another text in the file counts for connections that are opened from then on.',
  ),
  dataDir: databases('data-dir', text, '.svc', 'Folder of the embedded PostgreSQL, used only when no database URL is given.'),
  sampleData: databases(
    'sample-data',
    boolean,
    false,
    'Load the sample music store into the embedded PostgreSQL, when that is new, and track it.',
  ),
  retries: databases('retries', integer(0, 10_000), 60, 'How often to try again to reach the metadata database at start, a second apart.', {
    env: 'NO_OF_RETRIES',
  }),
  connections: databases('connections', integer(1, 10_000), 50, 'Most connections to one source, where its metadata says nothing else.', {
    short: 'c',
    env: 'PG_CONNECTIONS',
  }),
  stripes: databases(
    'stripes',
    integer(1, 1000),
    1,
    'Multiplies --connections: so many times as many connections to one source, where its metadata says nothing else.',
    { short: 's', env: 'PG_STRIPES' },
  ),
  timeout: databases('timeout', seconds(0), 180_000, 'Close a connection that was idle for so long.', { env: 'PG_TIMEOUT' }),
  connLifetime: databases('conn-lifetime', seconds(0), 600_000, 'Replace a connection of this age; 0 keeps it.', {
    env: 'PG_CONN_LIFETIME',
  }),
  poolTimeout: databases(
    'pool-timeout',
    seconds(0),
    30_000,
    'Longest wait for a free connection, before the request fails with status 503. Those who wait take turns by role.',
    { env: 'PG_POOL_TIMEOUT' },
  ),
  usePreparedStatements: databases(
    'use-prepared-statements',
    boolean,
    true,
    'Prepare statements on the connection; switch off behind a pooler that hands out transactions.',
  ),
  preparedStatementMemory: databases(
    'prepared-statement-memory',
    integer(0),
    33_554_432,
    'Most memory for the prepared statements of one connection, in bytes: estimated, in the database. A statement that would take more than an eighth of it is not prepared.',
  ),
  txIso: databases(
    'tx-iso',
    choice('read-committed', 'repeatable-read', 'serializable'),
    'read-committed',
    'Isolation level of transactions, where the metadata of the source says nothing else.',
    { short: 'i', env: 'TX_ISOLATION' },
  ),
  schemaSyncPollInterval: databases(
    'schema-sync-poll-interval',
    milliseconds(0),
    1000,
    'How often to look for metadata changes made by other instances, besides being told of them; 0 does not follow them at all.',
  ),

  serverPort: http('server-port', integer(0, 65_535), 8080, 'Port to listen on; 0 takes a free one.'),
  serverHost: http('server-host', text, '*', 'Address to listen on; * is all of them.'),
  serverTimeout: http('server-timeout', seconds(0), 30_000, 'How long a client may take to send a request; 0 is no limit.'),
  responseTimeout: http(
    'response-timeout',
    seconds(0),
    30_000,
    'Close the connection of a client that has taken nothing of an answer for so long, or less than 64 KiB a second of a large one beyond that time; 0 is no limit.',
  ),
  maxTotalHeaderLength: http(
    'max-total-header-length',
    integer(1024, 16_777_216),
    16_384,
    'Most bytes of the URL and the headers of a request; more is refused with status 431. The head of a token is read before anybody knows who sent it, so a large value lets strangers make work.',
  ),
  gracefulShutdownTimeout: http(
    'graceful-shutdown-timeout',
    seconds(0),
    60_000,
    'How long requests in flight may still run after SIGINT or SIGTERM.',
  ),
  corsDomain: http(
    'cors-domain',
    corsDomains,
    '*' as CorsDomains,
    'Origins that browsers may call from: a comma separated list of scheme://[*.]host[:port], or *. Pages of other origins may use cookies, or a service without an admin secret, only if their origin is in the list; * is no list.',
  ),
  trustedHosts: http(
    'trusted-hosts',
    hostNames,
    [] as HostNames,
    'Names by which a service without an admin secret is addressed, besides localhost, IP addresses, names without a point, --server-host and the hosts of --cors-domain: a comma separated list of [*.]host, or *. Requests for other names are refused.',
  ),
  disableCors: http('disable-cors', boolean, false, 'Send no CORS headers and answer no preflight request.'),
  websocketKeepalive: http(
    'websocket-keepalive',
    seconds(0, 3600),
    5000,
    'How often websockets and event streams get a sign of life, so that proxies leave them open; 0 sends none.',
  ),
  websocketConnectionInitTimeout: http(
    'websocket-connection-init-timeout',
    seconds(1, 3600),
    3000,
    'How long a client may take to say who it is, once its websocket is open.',
  ),
  websocketCompression: http(
    'websocket-compression',
    boolean,
    false,
    'Compress messages of 1 KiB and more for websockets of clients that can read that; it takes time and memory for every one of them.',
    { env: 'CONNECTION_COMPRESSION' },
  ),
  wsReadCookie: http(
    'ws-read-cookie',
    boolean,
    false,
    'Let the cookie of a websocket count even with --disable-cors; without CORS it is ignored otherwise.',
  ),
  closeWebsocketsOnMetadataChange: http(
    'close-websockets-on-metadata-change',
    boolean,
    false,
    'Close all websockets and event streams with every change of the metadata, so that clients connect anew. Without it they stay, and what has changed holds for them from then on.',
  ),
  enabledApis: http(
    'enabled-apis',
    listOf(API_TYPES, 'Only expecting list of comma separated API types metadata,graphql,pgdump,developer,config,metrics'),
    new Set<ApiType>(['metadata', 'graphql', 'pgdump', 'config']),
    'Comma separated list of the endpoint groups to serve.',
    {
      withoutEffect: new Map<ApiType, string>([
        ['pgdump', 'there is the endpoint /v1alpha1/pg_dump'],
        ['developer', 'there are endpoints under /dev'],
        ['metrics', 'there is the endpoint /v1/metrics'],
      ]),
    },
  ),

  adminSecret: access('admin-secret', optional(secret), null, 'Secret that makes a request an administrator. Absent: everybody is one.'),
  adminSecrets: access('admin-secrets', optional(secretList), null, 'JSON list of such secrets, in place of --admin-secret.'),
  accessKey: access('access-key', optional(secret), null, 'Older name of --admin-secret, which wins over it.'),
  authHook: access(
    'auth-hook',
    optional(httpUrl),
    null,
    'URL of the webhook that says who a request without admin secret is. Needs an admin secret.',
  ),
  authHookMode: access('auth-hook-mode', httpMethod, 'GET' as HookMethod, 'Whether the webhook gets headers (GET) or a JSON body (POST).', {
    olderEnv: 'AUTH_HOOK_TYPE',
  }),
  authHookSendRequestBody: access(
    'auth-hook-send-request-body',
    boolean,
    true,
    'Put the GraphQL request into the JSON body that the webhook gets in POST mode.',
  ),
  jwtSecret: access(
    'jwt-secret',
    optional(jwtSecret),
    null,
    'How to verify the JSON web tokens of requests without admin secret: an object with type and key, or jwk_url. Needs an admin secret.',
  ),
  jwtSecrets: access('jwt-secrets', optional(jwtSecrets), null, 'JSON list of such objects, in place of --jwt-secret.'),
  unauthorizedRole: access(
    'unauthorized-role',
    optional(nonEmpty),
    null,
    'Role of requests without credentials. Absent: they are refused. Needs an admin secret; not with --auth-hook.',
  ),
  refusePrivateAddresses: access(
    'refuse-private-addresses',
    boolean,
    false,
    'Call no webhook or other service on an address that is not public. Link-local addresses and the metadata services of clouds are never called.',
  ),
  adminInternalErrors: access('admin-internal-errors', boolean, true, 'Put internal details into the errors that administrators see.'),
  devMode: access('dev-mode', boolean, false, 'Put internal details into the errors that everybody sees.'),
  preserve401Errors: access(
    'preserve-401-errors',
    boolean,
    false,
    'Keep status 401 on /v1/graphql when the credentials are refused, in place of 200.',
  ),
  disableIntrospection: access(
    'disable-introspection',
    boolean,
    false,
    'Answer __schema, __type and _service to administrators only, and list no enum values in errors to others. Without it, the metadata names the roles for which this is so.',
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
    'How often a source with subscribers is asked for changes.',
  ),
  experimentalFeatures: behaviour(
    'experimental-features',
    listOf(EXPERIMENTAL_FEATURES),
    new Set<ExperimentalFeature>(),
    'Comma separated list of features to switch on; naming_convention is always on.',
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

  disableEventing: events(
    'disable-eventing',
    boolean,
    false,
    'Deliver no events of event triggers, cron triggers and one-off schedules: they are kept for instances that do, and the events of cron triggers are not made ahead.',
  ),
  eventsHttpPoolSize: events(
    'events-http-pool-size',
    integer(1, 100_000),
    100,
    'Most events that are delivered at a time. One trigger takes three quarters of them at most.',
  ),
  eventsFetchInterval: events(
    'events-fetch-interval',
    milliseconds(0),
    1000,
    'How often to look for events of triggers in a source that had none, besides being told of them; 0 delivers none of event triggers.',
  ),
  eventsFetchBatchSize: events(
    'events-fetch-batch-size',
    integer(0, 10_000),
    100,
    'Most events that are taken from a database at a time; 0 delivers none of event triggers.',
  ),
  enableTriggersErrorLogLevel: events(
    'enable-triggers-error-log-level',
    boolean,
    false,
    'Log deliveries that fail with the level error rather than info.',
  ),

  requestBodyLimit: limits('request-body-limit', integer(1, 1_073_741_824), 16_777_216, 'Largest request body, in bytes.'),
  requestValueLimit: limits(
    'request-value-limit',
    integer(1),
    200_000,
    'Most values in the JSON of a GraphQL request, for each megabyte of it or less. An object counts as 4, a text with escapes and a number with a point as 2, a number that a double would change as 2 more, and its digits beyond 100 as 1 each; a key counts as 10 where an object gets a new shape by it, once there are 1000 other shapes.',
  ),
  queryDepthLimit: limits('query-depth-limit', integer(1, 1000), 100, 'Deepest nesting of selections in a GraphQL document.'),
  queryTokenLimit: limits('query-token-limit', integer(1), 10_000, 'Most tokens in a GraphQL document, comments included.'),
  queryNodeLimit: limits(
    'query-node-limit',
    integer(1),
    5000,
    'Most fields and values of a GraphQL operation once its fragments are spread, and most parts of variables that decide how it runs: of filters, orders and rows that are not alike. Nested rows of variables do not count, but for each conflict clause that updates rows by a condition of its own; the rows of an operation may have 200,000 values. In conditions and orders each table of a relationship counts as 25 more, each aggregate of one as 100, and those of permission rules with them. For a batch this, like the limits of tokens, objects and aliases, is the most of all its operations together.',
  ),
  queryObjectLimit: limits(
    'query-object-limit',
    integer(1),
    500,
    'Most fields with a selection of their own in a GraphQL operation, once its fragments are spread.',
  ),
  queryAliasLimit: limits('query-alias-limit', integer(0), 500, 'Most aliases in a GraphQL operation once its fragments are spread.'),
  joinKeyLimit: limits(
    'join-key-limit',
    integer(1),
    10_000,
    'Most different keys that a request may ask other sources and remote schemas for. For a batch this is the most of all its operations together.',
  ),
  joinResponseLimit: limits(
    'join-response-limit',
    integer(1),
    268_435_456,
    'Longest answer with parts of several sources or remote schemas, in characters; and the most that is printed of the answers of remote schemas and actions, where a field is asked for under many names. For a batch this is the most of all such answers together.',
  ),
  remoteSchemaResponseLimit: limits(
    'remote-schema-response-limit',
    integer(1, 1_073_741_824),
    67_108_864,
    'Most bytes that remote schemas may answer to one request together. For a batch this is the most of all its operations together.',
  ),
  websocketConnectionLimit: limits(
    'websocket-connection-limit',
    integer(0),
    20_000,
    'Most websockets and event streams at the same time; 0 allows none.',
  ),
  websocketOperationLimit: limits(
    'websocket-operation-limit',
    integer(1),
    500,
    'Most operations of one websocket at the same time: its subscriptions, and its queries and mutations that have not been answered.',
  ),
  websocketMessageLimit: limits(
    'websocket-message-limit',
    integer(1024, 1_073_741_824),
    4_194_304,
    'Largest message of a client over a websocket, in bytes.',
  ),
  actionResponseLimit: limits(
    'action-response-limit',
    integer(1, 1_073_741_824),
    33_554_432,
    'Most bytes that handlers of actions may answer to one request together. For a batch this is the most of all its operations together.',
  ),
  batchLimit: limits('batch-limit', integer(1), 100, 'Most operations in one batched request.'),
  requestTimeout: limits('request-timeout', seconds(0), 120_000, 'Cancel a GraphQL request that runs longer; 0 is no limit.'),
  operationCacheSize: limits('operation-cache-size', integer(0), 1000, 'Most operations whose plans a role keeps.'),
  operationCacheMemory: limits(
    'operation-cache-memory',
    integer(0),
    67_108_864,
    'Most memory for these operations and their plans, in bytes: of all roles together, one role takes at most half of it, and what would take more than a 32nd is not kept. Estimated, in the service; what the databases keep of statements is bounded by itself.',
  ),
  plansPerOperation: limits(
    'plans-per-operation',
    integer(1),
    16,
    'Most plans kept for one operation, one for each shape of its variables.',
  ),

  logLevel: logging('log-level', choice('debug', 'info', 'warn', 'error'), 'info', 'Least severe level that is logged.'),
  logFormat: logging(
    'log-format',
    choice('auto', 'text', 'json'),
    'auto',
    'How the log is written: auto is text on a terminal, and elsewhere JSON. Text has colours on a terminal, unless the variable NO_COLOR is set.',
  ),
  enabledLogTypes: logging(
    'enabled-log-types',
    listOf(LOG_TYPES),
    new Set<LogType>(['startup', 'http-log', 'webhook-log', 'websocket-log', 'jwk-refresh-log']),
    'Comma separated list of the optional log types to write. query-log has an entry for each GraphQL query, with its variables and SQL, and puts queries into the entries of http-log.',
    {
      withoutEffect: new Map<LogType, string>([['execution-log', 'executions are measured']]),
    },
  ),
  logMaskedVariables: logging(
    'log-masked-variables',
    nameList,
    new Set<string>() as ReadonlySet<string>,
    'Comma separated list of GraphQL variables whose values logs show as "[MASKED]": in queries, in statements (whose SQL is masked too where such a variable shaped it), and in URLs. Messages of errors may still quote a value.',
  ),
  httpLogQueryOnlyOnError: logging(
    'http-log-query-only-on-error',
    boolean,
    false,
    'Let http-log show the query of failed requests only; of others just the name of the operation. There are queries only with the log type query-log.',
  ),
  enableMetadataQueryLogging: logging(
    'enable-metadata-query-logging',
    boolean,
    false,
    'Let http-log show whole operations of the metadata and schema APIs, where it has just their type; only with the log type query-log. Connection strings, passwords, header values and the like are "[MASKED]"; SQL and templates are shown as they are, with the secrets in them.',
  ),
} as const;

export type OptionName = keyof typeof options;

/** The settings of one process, complete and checked. Durations are milliseconds. */
export type Config = { readonly [K in OptionName]: (typeof options)[K] extends Option<infer T> ? T : never };

/** The rows in the order of the table. */
export const optionRows = Object.entries(options) as readonly (readonly [OptionName, Option<unknown>])[];
