/**
 * Documents of every version that `replace_metadata` accepts. Version 3 is a whole `Metadata`. Versions 1 and 2 predate sources: they
 * replace the contents of the default source, so they are read against the current metadata.
 */
import { SvcError } from '../errors/svc-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../util/json.ts';
import { at, type Path } from '../util/path.ts';
import { type Codec, defaulted, int, leaf, like, object, optional, parseFailed, required, wrongType } from './codec.ts';
import { type FunctionMetadata, functionCodec, newFunction } from './function.ts';
import { preserveUnknownKeys } from './preserve-unknown-keys.ts';
import { keyedList } from './keyed-list.ts';
import type { KindCodecs, Kinds } from './kinds.ts';
import { isKnownSection, type Metadata, metadataCodec, NOT_SUPPORTED_SECTIONS, sharedSections, tablesCodec } from './metadata.ts';
import { NO_NETWORK } from './network.ts';
import { codecsOf, DEFAULT_SOURCE } from './source.ts';
import { nameKey } from '../catalog/catalog.ts';
import { printName } from './table-name.ts';
import type { DecodedTables } from './table-caches.ts';

/** In version 1 a function may be just its name. */
function legacyFunctionsCodec(codecs: KindCodecs): Codec<ReadonlyMap<string, FunctionMetadata>> {
  const full = functionCodec(codecs);
  const item: Codec<FunctionMetadata> = leaf(
    full.name,
    (json, path) =>
      isJsonObject(json) && json['function'] !== undefined ? full.decode(json, path) : newFunction(codecs.functionName.decode(json, path)),
    (value) => full.encode(value),
    like(full, 'Or just the name of the function.'),
  );
  return keyedList({
    what: 'functions',
    item,
    key: (entry) => nameKey(entry.function),
    print: (entry) => printName(entry.function, codecs.defaultSchema),
  });
}

function legacyDocument(codecs: KindCodecs) {
  const fields = {
    version: optional(int),
    tables: required(tablesCodec(codecs)),
    functions: defaulted<ReadonlyMap<string, FunctionMetadata>>(legacyFunctionsCodec(codecs), () => new Map()),
    remoteSchemas: sharedSections.remoteSchemas,
    queryCollections: sharedSections.queryCollections,
    allowlist: sharedSections.allowlist,
    actions: sharedSections.actions,
    customTypes: sharedSections.customTypes,
    cronTriggers: sharedSections.cronTriggers,
  };
  const { name, decode } = object('MetadataNoSources', fields, { notSupported: NOT_SUPPORTED_SECTIONS });
  return preserveUnknownKeys(leaf(name, decode, () => ({}), { description: 'A document of version 1 or 2, without sources.' }));
}

/**
 * Returns the metadata after a document without sources replaces it: the default source keeps its settings and gets the document's tables
 * and functions; other sources are removed.
 * @throws SvcError `not-supported` if there is no default source
 */
function decodeLegacyDocument(json: JsonObject, path: Path, kinds: Kinds, current: Metadata): Metadata {
  const source = current.sources.get(DEFAULT_SOURCE);
  if (source === undefined) {
    throw new SvcError('not-supported', 'cannot import metadata without sources since no default source is defined', { path });
  }
  const codecs = codecsOf(kinds, source.kind);
  const { tables, functions, unknownKeys, ...sections } = legacyDocument(codecs).decode(json, path);
  // An export would contain the section as if it had been read from the document.
  const later = unknownKeys?.map((unknown) => unknown.path[0]).find((key) => typeof key === 'string' && isKnownSection(key));
  if (typeof later === 'string') throw parseFailed(`a document without sources has no "${later}"`, at(path, later));
  return {
    sources: new Map([[DEFAULT_SOURCE, { ...source, tables, functions }]]),
    unknownSources: new Map(),
    remoteSchemas: sections.remoteSchemas,
    queryCollections: sections.queryCollections,
    allowlist: sections.allowlist,
    actions: sections.actions,
    customTypes: sections.customTypes,
    // Such documents cannot have REST endpoints, so the current ones stay.
    restEndpoints: current.restEndpoints,
    cronTriggers: sections.cronTriggers,
    inheritedRoles: new Map(),
    introspection: current.introspection,
    apiLimits: null,
    openTelemetry: null,
    network: NO_NETWORK,
    unknownKeys,
  };
}

function versionOf(json: JsonObject, path: Path): number {
  const { version } = json;
  if (version === undefined || version === null) return json['sources'] === undefined ? 1 : 3;
  const value = int.decode(version, at(path, 'version'));
  if (value < 1 || value > 3) throw parseFailed(`expected 1, 2 or 3, encountered ${value}`, at(path, 'version'));
  return value;
}

/**
 * Decodes a document of any version.
 * @param current provides what a document omits: settings of the default source for versions 1 and 2, cron triggers that are not exported
 * @param decoded tables that were decoded before
 * @throws SvcError
 */
export function decodeDocument(json: Json, path: Path, kinds: Kinds, current: Metadata, decoded?: DecodedTables): Metadata {
  if (!isJsonObject(json)) throw wrongType('Metadata', 'Object', json, path);
  const found =
    versionOf(json, path) === 3 ? metadataCodec(kinds, decoded).decode(json, path) : decodeLegacyDocument(json, path, kinds, current);
  return { ...found, cronTriggers: withUnexported(found.cronTriggers, current.cronTriggers, at(path, 'cron_triggers')) };
}

/** Adds the cron triggers that are not exported to those of a document. @throws SvcError already-exists */
function withUnexported(found: Metadata['cronTriggers'], current: Metadata['cronTriggers'], path: Path): Metadata['cronTriggers'] {
  const unexported = [...current].filter(([, { includeInMetadata }]) => !includeInMetadata);
  const taken = unexported.find(([name]) => found.has(name));
  if (taken !== undefined) {
    const message = `cron trigger with name "${taken[0]}" already exists as a cron trigger with "included_in_metadata" as false`;
    throw new SvcError('already-exists', message, { path });
  }
  return unexported.length === 0 ? found : new Map([...found, ...unexported]);
}
