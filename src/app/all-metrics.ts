import type { Backend } from '../backend/backend.ts';
import type { ServerMetrics } from '../backend/server-metrics.ts';
import { backends } from '../databases/index.ts';
import { METRICS } from '../observability/metrics/definitions.ts';
import type { MetricDefinition } from '../observability/metrics/registry.ts';

/** Metrics of database servers, each family once: several kinds may share a family. */
export function serverMetricsOf(kinds: readonly Backend[]): readonly ServerMetrics[] {
  return [...new Set(kinds.flatMap(({ metrics }) => metrics ?? []))];
}

/** Metrics of the service and of the database servers of some kinds. */
export function allMetricsOf(kinds: readonly Backend[]): readonly MetricDefinition[] {
  return [...Object.values(METRICS), ...serverMetricsOf(kinds).flatMap(({ metrics }) => metrics.map(({ definition }) => definition))];
}

export const ALL_METRICS: readonly MetricDefinition[] = allMetricsOf(backends);
