/**
 * The document in the pieces that storage holds, so that a change of one object writes one row. Pieces are the settings of a source, each
 * table, function, source of an unknown kind, remote schema, query collection, allow-list entry, REST endpoint, action, cron trigger and
 * inherited role, and each other section as a whole. Pure, and independent of the tables that hold the rows.
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
import { shareUnchanged } from './share.ts';
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
  /** Empty for pieces outside of sources. */
  readonly source: string;
  /** `["schema","name"]` of a table or function, the name of another object or section; empty for a source. */
  readonly key: string;
}

export interface MetadataPiece extends PieceName {
  readonly json: Json;
}

/** `json` is null if the piece was removed: no piece is JSON null itself. */
export type PieceChange = MetadataPiece;

type EntryMember = 'remoteSchemas' | 'queryCollections' | 'allowlist' | 'restEndpoints' | 'actions' | 'cronTriggers' | 'inheritedRoles';
type Entry<K extends EntryMember> = Metadata[K] extends ReadonlyMap<string, infer V> ? V : never;

interface EntryKind<V> {
  readonly kind: PieceKind;
  readonly codec: Codec<V>;
  key(value: V): string;
}

/** Maps of the metadata whose entries are pieces. */
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
  /** The value of an absent section. */
  readonly none: V;
  isEmpty(value: NonNullable<V>): boolean;
}

const never = (): boolean => false;

/** Sections of which each is one piece. */
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

const codecsByKinds = new WeakMap<Kinds, PieceCodecs>();

