/** Builders for the table of metrics. */
import type { MetricDefinition } from './registry.ts';

/** Labels with many possible values, from clients or from objects of the metadata. */
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

export const counter = (name: string, help: string, ...labels: string[]): MetricDefinition => metric('counter', name, help, labels);
export const gauge = (name: string, help: string, ...labels: string[]): MetricDefinition => metric('gauge', name, help, labels);
export const histogram = (name: string, help: string, bounds: readonly number[], ...labels: string[]): MetricDefinition =>
  metric('histogram', name, help, labels, bounds);
