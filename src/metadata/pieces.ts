/**
 * The document in the pieces that storage keeps: a source's settings, each table, each function,
 * each source of an unknown kind, remote schema, query collection, allow-list entry, REST endpoint, action, cron trigger and
 * inherited role and each other section is a piece of its own, so that a change of one object writes one
 * row. Pure; knows nothing of the tables that hold the rows.
 */
import { nameKey, type QualifiedName } from '../catalog/catalog.ts';
import { SvcError } from '../errors/svc-error.ts';
import { isJsonObject, type Json } from '../util/json.ts';
import { along, type Path, ROOT } from '../util/path.ts';
import type { Action } from './action.ts';
import type { AllowListEntry } from './allow-list.ts';
import { clampingNumbers } from './clamping.ts';
import type { Codec } from './codec.ts';
import type { CronTrigger } from './cron-trigger.ts';
import { isEmptyCustomTypes, NO_CUSTOM_TYPES } from './custom-types.ts';
import { type FunctionMetadata, functionCodec } from './function.ts';
import type { InheritedRole } from './inherited-role.ts';
import { hasUnknownKeys, type UnknownKey } from './kept.ts';
import { type Kinds, storedKinds } from './kinds.ts';
import { EMPTY_METADATA, entryCodecs, type Metadata, NO_INTROSPECTION, type SourceMetadata, unknownSection } from './metadata.ts';
import { isEmptyNetwork, NO_NETWORK } from './network.ts';
import type { QueryCollection } from './query-collection.ts';
import type { RemoteSchema } from './remote-schema.ts';
import type { RestEndpoint } from './rest-endpoint.ts';
import { codecsOf, type SourceSettings, sourceSettingsCodec } from './source.ts';
import { type TableMetadata, tableCodec } from './table.ts';
import { storedUnknownSource, type UnknownSource } from './unknown-source.ts';

const PIECE_KINDS = [
  'source',
  'unknown_source',
  'table',
  'function',
  'remote_schema',
  'query_collection',
  'allowlist_entry',
  'rest_endpoint',
  'action',
  'cron_trigger',
  'inherited_role',
  'section',
] as const;
export type PieceKind = (typeof PIECE_KINDS)[number];

export interface PieceName {
  readonly kind: PieceKind;
  /** Empty for pieces that belong to no source. */
  readonly source: string;
  /** `["schema","name"]` of a table or function, the name of another object, the section; empty for a source. */
  readonly key: string;
}

export interface Piece extends PieceName {
  readonly json: Json;
}

/** `json` is null when the piece is gone: no piece is JSON null itself. */
export type PieceChange = Piece;

const INTROSPECTION = 'graphql_schema_introspection';
const API_LIMITS = 'api_limits';
const NETWORK = 'network';
const OPEN_TELEMETRY = 'opentelemetry';
const CUSTOM_TYPES = 'custom_types';

interface TrackedCodecs {
  readonly table: Codec<TableMetadata>;
  readonly function: Codec<FunctionMetadata>;
}

interface PieceCodecs {
  readonly source: Codec<SourceSettings>;
  tracked(kind: string): TrackedCodecs;
}

const made = new WeakMap<Kinds, PieceCodecs>();

function pieceCodecs(kinds: Kinds): PieceCodecs {
  const known = made.get(kinds);
  if (known !== undefined) return known;
  const perKind = new Map<string, TrackedCodecs>();
  const codecs: PieceCodecs = {
    source: sourceSettingsCodec(storedKinds(kinds)),
    tracked(kind) {
      let tracked = perKind.get(kind);
      if (tracked === undefined) {
        const kindCodecs = codecsOf(kinds, kind);
        tracked = { table: tableCodec(kindCodecs), function: functionCodec(kindCodecs) };
        perKind.set(kind, tracked);
      }
      return tracked;
    },
  };
  made.set(kinds, codecs);
  return codecs;
}

function qualifiedKey(name: QualifiedName): string {
  return JSON.stringify([name.schema, name.name]);
}

function nameKeyOf(pieceKey: string): string {
  const [schema, name] = JSON.parse(pieceKey) as [string, string];
  return nameKey({ schema, name });
}

/** Compares two maps by the identity of their values. */
function* diffMaps<V>(
  before: ReadonlyMap<string, V>,
  after: ReadonlyMap<string, V>,
  name: (value: V) => PieceName,
  json: (value: V) => Json,
): Iterable<PieceChange> {
  if (before === after) return;
  for (const [key, value] of before) if (!after.has(key)) yield { ...name(value), json: null };
  for (const [key, value] of after) if (before.get(key) !== value) yield { ...name(value), json: json(value) };
}

