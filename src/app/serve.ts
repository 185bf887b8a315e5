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
import { createScheduledEvents } from '../metadata-store/scheduled-events.ts';
import type { Logger } from '../observability/logger.ts';
import { collectMetrics } from '../observability/metrics/collect.ts';
import { Counting } from '../observability/metrics/counting.ts';
import { collectedOperations } from '../pipeline/collected-operations.ts';
import { createOperationMeter } from '../pipeline/operation-meter.ts';
import type { HttpServer } from '../server/server.ts';
import type { RunningState } from '../state/create-state.ts';
import { watchSourceHealth } from '../state/source-health.ts';
import { createSubscriptions } from '../subscriptions/create-subscriptions.ts';
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
import { startTelemetry } from './telemetry/telemetry.ts';

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

/** Starts everything that depends on the state. The `stop` of its result leaves the state and the store open. */
async function start(config: Config, running: Running): Promise<Service> {
  const { environment, logger, backends, isReady, isDeployed, startPath, onSql, instanceId, store, state } = running;
  const { database, storage } = store;
  const registry = createRegistry(config, backends);
  const hasMetricsPage = config.enabledApis.has('metrics');
  const counting = new Counting(hasMetricsPage);
  const observe = meteredObserver(logger.observe, registry);

  const responses = openResponseCache(config, state);
  const sync = await startMetadataSync({
    ...{ state, storage, instanceId, interval: config.schemaSyncPollInterval, observe },
    onForget: (which) => void responses?.clear(which),
  });

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
  const { tracing } = telemetry;

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
  const scheduledEvents = createScheduledEvents(database);
  const administration = createAdministration({
    ...{ state, backends, pipeline, observe, onSql },
    isReadOnly: config.metadataReadOnly,
    isSqlDisabled: config.disableRunSql,
    showInternal: config.devMode || config.adminInternalErrors,
    catalogState: createCatalogStateStore(database),
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
  const sourceHealth = watchSourceHealth({ state, observe });

  let isStopping = false;
  watchService(registry, {
    ...{ backends, state, responses, operations: pipeline.operations, sourceHealth, actionLog: asynchronousCalls.log, telemetry },
    isReady: () => isReady() && !isStopping,
    workers: () => deliveries.workers(),
    syncLag: () => sync.lag(),
    linesDropped: () => logger.dropped?.() ?? 0,
  });
  const release = async (): Promise<void> => {
    await subscriptions.close();
    sourceHealth.stop();
    await telemetry.stop();
    await Promise.all([outbound.close(), ownOutbound.close()]);
  };
  let server: HttpServer;
  try {
    server = await openServer(config, {
      ...{
        administration,
        outbound,
        registry,
        counting,
        state,
        pipeline,
        subscriptions,
        observe,
        tracing,
        sourceHealth,
        isReady,
        isDeployed,
        startPath,
      },
      async clearCache(which) {
        const count = responses?.clear(which) ?? 0;
        await storage.announce({ instance: instanceId, forget: which });
        return count;
      },
      configReport: configReport(config, serviceVersion()),
      optionsReport: optionsReport(config),
    });
  } catch (error) {
    await sync.stop();
    await deliveries.stop(0);
    await release();
    throw error;
  }
  asynchronousCalls.start(state, pipeline.callHandler);
  logger.observe({ kind: 'startup', message: 'listening', info: startSummary(config, server.url, state.current()) });

  return {
    url: server.url,
    endStart: () => server.endStart(),
    readCatalogs: catalogReader(state),
    onMetadata(listener) {
      state.onSnapshot((shown, before) => {
        if (shown.metadata !== before.metadata) listener();
      });
    },
    async stop() {
      isStopping = true;
      if (config.shutdownDelay > 0) {
        logger.observe({ kind: 'shutdown', message: `serving for ${config.shutdownDelay / 1000} s more` });
        server.drain();
        await sleep(config.shutdownDelay);
      }
      logger.observe({ kind: 'shutdown', message: 'finishing requests' });
      await sync.stop();
      const grace = config.gracefulShutdownTimeout;
      await Promise.all([server.stop(grace), deliveries.stop(grace), asynchronousCalls.stop(grace)]);
      await release();
    },
  };
}
