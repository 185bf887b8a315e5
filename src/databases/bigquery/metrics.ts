import type { ServerMetrics } from '../../backend/server-metrics.ts';
import { counter, gauge, histogram } from '../../observability/metrics/define.ts';
import { FETCH_BOUNDS, WAIT_BOUNDS } from '../../observability/metrics/histogram.ts';
import { type ConnectionMetrics, connectionMetrics, SERVER_LABELS } from '../shared/connection-metrics.ts';

/** BigQuery has no connections: the number of jobs at a time is limited instead. */
const JOBS: ConnectionMetrics = {
  connections: gauge('bigquery_jobs', 'Slots for concurrent statements.', ...SERVER_LABELS, 'state'),
  maxConnections: gauge('bigquery_max_jobs', 'Maximum number of concurrent statements.', ...SERVER_LABELS),
  pending: gauge('bigquery_pending_requests', 'Statements that wait for a slot.', ...SERVER_LABELS),
  waitTime: histogram(
    'bigquery_wait_time_seconds',
    'Time that statements waited for a slot; 0 for those that did not wait.',
    WAIT_BOUNDS,
    ...SERVER_LABELS,
  ),
  queryTime: histogram(
    'bigquery_query_time_seconds',
    'Time from the start of a statement to the last page of its rows.',
    FETCH_BOUNDS,
    ...SERVER_LABELS,
  ),
  errors: counter('bigquery_connection_errors_total', 'Statements that failed because BigQuery was unreachable.', ...SERVER_LABELS),
  timeouts: counter('bigquery_pool_timeouts_total', 'Statements that could not start in time.', ...SERVER_LABELS),
  cancelled: counter(
    'bigquery_cancelled_total',
    'Statements that were cancelled by a timeout or a disconnected client.',
    ...SERVER_LABELS,
    'reason',
  ),
};

export const metrics: ServerMetrics = {
  family: 'bigquery',
  metrics: [
    ...connectionMetrics(JOBS),
    {
      definition: counter('bigquery_processed_bytes_total', 'Bytes read by statements.', 'source_name'),
      samples: ({ counts }) => [{ labels: [], value: counts.processedBytes }],
    },
    {
      definition: counter('bigquery_billed_bytes_total', 'Billed bytes.', 'source_name'),
      samples: ({ counts }) => [{ labels: [], value: counts.billedBytes }],
    },
  ],
};
