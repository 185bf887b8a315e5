/** The composition root: the order in which the parts of the service start and stop. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAdministration } from '../admin-api/administration.ts';
import type { SqlRun } from '../metadata-api/operation.ts';
import type { Backend } from '../backend/backend.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { Config } from '../config/options.ts';
import { serviceVersion } from '../config/version.ts';
import { backends as allBackends } from '../databases/index.ts';
import { EventMeter } from '../events/event-meter.ts';
import { createOutboundClient, type OutboundClient } from '../http-client/client.ts';
import { meteredClient } from '../http-client/metered-client.ts';
import { tlsAllowlistOf } from '../http-client/tls-allowlist.ts';
import type { EnvironmentVariables } from '../metadata/environment-template.ts';
import { kindsOf } from '../metadata/kinds.ts';
import { createCatalogStateStore } from '../metadata-store/catalog-state.ts';
import { createMetadataHistory } from '../metadata-store/metadata-history.ts';
import { createScheduledEvents } from '../metadata-store/scheduled-events.ts';
import type { Logger } from '../observability/logger.ts';
import type { Observer } from '../observability/observation.ts';
import type { Registry } from '../observability/metrics/registry.ts';
import { collectMetrics } from '../observability/metrics/collect.ts';
import { Counting } from '../observability/metrics/counting.ts';
import { collectedOperations } from '../pipeline/collected-operations.ts';
import { createOperationMeter } from '../pipeline/operation-meter.ts';
import { createDocumentPreparation } from '../pipeline/prepare-documents.ts';
import type { RequestPipeline } from '../pipeline/request-pipeline.ts';
import type { ResponseCache } from '../pipeline/response-cache.ts';
import { PurgeKeys } from '../server/purge-keys.ts';
import type { HttpServer } from '../server/server.ts';
import type { RunningState } from '../state/create-state.ts';
import { type SourceHealth, watchSourceHealth } from '../state/source-health.ts';
import { createSubscriptions, type RunningSubscriptions } from '../subscriptions/create-subscriptions.ts';
import { SubscriptionMeter } from '../subscriptions/subscription-meter.ts';
import { tracedClient } from '../webhooks/traced-client.ts';
import { asynchronousActions } from './asynchronous-actions.ts';
import { catalogReader } from './catalog-reader.ts';
import { configReport, optionsReport } from './config-report.ts';
import { startDeliveries } from './deliveries.ts';
import { startMetadataSync } from './metadata-sync.ts';
import { createRegistry, meteredObserver, watchService } from './metrics.ts';
import { type MetadataStore, openMetadataStore } from './open-metadata-store.ts';
import { openServer } from './open-server.ts';
import { openState } from './open-state.ts';
import { createRequestPipeline, openResponseCache } from './request-pipeline.ts';
import { serviceLogger } from './service-logger.ts';
import { startSummary } from './start-summary.ts';
import { reportConfiguration } from './startup-report.ts';
import { subscriptionOptions } from './subscription-options.ts';
import { startTelemetry, type Telemetry } from './telemetry/telemetry.ts';

export interface Service {
  /** `http://localhost:8080` */
  readonly url: string;
  /** Closes `ServeOptions.startPath`. */
  endStart(): void;
  /** Finishes requests in flight, then closes all connections. */
  stop(): Promise<void>;
  /**
   * Reads the catalogs of the sources of some kinds, by source name. Leaves out sources that cannot be read, and those whose definitions
   * have not changed since the previous call; this check is cheaper than reading a catalog.
   */
  readCatalogs(kinds: ReadonlySet<string>): Promise<ReadonlyMap<string, Catalog>>;
  /** Calls the listener after every change of the metadata, those of other instances included. */
  onMetadata(listener: () => void): void;
}

export interface ServeOptions {
  /** Variables that metadata may refer to. Defaults to the environment of the process. */
  readonly environment?: EnvironmentVariables;
  readonly logger?: Logger;
  /** Database kinds. Defaults to all. */
  readonly backends?: readonly Backend[];
  /** False until the work that follows the start is done; until then health checks fail. */
  readonly isReady?: () => boolean;
  /** False until the project of `svc dev` is deployed; until then, only the command line gets answers. */
  readonly isDeployed?: () => boolean;
  /** Secret path below which the caller reaches all endpoints, even disabled ones, until `endStart`. Defaults to `null`, for none. */
  readonly startPath?: string | null;
  /** Called after SQL of an administrator that is not read-only. */
  readonly onSql?: (run: SqlRun) => void;
}

interface Running extends Required<Omit<ServeOptions, 'backends'>> {
  readonly backends: readonly Backend[];
  readonly instanceId: string;
  readonly store: MetadataStore;
  readonly state: RunningState;
}

/**
 * Starts the service on databases that exist.
 * @throws SvcError or Error if the metadata database cannot be reached or the port is in use
 */
