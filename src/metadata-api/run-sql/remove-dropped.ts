import { nameKey } from '../../catalog/catalog.ts';
import { updateTable, withoutEntry, withoutFunction, withoutTable } from '../../metadata/edit.ts';
import type { Metadata } from '../../metadata/metadata.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { dropDependents } from '../drop-dependents.ts';
import type { DroppedObjects } from './dropped-objects.ts';

/**
 * The metadata without what is gone from the database.
 * @throws SvcError dependency-error when others depend on it and `cascade` is false; a function
 * that is gone is untracked without a question
 */
export function removeDropped(metadata: Metadata, snapshot: Snapshot, dropped: DroppedObjects, cascade: boolean): Metadata {
  const { source, tables, functions, objects } = dropped;
  if (!metadata.sources.has(source)) return metadata;
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
