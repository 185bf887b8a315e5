/** Metrics of the connections to a server, under the names of a kind. */
import type { ServerMeasures } from '../../backend/connection-counts.ts';
import type { ServerMetric } from '../../backend/server-metrics.ts';
import { counter, gauge, histogram } from '../../observability/metrics/define.ts';
import { FETCH_BOUNDS, type Histogram, WAIT_BOUNDS, WIDE_BOUNDS } from '../../observability/metrics/histogram.ts';
import type { MetricDefinition } from '../../observability/metrics/registry.ts';

/** Definitions with the labels `source_name` and `role`; `connections` with `state`, `cancelled` with `reason` beside them. */
export interface ConnectionMetrics {
  readonly connections: MetricDefinition;
  readonly most: MetricDefinition;
  readonly pending: MetricDefinition;
  /** Absent if nothing is opened. */
  readonly initTime?: MetricDefinition;
  readonly waitTime: MetricDefinition;
  readonly queryTime: MetricDefinition;
  readonly errors: MetricDefinition;
  readonly timeouts: MetricDefinition;
  readonly cancelled: MetricDefinition;
}

/** First labels of all metrics of a server. */
export const SERVER_LABELS: readonly string[] = ['source_name', 'role'];

/** Definitions of a pool of connections. @param family prefix of the names: `postgres` */
export function poolDefinitions(family: string): ConnectionMetrics {
  return {
    connections: gauge(`${family}_connections`, 'Open connections to a database.', ...SERVER_LABELS, 'state'),
    most: gauge(`${family}_pool_max_connections`, 'Most connections that are opened.', ...SERVER_LABELS),
    pending: gauge(`${family}_pool_pending_requests`, 'Statements that wait for a connection.', ...SERVER_LABELS),
    initTime: histogram(`${family}_connection_init_time_seconds`, 'Opening of a connection.', WIDE_BOUNDS, ...SERVER_LABELS),
    waitTime: histogram(
      `${family}_pool_wait_time_seconds`,
      'Wait for a connection of those that had to wait; the others count as no time.',
      WAIT_BOUNDS,
      ...SERVER_LABELS,
    ),
    queryTime: histogram(
      `${family}_query_time_seconds`,
      'Statements and transactions while the database works on them.',
      FETCH_BOUNDS,
      ...SERVER_LABELS,
    ),
    errors: counter(`${family}_connection_errors_total`, 'Connections that could not be opened or broke.', ...SERVER_LABELS),
    timeouts: counter(`${family}_pool_timeouts_total`, 'Statements that got no connection in time.', ...SERVER_LABELS),
    cancelled: counter(
      `${family}_cancelled_total`,
      'Statements that were given up: the time was over, or the client gone.',
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
  const { connections, most, pending, initTime, waitTime, queryTime, errors, timeouts, cancelled } = definitions;
  return [
    several(connections, ({ used, idle }) => ({ used, idle })),
    one(most, (server) => server.most),
    one(pending, (server) => server.pending),
    ...(initTime === undefined ? [] : [one(initTime, ({ counts }) => counts.initTime)]),
    one(waitTime, ({ counts }) => counts.waitTime),
    one(queryTime, ({ counts }) => counts.queryTime),
    one(errors, ({ counts }) => counts.errors),
    one(timeouts, ({ counts }) => counts.timeouts),
    several(cancelled, ({ counts }) => ({ timeout: counts.late, client_gone: counts.abandoned })),
  ];
}
