import type { Backend } from '../backend/backend.ts';
import type { Config } from '../config/options.ts';
import { postgresql } from '../databases/postgresql/index.ts';
import type { UnsentVariables } from '../graphql-engine/engine.ts';
import { createOutboundClient, type OutboundClient } from '../http-client/client.ts';
import { tlsAllowlistOf } from '../http-client/tls-allowlist.ts';
import type { EnvironmentVariables } from '../metadata/environment-template.ts';
import type { Kinds } from '../metadata/kinds.ts';
import type { Network } from '../metadata/network.ts';
import { createCatalogStateStore } from '../metadata-store/catalog-state.ts';
import { createRemoteIntrospectionStore } from '../metadata-store/remote-introspections.ts';
import type { Observer } from '../observability/observation.ts';
import type { RoleSchemasOptions } from '../schema/role-schemas.ts';
import type { AssemblyOptions } from '../state/assembly.ts';
import { createState, type RunningState } from '../state/create-state.ts';
import { trackDefaultSource } from './default-source.ts';
import type { MetadataStore } from './open-metadata-store.ts';
import { type LimitsConfig, operationLimits } from './operation-limits.ts';
import { remoteServers } from './remote-servers.ts';

type SourceConfig = Pick<
  Config,
  | 'databaseUrl'
  | 'metadataDatabaseUrl'
  | 'dynamicSecretsAllowedPathPrefix'
  | 'usePreparedStatements'
  | 'preparedStatementMemory'
  | 'connections'
  | 'stripes'
  | 'timeout'
  | 'connLifetime'
  | 'poolTimeout'
  | 'txIso'
  | 'requestTimeout'
  | 'stringifyNumericTypes'
  | 'refusePrivateAddresses'
>;

type SchemaConfig = LimitsConfig &
  Pick<
    Config,
    | 'v1BooleanNullCollapse'
    | 'inferFunctionPermissions'
    | 'experimentalFeatures'
    | 'enableExtFederation'
    | 'nullInNonnullableVariables'
    | 'unsentVariablesAreNull'
    | 'disableIntrospection'
    | 'enableRelay'
  >;

export type StateConfig = SourceConfig & SchemaConfig & Pick<Config, 'defaultNamingConvention' | 'enableRemoteSchemaPermissions'>;

export interface StateParts {
  readonly store: MetadataStore;
  readonly backends: readonly Backend[];
  readonly kinds: Kinds;
  readonly environment: EnvironmentVariables;
  readonly instanceId: string;
  readonly observe: Observer;
}

export interface OpenState {
  readonly state: RunningState;
  /** Closes the state, its sources, and the HTTP client that they share. */
  close(): Promise<void>;
}

/** Loads the metadata and opens its sources. */
export async function openState(config: StateConfig, parts: StateParts): Promise<OpenState> {
  const { store, backends, kinds, environment, instanceId, observe } = parts;
  const { database, storage } = store;
  let state: RunningState | undefined;
  // TLS settings of the metadata that is being opened, which may differ from those in force.
  let opening: Network | null = null;
  const http = createOutboundClient({
    refusePrivate: config.refusePrivateAddresses,
    tlsAllowlist() {
      const network = opening ?? state?.current().metadata.network;
      return network === undefined ? [] : tlsAllowlistOf(network);
    },
  });
  const close = async (): Promise<void> => {
    await state?.stop();
    await http.close();
  };
  try {
    state = await createState({
      ...assemblyOptions(config, { backends, environment, observe, http }),
      storage,
      kinds,
      onOpening: (network) => {
        opening = network;
      },
      metadataDatabase: (await createCatalogStateStore(database).read()).id,
      introspections: createRemoteIntrospectionStore(database),
      instanceId,
    });
    if (config.databaseUrl !== null) await trackDefaultSource(state, postgresql);
  } catch (error) {
    await close();
    throw error;
  }
  return { state, close };
}

/** Settings by which snapshots are built: of a service, and of `svc schema`. */
export function assemblyOptions(
  config: StateConfig,
  { backends, environment, observe, http }: Pick<StateParts, 'backends' | 'environment' | 'observe'> & { readonly http: OutboundClient },
): AssemblyOptions {
  return {
    backends,
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
    remotes: remoteServers(config.refusePrivateAddresses, environment),
    observe,
  };
}

function roleSchemasOptions(config: SchemaConfig): RoleSchemasOptions {
  return {
    build: {
      nullCollapse: config.v1BooleanNullCollapse,
      inferFunctionPermissions: config.inferFunctionPermissions,
      hideAggregationPredicates: config.experimentalFeatures.has('hide_aggregation_predicates'),
      hideAggregateGroups: config.experimentalFeatures.has('hide_aggregate_groups'),
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
    relay: config.enableRelay,
    maxSchemas: 256,
  };
}

function unsentVariables(config: SchemaConfig): UnsentVariables {
  if (config.unsentVariablesAreNull) return 'null';
  return config.experimentalFeatures.has('no_null_unbound_variable_default') ? 'absent' : 'absent-from-data';
}

/** Adds the database URLs, which may come from flags or `.env`, under the names by which metadata refers to them. */
function sourceEnvironment(config: SourceConfig, environment: EnvironmentVariables): EnvironmentVariables {
  return {
    ...environment,
    ...(config.databaseUrl === null ? {} : { SVC_GRAPHQL_DATABASE_URL: config.databaseUrl }),
    ...(config.metadataDatabaseUrl === null ? {} : { SVC_GRAPHQL_METADATA_DATABASE_URL: config.metadataDatabaseUrl }),
  };
}
