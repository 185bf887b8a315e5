/** Remote relationships that depend on what is about to go: keys and targets, across sources. */
import { nameKey } from '../catalog/catalog.ts';
import { updateTable, withoutEntry } from '../metadata/edit.ts';
import { printName } from '../metadata/table-name.ts';
import type { Dependent } from './dependencies.ts';
import { objectId } from './object-id.ts';
import type { RemoteRelationshipInfo, SchemaCache } from './schema-cache.ts';

/** Tables by `nameKey`, fields by their names in the database. */
export interface Gone {
  source(name: string): boolean;
  table(source: string, key: string): boolean;
  field(source: string, key: string, name: string): boolean;
  remoteSchema(name: string): boolean;
}

/** Those of tables that stay. */
export function remoteDependents(cache: SchemaCache, gone: Gone): readonly Dependent[] {
  const found: Dependent[] = [];
  for (const [source, tables] of cache.remoteRelationships) {
    const info = cache.sources.get(source);
    if (info === undefined || gone.source(source)) continue;
    for (const [key, relationships] of tables) {
      const table = info.tables.get(key);
      if (table === undefined || gone.table(source, key)) continue;
      for (const relationship of relationships.values()) {
        const { name } = relationship;
        if (!isBroken(relationship, source, key, gone)) continue;
        found.push({
          objectId: objectId.remoteRelationship(source, table.name, name),
          text: `remote relationship ${printName(table.name, info.backend.defaultSchema)}.${name} in source "${source}"`,
          becomes: 'dropped',
          remove: (metadata) =>
            updateTable(metadata, source, key, (entry) => ({
              ...entry,
              remoteRelationships: withoutEntry(entry.remoteRelationships, name),
            })),
        });
      }
    }
  }
  return found;
}

function isBroken({ target }: RemoteRelationshipInfo, source: string, key: string, gone: Gone): boolean {
  if (target.kind === 'remote-schema') {
    return gone.remoteSchema(target.remoteSchema) || target.keys.some((name) => gone.field(source, key, name));
  }
  const targetKey = nameKey(target.table);
  return (
    gone.source(target.source) ||
    gone.table(target.source, targetKey) ||
    target.columns.some(({ local, remote }) => gone.field(source, key, local) || gone.field(target.source, targetKey, remote))
  );
}
