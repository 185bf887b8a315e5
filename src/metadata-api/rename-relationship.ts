/** A new name for a relationship, carried into every boolean expression that passes through it. */
import { nameKey, type QualifiedName, sameName } from '../catalog/catalog.ts';
import type { Backend } from '../backend/backend.ts';
import { updateSource, updateTable } from '../metadata/edit.ts';
import type { Metadata } from '../metadata/metadata.ts';
import type { PermissionEntry } from '../metadata/permission.ts';
import type { Relationship } from '../metadata/relationship.ts';
import type { TableMetadata } from '../metadata/table.ts';
import type { SchemaCache, TableInfo } from '../schema-cache/schema-cache.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../util/json.ts';
import { ROOT } from '../util/path.ts';
import type { TableTarget } from './target.ts';

export function renameRelationship(
  metadata: Metadata,
  target: TableTarget,
  name: string,
  newName: string,
  backend: Backend,
  cache: SchemaCache,
): Metadata {
  const tables = cache.sources.get(target.source)?.tables ?? new Map<string, TableInfo>();
  const renamer: Renamer = { table: target.table, name, newName, backend, tables };
  const renamed = updateTable(metadata, target.source, nameKey(target.table), (table) => ({
    ...table,
    objectRelationships: renameIn(table.objectRelationships, name, newName),
    arrayRelationships: renameIn(table.arrayRelationships, name, newName),
  }));
  return updateSource(renamed, target.source, (source) => {
    let changed = false;
    const next = new Map<string, TableMetadata>();
    for (const [key, table] of source.tables) {
      const edited = renameInPermissions(table, renamer);
      changed ||= edited !== table;
      next.set(key, edited);
    }
    return changed ? { ...source, tables: next } : source;
  });
}

/** Keeps the place among the others. */
function renameIn<U>(
  relationships: ReadonlyMap<string, Relationship<U>>,
  name: string,
  newName: string,
): ReadonlyMap<string, Relationship<U>> {
  if (!relationships.has(name)) return relationships;
  return new Map([...relationships].map(([key, value]) => (key === name ? [newName, { ...value, name: newName }] : [key, value])));
}

interface Renamer {
  readonly table: QualifiedName;
  readonly name: string;
  readonly newName: string;
  readonly backend: Backend;
  readonly tables: ReadonlyMap<string, TableInfo>;
}

function renameInPermissions(table: TableMetadata, renamer: Renamer): TableMetadata {
  const rename = (expression: Json): Json => renameInExpression(expression, table.table, renamer);
  const insertPermissions = mapEntries(table.insertPermissions, (p) => withChanged(p, { check: rename(p.check) }));
  const selectPermissions = mapEntries(table.selectPermissions, (p) => withChanged(p, { filter: rename(p.filter) }));
  const updatePermissions = mapEntries(table.updatePermissions, (p) =>
    withChanged(p, { filter: rename(p.filter), check: p.check === null ? null : rename(p.check) }),
  );
  const deletePermissions = mapEntries(table.deletePermissions, (p) => withChanged(p, { filter: rename(p.filter) }));
  return withChanged(table, { insertPermissions, selectPermissions, updatePermissions, deletePermissions });
}

/** The same object when every property has the value that it had. */
function withChanged<T extends object>(value: T, changes: Partial<T>): T {
  const same = (Object.keys(changes) as (keyof T)[]).every((key) => value[key] === changes[key]);
  return same ? value : { ...value, ...changes };
}

function mapEntries<P>(
  entries: ReadonlyMap<string, PermissionEntry<P>>,
  change: (permission: P) => P,
): ReadonlyMap<string, PermissionEntry<P>> {
  let changed = false;
  const next = new Map<string, PermissionEntry<P>>();
  for (const [role, entry] of entries) {
    const permission = change(entry.permission);
    changed ||= permission !== entry.permission;
    next.set(role, permission === entry.permission ? entry : { ...entry, permission });
  }
  return changed ? next : entries;
}

/** `table` is the one whose columns and relationships the keys of the expression are; unknown keys are left alone. */
function renameInExpression(expression: Json, table: QualifiedName, renamer: Renamer): Json {
  if (!isJsonObject(expression)) return expression;
  return mapObject(expression, (key, value) => {
    const operator = key.replace(/^\$/, '_');
    switch (operator) {
      case '_and':
      case '_or':
        return [key, isJsonArray(value) ? mapArray(value, (item) => renameInExpression(item, table, renamer)) : value];
      case '_not':
        return [key, renameInExpression(value, table, renamer)];
      case '_exists':
        return [key, renameInExists(value, renamer)];
    }
    const next = targetOf(table, key, renamer);
    if (next === undefined) return [key, value];
    const isRenamed = key === renamer.name && sameName(table, renamer.table);
    return [isRenamed ? renamer.newName : key, renameInExpression(value, next, renamer)];
  });
}

function renameInExists(value: Json, renamer: Renamer): Json {
  if (!isJsonObject(value)) return value;
  const written = value['_table'] ?? value['$table'];
  if (written === undefined) return value;
  const table = renamer.backend.tableName.decode(written, ROOT);
  return mapObject(value, (key, item) => [key, key === '_where' || key === '$where' ? renameInExpression(item, table, renamer) : item]);
}

/** Where a relationship or a computed field of a table leads. */
function targetOf(table: QualifiedName, field: string, { tables }: Renamer): QualifiedName | undefined {
  const info = tables.get(nameKey(table));
  const relationship = info?.relationships.get(field);
  if (relationship !== undefined) return relationship.target;
  const returns = info?.computedFields.get(field)?.returns;
  return returns?.kind === 'table' ? returns.table : undefined;
}

function mapObject(object: JsonObject, change: (key: string, value: Json) => readonly [string, Json]): JsonObject {
  const before = Object.entries(object);
  const after = before.map(([key, value]) => change(key, value));
  return after.every(([key, value], i) => key === before[i]?.[0] && value === before[i]?.[1]) ? object : Object.fromEntries(after);
}

function mapArray(array: readonly Json[], change: (item: Json) => Json): readonly Json[] {
  const after = array.map(change);
  return after.every((item, i) => item === array[i]) ? array : after;
}
