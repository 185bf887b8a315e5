import { type Catalog, type CatalogForeignKey, type CatalogTable, nameKey, type QualifiedName } from '../../catalog/catalog.ts';
import type { DroppedObject } from '../../schema-cache/dependencies.ts';
import type { SourceInfo } from '../../schema-cache/schema-cache.ts';
import type { Snapshot } from '../../state/snapshot.ts';

/** What SQL has dropped of the objects that the metadata of one source knows. */
export interface DroppedObjects {
  readonly source: string;
  /** Tracked tables and functions that are gone. */
  readonly tables: readonly QualifiedName[];
  readonly functions: readonly QualifiedName[];
  /** All that others may depend on: tables, columns, foreign keys, functions of computed fields. */
  readonly objects: readonly DroppedObject[];
}

export const NOTHING_DROPPED: DroppedObjects = { source: '', tables: [], functions: [], objects: [] };

/**
 * Compares what the schema cache knows with the catalog after the SQL. What was inconsistent
 * before stays so. A renamed object is not a dropped one, and one that was dropped and made again
 * is there.
 */
export function droppedObjects(snapshot: Snapshot, source: string, after: Catalog): DroppedObjects {
  const before = snapshot.cache.sources.get(source);
  if (before === undefined) return NOTHING_DROPPED;
  const ids = new Set([...after.tables.values()].map(({ id }) => id));
  const tables: QualifiedName[] = [];
  const objects: DroppedObject[] = [];
  for (const { name, catalog } of before.tables.values()) {
    const now = after.tables.get(nameKey(name));
    if (now !== undefined) objects.push(...droppedFromTable(source, catalog, now));
    else if (!ids.has(catalog.id)) {
      tables.push(name);
      objects.push({ kind: 'table', source, table: name });
    }
  }
  const gone = (name: QualifiedName): boolean => !after.functions.has(nameKey(name));
  for (const name of computedFieldFunctions(before)) if (gone(name)) objects.push({ kind: 'database-function', source, function: name });
  return { source, tables, functions: [...before.functions.values()].map(({ name }) => name).filter(gone), objects };
}

function computedFieldFunctions(source: SourceInfo): readonly QualifiedName[] {
  const names = [...source.tables.values()].flatMap((table) => [...table.computedFields.values()].map((field) => field.function.name));
  return [...new Map(names.map((name) => [nameKey(name), name])).values()];
}

function droppedFromTable(source: string, before: CatalogTable, now: CatalogTable): readonly DroppedObject[] {
  // Positions tell a renamed column from a dropped one, but only in the same table.
  const isThere = before.id === now.id ? new Set(now.columns.map(({ position }) => position)) : undefined;
  const names = new Set(now.columns.map(({ name }) => name));
  const columns = before.columns.filter(({ name, position }) => !names.has(name) && isThere?.has(position) !== true);
  const keys = before.foreignKeys.filter((key) => !now.foreignKeys.some((other) => other.name === key.name || sameMapping(key, other)));
  return [
    ...columns.map(({ name }) => ({ kind: 'column', source, table: before.name, name }) as const),
    ...keys.map(({ name }) => ({ kind: 'constraint', source, table: before.name, name }) as const),
  ];
}

function sameMapping(a: CatalogForeignKey, b: CatalogForeignKey): boolean {
  const pairs = ({ columns, targetColumns, target }: CatalogForeignKey): string =>
    JSON.stringify([target.schema, target.name, columns.map((column, i) => [column, targetColumns[i]]).sort()]);
  return pairs(a) === pairs(b);
}
