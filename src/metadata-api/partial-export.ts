/** Exports the whole metadata document or selected parts, because the whole may be large. */
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
import { type Metadata, METADATA_SECTIONS, type SourceMetadata } from '../metadata/metadata.ts';
import { DEFAULT_SOURCE } from '../metadata/source.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../util/json.ts';
import { at, type Path } from '../util/path.ts';
import { runCooperatively } from '../util/cooperative.ts';
import type { Snapshot } from '../state/snapshot.ts';
import { noArguments } from './no-arguments.ts';
import { namedInSource } from './target.ts';

export interface ExportArguments {
  /** `undefined` for the whole document. */
  readonly only: Selection | undefined;
}

interface Selection {
  readonly tables: readonly SelectedTable[];
  readonly sources: readonly string[];
  readonly sections: readonly (typeof METADATA_SECTIONS)[number][];
}

interface SelectedTable {
  readonly source: string;
  /** Table name in the form of the source's kind. */
  readonly table: Json;
}

const anyTable: Codec<Json> = leaf(
  'TableOfSource',
  (json, path) => {
    if (typeof json === 'string' || isJsonObject(json) || isJsonArray(json)) return json;
    throw wrongType('TableOfSource', 'Object', json, path);
  },
  (value) => value,
  { description: 'The name of a table, in the form of its kind of source.' },
);

const selection = object('MetadataSelection', {
  tables: defaulted(
    list(object('WantedTable', { source: defaulted(nonEmptyText, () => DEFAULT_SOURCE), table: required(anyTable) })),
    () => [],
  ),
  sources: defaulted(list(nonEmptyText), () => []),
  sections: defaulted(list(literal('MetadataSection', METADATA_SECTIONS)), () => []),
});

const fields = object('ExportMetadata', { only: optional(selection) });

/** Arguments of `export_metadata`: a selection, or none in any form that `noArguments` accepts. */
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
 * Returns the document, or the selected parts in their places. For selected tables, their source has `name`, `kind` and these `tables`; a
 * selected source has everything except its tables.
 * @throws SvcError not-exists, parse-failed
 */
export async function exportDocument(snapshot: Snapshot, { only }: ExportArguments, kinds: Kinds, path: Path): Promise<Json> {
  const { metadata } = snapshot;
  if (only === undefined) return runCooperatively(encodeDocument(metadata, kinds));
  const keys = new Set<string>(['version', ...only.sections]);
  const wholeSources = keys.has('sources');
  const sources = wholeSources ? metadata.sources : selectedSources(snapshot, only, kinds, at(path, 'only'));
  const partial: Metadata = {
    ...metadata,
    sources,
    unknownSources: wholeSources ? metadata.unknownSources : new Map(),
  };
  const document = (await runCooperatively(encodeDocument(partial, kinds))) as JsonObject;
  if (sources.size > 0 && !wholeSources) keys.add('sources');
  return Object.fromEntries(
    Object.entries(document).flatMap(([key, value]): [string, Json][] => {
      if (!keys.has(key) || value === undefined) return [];
      return [[key, key === 'sources' && !wholeSources ? narrowed(value as readonly JsonObject[], only) : value]];
    }),
  );
}

/** Returns the selected sources with only the selected tables. */
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
