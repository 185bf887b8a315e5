/** Reads entries of tables and other parts of the metadata. */
import { isObject, type Json, type JsonObject, objectsIn } from '../model/json.ts';
import type { TableAddress } from '../model/table-entry.ts';
import { labelOf } from '../model/steps.ts';
import { readOperation } from './metadata.ts';

/** A part of the metadata other than a table. */
export interface MetadataPart {
  /** Argument `only` of `export_metadata`; `all` for the whole document. */
  readonly only: { readonly sections?: readonly string[]; readonly sources?: readonly string[] } | 'all';
  /** Returns the part; `null` if there is none. `metadata` is read first, so that a later change of the part is a conflict. */
  find(metadata: JsonObject): Json | Promise<Json>;
}

export const DOCUMENT: MetadataPart = { only: 'all', find: (metadata) => metadata };

/** A whole section. */
export function sectionPart(section: string): MetadataPart {
  return { only: { sections: [section] }, find: (metadata) => metadata[section] ?? null };
}

/** A member of a section that is a list. @param key identifies the member */
export function memberPart(section: string, name: string, key: 'name' | 'collection' = 'name'): MetadataPart {
  return { only: { sections: [section] }, find: (metadata) => objectsIn(metadata[section]).find((each) => each[key] === name) ?? null };
}

/** A source with its tables and functions. All sources are read, since `only` rejects the name of a missing source. */
export function sourcePart(name: string): MetadataPart {
  return { only: { sections: ['sources'] }, find: (metadata) => sourceIn(metadata, name) };
}

function sourceIn(metadata: JsonObject, name: string): JsonObject | null {
  return objectsIn(metadata['sources']).find((each) => each['name'] === name) ?? null;
}

/** A tracked function of a source. */
export function functionPart(source: string, name: Json): MetadataPart {
  return {
    only: { sources: [source] },
    find: (metadata) => objectsIn(sourceIn(metadata, source)?.['functions']).find((each) => isSameTable(each['function'], name)) ?? null,
  };
}

export interface Entries {
  readonly version: number;
  /** In the order of the request; `null` for untracked tables. */
  readonly entries: readonly (JsonObject | null)[];
  /** In the order of the request; `null` for missing parts. */
  readonly parts: readonly Json[];
}

function isSameTable(a: Json | undefined, b: Json): boolean {
  return a !== undefined && labelOf(withSchema(a)) === labelOf(withSchema(b));
}

function withSchema(table: Json): Json {
  return typeof table === 'string' ? { schema: 'public', name: table } : table;
}

/** @throws Failure */
export async function readEntries(
  tables: readonly TableAddress[],
  parts: readonly MetadataPart[] = [],
  signal?: AbortSignal,
): Promise<Entries> {
  const listed = (key: 'sections' | 'sources'): readonly string[] => [
    ...new Set(parts.flatMap(({ only }) => (only === 'all' ? [] : (only[key] ?? [])))),
  ];
  const only: JsonObject = {
    tables: tables.map(({ source, table }) => ({ source, table })),
    sections: listed('sections'),
    sources: listed('sources'),
  };
  const args: JsonObject = parts.some((part) => part.only === 'all') ? {} : { only };
  const exported = await readOperation('export_metadata', args, { version: 2, signal });
  const { metadata: found, resource_version: version } = exported as JsonObject;
  const metadata = isObject(found) ? found : {};
  const sources = objectsIn(metadata['sources']);
  return {
    version: Number(version),
    entries: tables.map(({ source, table }) => {
      const list = sources.find(({ name }) => name === source)?.['tables'];
      return objectsIn(list).find((entry) => isSameTable(entry['table'], table)) ?? null;
    }),
    parts: await Promise.all(parts.map((part) => part.find(metadata))),
  };
}

/** Reads the whole document. @throws Failure */
export async function readMetadata(signal?: AbortSignal): Promise<{ readonly version: number; readonly metadata: JsonObject }> {
  const exported = (await readOperation('export_metadata', {}, { version: 2, signal })) as JsonObject;
  return { version: Number(exported['resource_version']), metadata: exported['metadata'] as JsonObject };
}