function pieceCodecs(kinds: Kinds): PieceCodecs {
  const known = codecsByKinds.get(kinds);
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
  codecsByKinds.set(kinds, codecs);
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

/** Yields the pieces to write in order to turn the stored `before` into `after`; identical objects are skipped. */
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

/** Returns the JSON of a section; null if it is empty. */
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

/** Returns the sections that have no effect here, by name. */
function sectionsOf(unknownKeys: readonly UnknownKey[] = []): ReadonlyMap<string, Json> {
  return new Map(unknownKeys.flatMap(({ path: [key], value }) => (typeof key === 'string' ? [[key, value] as const] : [])));
}

/** A map that is copied before the first write. */
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

interface EntryDraft {
  readonly member: EntryMember;
  readonly codec: Codec<Entry<EntryMember>>;
  readonly map: EditedMap<Entry<EntryMember>>;
}

interface SourceDraft {
  /** Undefined if no change of the settings has been applied, null if they were removed. */
  settings: SourceSettings | null | undefined;
  readonly tables: EditedMap<TableMetadata>;
  readonly functions: EditedMap<FunctionMetadata>;
}

/** Collects changed pieces into the next metadata. The order of the pieces does not matter: tables may precede their source. */
class MetadataDraft {
  readonly #before: Metadata;
  readonly #kinds: Kinds;
  readonly #codecs: PieceCodecs;
  readonly #root: Path;
  readonly #sources = new Map<string, SourceDraft>();
  readonly #unknownSources: EditedMap<UnknownSource>;
  readonly #entries: ReadonlyMap<PieceKind, EntryDraft>;
  readonly #sections: Sections;
  readonly #otherSections: EditedMap<Json>;
  readonly #tracked: PieceChange[] = [];

  constructor(before: Metadata, kinds: Kinds, onClamped: (message: string) => void) {
    this.#before = before;
    this.#kinds = kinds;
    this.#codecs = pieceCodecs(kinds);
    this.#root = withRules(ROOT, { onClamped });
    this.#unknownSources = new EditedMap(before.unknownSources);
    this.#entries = new Map(
      ENTRY_MEMBERS.map((member) => {
        const { kind, codec } = ENTRIES[member];
        return [kind, { member, codec, map: new EditedMap<Entry<EntryMember>>(before[member]) }];
      }),
    );
    const { introspection, apiLimits, network, customTypes, openTelemetry } = before;
    this.#sections = { introspection, apiLimits, network, customTypes, openTelemetry };
    this.#otherSections = new EditedMap(sectionsOf(before.unknownKeys));
  }

  apply(piece: PieceChange): void {
    const { kind, source, key, json } = piece;
    switch (kind) {
      case 'source':
        this.#source(source).settings = json === null ? null : this.#codecs.source.decode(json, this.#pathOf(piece));
        break;
      case 'table':
      case 'function':
        this.#tracked.push(piece);
        break;
      case 'unknown_source':
        this.#unknownSources.set(key, isJsonObject(json) ? storedUnknownSource(key, json, this.#kinds) : undefined);
        break;
      case 'section':
        this.#applySection(piece);
        break;
      default: {
        const entry = this.#entries.get(kind);
        // Pieces of kinds that only a newer service has stay as they are stored.
        if (entry === undefined) break;
        const value = json === null ? undefined : entry.codec.decode(json, this.#pathOf(piece));
        // Documents that a push leaves alone keep their objects: their analyses and plans are cached by object.
        entry.map.set(key, kind === 'query_collection' ? shareUnchanged(this.#before.queryCollections.get(key), value) : value);
      }
    }
  }

  finish(): Metadata {
    for (const piece of this.#tracked) this.#applyTracked(piece);
    const sources = new EditedMap<SourceMetadata>(this.#before.sources);
    for (const [name, { tables, functions }] of this.#sources) {
      const settings = this.#settingsOf(name);
      sources.set(name, settings === undefined ? undefined : { ...settings, tables: tables.value, functions: functions.value });
    }
    const other = this.#otherSections;
    return {
      ...this.#sections,
      sources: sources.value,
      unknownSources: this.#unknownSources.value,
      ...(Object.fromEntries([...this.#entries.values()].map(({ member, map }) => [member, map.value])) as Pick<Metadata, EntryMember>),
      unknownKeys: other.isChanged ? unknownKeysOf(other.value) : this.#before.unknownKeys,
    };
  }

  #pathOf({ kind, source, key }: PieceName): Path {
    return along(this.#root, kind, source, key);
  }

  #source(name: string): SourceDraft {
    let draft = this.#sources.get(name);
    if (draft === undefined) {
      const { tables, functions } = this.#before.sources.get(name) ?? NOTHING_TRACKED;
      draft = { settings: undefined, tables: new EditedMap(tables), functions: new EditedMap(functions) };
      this.#sources.set(name, draft);
    }
    return draft;
  }

  #settingsOf(source: string): SourceSettings | undefined {
    const settings = this.#sources.get(source)?.settings;
    return settings === undefined ? this.#before.sources.get(source) : (settings ?? undefined);
  }

  #applyTracked(piece: PieceChange): void {
    const { kind, source, key, json } = piece;
    const { tables, functions } = this.#source(source);
    const target: EditedMap<TableMetadata | FunctionMetadata> = kind === 'table' ? tables : functions;
    if (json === null) {
      target.set(nameKeyOf(key), undefined);
      return;
    }
    const settings = this.#settingsOf(source);
    if (settings === undefined) throw new SvcError('unexpected', `stored metadata has a ${kind} of the unknown source "${source}"`);
    const codec = this.#codecs.tracked(settings.kind)[kind === 'table' ? 'table' : 'function'];
    target.set(nameKeyOf(key), codec.decode(json, this.#pathOf(piece)));
  }

  #applySection(piece: PieceChange): void {
    const member = SECTION_MEMBERS.find((each) => SECTIONS[each].key === piece.key);
    if (member === undefined) this.#otherSections.set(piece.key, piece.json ?? undefined);
    else decodeSection(this.#sections, member, piece.json, this.#pathOf(piece));
  }
}

function decodeSection<K extends SectionMember>(sections: Sections, member: K, json: Json, path: Path): void {
  const { codec, none }: SectionKind<Metadata[K]> = SECTIONS[member];
  sections[member] = json === null ? none : codec.decode(json, path);
}

/**
 * Returns the metadata with these pieces replaced; all other objects are shared with `before`. Stored numbers that are outside newer limits
 * are replaced by the nearest limit.
 * @param onClamped called with a message for each such number
 * @throws SvcError if a stored piece cannot be read
 */
export function applyPieces(
  before: Metadata,
  changes: Iterable<PieceChange>,
  kinds: Kinds,
  onClamped: (message: string) => void = () => undefined,
): Metadata {
  const draft = new MetadataDraft(before, kinds, onClamped);
  for (const piece of changes) draft.apply(piece);
  return draft.finish();
}

function unknownKeysOf(sections: ReadonlyMap<string, Json>): readonly UnknownKey[] | undefined {
  return sections.size === 0 ? undefined : [...sections].map(([key, json]) => unknownSection(key, json));
}

/** Builds the document from all its pieces. @throws SvcError if one cannot be read */
export function fromPieces(pieces: Iterable<MetadataPiece>, kinds: Kinds, onClamped?: (message: string) => void): Metadata {
  return applyPieces(EMPTY_METADATA, pieces, kinds, onClamped);
}
