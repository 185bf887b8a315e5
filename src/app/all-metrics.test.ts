import { expect, it } from 'vitest';
import { ALL_METRICS } from './all-metrics.ts';

/** Last words of gauges that count things and have no unit. */
const COUNTED =
  /_(info|ready|entries|schemas|flight|connections|subscriptions|pollers|state|cohorts|requests|health|version|objects|batch|workers|workers_max|pending|jobs)$/;

it.each(ALL_METRICS.map((metric) => [metric.name, metric] as const))('%s names its unit and has a help text', (name, metric) => {
  const { type, help, labels, bounds } = metric;
  expect(name).toMatch(/^svc_[a-z0-9_]+$/);
  expect(help).toMatch(/^[A-Z0-9].{10,}\.$/);
  if (type === 'counter') expect(name).toMatch(/_total$/);
  else expect(name).not.toMatch(/_total$/);
  if (type === 'histogram') expect(name).toMatch(/_(seconds|bytes)$/);
  if (type === 'gauge') expect(/_(seconds|bytes)$/.test(name) || COUNTED.test(name)).toBe(true);
  expect([...bounds].sort((a, b) => a - b)).toEqual([...bounds]);
  expect(bounds.length > 0).toBe(type === 'histogram');
  for (const label of labels) expect(label).toMatch(/^[a-z_]+$/);
});

it('has no name twice', () => {
  expect(new Set(ALL_METRICS.map(({ name }) => name)).size).toBe(ALL_METRICS.length);
});

/** Metrics on which common dashboards and alerts rely, with our prefix and units. */
const EXPECTED = `
graphql_requests_total graphql_execution_time_seconds event_fetch_time_per_batch_seconds events_fetch_query_time_seconds events_fetched_total
events_fetched_per_batch event_invocations_total event_processed_total event_processing_time_seconds event_queue_time_seconds
event_webhook_processing_time_seconds event_trigger_http_workers cron_events_invocation_total cron_events_processed_total
oneoff_events_invocation_total oneoff_events_processed_total active_subscriptions active_subscription_pollers
active_subscription_pollers_in_error_state subscription_total_time_seconds subscription_db_execution_time_seconds
websocket_messages_sent_bytes_total websocket_messages_received_bytes_total websocket_message_queue_time_seconds
websocket_message_write_time_seconds http_connections websocket_connections http_request_bytes_total http_response_bytes_total
postgres_connections postgres_connection_init_time_seconds postgres_pool_wait_time_seconds postgres_connection_errors_total source_health
cache_requests_total otel_sent_spans_total otel_dropped_spans_total action_request_bytes_total action_response_bytes_total
event_trigger_request_bytes_total event_trigger_response_bytes_total scheduled_trigger_request_bytes_total
scheduled_trigger_response_bytes_total metadata_resource_version
build_info ready metadata_inconsistent_objects metadata_sync_lag_seconds role_schemas operation_cache_entries http_requests_total
http_request_duration_seconds http_requests_in_flight graphql_errors_total limit_rejections_total auth_requests_total plan_time_seconds
operation_cache_requests_total operation_cache_evictions_total postgres_query_time_seconds postgres_pool_pending_requests
postgres_pool_max_connections postgres_pool_timeouts_total postgres_cancelled_total replica_fallbacks_total metadata_change_time_seconds
schema_build_time_seconds metadata_changes_total event_oldest_pending_age_seconds events_pending async_actions_pending events_dead_total
scheduled_event_delay_seconds subscription_cohorts subscription_polls_total outbound_requests_total outbound_request_duration_seconds
jwk_last_success_timestamp_seconds cache_bytes cache_evictions_total log_lines_dropped_total`;

it('has the metrics on which dashboards and alerts rely', () => {
  const names = new Set(ALL_METRICS.map(({ name }) => name));
  expect(EXPECTED.split(/\s+/).filter((name) => name !== '' && !names.has(`svc_${name}`))).toEqual([]);
});
