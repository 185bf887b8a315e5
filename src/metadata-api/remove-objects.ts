import type { Metadata, SourceMetadata } from '../metadata/metadata.ts';
import type { PermissionKind } from '../metadata/permission.ts';
import type { TableMetadata } from '../metadata/table.ts';
import { objectId } from '../schema-cache/object-id.ts';
import { isJsonArray, isJsonObject, type Json } from '../util/json.ts';

/**
 * The metadata without the objects of these ids (see `objectId`), each with all that belongs to
 * it. Ids of objects that are not there are ignored; objects that stay are shared.
 */
export function removeObjects(metadata: Metadata, ids: ReadonlySet<string>): Metadata {
  if (ids.size === 0) return metadata;
  const sources = filterMap(
    metadata.sources,
    ({ name }) => !ids.has(objectId.source(name)),
    (source) => removeFromSource(source, ids),
  );
  const inheritedRoles = filterMap(metadata.inheritedRoles, ({ roleName }) => !ids.has(objectId.inheritedRole(roleName)));
  const queryCollections = filterMap(
    metadata.queryCollections,
    () => true,
    (collection) => {
      const queries = filterMap(collection.queries, (query) => !ids.has(objectId.collectedQuery(collection.name, query.name)));
      return queries === collection.queries ? collection : { ...collection, queries };
    },
  );
  const allowlist = filterMap(metadata.allowlist, ({ collection }) => !ids.has(objectId.allowListEntry(collection)));
  const restEndpoints = filterMap(metadata.restEndpoints, ({ name }) => !ids.has(objectId.restEndpoint(name)));
  const other = removeEntries(metadata.other, (section, name) => ids.has(objectId.section(section, name)));
  const next: Metadata = { ...metadata, sources, queryCollections, allowlist, restEndpoints, inheritedRoles, other };
  return (Object.keys(next) as (keyof Metadata)[]).every((key) => next[key] === metadata[key]) ? metadata : next;
}

function removeFromSource(source: SourceMetadata, ids: ReadonlySet<string>): SourceMetadata {
  const tables = filterMap(
    source.tables,
    ({ table }) => !ids.has(objectId.table(source.name, table)),
    (table) => removeFromTable(table, source.name, ids),
  );
  const functions = filterMap(
    source.functions,
    (entry) => !ids.has(objectId.function(source.name, entry.function)),
    (entry) => {
      const permissions = entry.permissions.filter((role) => !ids.has(objectId.functionPermission(source.name, entry.function, role)));
      return permissions.length === entry.permissions.length ? entry : { ...entry, permissions };
    },
  );
  return tables === source.tables && functions === source.functions ? source : { ...source, tables, functions };
}

function removeFromTable(entry: TableMetadata, source: string, ids: ReadonlySet<string>): TableMetadata {
  const { table } = entry;
  const keepsPermission = (kind: PermissionKind) => (_: unknown, role: string) => !ids.has(objectId.permission(source, table, kind, role));
  const keepsRelationship = (_: unknown, name: string): boolean => !ids.has(objectId.relationship(source, table, name));
  const next: TableMetadata = {
    ...entry,
    objectRelationships: filterMap(entry.objectRelationships, keepsRelationship),
    arrayRelationships: filterMap(entry.arrayRelationships, keepsRelationship),
    computedFields: filterMap(entry.computedFields, (_, name) => !ids.has(objectId.computedField(source, table, name))),
    insertPermissions: filterMap(entry.insertPermissions, keepsPermission('insert')),
    selectPermissions: filterMap(entry.selectPermissions, keepsPermission('select')),
    updatePermissions: filterMap(entry.updatePermissions, keepsPermission('update')),
    deletePermissions: filterMap(entry.deletePermissions, keepsPermission('delete')),
    other: removeEntries(entry.other, (key, name) => ids.has(objectId.tableExtra(source, table, key, name))),
  };
  return (Object.keys(next) as (keyof TableMetadata)[]).every((key) => next[key] === entry[key]) ? entry : next;
}

/** The name under which an entry of a verbatim section is reported. */
const NAME_KEYS = ['name', 'collection', 'host'];

function nameOf(entry: Json, section: string): string {
  if (isJsonObject(entry)) {
    for (const key of NAME_KEYS) if (typeof entry[key] === 'string') return entry[key];
  }
  return section;
}

/** Sections of later features: lists of named entries, or one entry; what becomes empty goes. */
function removeEntries(sections: ReadonlyMap<string, Json>, isGone: (section: string, name: string) => boolean): ReadonlyMap<string, Json> {
  const remaining = (json: Json, section: string): readonly Json[] =>
    (isJsonArray(json) ? json : [json]).filter((entry) => !isGone(section, nameOf(entry, section)));
  return filterMap(
    sections,
    (json, section) => remaining(json, section).length > 0,
    (json, section) => {
      const kept = remaining(json, section);
      return isJsonArray(json) && kept.length < json.length ? kept : json;
    },
  );
}

/** The same map when nothing in it changes. */
function filterMap<T>(
  map: ReadonlyMap<string, T>,
  keeps: (value: T, key: string) => boolean,
  change: (value: T, key: string) => T = (value) => value,
): ReadonlyMap<string, T> {
  let changed = false;
  const next = new Map<string, T>();
  for (const [key, value] of map) {
    const edited = keeps(value, key) ? change(value, key) : undefined;
    if (edited !== value) changed = true;
    if (edited !== undefined) next.set(key, edited);
  }
  return changed ? next : map;
}
