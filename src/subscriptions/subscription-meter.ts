/** Counts subscriptions and the runs of what works for them. */
import type { PollerReport } from '../metadata-api/poller-report.ts';
import { METRICS } from '../observability/metrics/definitions.ts';
import type { Registry, Sample } from '../observability/metrics/registry.ts';
import type { RunTimes } from '../observability/observation.ts';

type Kind = PollerReport['kind'];
const KINDS: readonly Kind[] = ['live-query', 'streaming'];

export class SubscriptionMeter {
  readonly #registry: Registry;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  ran(kind: Kind, { total, sent, batches }: RunTimes): void {
    const registry = this.#registry;
    registry.counter(METRICS.subscriptionPolls, kind, sent > 0 ? 'sent' : 'unchanged').add();
    registry.histogram(METRICS.subscriptionTotalTime, kind).observe(total / 1000);
    const times = registry.histogram(METRICS.subscriptionDatabaseTime, kind);
    for (const { database } of batches) times.observe(database / 1000);
  }

  /** From now on the pollers are asked when somebody asks. */
  watch(reports: () => readonly PollerReport[]): void {
    const read = (metric: (typeof METRICS)[keyof typeof METRICS], of: (report: PollerReport) => number): void =>
      this.#registry.read(metric, () => {
        const all = reports();
        return KINDS.map(
          (kind): Sample => ({ labels: [kind], value: all.reduce((sum, report) => sum + (report.kind === kind ? of(report) : 0), 0) }),
        );
      });
    read(METRICS.activeSubscriptions, ({ subscribers }) => subscribers);
    read(METRICS.activePollers, () => 1);
    read(METRICS.failingPollers, ({ failing }) => (failing > 0 ? 1 : 0));
    read(METRICS.subscriptionCohorts, ({ cohorts }) => cohorts);
  }
}
