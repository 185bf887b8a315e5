import type { Observation, PollerObservation, SourceHealthObservation, WebsocketObservation } from './observation.ts';
import type { LogLevel } from './log-level.ts';

/** All observations but requests and queries, which are so frequent that they are printed by faster code. */
export type RareObservation = Exclude<Observation, { readonly kind: 'http' | 'query' }>;

export interface LogEntry {
  readonly level: LogLevel;
  readonly type: string;
  readonly detail: object;
}

/** Level, type and detail of the log entry of an observation. */
export function logEntry(o: RareObservation): LogEntry {
  switch (o.kind) {
    case 'webhook': {
      const level = o.error !== null || (o.status !== 200 && o.status !== 401) ? 'error' : o.message === null ? 'info' : 'warn';
      const { status: status_code, url, method, error: http_error, message } = o;
      return { level, type: 'webhook-log', detail: { status_code, url, method, http_error, response: null, message } };
    }
    case 'query-cost': {
      const { requestId: request_id, source, processedBytes: processed_bytes, billedBytes: billed_bytes } = o;
      return { level: 'info', type: 'query-log', detail: { request_id, kind: 'cost', source, processed_bytes, billed_bytes } };
    }
    case 'websocket':
      return { level: hasError(o) ? 'error' : 'info', type: 'websocket-log', detail: websocketDetail(o) };
    case 'action': {
      const { action, type, request, transformedRequest, requestSize, transformedRequestSize, outcome } = o;
      const detail = {
        request,
        ...(transformedRequest === null ? {} : { request_trans: transformedRequest }),
        request_size: requestSize,
        ...(transformedRequestSize === null ? {} : { transformed_request_size: transformedRequestSize }),
        ...('error' in outcome ? { error: outcome.error } : { response_size: outcome.responseSize, response_status: outcome.status }),
        action_name: action,
        action_type: type,
      };
      return { level: 'error' in outcome ? 'error' : 'info', type: 'action-handler-log', detail };
    }
    case 'poller':
      return { level: 'info', type: 'livequery-poller-log', detail: pollerDetail(o) };
    case 'jwk-refresh': {
      const { url, message, error } = o;
      return { level: error === null ? 'info' : 'error', type: 'jwk-refresh-log', detail: { url, message, http_error: error } };
    }
    case 'source-health':
      return { level: o.status === 'OK' ? 'info' : 'warn', type: 'health-check-log', detail: healthDetail(o) };
    case 'startup':
      return {
        level: o.info?.['warning'] === undefined ? 'info' : 'warn',
        type: 'startup',
        detail: { kind: o.message, info: o.info ?? {} },
      };
    case 'shutdown':
      return { level: 'info', type: 'startup', detail: { kind: 'shutdown', info: o.message } };
    case 'source':
      return { level: 'warn', type: 'pg-client', detail: { source: o.source, event: o.event, message: o.message } };
    case 'telemetry':
      return { level: 'warn', type: 'opentelemetry', detail: { data: o.data, event: o.event, message: o.message } };
    case 'remote-schema':
      return { level: 'warn', type: 'remote-schema', detail: { remote_schema: o.remoteSchema, event: o.event, message: o.message } };
    case 'delivery': {
      const { level, of, eventId: event_id, eventName: event_name, request, response } = o;
      return { level, type: of, detail: { event_id, event_name, request, response } };
    }
    case 'deliveries-fetched':
      return { level: 'info', type: `${o.of}-process`, detail: o.detail };
    case 'cron-events-made':
      return { level: 'info', type: 'cron-event-generator-process', detail: { num_cron_triggers: o.triggers, num_events_made: o.events } };
    case 'event-logs-cleaned': {
      const { source, trigger, events: deleted_event_logs, invocations: deleted_event_invocation_logs } = o;
      return {
        level: 'info',
        type: 'event-trigger-process',
        detail: { source, trigger, deleted_event_logs, deleted_event_invocation_logs },
      };
    }
    case 'delivery-trouble':
      return { level: 'warn', type: 'event-delivery', detail: { queue: o.queue, message: o.message } };
    case 'slow-query': {
      const { requestId: request_id, role, operationName: operation_name, type, duration, document: query, statements } = o;
      const generated_sql = statements.map(({ source, sql }) => ({ source, query: sql }));
      return {
        level: 'warn',
        type: 'slow-query-log',
        detail: { request_id, role, operation_name, type, milliseconds: Math.round(duration), query, generated_sql },
      };
    }
    case 'audit': {
      const { requestId: request_id, role, user, ip, types, versionBefore: version_before, versionAfter: version_after, error } = o;
      return { level: 'info', type: 'audit', detail: { request_id, role, user, ip, types, version_before, version_after, error } };
    }
    case 'metadata':
      return { level: 'info', type: 'metadata', detail: { message: o.message, ...o.info } };
    case 'unexpected': {
      const error = o.error instanceof Error ? (o.error.stack ?? o.error.message) : String(o.error);
      return { level: 'error', type: 'unhandled-internal-error', detail: { message: o.message, error } };
    }
  }
}

