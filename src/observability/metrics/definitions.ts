/** All metrics of the service. A new one is an entry here and a place that counts; docs/metrics.md is made from this. */
import { ANSWER_BOUNDS, DELIVERY_BOUNDS, FETCH_BOUNDS, WAIT_BOUNDS, WIDE_BOUNDS } from './histogram.ts';
import type { MetricDefinition } from './registry.ts';

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
  websocketSentBytes: counter('websocket_messages_sent_bytes_total', 'Bytes written to websockets.'),
  websocketReceivedBytes: counter('websocket_messages_received_bytes_total', 'Bytes of messages from websockets.'),

  activeSubscriptions: gauge('active_subscriptions', 'Subscribers.', 'subscription_kind'),
  activePollers: gauge('active_subscription_pollers', 'Statements that are repeated for subscribers.', 'subscription_kind'),
  failingPollers: gauge(
    'active_subscription_pollers_in_error_state',
    'Statements that are repeated for subscribers and failed the last time for some.',
    'subscription_kind',
  ),
  subscriptionCohorts: gauge('subscription_cohorts', 'Groups of subscribers that get the same answers.', 'subscription_kind'),
  subscriptionPolls: counter(
    'subscription_polls_total',
    'Runs of such statements; sent: somebody got something new.',
    'subscription_kind',
    'result',
  ),
  subscriptionTotalTime: histogram(
    'subscription_total_time_seconds',
    'A whole run, hand-over to subscribers included.',
    WIDE_BOUNDS,
    'subscription_kind',
  ),
  subscriptionDatabaseTime: histogram(
    'subscription_db_execution_time_seconds',
    'Each batch of a run in the database.',
    WIDE_BOUNDS,
    'subscription_kind',
  ),

  postgresConnections: gauge('postgres_connections', 'Open connections to a database.', 'source_name', 'role', 'state'),
  postgresMaxConnections: gauge('postgres_pool_max_connections', 'Most connections that are opened.', 'source_name', 'role'),
  postgresPending: gauge('postgres_pool_pending_requests', 'Statements that wait for a connection.', 'source_name', 'role'),
  postgresInitTime: histogram('postgres_connection_init_time_seconds', 'Opening of a connection.', WIDE_BOUNDS, 'source_name', 'role'),
  postgresWaitTime: histogram(
    'postgres_pool_wait_time_seconds',
    'Wait for a connection of those that had to wait; the others count as no time.',
    WAIT_BOUNDS,
    'source_name',
    'role',
  ),
  postgresQueryTime: histogram(
    'postgres_query_time_seconds',
    'Statements and transactions while the database works on them.',
    FETCH_BOUNDS,
    'source_name',
    'role',
  ),
  postgresConnectionErrors: counter(
    'postgres_connection_errors_total',
    'Connections that could not be opened or broke.',
    'source_name',
    'role',
  ),
  postgresTimeouts: counter('postgres_pool_timeouts_total', 'Statements that got no connection in time.', 'source_name', 'role'),
  postgresCancelled: counter(
    'postgres_cancelled_total',
    'Statements that were given up: the time was over, or the client gone.',
    'source_name',
    'role',
    'reason',
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
    'From the fetch of an event to the end of the attempt to deliver it.',
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
  jwkSuccess: gauge('jwk_last_success_timestamp_seconds', 'When the keys of a jwk_url were last fetched, in Unix time.'),
  spansSent: counter('otel_sent_spans_total', 'Spans that the collector has taken.'),
  spansDropped: counter('otel_dropped_spans_total', 'Spans that were lost.', 'reason'),
  logLinesDropped: counter('log_lines_dropped_total', 'Entries of the log that nobody took in time.'),
} as const satisfies Readonly<Record<string, MetricDefinition>>;

export const ALL_METRICS: readonly MetricDefinition[] = Object.values(METRICS);
