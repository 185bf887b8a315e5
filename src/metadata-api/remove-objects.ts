import { NO_CUSTOM_TYPES } from '../metadata/custom-types.ts';
import type { Metadata, SourceMetadata } from '../metadata/metadata.ts';
import type { PermissionKind } from '../metadata/permission.ts';
import type { RemoteSchema, RemoteSchemaDefinition } from '../metadata/remote-schema.ts';
import type { TableMetadata } from '../metadata/table.ts';
import { withoutUnknownParts } from '../metadata/unknown-parts.ts';
import { withoutRenamings } from '../remote-schema/customization.ts';
import { objectId } from '../schema-cache/object-id.ts';
import type { WithUnknownKeys } from '../metadata/unknown-keys.ts';

/** Removes the objects with these ids (see `objectId`) and all their parts. Unknown ids are ignored; unchanged objects are shared. */
export function removeObjects(metadata: Metadata, ids: ReadonlySet<string>): Metadata {
  if (ids.size === 0) return metadata;
  const sources = filterMap(
    metadata.sources,
    ({ name }) => !ids.has(objectId.source(name)),
    (source) => removeFromSource(source, ids),
  );
  const remoteSchemas = filterMap(
    metadata.remoteSchemas,
    ({ name }) => !ids.has(objectId.remoteSchema(name)),
    (remote) => {
      const permissions = filterMap(remote.permissions, ({ role }) => !ids.has(objectId.remotePermission(remote.name, role)));
      const definition = withoutIdleRenamings(remote, ids);
      return permissions === remote.permissions && definition === remote.definition ? remote : { ...remote, permissions, definition };
    },
  );
  const unknownSources = filterMap(metadata.unknownSources, ({ name }) => !ids.has(objectId.source(name)));
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
  const cronTriggers = filterMap(metadata.cronTriggers, ({ name }) => !ids.has(objectId.cronTrigger(name)));
  const restEndpoints = filterMap(metadata.restEndpoints, ({ name }) => !ids.has(objectId.restEndpoint(name)));
  const actions = filterMap(metadata.actions, ({ name }) => !ids.has(objectId.action(name)));
  const customTypes = ids.has(objectId.customTypes()) ? NO_CUSTOM_TYPES : metadata.customTypes;
  const kept = {
    sources,
    unknownSources,
    remoteSchemas,
    queryCollections,
    allowlist,
    restEndpoints,
    cronTriggers,
    actions,
    customTypes,
    inheritedRoles,
  };
  const next = withoutSectionParts({ ...metadata, ...kept }, ids);
  return (Object.keys(next) as (keyof Metadata)[]).every((key) => next[key] === metadata[key]) ? metadata : next;
}

function withoutIdleRenamings({ name, definition }: RemoteSchema, ids: ReadonlySet<string>): RemoteSchemaDefinition {
  if (definition.customization === undefined) return definition;
  const isIdle = (parentType: string | null, mapped: string | null) => ids.has(objectId.remoteRenaming(name, parentType, mapped));
  const customization = withoutRenamings(definition.customization, isIdle);
  return customization === definition.customization ? definition : { ...definition, customization };
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
  const kept = withoutSourceParts(source, ids);
  return tables === source.tables && functions === source.functions ? kept : { ...kept, tables, functions };
}

function removeFromTable(entry: TableMetadata, source: string, ids: ReadonlySet<string>): TableMetadata {
  const { table } = entry;
  const keepsPermission = (kind: PermissionKind) => (_: unknown, role: string) => !ids.has(objectId.permission(source, table, kind, role));
  const keepsRelationship = (_: unknown, name: string): boolean => !ids.has(objectId.relationship(source, table, name));
  const isRemoved = (key: string, name: string): boolean => ids.has(objectId.tableExtra(source, table, key, name));
  const next: TableMetadata = {
    ...withoutUnknownParts(entry, isRemoved),
    configuration: withoutUnknownParts(entry.configuration, (key, name) => isRemoved(`configuration.${key}`, name)),
    objectRelationships: filterMap(entry.objectRelationships, keepsRelationship),
    arrayRelationships: filterMap(entry.arrayRelationships, keepsRelationship),
    computedFields: filterMap(entry.computedFields, (_, name) => !ids.has(objectId.computedField(source, table, name))),
    eventTriggers: filterMap(entry.eventTriggers, (_, name) => !ids.has(objectId.eventTrigger(source, name))),
    insertPermissions: filterMap(entry.insertPermissions, keepsPermission('insert')),
    selectPermissions: filterMap(entry.selectPermissions, keepsPermission('select')),
    updatePermissions: filterMap(entry.updatePermissions, keepsPermission('update')),
    deletePermissions: filterMap(entry.deletePermissions, keepsPermission('delete')),
  };
  return (Object.keys(next) as (keyof TableMetadata)[]).every((key) => next[key] === entry[key]) ? entry : next;
}

/** Removes unknown keys of sections, and of objects outside of sources. */
function withoutSectionParts(metadata: Metadata, ids: ReadonlySet<string>): Metadata {
  const left = <T extends WithUnknownKeys>(object: T, where: string): T =>
    withoutUnknownParts(object, (key, name) => ids.has(objectId.section(where === '' ? key : `${where}.${key}`, name)));
  const { network, introspection, apiLimits, openTelemetry } = metadata;
  const tlsAllowlist = filterMap(
    network.tlsAllowlist,
    () => true,
    (entry) => left(entry, `network.tls_allowlist.${entry.host}`),
  );
  return {
    ...left(metadata, ''),
    network: left(tlsAllowlist === network.tlsAllowlist ? network : { ...network, tlsAllowlist }, 'network'),
    introspection: left(introspection, 'graphql_schema_introspection'),
    apiLimits: apiLimits === null ? null : left(apiLimits, 'api_limits'),
    openTelemetry: openTelemetry === null || ids.has(objectId.openTelemetry()) ? null : left(openTelemetry, 'opentelemetry'),
    queryCollections: filterMap(
      metadata.queryCollections,
      () => true,
      (collection) => left(collection, `query_collections.${collection.name}`),
    ),
  };
}

/** Removes unknown keys of a source and of its settings. */
function withoutSourceParts(source: SourceMetadata, ids: ReadonlySet<string>): SourceMetadata {
  const left = <T extends WithUnknownKeys>(object: T, prefix: string): T =>
    withoutUnknownParts(object, (key, name) => ids.has(objectId.sourceExtra(source.name, prefix + key, name)));
  const { configuration, customization, healthCheck, queryTags } = source;
  const next: SourceMetadata = {
    ...left(source, ''),
    configuration: left(configuration as WithUnknownKeys, 'configuration.'),
    customization: left(customization, 'customization.'),
    ...(healthCheck === undefined ? {} : { healthCheck: left(healthCheck, 'health_check.') }),
    ...(queryTags === undefined ? {} : { queryTags: left(queryTags, 'query_tags.') }),
  };
  return (Object.keys(next) as (keyof SourceMetadata)[]).every((key) => next[key] === source[key]) ? source : next;
}

/** Returns the same map if nothing in it changes. */
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
