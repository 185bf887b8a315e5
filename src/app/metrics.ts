/** Creates the registry of metrics, and connects it to the parts of the service whose values it reads. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Backend } from '../backend/backend.ts';
import { type AccessConfig, adminSecretsOf } from '../config/access.ts';
import type { Config } from '../config/options.ts';
import { serviceVersion } from '../config/version.ts';
import type { OperationCache } from '../pipeline/operation-cache.ts';
import type { DocumentCounts } from '../pipeline/document-counts.ts';
import type { RegisteredTexts } from '../pipeline/registered-texts.ts';
import type { ResponseCache } from '../pipeline/response-cache.ts';
import { METRICS } from '../observability/metrics/definitions.ts';
import type { Histogram } from '../observability/metrics/histogram.ts';
import { metricsPage } from '../observability/metrics/print.ts';
import { type MetricDefinition, Registry, type Sample } from '../observability/metrics/registry.ts';
import type { Observer } from '../observability/observation.ts';
import type { ExportCounts } from '../observability/otlp/batch-queue.ts';
import type { MetricsAccess } from '../server/context.ts';
import type { RunningState } from '../state/create-state.ts';
import type { SourceHealth } from '../state/source-health.ts';
import { allMetricsOf, serverMetricsOf } from './all-metrics.ts';
import type { ActionLog } from '../metadata-store/action-log.ts';

export function createRegistry(config: Pick<Config, 'metricsEnableHighCardinalityLabels'>, backends: readonly Backend[]): Registry {
  return new Registry(allMetricsOf(backends), { freeLabels: config.metricsEnableHighCardinalityLabels });
}

/** The metrics page, which needs the metrics secret, or an admin secret if there is none. */
export async function metricsAccess(config: AccessConfig & Pick<Config, 'metricsSecret'>, registry: Registry): Promise<MetricsAccess> {
  const digest = (secret: string): Buffer => createHash('sha512').update(secret).digest();
  const digests = (config.metricsSecret === null ? adminSecretsOf(config) : [config.metricsSecret]).map(digest);
  return {
    page: await metricsPage(registry),
    isOpen: digests.length === 0,
    admits(secret) {
      const sent = digest(secret);
      // No early exit: the time must not depend on which secret matches.
      let matches = false;
      for (const each of digests) matches = timingSafeEqual(sent, each) || matches;
      return matches;
    },
  };
}

export interface Watched {
  readonly backends: readonly Backend[];
  readonly state: RunningState;
  readonly operations: OperationCache;
  readonly documents: DocumentCounts;
  readonly registeredTexts: RegisteredTexts | undefined;
  readonly responses: ResponseCache | null;
  readonly sourceHealth: SourceHealth;
  readonly actionLog: Pick<ActionLog, 'pending'>;
  /** Running deliveries, and their maximum. */
  readonly workers: () => { readonly busy: number; readonly total: number };
  /** Time since the newest metadata version was read, in seconds. */
  readonly syncLag: () => number;
  readonly isReady: () => boolean;
  /** Counts of what is sent to collectors. */
  readonly telemetry: { readonly spans: ExportCounts; readonly lines: ExportCounts };
  readonly linesDropped: () => number;
}

const HEALTH = { OK: 0, TIMEOUT: 1, FAILED: 2, ERROR: 3 } as const;
/** Minimum interval between statements that run for metrics only, in ms. */
const QUERY_INTERVAL_MS = 15_000;
const QUERY_TIMEOUT_MS = 5_000;

/** Registers readers that take values from the parts of the service whenever metrics are collected. */
export function watchService(registry: Registry, watched: Watched): void {
  const { state } = watched;
  registry.read(METRICS.buildInfo, () => [{ labels: [serviceVersion(), process.versions.node], value: 1 }]);
  readOne(registry, METRICS.ready, () => (watched.isReady() ? 1 : 0));
  readOne(registry, METRICS.roleSchemas, () => state.roleSchemas());
  watchCaches(registry, watched);
  watchMetadata(registry, watched);
  watchEvents(registry, watched);
  watchTelemetry(registry, watched);
  watchConnections(registry, watched);
}

function readOne(registry: Registry, definition: MetricDefinition, value: () => number | Histogram): void {
  registry.read(definition, () => [{ labels: [], value: value() }]);
}

/** Operations with their plans, and answers. */
function watchCaches(registry: Registry, { operations, responses, documents, registeredTexts }: Watched): void {
  readOne(registry, METRICS.planTime, () => operations.counts.planTime);
  registry.read(METRICS.operationCacheRequests, () => {
    const { operationHits, operationMisses, planHits, planMisses } = operations.counts;
    return [
      { labels: ['operation', 'hit'], value: operationHits },
      { labels: ['operation', 'miss'], value: operationMisses },
      { labels: ['plan', 'hit'], value: planHits },
      { labels: ['plan', 'miss'], value: planMisses },
    ];
  });
  readOne(registry, METRICS.operationCacheEvictions, () => operations.counts.evictions);
  readOne(registry, METRICS.operationCacheEntries, () => operations.entries());
  readOne(registry, METRICS.operationCacheBytes, () => operations.memory);

  registry.read(METRICS.documentRequests, () => documents.samples());
  readOne(registry, METRICS.apqBytes, () => registeredTexts?.bytes ?? 0);
  readOne(registry, METRICS.httpNotModified, () => documents.notModified);

  registry.read(METRICS.cacheRequests, () => [
    { labels: ['hit'], value: responses?.counts.hits ?? 0 },
    { labels: ['miss'], value: responses?.counts.misses ?? 0 },
  ]);
  readOne(registry, METRICS.cacheEvictions, () => responses?.counts.evictions ?? 0);
  readOne(registry, METRICS.cacheBytes, () => responses?.memory ?? 0);
}