export async function serve(config: Config, options: ServeOptions = {}): Promise<Service> {
  const { environment = process.env, backends = allBackends } = options;
  const {
    logger = serviceLogger(config, environment),
    isReady = () => true,
    isDeployed = () => true,
    startPath = null,
    onSql = () => undefined,
  } = options;
  const { observe } = logger;
  const instanceId = randomUUID();
  reportConfiguration(config, environment, instanceId, observe);
  if (config.metadataDatabaseUrl === null) throw new Error('no metadata database is configured');
  const kinds = kindsOf(backends);
  const store = await openMetadataStore(config, config.metadataDatabaseUrl, kinds, observe);
  const closing: (() => Promise<void>)[] = [() => store.database.close()];
  try {
    const { state, close } = await openState(config, { store, backends, kinds, environment, instanceId, observe });
    closing.unshift(close);
    const service = await start(config, {
      ...{ environment, logger, backends, isReady, isDeployed, startPath, onSql, instanceId, store, state },
    });
    return {
      ...service,
      async stop() {
        await service.stop();
        for (const each of closing) await each();
        await logger.settle();
        logger.flush();
      },
    };
  } catch (error) {
    for (const each of closing) await each();
    throw error;
  }
}

/** Shared by the parts of a running service. */
interface Shared extends Omit<Running, 'store'>, MetadataStore {
  readonly registry: Registry;
  readonly counting: Counting;
  readonly hasMetricsPage: boolean;
  readonly observe: Observer;
  readonly responses: ResponseCache | null;
}

/** Starts everything that depends on the state. The `stop` of its result leaves the state and the store open. */
async function start(config: Config, { store, ...running }: Running): Promise<Service> {
  const { logger, state, instanceId } = running;
  const registry = createRegistry(config, running.backends);
  const hasMetricsPage = config.enabledApis.has('metrics');
  const observe = meteredObserver(logger.observe, registry);
  const responses = openResponseCache(config, state);
  const shared: Shared = { ...running, ...store, registry, counting: new Counting(hasMetricsPage), hasMetricsPage, observe, responses };
  const sync = await startMetadataSync({
    ...{ state, storage: store.storage, instanceId, interval: config.schemaSyncPollInterval, observe },
    onForget: (which) => void responses?.clear(which),
  });
  const network = openNetwork(config, shared);
  const work = startWork(config, shared, network);
  const documents = createDocumentPreparation(work.pipeline, (error) =>
    observe({ kind: 'unexpected', message: 'preparing documents failed', error }),
  );
  documents.follow(state.current());
  const unfollow = state.onSnapshot((shown) => documents.follow(shown));
  const sourceHealth = watchSourceHealth({ state, observe });

  let isStopping = false;
  watchService(registry, {
    ...{ backends: running.backends, state, responses, operations: work.pipeline.operations, sourceHealth },
    ...{ documents: work.pipeline.documentCounts, registeredTexts: work.pipeline.registeredTexts },
    ...{ actionLog: work.asynchronousCalls.log, telemetry: network.telemetry },
    isReady: () => running.isReady() && !isStopping,
    workers: () => work.deliveries.workers(),
    syncLag: () => sync.lag(),
    linesDropped: () => logger.dropped?.() ?? 0,
  });
  const release = async (): Promise<void> => {
    unfollow();
    documents.stop();
    await work.subscriptions.close();
    sourceHealth.stop();
    await network.close();
  };
  let server: HttpServer;
  try {
    server = await listen(config, shared, { network, work, sourceHealth });
  } catch (error) {
    await sync.stop();
    await work.deliveries.stop(0);
    await release();
    throw error;
  }
  work.asynchronousCalls.start(state, work.pipeline.callHandler);
  logger.observe({ kind: 'startup', message: 'listening', info: startSummary(config, server.url, state.current()) });

  return {
    ...handleOf(server, state),
    async stop() {
      isStopping = true;
      await drain(config, server, logger);
      await sync.stop();
      const grace = config.gracefulShutdownTimeout;
      await Promise.all([server.stop(grace), work.deliveries.stop(grace), work.asynchronousCalls.stop(grace)]);
      await release();
    },
  };
}

interface Network {
  /** Calls the addresses of the metadata. */
  readonly outbound: OutboundClient;
  readonly telemetry: Telemetry;
  close(): Promise<void>;
}

/** Opens the clients of outgoing requests, and the exports of telemetry, which use them. */
function openNetwork(config: Config, { state, registry, counting, hasMetricsPage, environment, observe, logger }: Shared): Network {
  const tlsAllowlist = () => tlsAllowlistOf(state.current().metadata.network);
  const metered = (client: OutboundClient): OutboundClient => meteredClient(client, registry, counting);
  const outbound = tracedClient(metered(createOutboundClient({ refusePrivate: config.refusePrivateAddresses, tlsAllowlist })));
  // Collectors that the environment names usually have private addresses.
  const ownOutbound = metered(createOutboundClient({ tlsAllowlist }));
  const telemetry = startTelemetry({
    ...{ state, environment, outbound, ownOutbound, showsSql: config.traceSqlQuery, observe, logger },
    collect: () => collectMetrics(registry),
    onMetrics(areSent) {
      counting.isOn = hasMetricsPage || areSent;
    },
  });
  return {
    outbound,
    telemetry,
    async close() {
      await telemetry.stop();
      await Promise.all([outbound.close(), ownOutbound.close()]);
    },
  };
}

