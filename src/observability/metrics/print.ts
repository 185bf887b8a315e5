/** The metrics page in the Prometheus text format. prom-client, which prints it, is loaded only if metrics are enabled. */
import { Histogram } from './histogram.ts';
import { processMetrics } from './process.ts';
import type { MetricFamily, Registry, Sample } from './registry.ts';

export interface MetricsPage {
  readonly contentType: string;
  /** Collects the values and prints them. */
  text(): Promise<string>;
}

type Library = typeof import('prom-client');
type LibraryRegistry = ReturnType<Library['Registry']['merge']>;
type LibraryMetric = Parameters<LibraryRegistry['registerMetric']>[0];

/** Line of the text format. */
interface Line {
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

export async function metricsPage(registry: Registry): Promise<MetricsPage> {
  const { default: library } = await import('prom-client');
  const printed: LibraryRegistry = new library.Registry();
  for (const family of registry.families) printed.registerMetric(metricOf(family));
  const all = library.Registry.merge([printed, (await processMetrics()).library]);
  return { contentType: printed.contentType, text: () => all.metrics() };
}

/** Adapts a family to the library, which prints any object with a name, a type and `get`. */
function metricOf(family: MetricFamily): LibraryMetric {
  const { name, help, type } = family.definition;
  const get = async () => ({
    name,
    help,
    type,
    values: (await family.samples()).flatMap((sample) => linesOf(family, sample)),
    aggregator: 'sum',
  });
  return { name, help, type, get } as unknown as LibraryMetric;
}

function linesOf({ definition: { name }, labels: names }: MetricFamily, { labels: values, value }: Sample): readonly Line[] {
  const labels = Object.fromEntries(names.map((label, i) => [label, values[i] ?? '']));
  if (!(value instanceof Histogram)) return [{ labels, value }];
  const lines: Line[] = [];
  let count = 0;
  for (const [i, each] of value.counts.entries()) {
    count += each;
    lines.push({ metricName: `${name}_bucket`, labels: { le: value.bounds[i] ?? '+Inf', ...labels }, value: count });
  }
  lines.push({ metricName: `${name}_sum`, labels, value: value.sum }, { metricName: `${name}_count`, labels, value: count });
  return lines;
}
