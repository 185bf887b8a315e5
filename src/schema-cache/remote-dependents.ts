/** Remote relationships whose keys or targets are about to be removed, across sources. */
import { nameKey } from '../catalog/catalog.ts';
import { updateTable, withEntry, withoutEntry } from '../metadata/edit.ts';
import type { Metadata } from '../metadata/metadata.ts';
import { printName } from '../metadata/table-name.ts';
import { objectId } from './object-id.ts';
import type { RemoteRelationshipInfo, SchemaCache } from './schema-cache.ts';
import type { Dependent } from './dependent.ts';

/** Removed objects: tables by `nameKey`, fields by their database names. */
export interface RemovedObjects {
  source(name: string): boolean;
  table(source: string, key: string): boolean;
  field(source: string, key: string, name: string): boolean;
  remoteSchema(name: string): boolean;
}

/** Returns the relationships of tables that stay. */
export function remoteDependents(cache: SchemaCache, removed: RemovedObjects): readonly Dependent[] {
  const found: Dependent[] = [];
  for (const [source, tables] of cache.remoteRelationships) {
    const info = cache.sources.get(source);
    if (info === undefined || removed.source(source)) continue;
    for (const [key, relationships] of tables) {
      const table = info.tables.get(key);
      if (table === undefined || removed.table(source, key)) continue;
      for (const relationship of relationships.values()) {
        const { name } = relationship;
        if (!isBroken(relationship, { source, key }, removed)) continue;
        found.push({
          objectId: objectId.remoteRelationship(source, table.name, name),
          text: `remote relationship ${printName(table.name, info.backend.defaultSchema)}.${name} in source "${source}"`,
          effect: 'dropped',
          remove: (metadata) =>
            updateTable(metadata, source, key, (entry) => ({
              ...entry,
              remoteRelationships: withoutEntry(entry.remoteRelationships, name),
            })),
        });
      }
    }
  }
  for (const [remote, types] of cache.remoteTypeRelationships) {
    if (removed.remoteSchema(remote)) continue;
    for (const [type, relationships] of types) {
      for (const relationship of relationships.values()) {
        const { name } = relationship;
        if (!isBroken(relationship, null, removed)) continue;
        found.push({
          objectId: objectId.remoteTypeRelationship(remote, type, name),
          text: `remote relationship ${type}.${name} in remote schema "${remote}"`,
          effect: 'dropped',
          remove: (metadata) => withoutTypeRelationship(metadata, remote, type, name),
        });
      }
    }
  }
  for (const [type, relationships] of cache.customTypeRelationships) {
    for (const relationship of relationships.values()) {
      const { name } = relationship;
      if (!isBroken(relationship, null, removed)) continue;
      found.push({
        objectId: objectId.customRelationship(type, name),
        text: `relationship ${type}.${name} in custom types`,
        effect: 'dropped',
        remove: (metadata) => withoutCustomRelationship(metadata, type, name),
      });
    }
  }
  return found;
}

/** Removes a relationship of a custom type. */
function withoutCustomRelationship(metadata: Metadata, type: string, name: string): Metadata {
  const objects = metadata.customTypes.objects.map((object) =>
    object.name === type ? { ...object, relationships: object.relationships.filter((each) => each.name !== name) } : object,
  );
  return { ...metadata, customTypes: { ...metadata.customTypes, objects } };
}

/** Removes a relationship of a type of a remote schema. */
export function withoutTypeRelationship(metadata: Metadata, remote: string, type: string, name: string): Metadata {
  const schema = metadata.remoteSchemas.get(remote);
  const entry = schema?.remoteRelationships.get(type);
  if (schema === undefined || entry === undefined) return metadata;
  const relationships = withoutEntry(entry.relationships, name);
  const remoteRelationships =
    relationships.size === 0
      ? withoutEntry(schema.remoteRelationships, type)
      : withEntry(schema.remoteRelationships, type, { ...entry, relationships });
  return { ...metadata, remoteSchemas: withEntry(metadata.remoteSchemas, remote, { ...schema, remoteRelationships }) };
}

interface Owner {
  readonly source: string;
  readonly key: string;
}

/** @param owner the table that has the relationship; null for a type of a remote schema */
function isBroken({ target }: RemoteRelationshipInfo, owner: Owner | null, removed: RemovedObjects): boolean {
  const isLocalRemoved = (name: string): boolean => owner !== null && removed.field(owner.source, owner.key, name);
  if (target.kind === 'remote-schema') return removed.remoteSchema(target.remoteSchema) || target.keys.some(isLocalRemoved);
  const targetKey = nameKey(target.table);
  return (
    removed.source(target.source) ||
    removed.table(target.source, targetKey) ||
    target.columns.some(({ local, remote }) => isLocalRemoved(local) || removed.field(target.source, targetKey, remote))
  );
}
