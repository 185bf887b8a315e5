/**
 * Removes the connected schema from table names, so that a table has one identity. Names in expressions and in definitions that are stored
 * as JSON stay as they are; the backend of the open source decodes them.
 */
import { nameKey, type QualifiedName } from '../catalog/catalog.ts';
import { withSource } from '../metadata/edit.ts';
import type { Metadata, SourceMetadata } from '../metadata/metadata.ts';
import type { ObjectUsing, Relationship } from '../metadata/relationship.ts';
import type { TableMetadata } from '../metadata/table.ts';
import type { LiveSource } from './live-source.ts';

type Canonical = (name: QualifiedName) => QualifiedName;

/** Returns the metadata with canonical names in the sources that are open with the same configuration. */
export function withConnectedNames(metadata: Metadata, sources: ReadonlyMap<string, LiveSource>): Metadata {
  let edited = metadata;
  for (const source of metadata.sources.values()) {
    const live = sources.get(source.name);
    if (live?.input.kind !== 'open' || live.configuration !== source.configuration) continue;
    const { backend, catalog } = live.input;
    const { defaultSchema: schema } = backend;
    if (catalog.unnamedSchema === undefined) continue;
    edited = withSource(
      edited,
      inSource(source, (name) => (name.schema === catalog.unnamedSchema ? { schema, name: name.name } : name)),
    );
  }
  return edited;
}

function inSource(source: SourceMetadata, canonical: Canonical): SourceMetadata {
  let changed = false;
  const tables = new Map<string, TableMetadata>();
  for (const [key, table] of source.tables) {
    const named = inTable(table, canonical);
    const shorter = nameKey(named.table);
    // A table that is tracked under both names stays twice; the schema cache reports the second one.
    const isTaken = shorter !== key && source.tables.has(shorter);
    tables.set(isTaken ? key : shorter, isTaken ? table : named);
    changed ||= !isTaken && named !== table;
  }
  return changed ? { ...source, tables } : source;
}

function inTable(entry: TableMetadata, canonical: Canonical): TableMetadata {
  const table = canonical(entry.table);
  const objectRelationships = inRelationships(entry.objectRelationships, canonical);
  const arrayRelationships = inRelationships(entry.arrayRelationships, canonical);
  const isSame =
    table === entry.table && objectRelationships === entry.objectRelationships && arrayRelationships === entry.arrayRelationships;
  return isSame ? entry : { ...entry, table, objectRelationships, arrayRelationships };
}

function inRelationships<U extends ObjectUsing>(
  relationships: ReadonlyMap<string, Relationship<U>>,
  canonical: Canonical,
): ReadonlyMap<string, Relationship<U>> {
  const entries = [...relationships].map(([key, each]) => {
    const using = inUsing(each.using, canonical);
    return [key, using === each.using ? each : { ...each, using: using as U }] as const;
  });
  return entries.every(([key, each]) => each === relationships.get(key)) ? relationships : new Map(entries);
}

function inUsing(using: ObjectUsing, canonical: Canonical): ObjectUsing {
  if (using.kind === 'own-columns') return using;
  if (using.kind === 'remote-columns') {
    const table = canonical(using.table);
    return table === using.table ? using : { ...using, table };
  }
  const remoteTable = canonical(using.manual.remoteTable);
  return remoteTable === using.manual.remoteTable ? using : { ...using, manual: { ...using.manual, remoteTable } };
}
