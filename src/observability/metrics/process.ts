/** What prom-client knows of the process. Loaded when metrics are wanted. */
import { performance } from 'node:perf_hooks';

type Library = typeof import('prom-client');
type LibraryRegistry = ReturnType<Library['Registry']['merge']>;

export interface ProcessMetrics {
  readonly library: LibraryRegistry;
  /** When it began: ms since the epoch. */
  readonly since: number;
}

/** Gauges that are named as if they were counters. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

let known: Promise<ProcessMetrics> | undefined;

/** What observes the process stays for good, so that there is one for all services in it. */
export function processMetrics(): Promise<ProcessMetrics> {
  known ??= observeProcess();
  return known;
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
    help: 'Part of the time since the last scrape in which the event loop was busy.',
    registers: [register],
    collect() {
      const now = performance.eventLoopUtilization();
      this.set(performance.eventLoopUtilization(now, before).utilization);
      before = now;
    },
  });
  return { library: register, since };
}
