/** All metrics of the service. A new one is an entry here and a place that counts; docs/metrics.md is made from this. */
import { ANSWER_BOUNDS, DELIVERY_BOUNDS, FETCH_BOUNDS, WAIT_BOUNDS, WIDE_BOUNDS } from './histogram.ts';
import type { MetricDefinition } from './registry.ts';

/** Kinds of servers whose metrics have names of their own. */
export type ServerFamily = 'postgres' | 'mariadb' | 'bigquery';

/** Filled by clients, or by many objects of the metadata. */
const FREE_LABELS: ReadonlySet<string> = new Set(['operation_name', 'parameterized_query_hash', 'trigger_name']);

function metric(
  type: MetricDefinition['type'],
  name: string,
  help: string,
  labels: readonly string[] = [],
  bounds: readonly number[] = [],
): MetricDefinition {
  return { name: `svc_${name}`, help, type, labels, freeLabels: labels.filter((label) => FREE_LABELS.has(label)), bounds };
}

const counter = (name: string, help: string, ...labels: string[]): MetricDefinition => metric('counter', name, help, labels);
const gauge = (name: string, help: string, ...labels: string[]): MetricDefinition => metric('gauge', name, help, labels);
const histogram = (name: string, help: string, bounds: readonly number[], ...labels: string[]): MetricDefinition =>
  metric('histogram', name, help, labels, bounds);

const OPERATION = ['operation_name', 'parameterized_query_hash'];

