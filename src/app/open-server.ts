import type { Administration } from '../admin-api/administration.ts';
import { type AccessOptions, openAuthenticator } from '../auth/open-authenticator.ts';
import { type AccessConfig, adminSecretsOf, jwtSecretsOf } from '../config/access.ts';
import type { Config } from '../config/options.ts';
import { serviceVersion } from '../config/version.ts';
import type { OutboundClient } from '../http-client/client.ts';
import type { Counting } from '../observability/metrics/counting.ts';
import type { Registry } from '../observability/metrics/registry.ts';
import { trustedProxies } from '../server/client-address.ts';
import type { ServerContext } from '../server/context.ts';
import { pagePolicy } from '../server/cross-site.ts';
import { HttpMeter } from '../server/http-meter.ts';
import { Uploads } from '../server/read-body.ts';
import { type HttpServer, type ListenOptions, startServer } from '../server/server.ts';
import { type ConsoleConfig, openConsole, openDocs } from './console.ts';
import { metricsAccess } from './metrics.ts';

type ListenConfig = Pick<
  Config,
  | 'serverPort'
  | 'serverHost'
  | 'serverTimeout'
  | 'responseTimeout'
  | 'maxTotalHeaderLength'
  | 'websocketConnectionLimit'
  | 'websocketOperationLimit'
  | 'websocketMessageLimit'
  | 'websocketConnectionInitTimeout'
  | 'websocketKeepalive'
  | 'websocketCompression'
  | 'wsReadCookie'
  | 'closeWebsocketsOnMetadataChange'
>;

type RouteConfig = Pick<
  Config,
  | 'enabledApis'
  | 'enabledLogTypes'
  | 'logMaskedVariables'
  | 'httpLogQueryOnlyOnError'
  | 'enableMetadataQueryLogging'
  | 'requestBodyLimit'
  | 'requestValueLimit'
  | 'batchLimit'
  | 'requestTimeout'
  | 'devMode'
  | 'adminInternalErrors'
  | 'preserve401Errors'
  | 'disableCors'
  | 'corsDomain'
  | 'trustedHosts'
  | 'serverHost'
  | 'trustedProxies'
  | 'version2OpenapiDocument'
  | 'enableRelay'
>;

type AuthConfig = AccessConfig & Pick<Config, 'authHookMode' | 'authHookSendRequestBody' | 'sessionPrefixAliases'>;

export type ServerConfig = ListenConfig & RouteConfig & AuthConfig & ConsoleConfig & Pick<Config, 'metricsSecret'>;

export interface ServerParts
  extends Pick<
      ServerContext,
      | 'state'
      | 'pipeline'
      | 'subscriptions'
      | 'observe'
      | 'tracing'
      | 'clearCache'
      | 'purgeKeys'
      | 'sourceHealth'
      | 'isReady'
      | 'isDeployed'
      | 'configReport'
      | 'optionsReport'
    >,
    Pick<ListenOptions, 'startPath'> {
  readonly administration: Administration;
  /** Client for the authentication webhook and key sets. */
  readonly outbound: OutboundClient;
  readonly registry: Registry;
  readonly counting: Counting;
}

/** Number of request bodies of maximum size that may arrive at the same time. */
const MAX_UPLOADS = 16;

/** Opens authentication, the console and the documentation, then listens. The server's `stop` also stops the refresh of key sets. */
export async function openServer(config: ServerConfig, parts: ServerParts): Promise<HttpServer> {
  const { administration, outbound, registry, counting, startPath, ...context } = parts;
  const authenticator = await openAuthenticator(accessOptions(config), outbound, parts.observe);
  try {
    const server = await startServer(
      {
        ...context,
        authenticator,
        meter: counting.of(new HttpMeter(registry)),
        metrics: config.enabledApis.has('metrics') ? await metricsAccess(config, registry) : null,
        handlers: administration,
        uploads: new Uploads(MAX_UPLOADS * config.requestBodyLimit),
        pages: pagePolicy(config.disableCors ? null : config.corsDomain, config.trustedHosts, config.serverHost),
        console: await openConsole(config, parts.observe),
        docs: openDocs(config, parts.observe),
        options: routeOptions(config),
      },
      { ...listenOptions(config), startPath },
    );
    return {
      url: server.url,
      drain: () => server.drain(),
      endStart: () => server.endStart(),
      async stop(limit) {
        await server.stop(limit);
        authenticator.stop();
      },
    };
  } catch (error) {
    authenticator.stop();
    throw error;
  }
}

function accessOptions(config: AuthConfig): AccessOptions {
  const { authHook: url, authHookMode: method, authHookSendRequestBody: sendRequestBody, unauthorizedRole } = config;
  return {
    adminSecrets: adminSecretsOf(config),
    unauthorizedRole,
    webhook: url === null ? null : { url, method, sendRequestBody },
    jwtSecrets: jwtSecretsOf(config),
    prefixAliases: config.sessionPrefixAliases,
  };
}

function routeOptions(config: RouteConfig): ServerContext['options'] {
  return {
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
    relay: config.enableRelay,
    version2OpenApi: config.version2OpenapiDocument,
  };
}

function listenOptions(config: ListenConfig): Omit<ListenOptions, 'startPath'> {
  return {
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
  };
}
