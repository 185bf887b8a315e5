/** Metrics of the process, from prom-client, which is loaded only if metrics are enabled. */
import { performance } from 'node:perf_hooks';

type Library = typeof import('prom-client');
type LibraryRegistry = ReturnType<Library['Registry']['merge']>;

export interface ProcessMetrics {
  readonly library: LibraryRegistry;
  /** Start of counting, in epoch milliseconds. */
  readonly since: number;
}

/** Gauges whose names look like those of counters. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

let cached: Promise<ProcessMetrics> | undefined;

/** Starts observing the process on the first call; all services in the process share the result. */
export function processMetrics(): Promise<ProcessMetrics> {
  cached ??= observeProcess();
  return cached;
}

async function observeProcess(): Promise<ProcessMetrics> {
  const { default: library } = await import('prom-client');
  const register: LibraryRegistry = new library.Registry();
  const since = Date.now();
  library.collectDefaultMetrics({ register });
  for (const name of MISNAMED) register.removeSingleMetric(name);
  let before = performance.eventLoopUtilization();
  new library.Gauge({
    name: 'nodejs_eventloop_utilization_ratio',
    help: 'Fraction of the time since the last scrape in which the event loop was busy.',
    registers: [register],
    collect() {
      const now = performance.eventLoopUtilization();
      this.set(performance.eventLoopUtilization(now, before).utilization);
      before = now;
    },
  });
  return { library: register, since };
}