export const METRICS = {
  buildInfo: gauge('build_info', 'Always 1; the labels tell what runs.', 'version', 'node'),
  ready: gauge('ready', '1 while the service takes requests, else 0.'),

  graphqlRequests: counter(
    'graphql_requests_total',
    'Operations received; of unknown type are those that were refused before it was known.',
    'operation_type',
    'response_status',
    ...OPERATION,
  ),
  graphqlExecutionTime: histogram(
    'graphql_execution_time_seconds',
    'Successful queries and mutations, from authorization to the last byte of the sources.',
    ANSWER_BOUNDS,
    'operation_type',
  ),
  graphqlErrors: counter('graphql_errors_total', 'GraphQL operations that failed, by the code of their error.', 'code'),
  limitRejections: counter('limit_rejections_total', 'Operations refused for a limit of their role.', 'limit'),
  planTime: histogram('plan_time_seconds', 'Planning of operations that were not in the cache.', FETCH_BOUNDS),
  operationCacheRequests: counter('operation_cache_requests_total', 'Operations and plans looked for in the cache.', 'cache', 'result'),
  operationCacheEvictions: counter('operation_cache_evictions_total', 'Operations that were forgotten for others.'),
  operationCacheEntries: gauge('operation_cache_entries', 'Operations that are kept.'),
  operationCacheBytes: gauge('operation_cache_bytes', 'What is kept of operations and plans, estimated.'),
  cacheRequests: counter('cache_requests_total', 'Queries with @cached that may be answered from the cache.', 'status'),
  cacheEvictions: counter('cache_evictions_total', 'Kept answers that were forgotten for others.'),
  cacheBytes: gauge('cache_bytes', 'Bytes of answers that are kept.'),
  roleSchemas: gauge('role_schemas', 'GraphQL schemas of roles that are kept.'),

  httpRequests: counter('http_requests_total', 'HTTP requests, without health and metrics.', 'endpoint', 'method', 'status'),
  httpRequestDuration: histogram(
    'http_request_duration_seconds',
    'HTTP requests from their head to the hand-over of the answer.',
    ANSWER_BOUNDS,
    'endpoint',
    'method',
  ),
  httpRequestsInFlight: gauge('http_requests_in_flight', 'HTTP requests that are being answered, or wait for their turn.'),
  httpConnections: gauge('http_connections', 'Open connections of clients, those of websockets included.'),
  httpRequestBytes: counter('http_request_bytes_total', 'Bytes of bodies received.'),
  httpResponseBytes: counter('http_response_bytes_total', 'Bytes of bodies sent.'),
  authRequests: counter('auth_requests_total', 'Requests whose credentials were looked at, by where they are.', 'place', 'result'),

  websocketConnections: gauge('websocket_connections', 'Open websockets and event streams.'),
  websocketSentBytes: counter(
    'websocket_messages_sent_bytes_total',
    'Bytes written to websockets, by operation; without a name those of none.',
    ...OPERATION,
  ),
  websocketQueueTime: histogram(
    'websocket_message_queue_time_seconds',
    'Messages of websockets until the operating system takes them; those that it takes at once count as no time.',
    WIDE_BOUNDS,
  ),
  websocketWriteTime: histogram('websocket_message_write_time_seconds', 'Writing of messages to websockets.', WIDE_BOUNDS),
  websocketReceivedBytes: counter('websocket_messages_received_bytes_total', 'Bytes of messages from websockets.'),

  activeSubscriptions: gauge(
    'active_subscriptions',
    'Subscribers, by the operation of whoever subscribed first to their statement.',
    'subscription_kind',
    ...OPERATION,
  ),
  activePollers: gauge('active_subscription_pollers', 'Statements that are repeated for subscribers.', 'subscription_kind'),
  failingPollers: gauge(
    'active_subscription_pollers_in_error_state',
    'Statements that are repeated for subscribers and failed the last time for some.',
    'subscription_kind',
  ),
  subscriptionCohorts: gauge('subscription_cohorts', 'Groups of subscribers that get the same answers.', 'subscription_kind'),
  subscriptionPolls: counter(
    'subscription_polls_total',
    'Runs of such statements; sent: somebody got something new, failed: some of the statements of the run did.',
    'subscription_kind',
    'result',
  ),
  subscriptionTotalTime: histogram(
    'subscription_total_time_seconds',
    'A whole run, hand-over to subscribers included.',
    WIDE_BOUNDS,
    'subscription_kind',
    ...OPERATION,
  ),
  subscriptionDatabaseTime: histogram(
    'subscription_db_execution_time_seconds',
    'Each batch of a run in the database.',
    WIDE_BOUNDS,
    'subscription_kind',
    ...OPERATION,
  ),

  replicaFallbacks: counter('replica_fallbacks_total', 'Queries that a read replica failed and the primary answered.', 'source_name'),
  sourceHealth: gauge('source_health', 'Last health check: 0 OK, 1 TIMEOUT, 2 FAILED, 3 ERROR.', 'source_name'),

  metadataVersion: gauge('metadata_resource_version', 'Version of the metadata in force.'),
  inconsistentObjects: gauge('metadata_inconsistent_objects', 'Objects of the metadata that cannot be used.'),
  metadataChanges: counter('metadata_changes_total', 'Requests that change the metadata.', 'result'),
  metadataChangeTime: histogram('metadata_change_time_seconds', 'Requests that change the metadata.', ANSWER_BOUNDS),
  schemaBuildTime: histogram('schema_build_time_seconds', 'From metadata and catalogs to what requests see.', ANSWER_BOUNDS),
  metadataSyncLag: gauge('metadata_sync_lag_seconds', 'Since the metadata database last said which version is the newest.'),

  eventsFetched: counter('events_fetched_total', 'Events of event triggers taken from a source.', 'source_name'),
  eventsFetchedPerBatch: gauge('events_fetched_per_batch', 'Events of the last batch.'),
  eventFetchTime: histogram('event_fetch_time_per_batch_seconds', 'Fetching a batch of events.', FETCH_BOUNDS),
  eventFetchQueryTime: histogram(
    'events_fetch_query_time_seconds',
    'Questions to a source for events of event triggers, those that find none included.',
    FETCH_BOUNDS,
    'status',
    'source_name',
  ),
  eventInvocations: counter(
    'event_invocations_total',
    'Attempts to deliver events of event triggers.',
    'status',
    'trigger_name',
    'source_name',
  ),
  eventsProcessed: counter(
    'event_processed_total',
    'Events of event triggers that are done with: delivered or given up.',
    'status',
    'trigger_name',
    'source_name',
  ),
  eventQueueTime: histogram(
    'event_queue_time_seconds',
    'From the fetch of an event to the beginning of its delivery.',
    DELIVERY_BOUNDS,
    'trigger_name',
    'source_name',
  ),
  eventProcessingTime: histogram(
    'event_processing_time_seconds',
    'From the moment an event was made, or its next attempt was due, to the end of the attempt to deliver it.',
    DELIVERY_BOUNDS,
    'trigger_name',
    'source_name',
  ),
  eventWebhookTime: histogram(
    'event_webhook_processing_time_seconds',
    'Calls of webhooks of event triggers.',
    ANSWER_BOUNDS,
    'trigger_name',
    'source_name',
  ),
  eventWorkers: gauge('event_trigger_http_workers', 'Deliveries of any kind that are under way.'),
  eventWorkersMax: gauge('event_trigger_http_workers_max', 'Most deliveries that may be under way.'),
  eventsPending: gauge('events_pending', 'Events that wait for their delivery; asked every 15 seconds at most.', 'source_name'),
  oldestEventAge: gauge(
    'event_oldest_pending_age_seconds',
    'Since the oldest such event is due; asked every 15 seconds at most.',
    'source_name',
  ),
  eventsDead: counter(
    'events_dead_total',
    'Events that are given up: after their last attempt, or because they were too late for the first one.',
    'kind',
    'trigger_name',
    'source_name',
  ),
  scheduledEventDelay: histogram(
    'scheduled_event_delay_seconds',
    'First attempts to deliver events of schedules, behind their time.',
    DELIVERY_BOUNDS,
    'kind',
  ),
  asyncActionsPending: gauge('async_actions_pending', 'Calls of asynchronous actions that are not answered.'),
  cronInvocations: counter('cron_events_invocation_total', 'Attempts to deliver events of cron triggers.', 'status'),
  cronProcessed: counter('cron_events_processed_total', 'Events of cron triggers that are done with.', 'status'),
  oneOffInvocations: counter('oneoff_events_invocation_total', 'Attempts to deliver one-off events.', 'status'),
  oneOffProcessed: counter('oneoff_events_processed_total', 'One-off events that are done with.', 'status'),

  outboundRequests: counter(
    'outbound_requests_total',
    'Calls of other servers, by status class; failed: no answer, blocked: the address may not be called.',
    'kind',
    'status',
  ),
  outboundDuration: histogram('outbound_request_duration_seconds', 'Calls of other servers.', ANSWER_BOUNDS, 'kind'),
  actionRequestBytes: counter('action_request_bytes_total', 'Bytes of bodies sent to handlers of actions.'),
  actionResponseBytes: counter('action_response_bytes_total', 'Bytes of bodies that they answered.'),
  eventRequestBytes: counter('event_trigger_request_bytes_total', 'Bytes of bodies sent to webhooks of event triggers.'),
  eventResponseBytes: counter('event_trigger_response_bytes_total', 'Bytes of bodies that they answered.'),
  scheduledRequestBytes: counter(
    'scheduled_trigger_request_bytes_total',
    'Bytes of bodies sent to webhooks of cron triggers and one-off events.',
  ),
  scheduledResponseBytes: counter('scheduled_trigger_response_bytes_total', 'Bytes of bodies that they answered.'),
  jwkSuccess: gauge('jwk_last_success_timestamp_seconds', 'When the keys of a jwk_url were last fetched, in Unix time.'),
  spansSent: counter('otel_sent_spans_total', 'Spans that the collector has taken.'),
  spansDropped: counter('otel_dropped_spans_total', 'Spans that were lost.', 'reason'),
  logsSent: counter('otel_sent_logs_total', 'Lines of the log that the collector has taken.'),
  logsDropped: counter('otel_dropped_logs_total', 'Lines of the log that the collector was to get and that were lost.', 'reason'),
  logLinesDropped: counter('log_lines_dropped_total', 'Entries of the log that nobody took in time.'),
} as const satisfies Readonly<Record<string, MetricDefinition>>;

