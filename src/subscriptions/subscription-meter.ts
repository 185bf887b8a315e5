/** Metrics of subscriptions and pollers. */
import type { PollerReport } from './poller-report.ts';
import { METRICS } from '../observability/metrics/definitions.ts';
import type { Histogram } from '../observability/metrics/histogram.ts';
import type { Counter, MetricDefinition, Registry, Sample } from '../observability/metrics/registry.ts';
import type { RunTimes } from '../observability/observation.ts';
import type { OperationLabels } from '../pipeline/operation-counts.ts';

type Kind = PollerReport['kind'];
const KINDS: readonly Kind[] = ['live-query', 'streaming'];

/** A poller with the labels of its first subscriber's operation. */
export interface MeteredPoller {
  readonly report: PollerReport;
  readonly labels: OperationLabels;
}

/** Counts the runs of one poller. */
export type RunMeter = (times: RunTimes) => void;

export class SubscriptionMeter {
  readonly #registry: Registry;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  /** Returns the meter for a new poller. */
  runs(kind: Kind, labels: OperationLabels): RunMeter {
    const registry = this.#registry;
    const polls = (result: string): Counter => registry.counter(METRICS.subscriptionPolls, kind, result);
    const [sentRuns, unchanged, failed] = [polls('sent'), polls('unchanged'), polls('failed')];
    const totals: Histogram = registry.histogram(METRICS.subscriptionTotalTime, kind, ...labels);
    const databases: Histogram = registry.histogram(METRICS.subscriptionDatabaseTime, kind, ...labels);
    return ({ total, sent, failures, batches }) => {
      if (failures > 0) failed.value += 1;
      else if (sent > 0) sentRuns.value += 1;
      else unchanged.value += 1;
      totals.observe(total / 1000);
      for (const { database } of batches) databases.observe(database / 1000);
    };
  }

  /** Registers the source of gauges, which is read when metrics are collected. */
  watch(pollers: () => readonly MeteredPoller[]): void {
    const read = (metric: MetricDefinition, of: (report: PollerReport) => number): void =>
      this.#registry.read(metric, () => {
        const all = pollers();
        return KINDS.map(
          (kind): Sample => ({ labels: [kind], value: all.reduce((sum, { report }) => sum + (report.kind === kind ? of(report) : 0), 0) }),
        );
      });
    this.#registry.read(METRICS.activeSubscriptions, () => {
      // Zero is reported, too.
      const none = KINDS.map((kind): Sample => ({ labels: [kind, '', ''], value: 0 }));
      return [
        ...none,
        ...pollers().map(({ report: { kind, subscribers }, labels }): Sample => ({ labels: [kind, ...labels], value: subscribers })),
      ];
    });
    read(METRICS.activePollers, () => 1);
    read(METRICS.failingPollers, ({ failing }) => (failing > 0 ? 1 : 0));
    read(METRICS.subscriptionCohorts, ({ cohorts }) => cohorts);
  }
}
