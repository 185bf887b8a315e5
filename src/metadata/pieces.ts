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
import type { Codec } from './codec.ts';
import { isEmptyCustomTypes, NO_CUSTOM_TYPES } from './custom-types.ts';
import { withRules } from './decode-rules.ts';
import { type FunctionMetadata, functionCodec } from './function.ts';
import { type Kinds, storedKinds } from './kinds.ts';
import { EMPTY_METADATA, entryCodecs, type Metadata, NO_INTROSPECTION, type SourceMetadata, unknownSection } from './metadata.ts';
import { isEmptyNetwork, NO_NETWORK } from './network.ts';
import { codecsOf, type SourceSettings, sourceSettingsCodec } from './source.ts';
import { type TableMetadata, tableCodec } from './table.ts';
import { storedUnknownSource, type UnknownSource } from './unknown-source.ts';
import { hasUnknownKeys, type UnknownKey } from './unknown-keys.ts';

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

type EntryMember = 'remoteSchemas' | 'queryCollections' | 'allowlist' | 'restEndpoints' | 'actions' | 'cronTriggers' | 'inheritedRoles';
type Entry<K extends EntryMember> = Metadata[K] extends ReadonlyMap<string, infer V> ? V : never;

interface EntryKind<V> {
  readonly kind: PieceKind;
  readonly codec: Codec<V>;
  key(value: V): string;
}

/** Maps of the metadata each of whose entries is a piece. */
const ENTRIES: { readonly [K in EntryMember]: EntryKind<Entry<K>> } = {
  remoteSchemas: { kind: 'remote_schema', codec: entryCodecs.remoteSchema, key: ({ name }) => name },
  queryCollections: { kind: 'query_collection', codec: entryCodecs.queryCollection, key: ({ name }) => name },
  allowlist: { kind: 'allowlist_entry', codec: entryCodecs.allowListEntry, key: ({ collection }) => collection },
  restEndpoints: { kind: 'rest_endpoint', codec: entryCodecs.restEndpoint, key: ({ name }) => name },
  actions: { kind: 'action', codec: entryCodecs.action, key: ({ name }) => name },
  cronTriggers: { kind: 'cron_trigger', codec: entryCodecs.cronTrigger, key: ({ name }) => name },
  inheritedRoles: { kind: 'inherited_role', codec: entryCodecs.inheritedRole, key: ({ roleName }) => roleName },
};
const ENTRY_MEMBERS = Object.keys(ENTRIES) as EntryMember[];

type SectionMember = 'introspection' | 'apiLimits' | 'openTelemetry' | 'network' | 'customTypes';
type Sections = { -readonly [K in SectionMember]: Metadata[K] };

interface SectionKind<V> {
  readonly key: string;
  readonly codec: Codec<NonNullable<V>>;
  /** The value where the section is absent. */
  readonly none: V;
  isEmpty(value: NonNullable<V>): boolean;
}

const never = (): boolean => false;

/** Sections that are a piece each. */
const SECTIONS: { readonly [K in SectionMember]: SectionKind<Metadata[K]> } = {
  introspection: {
    key: 'graphql_schema_introspection',
    codec: entryCodecs.introspection,
    none: NO_INTROSPECTION,
    isEmpty: ({ disabledForRoles }) => disabledForRoles.length === 0,
  },
  apiLimits: { key: 'api_limits', codec: entryCodecs.apiLimits, none: null, isEmpty: never },
  openTelemetry: { key: 'opentelemetry', codec: entryCodecs.openTelemetry, none: null, isEmpty: never },
  network: { key: 'network', codec: entryCodecs.network, none: NO_NETWORK, isEmpty: isEmptyNetwork },
  customTypes: { key: 'custom_types', codec: entryCodecs.customTypes, none: NO_CUSTOM_TYPES, isEmpty: isEmptyCustomTypes },
};
const SECTION_MEMBERS = Object.keys(SECTIONS) as SectionMember[];

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
  yield* diffMaps(
    before.unknownSources,
    after.unknownSources,
    ({ name }) => ({ kind: 'unknown_source', source: '', key: name }),
    ({ json }) => json,
  );
  for (const member of ENTRY_MEMBERS) yield* diffEntries(before[member], after[member], ENTRIES[member] as EntryKind<Entry<EntryMember>>);
  yield* diffSections(before, after);
}

function diffEntries<V>(
  before: ReadonlyMap<string, V>,
  after: ReadonlyMap<string, V>,
  { kind, codec, key }: EntryKind<V>,
): Iterable<PieceChange> {
  return diffMaps(
    before,
    after,
    (value) => ({ kind, source: '', key: key(value) }),
    (value) => codec.encode(value),
  );
}

/** The JSON of a section; null where nothing is in it. */
function encodeSection<K extends SectionMember>(member: K, value: Metadata[K]): Json {
  const { codec, isEmpty }: SectionKind<Metadata[K]> = SECTIONS[member];
  return value === null || (isEmpty(value) && !hasUnknownKeys(value)) ? null : codec.encode(value);
}

function* diffSections(before: Metadata, after: Metadata): Iterable<PieceChange> {
  const section = (key: string, json: Json): PieceChange => ({ kind: 'section', source: '', key, json });
  for (const member of SECTION_MEMBERS)
    if (before[member] !== after[member]) yield section(SECTIONS[member].key, encodeSection(member, after[member]));
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

function applySection(sections: Sections, other: EditedMap<Json>, { key, json }: PieceChange, path: Path): void {
  const member = SECTION_MEMBERS.find((each) => SECTIONS[each].key === key);
  if (member === undefined) other.set(key, json ?? undefined);
  else setSection(sections, member, json, path);
}

function setSection<K extends SectionMember>(sections: Sections, member: K, json: Json, path: Path): void {
  const { codec, none }: SectionKind<Metadata[K]> = SECTIONS[member];
  sections[member] = json === null ? none : codec.decode(json, path);
}

/** Hears of numbers that are beyond their bounds. */
type Warn = (message: string) => void;

/**
 * The metadata with these pieces replaced; all other objects are shared with `before`. The order
 * of the changes does not matter. Numbers beyond bounds that are younger than they are taken as the nearest.
 * @throws SvcError when a stored piece cannot be read
 */
export function applyPieces(before: Metadata, changes: Iterable<PieceChange>, kinds: Kinds, warn?: Warn): Metadata {
  const root = withRules(ROOT, { onClamped: warn ?? (() => undefined) });
  const codecs = pieceCodecs(kinds);
  const drafts = new Map<string, SourceDraft>();
  const unknownSources = new EditedMap<UnknownSource>(before.unknownSources);
  const entries = ENTRY_MEMBERS.map((member) => ({ member, ...ENTRIES[member], map: new EditedMap<Entry<EntryMember>>(before[member]) }));
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
    const path = along(root, piece.kind, piece.source, piece.key);
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
      case 'section':
        applySection(sections, other, piece, path);
        break;
      default: {
        const entry = entries.find(({ kind }) => kind === piece.kind);
        if (entry === undefined) throw new SvcError('unexpected', `stored metadata has a piece of the unknown kind "${piece.kind}"`);
        entry.map.set(piece.key, piece.json === null ? undefined : entry.codec.decode(piece.json, path));
      }
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
    const value = codecs.tracked(settings.kind)[kind === 'table' ? 'table' : 'function'].decode(json, along(root, kind, source, key));
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
    ...(Object.fromEntries(entries.map(({ member, map }) => [member, map.value])) as Pick<Metadata, EntryMember>),
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