function sameSettings(a: SourceMetadata, b: SourceMetadata): boolean {
  return (
    a.kind === b.kind &&
    a.configuration === b.configuration &&
    a.customization === b.customization &&
    a.healthCheck === b.healthCheck &&
    a.queryTags === b.queryTags &&
    a.unknownKeys === b.unknownKeys
  );
}

const NOTHING_TRACKED: Pick<SourceMetadata, 'tables' | 'functions'> = { tables: new Map(), functions: new Map() };

function* diffSource(before: SourceMetadata | undefined, after: SourceMetadata | undefined, codecs: PieceCodecs): Iterable<PieceChange> {
  if (before === after) return;
  const source = (after ?? before)?.name ?? '';
  if (after === undefined) yield { kind: 'source', source, key: '', json: null };
  else if (before === undefined || !sameSettings(before, after))
    yield { kind: 'source', source, key: '', json: codecs.source.encode(after) };
  const tracked = after === undefined ? undefined : codecs.tracked(after.kind);
  const was = before ?? NOTHING_TRACKED;
  const is = after ?? NOTHING_TRACKED;
  yield* diffMaps(
    was.tables,
    is.tables,
    ({ table }) => ({ kind: 'table', source, key: qualifiedKey(table) }),
    (table) => tracked?.table.encode(table) ?? null,
  );
  yield* diffMaps(
    was.functions,
    is.functions,
    (fn) => ({ kind: 'function', source, key: qualifiedKey(fn.function) }),
    (fn) => tracked?.function.encode(fn) ?? null,
  );
}

/**
 * What must be written to turn the stored `before` into `after`, one piece after the other; objects
 * that are the same are not looked at.
 */
export function* changedPieces(before: Metadata, after: Metadata, kinds: Kinds): Iterable<PieceChange> {
  const codecs = pieceCodecs(kinds);
  if (before.sources !== after.sources) {
    for (const name of new Set([...before.sources.keys(), ...after.sources.keys()])) {
      yield* diffSource(before.sources.get(name), after.sources.get(name), codecs);
    }
  }
  const named = <V>(kind: PieceKind, codec: Codec<V>, key: (value: V) => string, was: ReadonlyMap<string, V>, is: ReadonlyMap<string, V>) =>
    diffMaps(
      was,
      is,
      (value) => ({ kind, source: '', key: key(value) }),
      (value) => codec.encode(value),
    );
  yield* diffMaps(
    before.unknownSources,
    after.unknownSources,
    ({ name }) => ({ kind: 'unknown_source', source: '', key: name }),
    ({ json }) => json,
  );
  yield* named('remote_schema', entryCodecs.remoteSchema, ({ name }) => name, before.remoteSchemas, after.remoteSchemas);
  yield* named('query_collection', entryCodecs.queryCollection, ({ name }) => name, before.queryCollections, after.queryCollections);
  yield* named('allowlist_entry', entryCodecs.allowListEntry, ({ collection }) => collection, before.allowlist, after.allowlist);
  yield* named('rest_endpoint', entryCodecs.restEndpoint, ({ name }) => name, before.restEndpoints, after.restEndpoints);
  yield* named('action', entryCodecs.action, ({ name }) => name, before.actions, after.actions);
  yield* named('cron_trigger', entryCodecs.cronTrigger, ({ name }) => name, before.cronTriggers, after.cronTriggers);
  yield* named('inherited_role', entryCodecs.inheritedRole, ({ roleName }) => roleName, before.inheritedRoles, after.inheritedRoles);
  yield* diffSections(before, after);
}

function* diffSections(before: Metadata, after: Metadata): Iterable<PieceChange> {
  const section = (key: string, json: Json): PieceChange => ({ kind: 'section', source: '', key, json });
  const { introspection, apiLimits, network, customTypes, openTelemetry } = after;
  if (before.introspection !== introspection) {
    const empty = introspection.disabledForRoles.length === 0 && !hasUnknownKeys(introspection);
    yield section(INTROSPECTION, empty ? null : entryCodecs.introspection.encode(introspection));
  }
  if (before.apiLimits !== apiLimits) yield section(API_LIMITS, apiLimits === null ? null : entryCodecs.apiLimits.encode(apiLimits));
  if (before.openTelemetry !== openTelemetry)
    yield section(OPEN_TELEMETRY, openTelemetry === null ? null : entryCodecs.openTelemetry.encode(openTelemetry));
  if (before.network !== network) {
    const empty = isEmptyNetwork(network) && !hasUnknownKeys(network);
    yield section(NETWORK, empty ? null : entryCodecs.network.encode(network));
  }
  if (before.customTypes !== customTypes) {
    const empty = isEmptyCustomTypes(customTypes) && !hasUnknownKeys(customTypes);
    yield section(CUSTOM_TYPES, empty ? null : entryCodecs.customTypes.encode(customTypes));
  }
  const was = sectionsOf(before.unknownKeys);
  const is = sectionsOf(after.unknownKeys);
  for (const key of new Set([...was.keys(), ...is.keys()])) {
    const json = is.get(key);
    if (json !== was.get(key)) yield section(key, json ?? null);
  }
}

