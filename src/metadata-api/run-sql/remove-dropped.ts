import { nameKey } from '../../catalog/catalog.ts';
import { withoutFunction, withoutTable } from '../../metadata/edit.ts';
import type { Metadata } from '../../metadata/metadata.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import { dropDependents, type DroppedObject } from '../drop-dependents.ts';
import type { DroppedObjects } from './dropped-objects.ts';

/**
 * The metadata without tables and functions that are gone from the database.
 * @throws SvcError dependency-error when others depend on the tables and `cascade` is false;
 * a function that is gone is untracked without a question
 */
export function removeDropped(metadata: Metadata, snapshot: Snapshot, dropped: DroppedObjects, cascade: boolean): Metadata {
  const { source, tables, functions } = dropped;
  if (!metadata.sources.has(source)) return metadata;
  const gone: DroppedObject[] = tables.map((table) => ({ kind: 'table', source, table }));
  let edited = dropDependents(metadata, gone, cascade, snapshot);
  for (const table of tables) edited = withoutTable(edited, source, nameKey(table));
  for (const name of functions) edited = withoutFunction(edited, source, nameKey(name));
  return edited;
}
