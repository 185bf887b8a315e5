import { nameKey } from '../../catalog/catalog.ts';
import { updateTable, withoutEntry, withoutFunction, withoutTable } from '../../metadata/edit.ts';
import type { Metadata } from '../../metadata/metadata.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { dropDependents } from '../drop-dependents.ts';
import type { CatalogChanges } from './catalog-changes.ts';
import { followRenames } from './follow-renames.ts';
import { refuseChanges } from './refuse-changes.ts';

/**
 * The metadata after SQL has changed the database: without what is gone, and under the new names.
 * @throws SvcError when the metadata does not allow the change; what depends on something that is
 * gone does so only if `cascade` is false. A function that is gone is untracked without a question
 */
export function followChanges(metadata: Metadata, snapshot: Snapshot, changes: CatalogChanges, cascade: boolean): Metadata {
  const source = snapshot.cache.sources.get(changes.source);
  if (source === undefined || !metadata.sources.has(source.name)) return metadata;
  refuseChanges(metadata, source, changes);
  return followRenames(withoutDropped(metadata, snapshot, changes, cascade), source, changes.renames);
}

function withoutDropped(metadata: Metadata, snapshot: Snapshot, changes: CatalogChanges, cascade: boolean): Metadata {
  const { source, tables, functions, objects } = changes;
  let edited = dropDependents(metadata, objects, cascade, snapshot);
  for (const table of tables) edited = withoutTable(edited, source, nameKey(table));
  for (const name of functions) edited = withoutFunction(edited, source, nameKey(name));
  for (const object of objects) {
    if (object.kind === 'column') edited = withoutColumnConfiguration(edited, source, nameKey(object.table), object.name);
  }
  return edited;
}

function withoutColumnConfiguration(metadata: Metadata, source: string, key: string, column: string): Metadata {
  if (metadata.sources.get(source)?.tables.get(key)?.configuration.columnConfig.has(column) !== true) return metadata;
  return updateTable(metadata, source, key, (table) => ({
    ...table,
    configuration: { ...table.configuration, columnConfig: withoutEntry(table.configuration.columnConfig, column) },
  }));
}