interface Work {
  readonly asynchronousCalls: ReturnType<typeof asynchronousActions>;
  readonly pipeline: RequestPipeline;
  readonly subscriptions: RunningSubscriptions;
  readonly deliveries: ReturnType<typeof startDeliveries>;
}

/** Starts what answers requests and subscriptions and delivers events: a write of one of them notifies the others. */
function startWork(config: Config, shared: Shared, { outbound, telemetry: { tracing } }: Network): Work {
  const { backends, environment, state, database, instanceId, registry, counting, responses, observe } = shared;
  const asynchronousCalls = asynchronousActions(config, database, instanceId, observe);
  const pipeline = createRequestPipeline(config, {
    ...{ backends, outbound, environment, asynchronousCalls, responses, observe },
    meter: counting.of(createOperationMeter(registry, { names: config.metricsMaxOperations, isCollected: collectedOperations(state) })),
    onWritten(source) {
      subscriptions.written(source);
      deliveries.written(source);
    },
  });
  const subscriptions = createSubscriptions({
    ...{ state, pipeline, options: subscriptionOptions(config), tracing, observe },
    meter: counting.of(new SubscriptionMeter(registry)),
  });
  const deliveries = startDeliveries(config, {
    ...{ state, database, outbound, environment, observe, instanceId, tracing },
    meter: counting.of(new EventMeter(registry)),
  });
  return { asynchronousCalls, pipeline, subscriptions, deliveries };
}

interface Serving {
  readonly network: Network;
  readonly work: Work;
  readonly sourceHealth: SourceHealth;
}

/** Opens the HTTP server. @throws Error if the port is in use */
async function listen(
  config: Config,
  shared: Shared,
  { network: { outbound, telemetry }, work, sourceHealth }: Serving,
): Promise<HttpServer> {
  const { registry, counting, state, storage, database, observe, responses, instanceId, isReady, isDeployed, startPath } = shared;
  const { pipeline, subscriptions } = work;
  const { id } = await createCatalogStateStore(database).read();
  return openServer(config, {
    ...{ outbound, registry, counting, state, pipeline, subscriptions, observe, sourceHealth, isReady, isDeployed, startPath },
    tracing: telemetry.tracing,
    administration: administrationOf(config, shared, work),
    async clearCache(which) {
      const count = responses?.clear(which) ?? 0;
      await storage.announce({ instance: instanceId, forget: which });
      return count;
    },
    purgeKeys: new PurgeKeys(id),
    configReport: configReport(config, serviceVersion()),
    optionsReport: optionsReport(config),
  });
}

function administrationOf(
  config: Config,
  { state, backends, observe, onSql, database }: Shared,
  { pipeline, subscriptions, deliveries, asynchronousCalls }: Work,
): ReturnType<typeof createAdministration> {
  const scheduledEvents = createScheduledEvents(database);
  return createAdministration({
    ...{ state, backends, pipeline, observe, onSql },
    isReadOnly: config.metadataReadOnly,
    isSqlDisabled: config.disableRunSql,
    showInternal: config.devMode || config.adminInternalErrors,
    catalogState: createCatalogStateStore(database),
    metadataHistory: createMetadataHistory(database, kindsOf(backends)),
    scheduledEvents: {
      ...scheduledEvents,
      async create(event) {
        await scheduledEvents.create(event);
        deliveries.wake();
      },
    },
    actionLog: asynchronousCalls.log,
    pollers: () => subscriptions.reports(),
    rows: { openToAllRoles: config.legacyRowsForAllRoles, batchLimit: config.batchLimit },
  });
}

/** Returns what callers of a running service use until they stop it. */
function handleOf(server: HttpServer, state: RunningState): Omit<Service, 'stop'> {
  return {
    url: server.url,
    endStart: () => server.endStart(),
    readCatalogs: catalogReader(state),
    onMetadata(listener) {
      state.onSnapshot((shown, before) => {
        if (shown.metadata !== before.metadata) listener();
      });
    },
  };
}

/** Fails health checks for the time that the configuration says, so that load balancers send requests elsewhere. */
async function drain({ shutdownDelay }: Config, server: HttpServer, logger: Logger): Promise<void> {
  if (shutdownDelay > 0) {
    logger.observe({ kind: 'shutdown', message: `serving for ${shutdownDelay / 1000} s more` });
    server.drain();
    await sleep(shutdownDelay);
  }
  logger.observe({ kind: 'shutdown', message: 'finishing requests' });
}
