/** The composition root: storage, state, administration and server, started and stopped in order. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createHandlerCaller } from '../webhooks/handler-call.ts';
import type { Authenticator } from '../auth/authenticate.ts';
import { type AccessOptions, openAuthenticator } from '../auth/open-authenticator.ts';
import { ADMIN_ROLE } from '../auth/session.ts';
import type { Backend, Source } from '../backend/backend.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { adminSecretsOf, jwtSecretsOf } from '../config/access.ts';
import { describeConfig } from '../config/load-config.ts';
import type { Config } from '../config/options.ts';
import { unknownVariables } from '../config/unknown-variables.ts';
import { serviceVersion } from '../config/version.ts';
import { givenWithoutEffect } from '../config/without-effect.ts';
import { backends as allBackends } from '../databases/index.ts';
import { postgresql } from '../databases/postgresql/index.ts';
import { EventMeter } from '../events/event-meter.ts';
import type { LaterCalls } from '../execute/run-context.ts';
import { createInputValidator } from '../execute/input-validator.ts';
import { collectedOperations } from '../pipeline/collected-operations.ts';
import { compilersOf } from '../pipeline/compilers.ts';
import { createAllowList } from '../pipeline/allow-list.ts';
import { createAdmission } from '../pipeline/admission.ts';
import { ResultMemory } from '../pipeline/result-memory.ts';
import { BatchBudget } from '../pipeline/batch-budget.ts';
import { createOperationCache } from '../pipeline/operation-cache.ts';
import { createOperationMeter } from '../pipeline/operation-meter.ts';
import { createResponseCache, type ResponseCache } from '../pipeline/response-cache.ts';
import { createRemoteAccess } from '../remote-schema/client/remote-caller.ts';
import { tracedClient } from '../webhooks/traced-client.ts';
import type { Environment } from '../metadata/environment-template.ts';
import { kindsOf } from '../metadata/kinds.ts';
import { createAdministration } from '../admin-api/administration.ts';
import type { Logger } from '../observability/logger.ts';
import { collectMetrics } from '../observability/metrics/collect.ts';
import { Counting } from '../observability/metrics/counting.ts';
import type { Observer } from '../observability/observation.ts';
import type { Network } from '../metadata/network.ts';
import { createOutboundClient, type OutboundClient } from '../http-client/client.ts';
import { meteredClient } from '../http-client/metered-client.ts';
import { tlsAllowlistOf } from '../http-client/tls-allowlist.ts';
import type { OperationLimits, UnsentVariables } from '../graphql-engine/engine.ts';
import type { RoleSchemasOptions } from '../schema/role-schemas.ts';
import { pagePolicy } from '../server/cross-site.ts';
import { trustedProxies } from '../server/client-address.ts';
import { HttpMeter } from '../server/http-meter.ts';
import { Uploads } from '../server/read-body.ts';
import { type HttpServer, startServer } from '../server/server.ts';
import { catalogReader } from './catalog-reader.ts';
import { createState, type RunningState } from '../state/create-state.ts';
import { watchSourceHealth } from '../state/source-health.ts';
import { createCatalogStateStore } from '../metadata-store/catalog-state.ts';
import { createRemoteIntrospectionStore } from '../metadata-store/remote-introspections.ts';
import { createScheduledEvents } from '../metadata-store/scheduled-events.ts';
import { createStorage, type Storage } from '../metadata-store/storage.ts';
import { SubscriptionMeter } from '../subscriptions/subscription-meter.ts';
import { createSubscriptions, type SubscriptionOptions } from '../subscriptions/create-subscriptions.ts';
import { asynchronousActions } from './asynchronous-actions.ts';
import { configReport, optionsReport } from './config-report.ts';
import { openConsole } from './console.ts';
import { trackDefaultSource } from './default-source.ts';
import { startDeliveries } from './deliveries.ts';
import { keepInStep } from './keep-in-step.ts';
import { openMetadataDatabase } from './metadata-database.ts';
import { remoteServers } from './remote-servers.ts';
import { serviceLogger } from './service-logger.ts';
import { createRegistry, meteredObserver, metricsAccess, watchService } from './metrics.ts';
import { startTelemetry } from './telemetry/telemetry.ts';
import { startSummary } from './start-summary.ts';
import type { RequestPipeline } from '../pipeline/request-pipeline.ts';

export interface Service {
  /** Where it answers: `http://localhost:8080`. */
  readonly url: string;
  /** Finishes requests in flight, then closes the databases' connections. */
  stop(): Promise<void>;
  /**
   * What the databases hold at the moment, read anew, by the names of their sources. Those are left out that cannot be read, and those
   * that are found to be the same as when this was asked last, which is cheaper than to read them.
   * @param kinds of the sources that are asked
   */
  readCatalogs(kinds: ReadonlySet<string>): Promise<ReadonlyMap<string, Catalog>>;
  /** Tells of each change of the metadata, whoever makes it. */
  onMetadata(listener: () => void): void;
}