/** Of the servers behind a kind of source, and of what the service waits for there. */
export interface ServerMetrics {
  readonly connections: MetricDefinition;
  readonly most: MetricDefinition;
  readonly pending: MetricDefinition;
  /** null: nothing is opened. */
  readonly initTime: MetricDefinition | null;
  readonly waitTime: MetricDefinition;
  readonly queryTime: MetricDefinition;
  readonly errors: MetricDefinition;
  readonly timeouts: MetricDefinition;
  readonly cancelled: MetricDefinition;
}

const SERVER = ['source_name', 'role'];

function poolMetrics(family: string): ServerMetrics {
  return {
    connections: gauge(`${family}_connections`, 'Open connections to a database.', ...SERVER, 'state'),
    most: gauge(`${family}_pool_max_connections`, 'Most connections that are opened.', ...SERVER),
    pending: gauge(`${family}_pool_pending_requests`, 'Statements that wait for a connection.', ...SERVER),
    initTime: histogram(`${family}_connection_init_time_seconds`, 'Opening of a connection.', WIDE_BOUNDS, ...SERVER),
    waitTime: histogram(
      `${family}_pool_wait_time_seconds`,
      'Wait for a connection of those that had to wait; the others count as no time.',
      WAIT_BOUNDS,
      ...SERVER,
    ),
    queryTime: histogram(
      `${family}_query_time_seconds`,
      'Statements and transactions while the database works on them.',
      FETCH_BOUNDS,
      ...SERVER,
    ),
    errors: counter(`${family}_connection_errors_total`, 'Connections that could not be opened or broke.', ...SERVER),
    timeouts: counter(`${family}_pool_timeouts_total`, 'Statements that got no connection in time.', ...SERVER),
    cancelled: counter(
      `${family}_cancelled_total`,
      'Statements that were given up: the time was over, or the client gone.',
      ...SERVER,
      'reason',
    ),
  };
}