/** Sections that have no effect here, by name. */
function sectionsOf(unknownKeys: readonly UnknownKey[] = []): ReadonlyMap<string, Json> {
  return new Map(unknownKeys.flatMap(({ path: [key], value }) => (typeof key === 'string' ? [[key, value] as const] : [])));
}

/** All of `changedPieces`. */
export function diffPieces(before: Metadata, after: Metadata, kinds: Kinds): readonly PieceChange[] {
  return [...changedPieces(before, after, kinds)];
}

/** The whole document in pieces. */
export function toPieces(metadata: Metadata, kinds: Kinds): readonly Piece[] {
  return diffPieces(EMPTY_METADATA, metadata, kinds);
}

/** A map that is copied when it is first written to. */
class EditedMap<V> {
  readonly #before: ReadonlyMap<string, V>;
  #copy: Map<string, V> | undefined;

  constructor(before: ReadonlyMap<string, V>) {
    this.#before = before;
  }

  set(key: string, value: V | undefined): void {
    this.#copy ??= new Map(this.#before);
    if (value === undefined) this.#copy.delete(key);
    else this.#copy.set(key, value);
  }

  get isChanged(): boolean {
    return this.#copy !== undefined;
  }

  get value(): ReadonlyMap<string, V> {
    return this.#copy ?? this.#before;
  }
}

interface SourceDraft {
  /** undefined while its row was not seen, null when it is gone. */
  settings: SourceSettings | null | undefined;
  readonly tables: EditedMap<TableMetadata>;
  readonly functions: EditedMap<FunctionMetadata>;
}

type Sections = { -readonly [K in 'introspection' | 'apiLimits' | 'network' | 'customTypes' | 'openTelemetry']: Metadata[K] };

function applySection(sections: Sections, other: EditedMap<Json>, piece: PieceChange, path: Path): void {
  if (piece.key === INTROSPECTION)
    sections.introspection = piece.json === null ? NO_INTROSPECTION : entryCodecs.introspection.decode(piece.json, path);
  else if (piece.key === API_LIMITS) sections.apiLimits = piece.json === null ? null : entryCodecs.apiLimits.decode(piece.json, path);
  else if (piece.key === OPEN_TELEMETRY) {
    sections.openTelemetry = piece.json === null ? null : entryCodecs.openTelemetry.decode(piece.json, path);
  } else if (piece.key === NETWORK) sections.network = piece.json === null ? NO_NETWORK : entryCodecs.network.decode(piece.json, path);
  else if (piece.key === CUSTOM_TYPES)
    sections.customTypes = piece.json === null ? NO_CUSTOM_TYPES : entryCodecs.customTypes.decode(piece.json, path);
  else other.set(piece.key, piece.json === null ? undefined : piece.json);
}

/** Hears of numbers that are beyond their bounds. */
type Warn = (message: string) => void;

/**
 * The metadata with these pieces replaced; all other objects are shared with `before`. The order
 * of the changes does not matter. Numbers beyond bounds that are younger than they are taken as the nearest.
 * @throws SvcError when a stored piece cannot be read
 */
export function applyPieces(before: Metadata, changes: Iterable<PieceChange>, kinds: Kinds, warn?: Warn): Metadata {
  return clampingNumbers(() => replacePieces(before, changes, kinds), warn);
}

