import type { ServerMetrics } from '../../backend/server-metrics.ts';
import { counter, gauge, histogram } from '../../observability/metrics/define.ts';
import { FETCH_BOUNDS, WAIT_BOUNDS } from '../../observability/metrics/histogram.ts';
import { type ConnectionMetrics, connectionMetrics, SERVER_LABELS } from '../shared/connection-metrics.ts';

/** BigQuery has no connections: the number of jobs at a time is limited instead. */
const JOBS: ConnectionMetrics = {
  connections: gauge('bigquery_jobs', 'Statements that may run at a time, by whether they do.', ...SERVER_LABELS, 'state'),
  most: gauge('bigquery_max_jobs', 'Most statements that run at a time.', ...SERVER_LABELS),
  pending: gauge('bigquery_pending_requests', 'Statements that wait for others to end.', ...SERVER_LABELS),
  waitTime: histogram(
    'bigquery_wait_time_seconds',
    'Wait for others to end; those that need not wait count as no time.',
    WAIT_BOUNDS,
    ...SERVER_LABELS,
  ),
  queryTime: histogram(
    'bigquery_query_time_seconds',
    'Statements from their beginning to the last page of their rows.',
    FETCH_BOUNDS,
    ...SERVER_LABELS,
  ),
  errors: counter('bigquery_connection_errors_total', 'Statements that failed because BigQuery could not be called.', ...SERVER_LABELS),
  timeouts: counter('bigquery_pool_timeouts_total', 'Statements that could not begin in time.', ...SERVER_LABELS),
  cancelled: counter(
    'bigquery_cancelled_total',
    'Statements that were given up: the time was over, or the client gone.',
    ...SERVER_LABELS,
    'reason',
  ),
};

/** Metrics of BigQuery. */
export const metrics: ServerMetrics = {
  family: 'bigquery',
  metrics: [
    ...connectionMetrics(JOBS),
    {
      definition: counter('bigquery_processed_bytes_total', 'Bytes that statements have read.', 'source_name'),
      samples: ({ counts }) => [{ labels: [], value: counts.processedBytes }],
    },
    {
      definition: counter('bigquery_billed_bytes_total', 'Bytes that are charged for.', 'source_name'),
      samples: ({ counts }) => [{ labels: [], value: counts.billedBytes }],
    },
  ],
};
