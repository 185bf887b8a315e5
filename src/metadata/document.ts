/**
 * Documents of every version that `replace_metadata` takes. Version 3 is a whole `Metadata`.
 * Versions 1 and 2 are from before there were sources: what they hold replaces the contents of
 * the default source, so they are read against the current metadata.
 */
import { SvcError } from '../errors/svc-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../util/json.ts';
import { at, type Path } from '../util/path.ts';
import { type Codec, defaulted, int, leaf, like, object, optional, parseFailed, required, wrongType } from './codec.ts';
import { type FunctionMetadata, functionCodec, newFunction } from './function.ts';
import { kept } from './kept.ts';
import { keyedList } from './keyed-list.ts';
import type { KindCodecs, Kinds } from './kinds.ts';
import { isKnownSection, type Metadata, metadataCodec, NOT_SUPPORTED_SECTIONS, sharedSections, tablesCodec } from './metadata.ts';
import { NO_NETWORK } from './network.ts';
import { codecsOf, DEFAULT_SOURCE } from './source.ts';
import { nameKey } from '../catalog/catalog.ts';
import { printName } from './table-name.ts';
import type { DecodedTables } from './table-caches.ts';

/** In version 1 a function is its name only. */
function legacyFunctionsCodec(codecs: KindCodecs): Codec<ReadonlyMap<string, FunctionMetadata>> {
  const full = functionCodec(codecs);
  const item: Codec<FunctionMetadata> = leaf(
    full.name,
    (json, path) =>
      isJsonObject(json) && json['function'] !== undefined ? full.decode(json, path) : newFunction(codecs.functionName.decode(json, path)),
    (value) => full.encode(value),
    like(full, 'Or only the name of the function.'),
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
  return kept(leaf(name, decode, () => ({}), { says: 'A document of version 1 or 2, without sources.' }));
}

/**
 * What the metadata becomes when a document without sources replaces it: the default source keeps
 * its settings and gets the document's tables and functions, other sources go.
 * @throws SvcError `not-supported` when there is no default source
 */
function decodeLegacyDocument(json: JsonObject, path: Path, kinds: Kinds, current: Metadata): Metadata {
  const source = current.sources.get(DEFAULT_SOURCE);
  if (source === undefined) {
    throw new SvcError('not-supported', 'cannot import metadata without sources since no default source is defined', { path });
  }
  const codecs = codecsOf(kinds, source.kind);
  const { tables, functions, unknownKeys, ...sections } = legacyDocument(codecs).decode(json, path);
  // It would be exported as if the document had meant it.
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
    // There were none then, so such a document says nothing about them.
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
 * A document of any version.
 * @param current what a document leaves out is taken from it: contents of the default source for versions 1 and 2, cron triggers that
 *   are in no document
 * @param decoded tables that were decoded before
 * @throws SvcError
 */
export function decodeDocument(json: Json, path: Path, kinds: Kinds, current: Metadata, decoded?: DecodedTables): Metadata {
  if (!isJsonObject(json)) throw wrongType('Metadata', 'Object', json, path);
  const found =
    versionOf(json, path) === 3 ? metadataCodec(kinds, decoded).decode(json, path) : decodeLegacyDocument(json, path, kinds, current);
  return { ...found, cronTriggers: withUnexported(found.cronTriggers, current.cronTriggers, at(path, 'cron_triggers')) };
}

/** Those of a document and those that stand in none. @throws SvcError already-exists */
function withUnexported(found: Metadata['cronTriggers'], current: Metadata['cronTriggers'], path: Path): Metadata['cronTriggers'] {
  const unexported = [...current].filter(([, { includeInMetadata }]) => !includeInMetadata);
  const taken = unexported.find(([name]) => found.has(name));
  if (taken !== undefined) {
    const message = `cron trigger with name "${taken[0]}" already exists as a cron trigger with "included_in_metadata" as false`;
    throw new SvcError('already-exists', message, { path });
  }
  return unexported.length === 0 ? found : new Map([...found, ...unexported]);
}
