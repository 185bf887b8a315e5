import type { QualifiedName } from '../catalog/catalog.ts';
import type { Json } from '../util/json.ts';
import type { ComputedField } from './computed-field.ts';
import type { DeletePermission, InsertPermission, PermissionEntry, SelectPermission, UpdatePermission } from './permission.ts';
import type { ArrayRelationship, ObjectRelationship } from './relationship.ts';

export type RootFieldKey =
  | 'select' | 'select_by_pk' | 'select_aggregate' | 'select_stream'
  | 'insert' | 'insert_one' | 'update' | 'update_by_pk' | 'update_many' | 'delete' | 'delete_by_pk';

/** `comment`: undefined is automatic, null or "" is none. */
export interface CustomRootField {
  readonly name?: string;
  readonly comment?: string | null;
}

export interface ColumnConfiguration {
  readonly customName?: string;
  readonly comment?: string;
}

export interface TableConfiguration {
  readonly customName?: string;
  readonly customRootFields: ReadonlyMap<RootFieldKey, CustomRootField>;
  readonly columnConfig: ReadonlyMap<string, ColumnConfiguration>;
  readonly comment?: string;
}

export const NO_TABLE_CONFIGURATION: TableConfiguration = { customRootFields: new Map(), columnConfig: new Map() };

/** A tracked table. Relationships, computed fields by name; permissions by role. */
export interface TableMetadata {
  readonly table: QualifiedName;
  readonly isEnum: boolean;
  readonly configuration: TableConfiguration;
  readonly objectRelationships: ReadonlyMap<string, ObjectRelationship>;
  readonly arrayRelationships: ReadonlyMap<string, ArrayRelationship>;
  readonly computedFields: ReadonlyMap<string, ComputedField>;
  readonly insertPermissions: ReadonlyMap<string, PermissionEntry<InsertPermission>>;
  readonly selectPermissions: ReadonlyMap<string, PermissionEntry<SelectPermission>>;
  readonly updatePermissions: ReadonlyMap<string, PermissionEntry<UpdatePermission>>;
  readonly deletePermissions: ReadonlyMap<string, PermissionEntry<DeletePermission>>;
  /** Keys of later features (`event_triggers`, `remote_relationships`, `ext_federation_config`), verbatim. */
  readonly other: ReadonlyMap<string, Json>;
}

export function newTable(table: QualifiedName, configuration: TableConfiguration = NO_TABLE_CONFIGURATION, isEnum = false): TableMetadata {
  return {
    table,
    isEnum,
    configuration,
    objectRelationships: new Map(),
    arrayRelationships: new Map(),
    computedFields: new Map(),
    insertPermissions: new Map(),
    selectPermissions: new Map(),
    updatePermissions: new Map(),
    deletePermissions: new Map(),
    other: new Map(),
  };
}
