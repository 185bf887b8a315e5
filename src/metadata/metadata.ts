/**
 * The whole document. Immutable: an edit makes a new `Metadata` that shares every untouched
 * object, so stages and storage find out what changed by identity.
 */
import { nameKey } from '../catalog/catalog.ts';
import { isJsonObject, type Json, type JsonObject } from '../util/json.ts';
import { type ApiLimits, apiLimitsCodec } from './api-limits.ts';
import { type AllowListEntry, allowListEntryCodec } from './allow-list.ts';
import { type Codec, defaulted, leaf, list, nonEmptyText, object, optional, required } from './codec.ts';
import type { DecodedTables } from './decoded-tables.ts';
import { type FunctionMetadata, functionCodec } from './function.ts';
import { type InheritedRole, inheritedRoleCodec } from './inherited-role.ts';
import { isEmptyMap, keyedList } from './keyed-list.ts';
import type { KindCodecs, Kinds } from './kinds.ts';
import { isEmptyNetwork, type Network, networkCodec, NO_NETWORK } from './network.ts';
import { type QueryCollection, queryCollectionCodec } from './query-collection.ts';
import { type RestEndpoint, restEndpointCodec } from './rest-endpoint.ts';
import { isEmptySection } from './section.ts';
import { byKind, type Source, sourceFields, sourceHead } from './source.ts';
import { type TableMetadata, tableCodec } from './table.ts';
import { printName } from './table-name.ts';

export type { InheritedRole } from './inherited-role.ts';

export interface Introspection {
  readonly disabledForRoles: readonly string[];
}

export interface Metadata {
  /** By source name. */
  readonly sources: ReadonlyMap<string, SourceMetadata>;
  readonly queryCollections: ReadonlyMap<string, QueryCollection>;
  /** By the name of the collection. */
  readonly allowlist: ReadonlyMap<string, AllowListEntry>;
  readonly restEndpoints: ReadonlyMap<string, RestEndpoint>;
  readonly inheritedRoles: ReadonlyMap<string, InheritedRole>;
  readonly introspection: Introspection;
  /** null: none are set. */
  readonly apiLimits: ApiLimits | null;
  readonly network: Network;
  /**
   * Top-level sections of later features, kept verbatim so that a document makes the round trip.
   * A feature that starts to exist takes its section out of here.
   */
  readonly other: ReadonlyMap<string, Json>;
}

/** A source with everything tracked in it. */
export interface SourceMetadata extends Source {
  /** By `nameKey`. */
  readonly tables: ReadonlyMap<string, TableMetadata>;
  readonly functions: ReadonlyMap<string, FunctionMetadata>;
}

export const NO_INTROSPECTION: Introspection = { disabledForRoles: [] };

export const EMPTY_METADATA: Metadata = {
  sources: new Map(),
  queryCollections: new Map(),
  allowlist: new Map(),
  restEndpoints: new Map(),
  inheritedRoles: new Map(),
  introspection: NO_INTROSPECTION,
  apiLimits: null,
  network: NO_NETWORK,
  other: new Map(),
};

/** Sections that are kept verbatim because their feature does not exist yet. */
export const LATER_SECTIONS = ['remote_schemas', 'actions', 'custom_types', 'cron_triggers'] as const;

/** Sections in the order of the exported document. Others that a document may have are ignored. */
const SECTIONS = [
  'sources',
  'remote_schemas',
  'query_collections',
  'allowlist',
  'actions',
  'custom_types',
  'cron_triggers',
  'rest_endpoints',
  'api_limits',
  'inherited_roles',
  'graphql_schema_introspection',
  'network',
] as const;

export const introspectionCodec: Codec<Introspection> = object('SetGraphqlIntrospectionOptions', {
  disabledForRoles: required(list(nonEmptyText)),
});

/** @param decoded tables that need not be decoded again */
export function tablesCodec(codecs: KindCodecs, decoded?: DecodedTables): Codec<ReadonlyMap<string, TableMetadata>> {
  const table = tableCodec(codecs);
  const known: Codec<TableMetadata> = {
    ...table,
    decode: (json, path) => (isJsonObject(json) ? decoded?.get(json) : undefined) ?? table.decode(json, path),
  };
  return keyedList({
    what: 'tables',
    item: decoded === undefined ? table : known,
    key: ({ table }) => nameKey(table),
    print: ({ table }) => printName(table, codecs.defaultSchema),
  });
}