/** Of the largest bodies, how many may be on their way at a time. */
const UPLOADS = 16;

/**
 * Starts the service on databases that exist.
 * @param isReady whether what is done after the start is done: until then the service says that it is not healthy
 * @param isSqlDisabled whether `run_sql` is refused at the moment: the same
 * @param isReadOnly whether the metadata may not be changed at the moment: what the service does with its own at the start comes before
 * @param backends database kinds that the service has
 * @throws SvcError or Error when the metadata database cannot be reached or the port is taken
 */
export async function serve(
  config: Config,
  environment: Environment = process.env,
  logger: Logger = serviceLogger(config, environment),
  isReady: () => boolean = () => true,
  isReadOnly: () => boolean = () => config.metadataReadOnly,
  isSqlDisabled: () => boolean = () => config.disableRunSql,
  backends: readonly Backend[] = allBackends,
): Promise<Service> {
  const { observe } = logger;
  const instanceId = randomUUID();
  observe({ kind: 'startup', message: 'server_configuration', info: { ...describeConfig(config), instance_id: instanceId } });
  if (adminSecretsOf(config).length === 0) {
    observe({
      kind: 'startup',
      message: 'open_access',
      info: { warning: 'no admin secret is set: every request has full access to the data and the metadata; set SVC_GRAPHQL_ADMIN_SECRET' },
    });
  }
  if (config.unauthorizedRole === ADMIN_ROLE) {
    const warning = 'the unauthorized role is admin: requests without credentials have full access to the data and the metadata';
    observe({ kind: 'startup', message: 'open_access', info: { warning } });
  }
  for (const warning of unknownVariables(environment)) observe({ kind: 'startup', message: 'unknown_variable', info: { warning } });
  for (const warning of givenWithoutEffect(config)) observe({ kind: 'startup', message: 'setting_without_effect', info: { warning } });
  if (config.metadataDatabaseUrl === null) throw new Error('no metadata database is configured');
  const kinds = kindsOf(backends);
  const database = await openMetadataDatabase(config, config.metadataDatabaseUrl, observe);
  const storage = createStorage(database, kinds, {
    warn: (message) => observe({ kind: 'source', source: 'metadata', event: 'number-beyond-bounds', message }),
  });
  let state: RunningState | undefined;
  let opening: Network | null = null;
  const http = createOutboundClient({
    refusePrivate: config.refusePrivateAddresses,
    tlsAllowlist() {
      const network = opening ?? state?.current().metadata.network;
      return network === undefined ? [] : tlsAllowlistOf(network);
    },
  });
  try {
    await storage.migrate();
    state = await createState({
      storage,
      backends,
      kinds,
      cache: {
        defaultNamingConvention: config.defaultNamingConvention,
        remoteSchemaPermissions: config.enableRemoteSchemaPermissions,
        environment,
      },
      roleSchemas: roleSchemasOptions(config),
      connect: {
        environment: sourceEnvironment(config, environment),
        secretsFolder: config.dynamicSecretsAllowedPathPrefix,
        usePreparedStatements: config.usePreparedStatements,
        preparedStatementMemory: config.preparedStatementMemory,
        maxConnections: config.connections * config.stripes,
        idleTimeoutMs: config.timeout,
        lifetimeMs: config.connLifetime,
        waitTimeoutMs: config.poolTimeout,
        isolation: config.txIso,
        requestTimeoutMs: config.requestTimeout,
        stringifyNumericTypes: config.stringifyNumericTypes,
        http,
      },
      onOpening: (network) => {
        opening = network;
      },
      metadataDatabase: (await createCatalogStateStore(database).read()).id,
      remotes: remoteServers(config.refusePrivateAddresses, environment),
      introspections: createRemoteIntrospectionStore(database),
      observe,
      instanceId,
    });
    if (config.databaseUrl !== null) await trackDefaultSource(state, postgresql);
    return await listen(config, {
      ...{ state, storage, database, http, logger, instanceId, environment, isReady, isReadOnly, isSqlDisabled, backends },
    });
  } catch (error) {
    await state?.stop();
    await http.close();
    await database.close();
    throw error;
  }
}

