/** Renames a relationship, also in every permission that follows it. */
import { nameKey } from '../catalog/catalog.ts';
import { updateSource, updateTable } from '../metadata/edit.ts';
import type { Metadata } from '../metadata/metadata.ts';
import type { Relationship } from '../metadata/relationship.ts';
import type { SchemaCache } from '../schema-cache/schema-cache.ts';
import { mapPermissions, mapValues } from './map-permissions.ts';
import { type NewNames, renameInExpression } from './rename-in-expression.ts';
import type { TableTarget } from './target.ts';

export function renameRelationship(metadata: Metadata, target: TableTarget, name: string, newName: string, cache: SchemaCache): Metadata {
  const key = nameKey(target.table);
  const renamed = updateTable(metadata, target.source, key, (table) => ({
    ...table,
    objectRelationships: renameIn(table.objectRelationships, name, newName),
    arrayRelationships: renameIn(table.arrayRelationships, name, newName),
  }));
  const info = cache.sources.get(target.source);
  if (info === undefined) return renamed;
  const names: NewNames = {
    field: (table, field) => (field === name && table === key ? newName : field),
    table: (table) => table,
  };
  return updateSource(renamed, target.source, (source) => {
    const tables = mapValues(source.tables, (table) =>
      mapPermissions(table, { expression: (json) => renameInExpression(info, table.table, json, names) }),
    );
    return tables === source.tables ? source : { ...source, tables };
  });
}

/** Keeps the order of the relationships. */
function renameIn<U>(
  relationships: ReadonlyMap<string, Relationship<U>>,
  name: string,
  newName: string,
): ReadonlyMap<string, Relationship<U>> {
  if (!relationships.has(name)) return relationships;
  return new Map([...relationships].map(([key, value]) => (key === name ? [newName, { ...value, name: newName }] : [key, value])));
}