function replacePieces(before: Metadata, changes: Iterable<PieceChange>, kinds: Kinds): Metadata {
  const codecs = pieceCodecs(kinds);
  const drafts = new Map<string, SourceDraft>();
  const unknownSources = new EditedMap<UnknownSource>(before.unknownSources);
  const remoteSchemas = new EditedMap<RemoteSchema>(before.remoteSchemas);
  const collections = new EditedMap<QueryCollection>(before.queryCollections);
  const allowlist = new EditedMap<AllowListEntry>(before.allowlist);
  const endpoints = new EditedMap<RestEndpoint>(before.restEndpoints);
  const actions = new EditedMap<Action>(before.actions);
  const cronTriggers = new EditedMap<CronTrigger>(before.cronTriggers);
  const roles = new EditedMap<InheritedRole>(before.inheritedRoles);
  const other = new EditedMap<Json>(sectionsOf(before.unknownKeys));
  const { introspection, apiLimits, network, customTypes, openTelemetry } = before;
  const sections: Sections = { introspection, apiLimits, network, customTypes, openTelemetry };
  const tracked: PieceChange[] = [];

  const draftOf = (name: string): SourceDraft => {
    const known = drafts.get(name);
    if (known !== undefined) return known;
    const source = before.sources.get(name) ?? NOTHING_TRACKED;
    const draft: SourceDraft = { settings: undefined, tables: new EditedMap(source.tables), functions: new EditedMap(source.functions) };
    drafts.set(name, draft);
    return draft;
  };

  for (const piece of changes) {
    const path = along(ROOT, piece.kind, piece.source, piece.key);
    switch (piece.kind) {
      case 'source':
        draftOf(piece.source).settings = piece.json === null ? null : codecs.source.decode(piece.json, path);
        break;
      case 'table':
      case 'function':
        tracked.push(piece);
        break;
      case 'unknown_source':
        unknownSources.set(piece.key, isJsonObject(piece.json) ? storedUnknownSource(piece.key, piece.json, kinds) : undefined);
        break;
      case 'remote_schema':
        remoteSchemas.set(piece.key, piece.json === null ? undefined : entryCodecs.remoteSchema.decode(piece.json, path));
        break;
      case 'query_collection':
        collections.set(piece.key, piece.json === null ? undefined : entryCodecs.queryCollection.decode(piece.json, path));
        break;
      case 'allowlist_entry':
        allowlist.set(piece.key, piece.json === null ? undefined : entryCodecs.allowListEntry.decode(piece.json, path));
        break;
      case 'rest_endpoint':
        endpoints.set(piece.key, piece.json === null ? undefined : entryCodecs.restEndpoint.decode(piece.json, path));
        break;
      case 'action':
        actions.set(piece.key, piece.json === null ? undefined : entryCodecs.action.decode(piece.json, path));
        break;
      case 'cron_trigger':
        cronTriggers.set(piece.key, piece.json === null ? undefined : entryCodecs.cronTrigger.decode(piece.json, path));
        break;
      case 'inherited_role':
        roles.set(piece.key, piece.json === null ? undefined : entryCodecs.inheritedRole.decode(piece.json, path));
        break;
      case 'section':
        applySection(sections, other, piece, path);
        break;
      default:
        throw new SvcError('unexpected', `stored metadata has a piece of the unknown kind "${piece.kind satisfies never}"`);
    }
  }

  for (const { kind, source, key, json } of tracked) {
    const draft = draftOf(source);
    const settings = draft.settings === undefined ? before.sources.get(source) : draft.settings;
    const target = kind === 'table' ? draft.tables : draft.functions;
    if (json === null) {
      target.set(nameKeyOf(key), undefined);
      continue;
    }
    if (settings === undefined || settings === null)
      throw new SvcError('unexpected', `stored metadata has a ${kind} of the unknown source "${source}"`);
    const value = codecs.tracked(settings.kind)[kind === 'table' ? 'table' : 'function'].decode(json, along(ROOT, kind, source, key));
    (target as EditedMap<TableMetadata | FunctionMetadata>).set(nameKeyOf(key), value);
  }

  const sources = new EditedMap<SourceMetadata>(before.sources);
  for (const [name, { settings, tables, functions }] of drafts) {
    const base = settings === undefined ? before.sources.get(name) : settings;
    if (base === null || base === undefined) sources.set(name, undefined);
    else sources.set(name, { ...base, tables: tables.value, functions: functions.value });
  }
  return {
    ...sections,
    sources: sources.value,
    unknownSources: unknownSources.value,
    remoteSchemas: remoteSchemas.value,
    queryCollections: collections.value,
    allowlist: allowlist.value,
    restEndpoints: endpoints.value,
    actions: actions.value,
    cronTriggers: cronTriggers.value,
    inheritedRoles: roles.value,
    unknownKeys: other.isChanged ? unknownKeysOf(other.value) : before.unknownKeys,
  };
}

function unknownKeysOf(sections: ReadonlyMap<string, Json>): readonly UnknownKey[] | undefined {
  return sections.size === 0 ? undefined : [...sections].map(([key, json]) => unknownSection(key, json));
}

/** The document from all its pieces. @throws SvcError when one cannot be read */
export function fromPieces(pieces: Iterable<Piece>, kinds: Kinds, warn?: Warn): Metadata {
  return applyPieces(EMPTY_METADATA, pieces, kinds, warn);
}