/** True if the log type of an observation is enabled. Warnings at the start and failed calls of actions are written even without their types. */
export function isTypeEnabled(o: RareObservation, enabledTypes: ReadonlySet<string>): boolean {
  switch (o.kind) {
    case 'webhook':
      return enabledTypes.has('webhook-log');
    case 'websocket':
      return enabledTypes.has('websocket-log');
    case 'action':
      return 'error' in o.outcome || enabledTypes.has('action-handler-log');
    case 'query-cost':
      return enabledTypes.has('query-log');
    case 'jwk-refresh':
      return enabledTypes.has('jwk-refresh-log');
    case 'poller':
      return enabledTypes.has('livequery-poller-log');
    case 'source-health':
      return enabledTypes.has('health-check-log');
    case 'startup':
      return enabledTypes.has('startup') || o.info?.['warning'] !== undefined;
    default:
      return true;
  }
}

function healthDetail({ source, status, timestamp, error, check }: SourceHealthObservation): object {
  const { interval, retries, attempt, timeout } = check;
  const internal = { interval, max_retries: retries, retry_iteration: attempt, timeout };
  return { source_name: source, status, timestamp, error, internal };
}

function hasError({ event }: WebsocketObservation): boolean {
  return 'error' in event && event.error !== null;
}

function websocketDetail({ websocketId, userVariables, expiresAt, message, event }: WebsocketObservation): object {
  return {
    user_vars: userVariables === null ? null : Object.fromEntries(userVariables),
    connection_info: {
      websocket_id: websocketId,
      token_expiry: expiresAt === null ? null : new Date(expiresAt).toISOString(),
      msg: message,
    },
    event: { type: event.type, detail: eventDetail(event) },
  };
}

function eventDetail(event: WebsocketObservation['event']): object | null {
  if (event.type !== 'operation') return 'error' in event ? event.error : null;
  const { operationId, requestId, operationName, state, error, query } = event;
  return {
    operation_id: operationId,
    request_id: requestId,
    operation_name: operationName,
    operation_type: { type: state, detail: error },
    ...(query === null ? {} : { query }),
  };
}

/** Prints times in seconds. */
function pollerDetail({
  of,
  pollerId,
  source,
  role,
  subscribers,
  cohorts,
  sql,
  batchSize,
  refetchIntervalMs,
  times,
}: PollerObservation): object {
  const seconds = (ms: number): number => ms / 1000;
  return {
    kind: of,
    poller_id: pollerId,
    source,
    role,
    subscriber_count: subscribers,
    cohort_count: cohorts,
    generated_sql: sql,
    subscription_options: { batch_size: batchSize, refetch_delay: seconds(refetchIntervalMs) },
    total_time: seconds(times.total),
    detector_time: times.detector === null ? null : seconds(times.detector),
    db_execution_time: seconds(times.database),
    hashing_time: seconds(times.hashing),
    push_time: seconds(times.sending),
    sent: times.sent,
    execution_batches: times.batches.map((batch, i) => ({
      batch_id: i + 1,
      cohort_count: batch.cohorts,
      db_execution_time: seconds(batch.database),
      batch_response_size_bytes: batch.bytes,
    })),
  };
}