export function functionsCodec(codecs: KindCodecs): Codec<ReadonlyMap<string, FunctionMetadata>> {
  return keyedList({
    what: 'functions',
    item: functionCodec(codecs),
    key: (entry) => nameKey(entry.function),
    print: (entry) => printName(entry.function, codecs.defaultSchema),
  });
}

/** One entry of `sources`, tables and functions included. */
export function sourceCodec(kinds: Kinds, decoded?: DecodedTables): Codec<SourceMetadata> {
  return byKind('SourceMetadata', kinds, (codecs) =>
    object('SourceMetadata', {
      ...sourceHead(codecs),
      tables: required(tablesCodec(codecs, decoded)),
      functions: defaulted<ReadonlyMap<string, FunctionMetadata>>(functionsCodec(codecs), () => new Map(), isEmptyMap),
      ...sourceFields(codecs),
    }),
  );
}

/** The sections of this part that are there and not empty. */
export function laterSections(json: JsonObject): ReadonlyMap<string, Json> {
  const other = new Map<string, Json>();
  for (const key of LATER_SECTIONS) {
    const section = json[key];
    if (section !== undefined && !isEmptySection(section)) other.set(key, section);
  }
  return other;
}

/** Sorted by URL in the document. */
const restEndpointsCodec: Codec<ReadonlyMap<string, RestEndpoint>> = (() => {
  const { name, decode } = keyedList({ what: 'REST endpoints', item: restEndpointCodec, key: (endpoint) => endpoint.name });
  return leaf(name, decode, (endpoints) =>
    [...endpoints.values()]
      .sort((a, b) => byText(a.url, b.url) || byText(a.name, b.name))
      .map((endpoint) => restEndpointCodec.encode(endpoint)),
  );
})();

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function maps<T>(codec: Codec<ReadonlyMap<string, T>>) {
  return defaulted<ReadonlyMap<string, T>>(codec, () => new Map(), isEmptyMap);
}

/** Stored operations and what refers to them: the same in documents of every version. */
export const storedOperationSections = {
  queryCollections: maps(keyedList({ what: 'query collections', item: queryCollectionCodec, key: ({ name }) => name })),
  allowlist: maps(keyedList({ what: 'allowlist entries', item: allowListEntryCodec, key: ({ collection }) => collection })),
  restEndpoints: maps(restEndpointsCodec),
};

/** A document of version 3. For documents of any version see `decodeDocument`. */
export function metadataCodec(kinds: Kinds, decoded?: DecodedTables): Codec<Metadata> {
  const implemented = object('Metadata', {
    sources: required(keyedList({ what: 'sources', item: sourceCodec(kinds, decoded), key: ({ name }) => name })),
    ...storedOperationSections,
    inheritedRoles: maps(keyedList({ what: 'inherited roles', item: inheritedRoleCodec, key: ({ roleName }) => roleName })),
    graphqlSchemaIntrospection: defaulted(
      introspectionCodec,
      () => NO_INTROSPECTION,
      ({ disabledForRoles }) => disabledForRoles.length === 0,
    ),
    apiLimits: optional(apiLimitsCodec),
    network: defaulted(networkCodec, () => NO_NETWORK, isEmptyNetwork),
  });
  return {
    name: 'Metadata',
    decode(json, path) {
      const { graphqlSchemaIntrospection, apiLimits, ...known } = implemented.decode(json, path);
      return {
        ...known,
        introspection: graphqlSchemaIntrospection,
        apiLimits: apiLimits ?? null,
        other: laterSections(json as JsonObject),
      };
    },
    encode(value): JsonObject {
      const known = implemented.encode({
        ...value,
        graphqlSchemaIntrospection: value.introspection,
        apiLimits: value.apiLimits ?? undefined,
      }) as JsonObject;
      const out: Record<string, Json> = { version: 3 };
      for (const key of SECTIONS) {
        const section = known[key] ?? value.other.get(key);
        if (section !== undefined) out[key] = section;
      }
      return out;
    },
  };
}