interface Parts {
  readonly state: RunningState;
  readonly storage: Storage;
  readonly database: Source;
  /** Of sources that are called by HTTP. */
  readonly http: OutboundClient;
  readonly logger: Logger;
  readonly instanceId: string;
  readonly environment: Environment;
  readonly isReady: () => boolean;
  readonly isReadOnly: () => boolean;
  readonly isSqlDisabled: () => boolean;
  readonly backends: readonly Backend[];
}

async function listen(config: Config, parts: Parts): Promise<Service> {
  const { state, storage, database, http, logger, instanceId, environment, isReady, isReadOnly, isSqlDisabled, backends } = parts;
  const registry = createRegistry(config, backends);
  const isPageWanted = config.enabledApis.has('metrics');
  const counting = new Counting(isPageWanted);
  const observe = meteredObserver(logger.observe, registry);
  const responses = responseCache(config);
  if (responses !== null) {
    responses.follow(state.current());
    state.onSnapshot((shown) => responses.follow(shown));
  }
  const sync = await keepInStep({
    ...{ state, storage, instanceId, interval: config.schemaSyncPollInterval, observe },
    onForget: (which) => void responses?.clear(which),
  });
  const metered = (client: OutboundClient): OutboundClient => meteredClient(client, registry, counting);
  const outbound = tracedClient(metered(outboundClient(config, state)));
  // Collectors that the environment names are usually private.
  const ownOutbound = metered(createOutboundClient({ tlsAllowlist: () => tlsAllowlistOf(state.current().metadata.network) }));
  const telemetry = startTelemetry({
    ...{ state, environment, outbound, ownOutbound, showsSql: config.traceSqlQuery, observe, logger },
    collect: () => collectMetrics(registry),
    onMetrics(areSent) {
      counting.isOn = isPageWanted || areSent;
    },
  });
  const { tracing } = telemetry;
  const later = asynchronousActions(config, database, instanceId, observe);
  // Whoever writes tells those who wait for changes, who plan as all do.
  const pipeline: RequestPipeline = {
    meter: counting.of(createOperationMeter(registry, { names: config.metricsMaxOperations, isCollected: collectedOperations(state) })),
    ...requestPipeline(config, backends, outbound, environment, observe, later),
    ...(responses === null ? {} : { responses }),
    onWritten(source) {
      subscriptions.written(source);
      deliveries.written(source);
    },
  };
  const subscriptions = createSubscriptions({
    state,
    pipeline,
    options: subscriptionOptions(config),
    tracing,
    observe,
    meter: counting.of(new SubscriptionMeter(registry)),
  });
  const deliveries = startDeliveries({
    ...{ config, state, database, outbound, environment, observe, instanceId, tracing },
    meter: counting.of(new EventMeter(registry)),
  });
  const scheduledEvents = createScheduledEvents(database);
  const administration = createAdministration({
    state,
    backends,
    showInternal: config.devMode || config.adminInternalErrors,
    catalogState: createCatalogStateStore(database),
    scheduledEvents: {
      ...scheduledEvents,
      async create(event) {
        await scheduledEvents.create(event);
        deliveries.wake();
      },
    },
    actionLog: later.log,
    pipeline,
    pollers: () => subscriptions.reports(),
    observe,
    isReadOnly,
    isSqlDisabled,
    rows: { openToAllRoles: config.legacyRowsForAllRoles, batchLimit: config.batchLimit },
  });
  const sourceHealth = watchSourceHealth({ state, observe });
  let isStopping = false;
  let authenticator: Authenticator | undefined;
  const release = async (): Promise<void> => {
    await subscriptions.close();
    sourceHealth.stop();
    authenticator?.stop();
    await telemetry.stop();
    await Promise.all([outbound.close(), ownOutbound.close()]);
  };
  let server: HttpServer;
  try {
    authenticator = await openAuthenticator(accessOptions(config), outbound, observe);
    watchService(registry, {
      ...{ backends, state, responses, operations: pipeline.operations, sourceHealth, actionLog: later.log, telemetry },
      isReady: () => isReady() && !isStopping,
      workers: () => deliveries.workers(),
      syncLag: () => sync.lag(),
      linesDropped: () => logger.dropped?.() ?? 0,
    });
    server = await startServer(
      {
        authenticator,
        state,
        pipeline,
        subscriptions,
        observe,
        tracing,
        meter: counting.of(new HttpMeter(registry)),
        metrics: isPageWanted ? await metricsAccess(config, registry) : null,
        handlers: administration,
        async clearAnswers(which) {
          const count = responses?.clear(which) ?? 0;
          await storage.announce({ instance: instanceId, forget: which });
          return count;
        },
        uploads: new Uploads(UPLOADS * config.requestBodyLimit),
        pages: pagePolicy(config.disableCors ? null : config.corsDomain, config.trustedHosts, config.serverHost),
        sourceHealth,
        isReady,
        console: await openConsole(config, observe),
        configReport: configReport(config, serviceVersion()),
        optionsReport: optionsReport(config),
        options: {
          enabledApis: config.enabledApis,
          queryLogging: {
            enabled: config.enabledLogTypes.has('query-log'),
            maskedVariables: config.logMaskedVariables,
            onlyOnError: config.httpLogQueryOnlyOnError,
            administration: config.enableMetadataQueryLogging,
          },
          bodyLimit: config.requestBodyLimit,
          jsonSizeLimit: config.requestValueLimit,
          batchLimit: config.batchLimit,
          requestTimeout: config.requestTimeout,
          devMode: config.devMode,
          adminInternalErrors: config.adminInternalErrors,
          preserve401Errors: config.preserve401Errors,
          corsDomains: config.disableCors ? null : config.corsDomain,
          version: serviceVersion(),
          trustedProxies: trustedProxies(config.trustedProxies),
          version2OpenApi: config.version2OpenapiDocument,
        },
      },
      {
        port: config.serverPort,
        host: config.serverHost,
        clientTimeout: config.serverTimeout,
        responseTimeout: config.responseTimeout,
        maxHeaderLength: config.maxTotalHeaderLength,
        sockets: {
          connections: config.websocketConnectionLimit,
          operations: config.websocketOperationLimit,
          message: config.websocketMessageLimit,
          initTimeout: config.websocketConnectionInitTimeout,
          keepAlive: config.websocketKeepalive,
          compression: config.websocketCompression,
          readCookie: config.wsReadCookie,
          closeOnChange: config.closeWebsocketsOnMetadataChange,
        },
      },
    );
  } catch (error) {
    await sync.stop();
    await deliveries.stop(0);
    await release();
    throw error;
  }
  later.start(state, pipeline.callHandler);
  logger.observe({ kind: 'startup', message: 'listening', info: startSummary(config, server.url, state.current()) });
  return {
    url: server.url,
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
      await Promise.all([server.stop(grace), deliveries.stop(grace), later.stop(grace)]);
      await release();
      await state.stop();
      await http.close();
      await database.close();
      await logger.settle();
      logger.flush();
    },
  };
}

