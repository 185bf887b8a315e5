import type { QualifiedName } from '../catalog/catalog.ts';
import { type Codec, defaulted, flag, mapOrNone, object, optional, required } from './codec.ts';
import { type ComputedField, computedFieldCodec } from './computed-field.ts';
import { type EventTrigger, eventTriggerCodec } from './event-trigger.ts';
import { type ExtFederationConfig, extFederationConfigCodec } from './ext-federation.ts';
import { preserveUnknownKeys } from './preserve-unknown-keys.ts';
import { keyedList } from './keyed-list.ts';
import type { KindCodecs } from './kinds.ts';
import {
  type DeletePermission,
  deletePermissionCodec,
  type InsertPermission,
  insertPermissionCodec,
  type PermissionEntry,
  permissionEntryCodec,
  type SelectPermission,
  selectPermissionCodec,
  type UpdatePermission,
  updatePermissionCodec,
} from './permission.ts';
import { type ArrayRelationship, arrayRelationshipCodec, type ObjectRelationship, objectRelationshipCodec } from './relationship.ts';
import { type RemoteRelationship, remoteRelationshipCodec } from './remote-relationship.ts';
import { inOrder } from './section.ts';
import { isConfigured, NO_TABLE_CONFIGURATION, type TableConfiguration, tableConfigurationCodec } from './table-configuration.ts';
import type { WithUnknownKeys } from './unknown-keys.ts';

export { NO_TABLE_CONFIGURATION } from './table-configuration.ts';
export type { ColumnConfiguration, CustomRootField, RootFieldKey, TableConfiguration } from './table-configuration.ts';

/** A tracked table. Relationships, computed fields and event triggers by name; permissions by role. */
export interface TableMetadata extends WithUnknownKeys {
  readonly table: QualifiedName;
  readonly isEnum: boolean;
  readonly configuration: TableConfiguration;
  readonly objectRelationships: ReadonlyMap<string, ObjectRelationship>;
  readonly arrayRelationships: ReadonlyMap<string, ArrayRelationship>;
  readonly computedFields: ReadonlyMap<string, ComputedField>;
  readonly remoteRelationships: ReadonlyMap<string, RemoteRelationship>;
  readonly insertPermissions: ReadonlyMap<string, PermissionEntry<InsertPermission>>;
  readonly selectPermissions: ReadonlyMap<string, PermissionEntry<SelectPermission>>;
  readonly updatePermissions: ReadonlyMap<string, PermissionEntry<UpdatePermission>>;
  readonly deletePermissions: ReadonlyMap<string, PermissionEntry<DeletePermission>>;
  readonly eventTriggers: ReadonlyMap<string, EventTrigger>;
  readonly extFederationConfig?: ExtFederationConfig;
}

/** Returns the entry of a newly tracked table, without relationships and permissions. */
export function newTable(table: QualifiedName, configuration: TableConfiguration = NO_TABLE_CONFIGURATION, isEnum = false): TableMetadata {
  return {
    table,
    isEnum,
    configuration,
    objectRelationships: new Map(),
    arrayRelationships: new Map(),
    computedFields: new Map(),
    remoteRelationships: new Map(),
    insertPermissions: new Map(),
    selectPermissions: new Map(),
    updatePermissions: new Map(),
    deletePermissions: new Map(),
    eventTriggers: new Map(),
  };
}

/** Keys in the order of the exported document. */
const KEYS = [
  'table',
  'is_enum',
  'configuration',
  'object_relationships',
  'array_relationships',
  'computed_fields',
  'remote_relationships',
  'insert_permissions',
  'select_permissions',
  'update_permissions',
  'delete_permissions',
  'event_triggers',
  'ext_federation_config',
] as const;

function byName<T extends { readonly name: string }>(what: string, item: Codec<T>) {
  return mapOrNone(keyedList({ what, item, key: ({ name }) => name }));
}

function byRole<P>(what: string, permission: Codec<P>) {
  const item = permissionEntryCodec(permission);
  return mapOrNone(keyedList({ what, item, key: ({ role }) => role }));
}

const permissionFields = {
  insertPermissions: byRole('insert permissions', insertPermissionCodec),
  selectPermissions: byRole('select permissions', selectPermissionCodec),
  updatePermissions: byRole('update permissions', updatePermissionCodec),
  deletePermissions: byRole('delete permissions', deletePermissionCodec),
};

/** Entry of a source's `tables`. */
export function tableCodec(codecs: KindCodecs): Codec<TableMetadata> {
  const fields = {
    table: required(codecs.tableName),
    isEnum: flag,
    configuration: defaulted<TableConfiguration>(
      preserveUnknownKeys(tableConfigurationCodec),
      () => NO_TABLE_CONFIGURATION,
      (value) => !isConfigured(value),
    ),
    objectRelationships: byName('object relationships', objectRelationshipCodec(codecs)),
    arrayRelationships: byName('array relationships', arrayRelationshipCodec(codecs)),
    computedFields: byName('computed fields', computedFieldCodec(codecs)),
    remoteRelationships: byName('remote relationships', preserveUnknownKeys(remoteRelationshipCodec)),
    ...permissionFields,
    eventTriggers: byName('event triggers', eventTriggerCodec),
    extFederationConfig: optional(extFederationConfigCodec),
  };
  return inOrder(KEYS, preserveUnknownKeys<TableMetadata>(object('TableMetadata', fields)));
}
