/** The GraphQL schema of a role that a metadata document has on its databases, without a service: for `svc schema`. Changes no database. */
import type { Config } from '../config/options.ts';
import { backends } from '../databases/index.ts';
import { createTypeData, type TypeData } from '../graphql-engine/introspection/type-data.ts';
import type { RootTypes } from '../graphql-engine/types.ts';
import { createOutboundClient } from '../http-client/client.ts';
import { tlsAllowlistOf } from '../http-client/tls-allowlist.ts';
import { decodeDocument } from '../metadata/document.ts';
import type { EnvironmentVariables } from '../metadata/environment-template.ts';
import { kindsOf } from '../metadata/kinds.ts';
import { EMPTY_METADATA } from '../metadata/metadata.ts';
import type { SchemaApi } from '../metadata/schema-api.ts';
import type { Observer } from '../observability/observation.ts';
import { recordsOf } from '../schema-cache/inconsistency.ts';
import { PLACEHOLDER_FIELD } from '../schema/fields/placeholder.ts';
import type { SchemaVariant } from '../schema/role-schemas.ts';
import { Assembly } from '../state/assembly.ts';
import { StateCounts } from '../state/state-counts.ts';
import type { Json } from '../util/json.ts';
import { ROOT } from '../util/path.ts';
import { assemblyOptions } from './open-state.ts';

/** Timeout for the introspection of a remote schema, in ms. */
const REMOTE_TIMEOUT_MS = 30_000;

export interface MetadataSchema {
  /** Inconsistent objects, as a service lists them. */
  readonly inconsistencies: readonly Json[];
  /** True if the role has no permissions, or does not exist. */
  readonly isEmpty: boolean;
  readonly types: TypeData;
}

export interface MetadataSchemaParts {
  readonly role: string;
  readonly variant: SchemaVariant;
  readonly api: SchemaApi;
  readonly config: Config;
  /** Variables that the metadata may refer to. */
  readonly environment: EnvironmentVariables;
  readonly observe: Observer;
}

/**
 * Connects to the sources and remote schemas of a valid document, reads them, and closes the connections. An unreachable one is an
 * inconsistency.
 */
export async function openMetadataSchema(document: Json, parts: MetadataSchemaParts): Promise<MetadataSchema> {
  const { role, variant, api, config, environment, observe } = parts;
  const metadata = decodeDocument(document, ROOT, kindsOf(backends), EMPTY_METADATA);
  const http = createOutboundClient({
    refusePrivate: config.refusePrivateAddresses,
    tlsAllowlist: () => tlsAllowlistOf(metadata.network),
  });
  const options = assemblyOptions(config, { backends, environment, observe, http });
  const assembly = new Assembly(options, new StateCounts());
  try {
    const [sources, remotes] = await Promise.all([
      assembly.sourcesFor(metadata, undefined, {}),
      assembly.remotesFor({
        metadata,
        before: undefined,
        refresh: undefined,
        stored: new Map(),
        useStored: 'ask',
        timeoutMs: REMOTE_TIMEOUT_MS,
      }),
    ]);
    await Promise.allSettled([...sources.values()].map(({ connection }) => connection?.close()));
    const { snapshot } = await assembly.assemble(0, metadata, { sources, remotes });
    const roots = snapshot.wholeRoots(role, variant, api);
    return { inconsistencies: [...recordsOf(snapshot.cache.inconsistencies)], isEmpty: isEmpty(roots), types: createTypeData(roots) };
  } finally {
    await http.close();
  }
}

function isEmpty({ query, mutation, subscription }: RootTypes): boolean {
  if (mutation !== null || subscription !== null) return false;
  for (const name of query.names?.() ?? query.fields().keys())
    if (name !== PLACEHOLDER_FIELD && (query.field === undefined || query.field(name) !== undefined)) return false;
  return true;
}