function outboundClient(config: Config, state: RunningState): OutboundClient {
  return createOutboundClient({
    refusePrivate: config.refusePrivateAddresses,
    tlsAllowlist: () => tlsAllowlistOf(state.current().metadata.network),
  });
}

function accessOptions(config: Config): AccessOptions {
  const { authHook: url, authHookMode: method, authHookSendRequestBody: sendRequestBody, unauthorizedRole } = config;
  return {
    adminSecrets: adminSecretsOf(config),
    unauthorizedRole,
    webhook: url === null ? null : { url, method, sendRequestBody },
    jwtSecrets: jwtSecretsOf(config),
    prefixAliases: config.sessionPrefixAliases,
  };
}

function requestPipeline(
  config: Config,
  backends: readonly Backend[],
  outbound: OutboundClient,
  environment: Environment,
  observe: Observer,
  laterCalls: LaterCalls,
): RequestPipeline {
  const limits = operationLimits(config);
  const responseLimit = config.responseLimit === 0 ? Number.POSITIVE_INFINITY : config.responseLimit;
  return {
    ...(config.slowQueryLog === 0 ? {} : { slow: { limit: config.slowQueryLog, observe } }),
    ...(config.enabledLogTypes.has('query-log')
      ? { observeQuery: observe, observeCost: observe, maskedVariables: config.logMaskedVariables }
      : {}),
    validateInput: createInputValidator(outbound, environment),
    remotes: createRemoteAccess({ outbound, maxResponseSize: config.remoteSchemaResponseLimit }),
    callHandler: createHandlerCaller({
      outbound,
      environment,
      userAgent: `svc-graphql/${serviceVersion()}`,
      maxResponseSize: config.actionResponseLimit,
      configuredHeadersFirst: config.configuredHeaderPrecedence,
      ...(config.enabledLogTypes.has('action-handler-log') ? { observe } : {}),
    }),
    laterCalls,
    joinBounds: { maxKeys: config.joinKeyLimit, maxBytes: config.joinResponseLimit },
    limits,
    newBudget: (hold) => new BatchBudget(limits, { together: config.batchResponseLimit, each: responseLimit }, hold),
    memory: new ResultMemory(config.resultMemory === 0 ? Number.POSITIVE_INFINITY : config.resultMemory),
    responseLimit,
    admission: createAdmission(),
    allowList: config.enableAllowlist ? createAllowList(config.queryTokenLimit) : null,
    operations: createOperationCache({
      operations: config.operationCacheSize,
      plansPerOperation: config.plansPerOperation,
      memory: config.operationCacheMemory,
    }),
    compilerOf: compilersOf(backends, { stringifyNumericTypes: config.stringifyNumericTypes }),
  };
}

