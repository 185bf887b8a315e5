import {
  type Catalog,
  type CatalogColumn,
  type CatalogForeignKey,
  type CatalogTable,
  type CatalogType,
  nameKey,
  type QualifiedName,
  sameName,
} from '../catalog/catalog.ts';
import type { DroppedObject } from '../schema-cache/dependencies.ts';

/** Changes of the objects of one source that the metadata refers to. */
export interface CatalogChanges {
  readonly source: string;
  /** Dropped tables. */
  readonly tables: readonly QualifiedName[];
  /** Dropped functions. */
  readonly functions: readonly QualifiedName[];
  /** Dropped objects on which others may depend: tables, columns, foreign keys, functions. */
  readonly objects: readonly DroppedObject[];
  readonly renames: Renames;
  /** Columns whose type has changed, under their old names. */
  readonly retyped: readonly { readonly table: QualifiedName; readonly column: string }[];
  /** Functions that now have overloads. */
  readonly overloaded: readonly QualifiedName[];
  /** Functions that now are volatile. */
  readonly madeVolatile: readonly QualifiedName[];
}

/** New names by the `nameKey` of the old ones; columns by the key of their table and their old name. */
export interface Renames {
  readonly tables: ReadonlyMap<string, QualifiedName>;
  readonly functions: ReadonlyMap<string, QualifiedName>;
  readonly columns: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

/**
 * Compares two catalogs by the ids of their objects, so that a renamed object does not count as dropped. An object that was dropped and
 * created again under its name counts as the same.
 * @param before the objects that the metadata refers to; others are not compared
 */
export function catalogChanges(source: string, before: Catalog, after: Catalog): CatalogChanges {
  const tables = tableChanges(source, before, after);
  const functions = functionChanges(before, after);
  return {
    source,
    tables: tables.dropped,
    functions: functions.dropped,
    objects: [...tables.objects, ...functions.missing.map((name) => ({ kind: 'database-function', source, function: name }) as const)],
    renames: { tables: tables.renamed, columns: tables.columns, functions: functions.renamed },
    retyped: tables.retyped,
    overloaded: functions.overloaded,
    madeVolatile: functions.madeVolatile,
  };
}

function tableChanges(source: string, before: Catalog, after: Catalog) {
  const byId = new Map([...after.tables.values()].map((table) => [table.id, table]));
  const dropped: QualifiedName[] = [];
  const objects: DroppedObject[] = [];
  const renamed = new Map<string, QualifiedName>();
  const columns = new Map<string, ReadonlyMap<string, string>>();
  const retyped: { readonly table: QualifiedName; readonly column: string }[] = [];
  const kept: { readonly then: CatalogTable; readonly now: CatalogTable }[] = [];

  for (const [key, then] of before.tables) {
    const now = byId.get(then.id) ?? after.tables.get(key);
    if (now === undefined) {
      dropped.push(then.name);
      objects.push({ kind: 'table', source, table: then.name });
      continue;
    }
    kept.push({ then, now });
    if (!sameName(then.name, now.name)) renamed.set(key, now.name);
    const names = new Map<string, string>();
    for (const column of then.columns) {
      const found = columnNow(column, then, now);
      if (found === undefined) objects.push({ kind: 'column', source, table: then.name, name: column.name });
      else {
        if (found.name !== column.name) names.set(column.name, found.name);
        if (!sameType(found.type, column.type)) retyped.push({ table: then.name, column: column.name });
      }
    }
    if (names.size > 0) columns.set(key, names);
  }
  // Foreign keys are compared under the new names, which are complete only now.
  for (const { then, now } of kept) {
    const mappings = new Set(now.foreignKeys.map((key) => mapping(key, now.name, NOTHING_RENAMED)));
    for (const key of then.foreignKeys) {
      if (!mappings.has(mapping(key, then.name, { tables: renamed, columns })))
        objects.push({ kind: 'constraint', source, table: then.name, name: key.name });
    }
  }
  return { dropped, objects, renamed, columns, retyped };
}

/** Finds a column in the new catalog: by position, which a rename does not change, or by name in a table that was created again. */
function columnNow(column: CatalogColumn, then: CatalogTable, now: CatalogTable): CatalogColumn | undefined {
  const same = then.id === now.id ? now.columns.find(({ position }) => position === column.position) : undefined;
  return same ?? now.columns.find(({ name }) => name === column.name);
}

function sameType(a: CatalogType, b: CatalogType): boolean {
  const domains = a.domain === undefined || b.domain === undefined ? a.domain === b.domain : sameName(a.domain, b.domain);
  return a.schema === b.schema && a.name === b.name && a.array === b.array && domains;
}

const NOTHING_RENAMED: Pick<Renames, 'tables' | 'columns'> = { tables: new Map(), columns: new Map() };

/** Returns the column mapping of a foreign key under the new names as text. The name of the key does not matter. */
function mapping(key: CatalogForeignKey, table: QualifiedName, renames: Pick<Renames, 'tables' | 'columns'>): string {
  const column = (owner: QualifiedName, name: string): string => renames.columns.get(nameKey(owner))?.get(name) ?? name;
  const target = renames.tables.get(nameKey(key.target)) ?? key.target;
  const pairs = key.columns.map((name, i) => [column(table, name), column(key.target, key.targetColumns[i] as string)]);
  return JSON.stringify([target.schema, target.name, pairs.sort()]);
}

function functionChanges(before: Catalog, after: Catalog) {
  const namesById = new Map([...after.functions.values()].flat().map(({ id, name }) => [id, name]));
  const dropped: QualifiedName[] = [];
  const missing: QualifiedName[] = [];
  const renamed = new Map<string, QualifiedName>();
  const overloaded: QualifiedName[] = [];
  const madeVolatile: QualifiedName[] = [];
  for (const [key, overloads] of before.functions) {
    const [then] = overloads;
    if (then === undefined || overloads.length > 1) continue;
    const [now, ...more] = after.functions.get(key) ?? [];
    if (now === undefined) {
      missing.push(then.name);
      const name = namesById.get(then.id);
      if (name === undefined) dropped.push(then.name);
      else renamed.set(key, name);
    } else if (more.length > 0) overloaded.push(then.name);
    else if (now.volatility === 'volatile' && then.volatility !== 'volatile') madeVolatile.push(then.name);
  }
  return { dropped, missing, renamed, overloaded, madeVolatile };
}
