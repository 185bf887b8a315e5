/**
 * The whole document. Immutable: an edit returns a new `Metadata` that shares every unchanged object, so stages and storage find changes by
 * identity.
 */
import { nameKey } from '../catalog/catalog.ts';
import { isJsonObject, type Json } from '../util/json.ts';
import { type Action, actionCodec } from './action.ts';
import { type ApiLimits, apiLimitsCodec } from './api-limits.ts';
import { checkEndpoints, storedOpenTelemetryCodec, type OpenTelemetry } from './opentelemetry.ts';
import { type AllowListEntry, allowListEntryCodec } from './allow-list.ts';
import { type CronTrigger, cronTriggerCodec, exportedCronTriggers } from './cron-trigger.ts';
import { type Codec, defaulted, int, leaf, like, list, mapOrNone, nonEmptyText, object, optional, required } from './codec.ts';
import { type CustomTypes, customTypesCodec, isEmptyCustomTypes, NO_CUSTOM_TYPES } from './custom-types.ts';
import { type FunctionMetadata, functionCodec } from './function.ts';
import { type InheritedRole, inheritedRoleCodec } from './inherited-role.ts';
import { rulesAt } from './decode-rules.ts';
import { preserveUnknownKeys } from './preserve-unknown-keys.ts';
import { keyedList } from './keyed-list.ts';
import type { KindCodecs, Kinds } from './kinds.ts';
import { isEmptyNetwork, type Network, networkCodec, NO_NETWORK } from './network.ts';
import { type QueryCollection, queryCollectionCodec } from './query-collection.ts';
import { type RemoteSchema, remoteSchemaCodec } from './remote-schema.ts';
import { type RestEndpoint, restEndpointCodec } from './rest-endpoint.ts';
import { inOrder } from './section.ts';
import { byKind, UNSUPPORTED_SOURCE_KEYS, type SourceSettings, sourceFields, sourceHead } from './source.ts';
import { type TableMetadata, tableCodec } from './table.ts';
import { printName } from './table-name.ts';
import { describeUnknownKey, type UnknownKey, type WithUnknownKeys } from './unknown-keys.ts';
import { type UnknownSource, unknownSourceOf } from './unknown-source.ts';
import { isEmptySection } from './empty-section.ts';
import type { DecodedTables, EncodedTables } from './table-caches.ts';

export type { InheritedRole } from './inherited-role.ts';

export interface IntrospectionSettings extends WithUnknownKeys {
  readonly disabledForRoles: readonly string[];
}

export interface Metadata extends WithUnknownKeys {
  /** Sources by name. */
  readonly sources: ReadonlyMap<string, SourceMetadata>;
  /** Sources of unknown kinds by name; disjoint from `sources`. */
  readonly unknownSources: ReadonlyMap<string, UnknownSource>;
  readonly remoteSchemas: ReadonlyMap<string, RemoteSchema>;
  readonly queryCollections: ReadonlyMap<string, QueryCollection>;
  /** Entries by the name of the collection. */
  readonly allowlist: ReadonlyMap<string, AllowListEntry>;
  readonly restEndpoints: ReadonlyMap<string, RestEndpoint>;
  readonly actions: ReadonlyMap<string, Action>;
  readonly customTypes: CustomTypes;
  readonly cronTriggers: ReadonlyMap<string, CronTrigger>;
  readonly inheritedRoles: ReadonlyMap<string, InheritedRole>;
  readonly introspection: IntrospectionSettings;
  /** `null` if none are set. */
  readonly apiLimits: ApiLimits | null;
  readonly openTelemetry: (OpenTelemetry & WithUnknownKeys) | null;
  readonly network: Network;
}

/** A source with everything that is tracked in it. */
export interface SourceMetadata extends SourceSettings {
  /** Tables by `nameKey`. */
  readonly tables: ReadonlyMap<string, TableMetadata>;
  readonly functions: ReadonlyMap<string, FunctionMetadata>;
}

export const NO_INTROSPECTION: IntrospectionSettings = { disabledForRoles: [] };

export const EMPTY_METADATA: Metadata = {
  sources: new Map(),
  unknownSources: new Map(),
  remoteSchemas: new Map(),
  queryCollections: new Map(),
  allowlist: new Map(),
  restEndpoints: new Map(),
  actions: new Map(),
  customTypes: NO_CUSTOM_TYPES,
  cronTriggers: new Map(),
  inheritedRoles: new Map(),
  introspection: NO_INTROSPECTION,
  apiLimits: null,
  openTelemetry: null,
  network: NO_NETWORK,
};

/** Sections that configure features that the service does not have. Support for a feature removes its section here. */
export const NOT_SUPPORTED_SECTIONS = ['metrics_config', 'backend_configs'] as const;

