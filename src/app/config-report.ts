import { adminSecretsOf, jwtSecretsOf } from '../config/access.ts';
import { DEFAULT_CLAIMS_NAMESPACE, type JwtSecret } from '../config/jwt-secret.ts';
import { type Config, optionRows } from '../config/options.ts';
import type { Json, JsonObject } from '../util/json.ts';

/** Rounds an interval up to whole seconds, which the report uses; the list of options has milliseconds. */
function wholeSeconds(ms: number): number {
  return Math.ceil(ms / 1000);
}

/** Response of `/v1alpha1/config`, without secrets. docs/options.md describes the options behind it. */
export function configReport(config: Config, version: string): JsonObject {
  const [firstJwtSecret] = jwtSecretsOf(config);
  return {
    version,
    is_function_permissions_inferred: config.inferFunctionPermissions,
    is_remote_schema_permissions_enabled: config.enableRemoteSchemaPermissions,
    is_admin_secret_set: adminSecretsOf(config).length > 0,
    is_auth_hook_set: config.authHook !== null,
    is_jwt_set: firstJwtSecret !== undefined,
    jwt: firstJwtSecret === undefined ? null : claimsReport(firstJwtSecret),
    is_allow_list_enabled: config.enableAllowlist || config.documentsOnly,
    live_queries: {
      batch_size: config.liveQueriesMultiplexedBatchSize,
      refetch_delay: wholeSeconds(config.liveQueriesMultiplexedRefetchInterval),
    },
    streaming_queries: {
      batch_size: config.streamingQueriesMultiplexedBatchSize,
      refetch_delay: wholeSeconds(config.streamingQueriesMultiplexedRefetchInterval),
    },
    default_naming_convention: config.defaultNamingConvention,
    experimental_features: [...config.experimentalFeatures],
    dev_mode: config.devMode,
    stringify_numeric_types: config.stringifyNumericTypes,
    enabled_apis: [...config.enabledApis],
    unauthorized_role: config.unauthorizedRole,
    is_introspection_disabled: config.disableIntrospection,
    is_metadata_read_only: config.metadataReadOnly,
    console: { enabled: config.enableConsole, read_only: config.consoleReadOnly, label: config.consoleLabel },
    limits: {
      request_body_bytes: config.requestBodyLimit,
      request_timeout: config.requestTimeout / 1000,
      batch: config.batchLimit,
      query_depth: config.queryDepthLimit,
      query_tokens: config.queryTokenLimit,
      query_nodes: config.queryNodeLimit,
    },
  };
}

/** Value of every option, with secrets hidden. */
export function optionsReport(config: Config): Json {
  return optionRows.map(([name, { flag, env, group, type, help, default: byDefault }]) => ({
    flag,
    variable: env ?? null,
    group,
    type: type.name,
    value: type.show(config[name]),
    is_default: type.show(config[name]) === type.show(byDefault),
    help,
  }));
}

function claimsReport({ claims }: JwtSecret): Json {
  switch (claims.kind) {
    case 'namespace':
      return { claims_namespace: claims.name, claims_format: claims.format };
    case 'path':
      return { claims_namespace_path: claims.text, claims_format: claims.format };
    case 'map':
      return { claims_namespace: DEFAULT_CLAIMS_NAMESPACE, claims_format: 'json', claims_map: claims.json };
  }
}
