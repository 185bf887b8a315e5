/** Metrics of the servers that run the statements of sources. Types only. */
import type { MetricDefinition, Sample } from '../observability/metrics/registry.ts';
import type { ServerMeasures } from './connection-counts.ts';

export interface ServerMetric {
  /** Its first label is `source_name`. */
  readonly definition: MetricDefinition;
  /** Returns the samples of one server, with the values of all labels but the first. */
  samples(server: ServerMeasures): readonly Sample[];
}

/** Metrics of all servers with one `family`. Kinds with the same sort of server share one object. */
export interface ServerMetrics {
  readonly family: string;
  readonly metrics: readonly ServerMetric[];
}
