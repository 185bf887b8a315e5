/** Renames tables, columns and functions in all metadata of a source. */
import { nameKey } from '../catalog/catalog.ts';
import { CAPTURED_OPERATIONS, type ColumnList, type EventOrdering, type EventTrigger } from '../metadata/event-trigger.ts';
import type { FunctionMetadata } from '../metadata/function.ts';
import type { Metadata, SourceMetadata } from '../metadata/metadata.ts';
import type { ArrayRelationship, ObjectRelationship, ObjectUsing, Relationship } from '../metadata/relationship.ts';
import type { TableMetadata } from '../metadata/table.ts';
import type { SourceInfo } from '../schema-cache/schema-cache.ts';
import { mapKeys, mapNames, mapPermissions, mapValues, orSame } from '../metadata-api/map-permissions.ts';
import { type NewNames, renameInExpression } from '../metadata-api/rename-in-expression.ts';
import type { Renames } from './catalog-changes.ts';
import { renameInOthers } from './rename-in-others.ts';

/** @param source source before the renames */
export function followRenames(metadata: Metadata, source: SourceInfo, renames: Renames): Metadata {
  if (renames.tables.size + renames.columns.size + renames.functions.size === 0) return metadata;
  const names: NewNames = {
    field: (table, name) => renames.columns.get(table)?.get(name) ?? name,
    table: (name) => renames.tables.get(nameKey(name)) ?? name,
  };
  const sources = mapValues(metadata.sources, (entry) => (entry.name === source.name ? inSource(entry, source, renames, names) : entry));
  return renameInOthers({ ...metadata, sources }, source, names);
}

function inSource(entry: SourceMetadata, source: SourceInfo, renames: Renames, names: NewNames): SourceMetadata {
  const tables = new Map<string, TableMetadata>();
  for (const table of entry.tables.values()) {
    const renamed = inTable(table, source, names);
    tables.set(nameKey(renamed.table), renamed);
  }
  const functions = new Map<string, FunctionMetadata>();
  for (const [key, tracked] of entry.functions) {
    const name = renames.functions.get(key);
    const renamed = name === undefined ? tracked : { ...tracked, function: name };
    functions.set(nameKey(renamed.function), renamed);
  }
  return { ...entry, tables, functions };
}

function inTable(entry: TableMetadata, source: SourceInfo, names: NewNames): TableMetadata {
  const { table } = entry;
  const key = nameKey(table);
  const column = (name: string): string => names.field(key, name);
  const permitted = mapPermissions(entry, {
    expression: (json) => renameInExpression(source, table, json, names),
    field: column,
  });
  const { configuration } = entry;
  return orSame(entry, {
    ...permitted,
    table: names.table(table),
    configuration: orSame(configuration, { ...configuration, columnConfig: mapKeys(configuration.columnConfig, column) }),
    objectRelationships: mapValues(entry.objectRelationships, (each): ObjectRelationship => inRelationship(each, key, names)),
    arrayRelationships: mapValues(entry.arrayRelationships, (each): ArrayRelationship => inRelationship(each, key, names)),
    eventTriggers: mapValues(entry.eventTriggers, (each) => inEventTrigger(each, column)),
  });
}

function inRelationship<U extends ObjectUsing>(relationship: Relationship<U>, owner: string, names: NewNames): Relationship<U> {
  return orSame(relationship, { ...relationship, using: orSame(relationship.using, inUsing(relationship.using, owner, names) as U) });
}

function inEventTrigger(trigger: EventTrigger, column: (name: string) => string): EventTrigger {
  const list = <L extends ColumnList | EventOrdering>(of: L): L => (typeof of === 'string' ? of : (mapNames(of, column) as L));
  const operations = CAPTURED_OPERATIONS.flatMap((name) => {
    const operation = trigger[name];
    if (operation === undefined) return [];
    const { columns, payload } = operation;
    const renamed = { ...operation, columns: list(columns), ...(payload === undefined ? {} : { payload: list(payload) }) };
    return [[name, orSame(operation, renamed)] as const];
  });
  const ordering = trigger.ordering === undefined ? {} : { ordering: list(trigger.ordering) };
  return orSame(trigger, { ...trigger, ...Object.fromEntries(operations), ...ordering });
}

function inUsing(using: ObjectUsing, owner: string, names: NewNames): ObjectUsing {
  const columns = (table: string, of: readonly string[]): readonly string[] => mapNames(of, (name) => names.field(table, name));
  switch (using.kind) {
    case 'own-columns':
      return { ...using, columns: columns(owner, using.columns) };
    case 'remote-columns':
      return { ...using, table: names.table(using.table), columns: columns(nameKey(using.table), using.columns) };
    case 'manual': {
      const { manual } = using;
      const { remoteTable, columnMapping } = manual;
      const remote = nameKey(remoteTable);
      const mapping = mapValues(
        mapKeys(columnMapping, (name) => names.field(owner, name)),
        (name) => names.field(remote, name),
      );
      return { ...using, manual: orSame(manual, { ...manual, remoteTable: names.table(remoteTable), columnMapping: mapping }) };
    }
  }
}