/** Sections in the order of the exported document; others follow. */
export const METADATA_SECTIONS = [
  'version',
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
  'opentelemetry',
] as const;

/** Returns the unknown key for a section that has no effect here. */
export function unknownSection(key: string, json: Json): UnknownKey {
  // Written before the service supported the section, in a different form.
  if (isKnownSection(key)) return { path: [key], value: json, problem: `the section "${key}" cannot be read` };
  return { path: [key], value: json, problem: describeUnknownKey(key, { keys: METADATA_SECTIONS, notSupported: NOT_SUPPORTED_SECTIONS }) };
}

/** Returns true if a codec reads the section. */
export function isKnownSection(key: string): boolean {
  return (METADATA_SECTIONS as readonly string[]).includes(key) && !(NOT_SUPPORTED_SECTIONS as readonly string[]).includes(key);
}

export const introspectionCodec: Codec<IntrospectionSettings> = object('SetGraphqlIntrospectionOptions', {
  disabledForRoles: required(list(nonEmptyText)),
});

/**
 * @param decoded tables that were decoded before
 * @param encoded tables that were encoded before
 */
export function tablesCodec(
  codecs: KindCodecs,
  decoded?: DecodedTables,
  encoded?: EncodedTables,
): Codec<ReadonlyMap<string, TableMetadata>> {
  const table = tableCodec(codecs);
  const item: Codec<TableMetadata> = {
    ...table,
    decode: (json, path) => (isJsonObject(json) ? decoded?.get(json) : undefined) ?? table.decode(json, path),
    encode: (value) => encoded?.get(value) ?? table.encode(value),
  };
  return keyedList({
    what: 'tables',
    item,
    key: ({ table }) => nameKey(table),
    print: ({ table }) => printName(table, codecs.defaultSchema),
  });
}

function functionsCodec(codecs: KindCodecs): Codec<ReadonlyMap<string, FunctionMetadata>> {
  return keyedList({
    what: 'functions',
    item: functionCodec(codecs),
    key: (entry) => nameKey(entry.function),
    print: (entry) => printName(entry.function, codecs.defaultSchema),
  });
}

/** Entry of `sources`, including tables and functions. */
export function sourceCodec(kinds: Kinds, decoded?: DecodedTables, encoded?: EncodedTables): Codec<SourceMetadata> {
  return byKind('SourceMetadata', kinds, (codecs) =>
    preserveUnknownKeys<SourceMetadata>(
      object(
        'SourceMetadata',
        {
          ...sourceHead(codecs),
          tables: required(tablesCodec(codecs, decoded, encoded)),
          functions: mapOrNone(functionsCodec(codecs)),
          ...sourceFields(codecs),
        },
        UNSUPPORTED_SOURCE_KEYS,
      ),
    ),
  );
}

/** All of `sources`, including those of unknown kinds. */
function sourcesCodec(
  kinds: Kinds,
  decoded?: DecodedTables,
  encoded?: EncodedTables,
): Codec<ReadonlyMap<string, SourceMetadata | UnknownSource>> {
  const known = sourceCodec(kinds, decoded, encoded);
  const item: Codec<SourceMetadata | UnknownSource> = {
    name: known.name,
    decode: (json, path) => (rulesAt(path).refusesUnknown === true ? undefined : unknownSourceOf(json, kinds)) ?? known.decode(json, path),
    encode: (source) => (isUnknown(source) ? source.json : known.encode(source)),
  };
  return keyedList({ what: 'sources', item, key: ({ name }) => name });
}

function isUnknown(source: SourceMetadata | UnknownSource): source is UnknownSource {
  return 'json' in source;
}

/** Codecs of the parts of the document besides sources. */
export const entryCodecs = {
  remoteSchema: preserveUnknownKeys(remoteSchemaCodec),
  queryCollection: preserveUnknownKeys(queryCollectionCodec),
  allowListEntry: preserveUnknownKeys(allowListEntryCodec),
  restEndpoint: preserveUnknownKeys(restEndpointCodec),
  action: preserveUnknownKeys(actionCodec),
  customTypes: preserveUnknownKeys(customTypesCodec),
  cronTrigger: preserveUnknownKeys(cronTriggerCodec),
  inheritedRole: preserveUnknownKeys(inheritedRoleCodec),
  introspection: preserveUnknownKeys(introspectionCodec),
  apiLimits: preserveUnknownKeys(apiLimitsCodec),
  network: preserveUnknownKeys(networkCodec),
  openTelemetry: preserveUnknownKeys(storedOpenTelemetryCodec),
} as const;