function watchMetadata(registry: Registry, { state, sourceHealth, syncLag }: Watched): void {
  readOne(registry, METRICS.metadataVersion, () => state.current().resourceVersion);
  readOne(registry, METRICS.inconsistentObjects, () => state.current().cache.inconsistencies.length);
  registry.read(METRICS.metadataChanges, () => {
    const { ok, conflict, refused } = state.counts;
    return [
      { labels: ['ok'], value: ok },
      { labels: ['conflict'], value: conflict },
      { labels: ['refused'], value: refused },
    ];
  });
  readOne(registry, METRICS.metadataChangeTime, () => state.counts.changeTime);
  readOne(registry, METRICS.schemaBuildTime, () => state.counts.buildTime);
  readOne(registry, METRICS.metadataSyncLag, syncLag);
  registry.read(METRICS.sourceHealth, async () =>
    [...(await sourceHealth.reports())].map(([name, { status }]) => ({ labels: [name], value: HEALTH[status] })),
  );
}

function watchEvents(registry: Registry, { state, workers, actionLog }: Watched): void {
  readOne(registry, METRICS.eventWorkers, () => workers().busy);
  readOne(registry, METRICS.eventWorkersMax, () => workers().total);
  const capturing = (): readonly string[] =>
    [...state.current().cache.sources].filter(([, { eventTriggers }]) => eventTriggers.size > 0).map(([name]) => name);
  const backlogs = cachedFor(
    async () => {
      const { connections } = state.current();
      const found = await Promise.all(
        capturing().map(async (name) => {
          const backlog = await connections
            .get(name)
            ?.captures?.backlog?.({ deadline: Date.now() + QUERY_TIMEOUT_MS })
            // Metrics of connections report a source that cannot be reached.
            .catch(() => undefined);
          return backlog === undefined ? [] : [{ name, ...backlog }];
        }),
      );
      return found.flat();
    },
    () => JSON.stringify(capturing()),
  );
  registry.read(METRICS.eventsPending, async () => (await backlogs()).map(({ name, pending }) => ({ labels: [name], value: pending })));
  registry.read(METRICS.oldestEventAge, async () =>
    (await backlogs()).map(({ name, oldestAge }) => ({ labels: [name], value: oldestAge })),
  );
  const calls = cachedFor(async () => [await actionLog.pending()].map((value): Sample => ({ labels: [], value })));
  registry.read(METRICS.asyncActionsPending, () => calls().catch(() => []));
}

function watchTelemetry(registry: Registry, { telemetry: { spans, lines }, linesDropped }: Watched): void {
  for (const [sent, dropped, counts] of [
    [METRICS.spansSent, METRICS.spansDropped, spans],
    [METRICS.logsSent, METRICS.logsDropped, lines],
  ] as const) {
    readOne(registry, sent, () => counts.sent);
    registry.read(dropped, () => [
      { labels: ['buffer_full'], value: counts.full },
      { labels: ['send_failed'], value: counts.failed },
    ]);
  }
  readOne(registry, METRICS.logLinesDropped, linesDropped);
}

function watchConnections(registry: Registry, { backends, state }: Watched): void {
  for (const { family, metrics } of serverMetricsOf(backends))
    for (const { definition, samples } of metrics)
      registry.read(definition, () =>
        [...state.current().connections].flatMap(([source, connection]) =>
          (connection.measures?.() ?? [])
            .filter((server) => server.family === family)
            .flatMap((server) => samples(server).map(({ labels, value }) => ({ labels: [source, ...labels], value }))),
        ),
      );
}

/** Passes observations on, and updates the metrics that are derived from them. */
export function meteredObserver(observe: Observer, registry: Registry): Observer {
  let lastKeys = 0;
  registry.read(METRICS.jwkSuccess, () => (lastKeys === 0 ? [] : [{ labels: [], value: lastKeys }]));
  return (observation) => {
    if (observation.kind === 'jwk-refresh' && observation.error === null) lastKeys = Date.now() / 1000;
    observe(observation);
  };
}

/** Caches the result of a query for `QUERY_INTERVAL_MS`, or until its key changes. */
function cachedFor<T>(query: () => Promise<T>, key: () => string = () => ''): () => Promise<T> {
  let cachedKey = '';
  let cachedAt = Number.NEGATIVE_INFINITY;
  let cached: Promise<T> | undefined;
  return () => {
    const now = performance.now();
    const current = key();
    if (cached === undefined || current !== cachedKey || now - cachedAt >= QUERY_INTERVAL_MS) {
      cachedKey = current;
      cachedAt = now;
      cached = query();
    }
    return cached;
  };
}
