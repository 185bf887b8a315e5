/**
 * Immutable edits. Each returns new objects on the path to the change and shares everything else, so that stages and storage can find
 * changes by identity. An edit that changes nothing returns its input.
 */
import { nameKey } from '../catalog/catalog.ts';
import { invariant, SvcError } from '../errors/svc-error.ts';
import { type Path, ROOT } from '../util/path.ts';
import type { FunctionMetadata } from './function.ts';
import { requireSource } from './lookup.ts';
import type { Metadata, SourceMetadata } from './metadata.ts';
import type { TableMetadata } from './table.ts';

/** Sets the entry; returns the same map if it already has it. */
export function withEntry<K, V>(map: ReadonlyMap<K, V>, key: K, value: V): ReadonlyMap<K, V> {
  if (map.has(key) && map.get(key) === value) return map;
  return new Map(map).set(key, value);
}

export function withoutEntry<K, V>(map: ReadonlyMap<K, V>, key: K): ReadonlyMap<K, V> {
  if (!map.has(key)) return map;
  const copy = new Map(map);
  copy.delete(key);
  return copy;
}

/** Adds the source or replaces the one with its name. */
export function withSource(metadata: Metadata, source: SourceMetadata): Metadata {
  const sources = withEntry(metadata.sources, source.name, source);
  return sources === metadata.sources ? metadata : { ...metadata, sources };
}

export function withoutSource(metadata: Metadata, name: string): Metadata {
  const sources = withoutEntry(metadata.sources, name);
  const unknownSources = withoutEntry(metadata.unknownSources, name);
  return sources === metadata.sources && unknownSources === metadata.unknownSources ? metadata : { ...metadata, sources, unknownSources };
}

/** Returns true if a source of any kind has the name. */
export function isSourceName(metadata: Metadata, name: string): boolean {
  return metadata.sources.has(name) || metadata.unknownSources.has(name);
}

/** @throws SvcError `not-exists` if there is no such source */
export function updateSource(metadata: Metadata, name: string, update: (source: SourceMetadata) => SourceMetadata): Metadata {
  return withSource(metadata, update(requireSource(metadata, name)));
}

function withTables(source: SourceMetadata, tables: SourceMetadata['tables']): SourceMetadata {
  return tables === source.tables ? source : { ...source, tables };
}

function withFunctions(source: SourceMetadata, functions: SourceMetadata['functions']): SourceMetadata {
  return functions === source.functions ? source : { ...source, functions };
}

/** Tracks the table, or replaces its entry. */
export function withTable(metadata: Metadata, source: string, table: TableMetadata): Metadata {
  return updateSource(metadata, source, (entry) => withTables(entry, withEntry(entry.tables, nameKey(table.table), table)));
}

/** @param key the table's `nameKey` */
export function withoutTable(metadata: Metadata, source: string, key: string): Metadata {
  return updateSource(metadata, source, (entry) => withTables(entry, withoutEntry(entry.tables, key)));
}

/** @param key the `nameKey` of a tracked table: see `requireTable` */
export function updateTable(metadata: Metadata, source: string, key: string, update: (table: TableMetadata) => TableMetadata): Metadata {
  return updateSource(metadata, source, (entry) => {
    const table = entry.tables.get(key);
    invariant(table !== undefined, 'an edited table is tracked');
    return withTables(entry, withEntry(entry.tables, key, update(table)));
  });
}

/** Tracks the function, or replaces its entry. */
export function withFunction(metadata: Metadata, source: string, fn: FunctionMetadata): Metadata {
  return updateSource(metadata, source, (entry) => withFunctions(entry, withEntry(entry.functions, nameKey(fn.function), fn)));
}

/** @param key the function's `nameKey` */
export function withoutFunction(metadata: Metadata, source: string, key: string): Metadata {
  return updateSource(metadata, source, (entry) => withFunctions(entry, withoutEntry(entry.functions, key)));
}

/** @param key the `nameKey` of a tracked function: see `requireFunction` */
export function updateFunction(
  metadata: Metadata,
  source: string,
  key: string,
  update: (fn: FunctionMetadata) => FunctionMetadata,
): Metadata {
  return updateSource(metadata, source, (entry) => {
    const fn = entry.functions.get(key);
    invariant(fn !== undefined, 'an edited function is tracked');
    return withFunctions(entry, withEntry(entry.functions, key, update(fn)));
  });
}

/** Changes only the name of the source. @throws SvcError `not-exists`, `already-exists` */
export function renameSource(metadata: Metadata, name: string, newName: string, path: Path = ROOT): Metadata {
  const source = metadata.sources.get(name);
  if (source === undefined) throw new SvcError('not-exists', `Could not find source with name "${name}"`, { path });
  if (isSourceName(metadata, newName)) throw new SvcError('already-exists', `Source with name "${newName}" already exists`, { path });
  return withSource(withoutSource(metadata, name), { ...source, name: newName });
}