/** An empty section decodes to undefined. */
const openTelemetrySection: Codec<(OpenTelemetry & WithUnknownKeys) | undefined> = {
  name: entryCodecs.openTelemetry.name,
  decode(json, path) {
    if (isEmptySection(json)) return undefined;
    const config = entryCodecs.openTelemetry.decode(json, path);
    checkEndpoints(config, path);
    return config;
  },
  encode: (value) => (value === undefined ? {} : entryCodecs.openTelemetry.encode(value)),
};

/** Sorted by URL in the document. */
const restEndpointsCodec: Codec<ReadonlyMap<string, RestEndpoint>> = (() => {
  const byName = keyedList({ what: 'REST endpoints', item: entryCodecs.restEndpoint, key: (endpoint) => endpoint.name });
  return leaf(
    byName.name,
    byName.decode,
    (endpoints) =>
      [...endpoints.values()]
        .sort((a, b) => byText(a.url, b.url) || byText(a.name, b.name))
        .map((endpoint) => entryCodecs.restEndpoint.encode(endpoint)),
    like(byName),
  );
})();

const cronTriggersCodec: Codec<ReadonlyMap<string, CronTrigger>> = keyedList({
  what: 'cron triggers',
  item: entryCodecs.cronTrigger,
  key: ({ name }) => name,
});

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Sections that are the same in documents of every version. */
export const sharedSections = {
  remoteSchemas: mapOrNone(keyedList({ what: 'remote schemas', item: entryCodecs.remoteSchema, key: ({ name }) => name })),
  queryCollections: mapOrNone(keyedList({ what: 'query collections', item: entryCodecs.queryCollection, key: ({ name }) => name })),
  allowlist: mapOrNone(keyedList({ what: 'allowlist entries', item: entryCodecs.allowListEntry, key: ({ collection }) => collection })),
  restEndpoints: mapOrNone(restEndpointsCodec),
  actions: mapOrNone(keyedList({ what: 'actions', item: entryCodecs.action, key: ({ name }) => name })),
  customTypes: defaulted<CustomTypes>(entryCodecs.customTypes, () => NO_CUSTOM_TYPES, isEmptyCustomTypes),
  cronTriggers: mapOrNone(cronTriggersCodec),
};

/** A document of version 3. See `decodeDocument` for documents of any version and `encodeDocument` for large ones. */
export function metadataCodec(kinds: Kinds, decoded?: DecodedTables, encoded?: EncodedTables): Codec<Metadata> {
  const written = object(
    'Metadata',
    {
      version: defaulted(int, () => 3),
      sources: required(sourcesCodec(kinds, decoded, encoded)),
      ...sharedSections,
      inheritedRoles: mapOrNone(keyedList({ what: 'inherited roles', item: entryCodecs.inheritedRole, key: ({ roleName }) => roleName })),
      graphqlSchemaIntrospection: defaulted<IntrospectionSettings>(
        entryCodecs.introspection,
        () => NO_INTROSPECTION,
        ({ disabledForRoles }) => disabledForRoles.length === 0,
      ),
      apiLimits: optional(entryCodecs.apiLimits),
      opentelemetry: optional(openTelemetrySection),
      network: defaulted<Network>(entryCodecs.network, () => NO_NETWORK, isEmptyNetwork),
    },
    { notSupported: NOT_SUPPORTED_SECTIONS },
  );
  const document: Codec<Metadata> = leaf(
    'Metadata',
    (json, path) => {
      const { version: _, sources: all, graphqlSchemaIntrospection, apiLimits, opentelemetry, ...sections } = written.decode(json, path);
      const sources = new Map<string, SourceMetadata>();
      const unknownSources = new Map<string, UnknownSource>();
      for (const [name, source] of all) {
        if (isUnknown(source)) unknownSources.set(name, source);
        else sources.set(name, source);
      }
      return {
        ...sections,
        sources,
        unknownSources,
        introspection: graphqlSchemaIntrospection,
        apiLimits: apiLimits ?? null,
        openTelemetry: opentelemetry ?? null,
      };
    },
    ({ sources, unknownSources, introspection, apiLimits, openTelemetry, cronTriggers, ...sections }) =>
      written.encode({
        ...sections,
        cronTriggers: exportedCronTriggers(cronTriggers),
        version: 3,
        sources: new Map<string, SourceMetadata | UnknownSource>([...sources, ...unknownSources]),
        graphqlSchemaIntrospection: introspection,
        apiLimits: apiLimits ?? undefined,
        opentelemetry: openTelemetry ?? undefined,
      }),
    like(written),
  );
  return inOrder(METADATA_SECTIONS, preserveUnknownKeys(document));
}
