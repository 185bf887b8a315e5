/** Metrics of the connections to a server, with the prefix of a kind. */
import type { ServerMeasures } from '../../backend/connection-counts.ts';
import type { ServerMetric } from '../../backend/server-metrics.ts';
import { counter, gauge, histogram } from '../../observability/metrics/define.ts';
import { FETCH_BOUNDS, type Histogram, WAIT_BOUNDS, WIDE_BOUNDS } from '../../observability/metrics/histogram.ts';
import type { MetricDefinition } from '../../observability/metrics/registry.ts';

/** Definitions with the labels `source_name` and `role`, and in addition `state` for `connections` and `reason` for `cancelled`. */
export interface ConnectionMetrics {
  readonly connections: MetricDefinition;
  readonly maxConnections: MetricDefinition;
  readonly pending: MetricDefinition;
  /** Present for servers with connections. */
  readonly initTime?: MetricDefinition;
  readonly waitTime: MetricDefinition;
  readonly queryTime: MetricDefinition;
  readonly errors: MetricDefinition;
  readonly timeouts: MetricDefinition;
  readonly cancelled: MetricDefinition;
}

/** First labels of every metric of a server. */
export const SERVER_LABELS: readonly string[] = ['source_name', 'role'];

/** Definitions for a connection pool. @param family prefix of the names: `postgres` */
export function poolDefinitions(family: string): ConnectionMetrics {
  return {
    connections: gauge(`${family}_connections`, 'Open connections to a database.', ...SERVER_LABELS, 'state'),
    maxConnections: gauge(`${family}_pool_max_connections`, 'Maximum number of open connections.', ...SERVER_LABELS),
    pending: gauge(`${family}_pool_pending_requests`, 'Statements that wait for a connection.', ...SERVER_LABELS),
    initTime: histogram(`${family}_connection_init_time_seconds`, 'Time to open a connection.', WIDE_BOUNDS, ...SERVER_LABELS),
    waitTime: histogram(
      `${family}_pool_wait_time_seconds`,
      'Time that statements waited for a connection; 0 for those that did not wait.',
      WAIT_BOUNDS,
      ...SERVER_LABELS,
    ),
    queryTime: histogram(
      `${family}_query_time_seconds`,
      'Time that the database spent on statements and transactions.',
      FETCH_BOUNDS,
      ...SERVER_LABELS,
    ),
    errors: counter(`${family}_connection_errors_total`, 'Connections that failed to open or were lost.', ...SERVER_LABELS),
    timeouts: counter(`${family}_pool_timeouts_total`, 'Statements that got no connection in time.', ...SERVER_LABELS),
    cancelled: counter(
      `${family}_cancelled_total`,
      'Statements that were cancelled by a timeout or a disconnected client.',
      ...SERVER_LABELS,
      'reason',
    ),
  };
}

/** Returns the metrics with these definitions. */
export function connectionMetrics(definitions: ConnectionMetrics): readonly ServerMetric[] {
  const one = (definition: MetricDefinition, value: (server: ServerMeasures) => number | Histogram): ServerMetric => ({
    definition,
    samples: (server) => [{ labels: [server.role], value: value(server) }],
  });
  const several = (definition: MetricDefinition, values: (server: ServerMeasures) => Readonly<Record<string, number>>): ServerMetric => ({
    definition,
    samples: (server) => Object.entries(values(server)).map(([label, value]) => ({ labels: [server.role, label], value })),
  });
  const { connections, maxConnections, pending, initTime, waitTime, queryTime, errors, timeouts, cancelled } = definitions;
  return [
    several(connections, ({ used, idle }) => ({ used, idle })),
    one(maxConnections, (server) => server.maxConnections),
    one(pending, (server) => server.pending),
    ...(initTime === undefined ? [] : [one(initTime, ({ counts }) => counts.initTime)]),
    one(waitTime, ({ counts }) => counts.waitTime),
    one(queryTime, ({ counts }) => counts.queryTime),
    one(errors, ({ counts }) => counts.errors),
    one(timeouts, ({ counts }) => counts.timeouts),
    several(cancelled, ({ counts }) => ({ timeout: counts.timedOut, client_gone: counts.cancelled })),
  ];
}
