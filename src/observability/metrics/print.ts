/** The text that Prometheus reads. prom-client prints it and adds what it knows of the process; loaded when metrics are wanted. */
import { performance } from 'node:perf_hooks';
import { Histogram } from './histogram.ts';
import type { MetricFamily, Registry, Sample } from './registry.ts';

export interface MetricsPage {
  readonly contentType: string;
  /** Measures and prints. */
  text(): Promise<string>;
}

type Library = typeof import('prom-client');
type LibraryRegistry = ReturnType<Library['Registry']['merge']>;
type LibraryMetric = Parameters<LibraryRegistry['registerMetric']>[0];

/** A line of the text. */
interface Line {
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** Gauges that are named as if they were counters. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

export async function metricsPage(registry: Registry): Promise<MetricsPage> {
  const { default: library } = await import('prom-client');
  const printed: LibraryRegistry = new library.Registry();
  for (const family of registry.families) printed.registerMetric(metricOf(family));
  const all = library.Registry.merge([printed, processMetrics(library)]);
  return { contentType: printed.contentType, text: () => all.metrics() };
}

let ofProcess: LibraryRegistry | undefined;

/** What observes the process stays for good, so that there is one for all services in it. */
function processMetrics(library: Library): LibraryRegistry {
  if (ofProcess !== undefined) return ofProcess;
  const register: LibraryRegistry = new library.Registry();
  library.collectDefaultMetrics({ register });
  for (const name of MISNAMED) register.removeSingleMetric(name);
  let before = performance.eventLoopUtilization();
  new library.Gauge({
    name: 'nodejs_eventloop_utilization_ratio',
    help: 'Part of the time since the last scrape in which the event loop was busy.',
    registers: [register],
    collect() {
      const now = performance.eventLoopUtilization();
      this.set(performance.eventLoopUtilization(now, before).utilization);
      before = now;
    },
  });
  ofProcess = register;
  return register;
}

/** The library prints whatever has a name, a type and `get`. */
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
