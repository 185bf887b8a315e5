import { nameKey, type QualifiedName } from '../catalog/catalog.ts';
import { updateTable, withoutEntry, withoutFunction, withoutTable } from '../metadata/edit.ts';
import type { Metadata } from '../metadata/metadata.ts';
import { printName } from '../metadata/table-name.ts';
import type { Snapshot } from '../state/snapshot.ts';
import type { SourceInfo } from '../schema-cache/schema-cache.ts';
import { removeDependents } from '../metadata-api/drop-dependents.ts';
import type { CatalogChanges } from './catalog-changes.ts';
import { followRenames } from './follow-renames.ts';
import { refuseChanges } from './refuse-changes.ts';

/** An object of the metadata that was dropped or changed because of the SQL. */
export interface Affected {
  /** Such as `relationship article.author in source "default"`. */
  readonly object: string;
  readonly change: 'dropped' | 'changed';
}

export interface Followed {
  readonly metadata: Metadata;
  /** Dropped objects, and those that changed because of that. Renamed objects are not listed. */
  readonly affected: readonly Affected[];
}

/**
 * Returns the metadata for the changed database: without dropped objects, and with new names.
 * @param cascade whether objects that depend on dropped ones are dropped too. Dropped functions are untracked in any case
 * @throws SvcError if the metadata does not allow the change, or objects depend on dropped ones and `cascade` is false
 */
export function followChanges(metadata: Metadata, snapshot: Snapshot, changes: CatalogChanges, cascade: boolean): Followed {
  const source = snapshot.cache.sources.get(changes.source);
  if (source === undefined || !metadata.sources.has(source.name)) return { metadata, affected: [] };
  refuseChanges(metadata, source, changes);
  const { metadata: rest, affected } = withoutDropped(metadata, snapshot, source, changes, cascade);
  return { metadata: followRenames(rest, source, changes.renames), affected };
}

function withoutDropped(metadata: Metadata, snapshot: Snapshot, info: SourceInfo, changes: CatalogChanges, cascade: boolean): Followed {
  const { source, tables, functions, objects } = changes;
  const { metadata: independent, found } = removeDependents(metadata, objects, cascade, snapshot);
  const affected = found.flatMap(({ text, effect }): Affected[] => (effect === 'unchanged' ? [] : [{ object: text, change: effect }]));
  const print = (name: QualifiedName): string => printName(name, info.backend.defaultSchema);
  const addDropped = (object: string): number => affected.push({ object: `${object} in source "${source}"`, change: 'dropped' });
  const tracked = metadata.sources.get(source);
  let edited = independent;
  for (const table of tables) {
    edited = withoutTable(edited, source, nameKey(table));
    if (tracked?.tables.has(nameKey(table)) === true) addDropped(`table ${print(table)}`);
  }
  for (const name of functions) {
    edited = withoutFunction(edited, source, nameKey(name));
    if (tracked?.functions.has(nameKey(name)) === true) addDropped(`function ${print(name)}`);
  }
  for (const object of objects) {
    if (object.kind === 'column') edited = withoutColumnConfiguration(edited, source, nameKey(object.table), object.name);
  }
  return { metadata: edited, affected };
}

function withoutColumnConfiguration(metadata: Metadata, source: string, key: string, column: string): Metadata {
  if (metadata.sources.get(source)?.tables.get(key)?.configuration.columnConfig.has(column) !== true) return metadata;
  return updateTable(metadata, source, key, (table) => ({
    ...table,
    configuration: { ...table.configuration, columnConfig: withoutEntry(table.configuration.columnConfig, column) },
  }));
}