/** null: no answers are kept. */
function responseCache({ cacheMemory: memory, maxCacheSize: mostOfEntry, cacheMaxEntryTtl }: Config): ResponseCache | null {
  return memory === 0 ? null : createResponseCache({ memory, mostOfEntry, mostTtl: cacheMaxEntryTtl / 1000 });
}

function subscriptionOptions(config: Config): SubscriptionOptions {
  return {
    liveQueries: { refetchIntervalMs: config.liveQueriesMultiplexedRefetchInterval, batchSize: config.liveQueriesMultiplexedBatchSize },
    streams: {
      refetchIntervalMs: config.streamingQueriesMultiplexedRefetchInterval,
      batchSize: config.streamingQueriesMultiplexedBatchSize,
    },
    detectorIntervalMs: config.subscriptionsDetectorInterval,
    pollersPerRole: config.subscriptionPollerLimit,
    timeoutMs: config.requestTimeout,
  };
}

function operationLimits(config: Config): OperationLimits {
  return {
    maxTokens: config.queryTokenLimit,
    maxDepth: config.queryDepthLimit,
    maxValues: config.queryNodeLimit,
    maxObjects: config.queryObjectLimit,
    maxAliases: config.queryAliasLimit,
    // Nobody gets more by naming a variable often than by sending its value as often.
    maxRepeatedSize: config.requestBodyLimit,
    maxIntrospectionCharacters: 128 * 1024 * 1024,
  };
}

function roleSchemasOptions(config: Config): RoleSchemasOptions {
  return {
    build: {
      nullCollapse: config.v1BooleanNullCollapse,
      inferFunctionPermissions: config.inferFunctionPermissions,
      hideAggregationPredicates: config.experimentalFeatures.has('hide_aggregation_predicates'),
      hideUpdateManyFields: config.experimentalFeatures.has('hide_update_many_fields'),
      federation: config.enableExtFederation || config.experimentalFeatures.has('ext_federation'),
    },
    engine: {
      limits: operationLimits(config),
      nullInNonNullableVariables: config.nullInNonnullableVariables,
      unsentVariables: unsentVariables(config),
      multipleSubscriptionRoots: config.experimentalFeatures.has('multiple-subscription-roots'),
    },
    introspectionDisabled: config.disableIntrospection,
    maxSchemas: 256,
  };
}

function unsentVariables(config: Config): UnsentVariables {
  if (config.unsentVariablesAreNull) return 'null';
  return config.experimentalFeatures.has('no_null_unbound_variable_default') ? 'absent' : 'absent-from-data';
}

/** Database URLs given as flags or in `.env` are known to metadata under their variables' names. */
function sourceEnvironment(config: Config, environment: Environment): Environment {
  return {
    ...environment,
    ...(config.databaseUrl === null ? {} : { SVC_GRAPHQL_DATABASE_URL: config.databaseUrl }),
    ...(config.metadataDatabaseUrl === null ? {} : { SVC_GRAPHQL_METADATA_DATABASE_URL: config.metadataDatabaseUrl }),
  };
}
