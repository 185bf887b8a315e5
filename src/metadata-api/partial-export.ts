/** Parts of the document: those that somebody works with, of a document that may be large. */
import { nameKey } from '../catalog/catalog.ts';
import { invariant } from '../errors/svc-error.ts';
import {
  type Codec,
  defaulted,
  leaf,
  like,
  list,
  literal,
  nonEmptyText,
  object,
  optional,
  required,
  wrongType,
} from '../metadata/codec.ts';
import { encodeDocument } from '../metadata/encode-document.ts';
import type { Kinds } from '../metadata/kinds.ts';
import { requireSource, requireTable } from '../metadata/lookup.ts';
import { type Metadata, SECTIONS, type SourceMetadata } from '../metadata/metadata.ts';
import { DEFAULT_SOURCE } from '../metadata/source.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../util/json.ts';
import { at, type Path } from '../util/path.ts';
import { inSlices } from '../util/sliced.ts';
import type { Snapshot } from '../state/snapshot.ts';
import { noArguments } from './no-arguments.ts';
import { namedInSource } from './target.ts';

export interface ExportArguments {
  /** Undefined: the whole document. */
  readonly only: Selection | undefined;
}

interface Selection {
  readonly tables: readonly WantedTable[];
  readonly sources: readonly string[];
  readonly sections: readonly (typeof SECTIONS)[number][];
}

interface WantedTable {
  readonly source: string;
  /** As the kind of the source names tables. */
  readonly table: Json;
}

const anyTable: Codec<Json> = leaf(
  'TableOfSource',
  (json, path) => {
    if (typeof json === 'string' || isJsonObject(json) || isJsonArray(json)) return json;
    throw wrongType('TableOfSource', 'Object', json, path);
  },
  (value) => value,
  { says: 'A table as the kind of its source names it.' },
);

const selection = object('MetadataSelection', {
  tables: defaulted(
    list(object('WantedTable', { source: defaulted(nonEmptyText, () => DEFAULT_SOURCE), table: required(anyTable) })),
    () => [],
  ),
  sources: defaulted(list(nonEmptyText), () => []),
  sections: defaulted(list(literal('MetadataSection', SECTIONS)), () => []),
});

const fields = object('ExportMetadata', { only: optional(selection) });

/** `{}`, what was always taken for it, or a selection. */
export const exportArguments: Codec<ExportArguments> = leaf<ExportArguments>(
  'ExportMetadata',
  (json, path) => {
    if (isJsonObject(json)) return { only: fields.decode(json, path).only };
    noArguments.decode(json, path);
    return { only: undefined };
  },
  (value) => fields.encode(value),
  like(fields),
);

/**
 * The document, or the selected parts of it, which stand where they do in the whole: of tables that are named with their source its
 * `name`, `kind` and these `tables`; of named sources all but the tables.
 * @throws SvcError not-exists, parse-failed
 */
export async function exportDocument(snapshot: Snapshot, { only }: ExportArguments, kinds: Kinds, path: Path): Promise<Json> {
  const { metadata } = snapshot;
  if (only === undefined) return inSlices(encodeDocument(metadata, kinds));
  const wanted = new Set<string>(['version', ...only.sections]);
  const wholeSources = wanted.has('sources');
  const sources = wholeSources ? metadata.sources : selectedSources(snapshot, only, kinds, at(path, 'only'));
  const partial: Metadata = {
    ...metadata,
    sources,
    unknownSources: wholeSources ? metadata.unknownSources : new Map(),
  };
  const document = (await inSlices(encodeDocument(partial, kinds))) as JsonObject;
  if (sources.size > 0 && !wholeSources) wanted.add('sources');
  return Object.fromEntries(
    Object.entries(document).flatMap(([key, value]): [string, Json][] => {
      if (!wanted.has(key) || value === undefined) return [];
      return [[key, key === 'sources' && !wholeSources ? narrowed(value as readonly JsonObject[], only) : value]];
    }),
  );
}

/** Sources with none but the wanted tables. */
function selectedSources(
  snapshot: Snapshot,
  { tables, sources: names }: Selection,
  kinds: Kinds,
  path: Path,
): ReadonlyMap<string, SourceMetadata> {
  const { metadata } = snapshot;
  const selected = new Map<string, SourceMetadata>();
  const take = (name: string): SourceMetadata => {
    const known = selected.get(name) ?? { ...requireSource(metadata, name, path), tables: new Map() };
    selected.set(name, known);
    return known;
  };
  for (const name of names) take(name);
  for (const [i, { source: name, table }] of tables.entries()) {
    const source = take(name);
    const place = at(at(path, 'tables'), i);
    const codecs = kinds.get(source.kind);
    invariant(codecs !== undefined, 'sources of unknown kinds are kept apart');
    const target = { source: name, table: codecs.tableName.decode(table, at(place, 'table')) };
    const { table: qualified } = namedInSource(target, codecs, snapshot);
    const found = requireTable(requireSource(metadata, name), qualified, codecs, place);
    selected.set(name, { ...source, tables: new Map([...source.tables, [nameKey(qualified), found]]) });
  }
  return selected;
}

function narrowed(sources: readonly JsonObject[], { sources: names, tables }: Selection): Json {
  return sources.map((source) => {
    const { name = null, kind = null, tables: listed = [], ...rest } = source;
    const withTables: JsonObject = tables.some((table) => table.source === name) ? { tables: listed } : {};
    return { name, kind, ...(names.includes(String(name)) ? rest : {}), ...withTables };
  });
}
