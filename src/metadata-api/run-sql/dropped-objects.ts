import { type Catalog, nameKey, type QualifiedName } from '../../catalog/catalog.ts';
import type { Snapshot } from '../../state/snapshot.ts';

/** Tracked objects of one source that SQL has dropped. */
export interface DroppedObjects {
  readonly source: string;
  readonly tables: readonly QualifiedName[];
  readonly functions: readonly QualifiedName[];
}

export const NOTHING_DROPPED: DroppedObjects = { source: '', tables: [], functions: [] };

/** Only what was there before counts: what was inconsistent already stays so. A name that is there again is not dropped. */
export function droppedObjects(snapshot: Snapshot, source: string, after: Catalog): DroppedObjects {
  const before = snapshot.cache.sources.get(source);
  if (before === undefined) return NOTHING_DROPPED;
  const tables = [...before.tables.values()].map(({ name }) => name).filter((name) => !after.tables.has(nameKey(name)));
  const functions = [...before.functions.values()].map(({ name }) => name).filter((name) => !after.functions.has(nameKey(name)));
  return { source, tables, functions };
}
