/** Collects all metrics, including those of the process, for the export to a collector. */
import type { ExportedMetric, ExportedPoint } from '../otlp/metrics.ts';
import { processMetrics } from './process.ts';
import type { MetricFamily, Registry } from './registry.ts';

/** Returns the metrics that the metrics page would show. */
export async function collectMetrics(registry: Registry): Promise<readonly ExportedMetric[]> {
  const own = await Promise.all(registry.families.map((family) => metricOf(family, registry.since)));
  return [...own, ...(await metricsOfProcess())];
}

async function metricOf(family: MetricFamily, since: number): Promise<ExportedMetric> {
  const { definition, labels: names } = family;
  const points = (await family.samples()).map(({ labels, value }) => ({
    labels: names.map((name, i) => [name, labels[i] ?? ''] as const),
    value,
  }));
  return { definition, since, points };
}

/** Metric as prom-client returns it; each value of a histogram is a line of the text format. */
interface LibraryMetric {
  readonly name: string;
  readonly help: string;
  readonly type: string | number;
  readonly values: readonly {
    readonly labels: Readonly<Record<string, string | number | undefined>>;
    readonly value: number;
    readonly metricName?: string;
  }[];
}

async function metricsOfProcess(): Promise<readonly ExportedMetric[]> {
  const { library, since } = await processMetrics();
  const all = (await library.getMetricsAsJSON()) as readonly LibraryMetric[];
  return all.map((metric) => {
    const type = metric.type === 'counter' || metric.type === 'histogram' ? metric.type : 'gauge';
    const points = type === 'histogram' ? histograms(metric) : metric.values.map(({ labels, value }) => ({ labels: pairs(labels), value }));
    return { definition: { name: metric.name, help: metric.help, type }, since, points };
  });
}

function pairs(labels: Readonly<Record<string, string | number | undefined>>): readonly (readonly [string, string])[] {
  return Object.entries(labels).map(([name, value]) => [name, String(value)]);
}

function histograms({ name, values }: LibraryMetric): readonly ExportedPoint[] {
  const found = new Map<string, { labels: ExportedPoint['labels']; bounds: number[]; counts: number[]; sum: number; count: number }>();
  for (const { labels: all, value, metricName } of values) {
    const { le, ...others } = all;
    const labels = pairs(others);
    const key = JSON.stringify(labels);
    const one = found.get(key) ?? { labels, bounds: [], counts: [], sum: 0, count: 0 };
    found.set(key, one);
    if (metricName === `${name}_sum`) one.sum = value;
    else if (metricName === `${name}_count`) one.count = value;
    else {
      // Buckets are cumulative; the last one has no bound.
      one.counts.push(value - one.counts.reduce((sum, count) => sum + count, 0));
      if (le !== '+Inf') one.bounds.push(Number(le));
    }
  }
  return [...found.values()].map(({ labels, ...value }) => ({ labels, value }));
}
