/** All metrics of the service: its own, and those of the servers of each kind of database. */
import type { Backend } from '../backend/backend.ts';
import type { ServerMetrics } from '../backend/server-metrics.ts';
import { backends } from '../databases/index.ts';
import { METRICS } from '../observability/metrics/definitions.ts';
import type { MetricDefinition } from '../observability/metrics/registry.ts';

/** Returns the metrics of each family of servers once: several kinds may share a family. */
export function serverMetricsOf(kinds: readonly Backend[]): readonly ServerMetrics[] {
  return [...new Set(kinds.flatMap(({ metrics }) => metrics ?? []))];
}

export function allMetricsOf(kinds: readonly Backend[]): readonly MetricDefinition[] {
  return [...Object.values(METRICS), ...serverMetricsOf(kinds).flatMap(({ metrics }) => metrics.map(({ definition }) => definition))];
}

export const ALL_METRICS: readonly MetricDefinition[] = allMetricsOf(backends);