/** BigQuery has no connections: what is bounded are the jobs that run at a time. */
const JOBS: ServerMetrics = {
  connections: gauge('bigquery_jobs', 'Statements that may run at a time, by whether they do.', ...SERVER, 'state'),
  most: gauge('bigquery_max_jobs', 'Most statements that run at a time.', ...SERVER),
  pending: gauge('bigquery_pending_requests', 'Statements that wait for others to end.', ...SERVER),
  initTime: null,
  waitTime: histogram(
    'bigquery_wait_time_seconds',
    'Wait for others to end; those that need not wait count as no time.',
    WAIT_BOUNDS,
    ...SERVER,
  ),
  queryTime: histogram(
    'bigquery_query_time_seconds',
    'Statements from their beginning to the last page of their rows.',
    FETCH_BOUNDS,
    ...SERVER,
  ),
  errors: counter('bigquery_connection_errors_total', 'Statements that failed because BigQuery could not be called.', ...SERVER),
  timeouts: counter('bigquery_pool_timeouts_total', 'Statements that could not begin in time.', ...SERVER),
  cancelled: counter(
    'bigquery_cancelled_total',
    'Statements that were given up: the time was over, or the client gone.',
    ...SERVER,
    'reason',
  ),
};

export const SERVER_METRICS = {
  postgres: poolMetrics('postgres'),
  mariadb: poolMetrics('mariadb'),
  bigquery: JOBS,
} as const satisfies Readonly<Record<ServerFamily, ServerMetrics>>;

/** What prom-client knows of the process, and the part of the time in which the event loop is busy. Some are of Linux alone. */
export const PROCESS_METRICS: readonly string[] = [
  'process_cpu_user_seconds_total',
  'process_cpu_system_seconds_total',
  'process_cpu_seconds_total',
  'process_start_time_seconds',
  'process_resident_memory_bytes',
  'process_virtual_memory_bytes',
  'process_heap_bytes',
  'process_open_fds',
  'process_max_fds',
  'nodejs_eventloop_lag_seconds',
  'nodejs_eventloop_lag_min_seconds',
  'nodejs_eventloop_lag_max_seconds',
  'nodejs_eventloop_lag_mean_seconds',
  'nodejs_eventloop_lag_stddev_seconds',
  'nodejs_eventloop_lag_p50_seconds',
  'nodejs_eventloop_lag_p90_seconds',
  'nodejs_eventloop_lag_p99_seconds',
  'nodejs_eventloop_utilization_ratio',
  'nodejs_active_resources',
  'nodejs_active_handles',
  'nodejs_active_requests',
  'nodejs_heap_size_total_bytes',
  'nodejs_heap_size_used_bytes',
  'nodejs_external_memory_bytes',
  'nodejs_heap_space_size_total_bytes',
  'nodejs_heap_space_size_used_bytes',
  'nodejs_heap_space_size_available_bytes',
  'nodejs_version_info',
  'nodejs_gc_duration_seconds',
];

/** What BigQuery charges for. */
export const BIGQUERY_BYTES = {
  processed: counter('bigquery_processed_bytes_total', 'Bytes that statements have read.', 'source_name'),
  billed: counter('bigquery_billed_bytes_total', 'Bytes that are charged for.', 'source_name'),
} as const;

export const ALL_METRICS: readonly MetricDefinition[] = [
  ...Object.values(METRICS),
  ...Object.values(SERVER_METRICS).flatMap((family) => Object.values(family).flatMap((metric: MetricDefinition | null) => metric ?? [])),
  ...Object.values(BIGQUERY_BYTES),
];
