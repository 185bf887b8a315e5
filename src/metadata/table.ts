import type { QualifiedName } from '../catalog/catalog.ts';
import { isJsonObject, type Json, type JsonObject } from '../util/json.ts';
import { bool, type Codec, defaulted, leaf, object, optional, parseFailed, required } from './codec.ts';
import { type ComputedField, computedFieldCodec } from './computed-field.ts';
import { type ExtFederationConfig, extFederationConfigCodec } from './ext-federation.ts';
import { isEmptyMap, keyedList } from './keyed-list.ts';
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
import { isEmptySection } from './section.ts';
import { isConfigured, NO_TABLE_CONFIGURATION, type TableConfiguration, tableConfigurationCodec } from './table-configuration.ts';

export { NO_TABLE_CONFIGURATION } from './table-configuration.ts';
export type { ColumnConfiguration, CustomRootField, RootFieldKey, TableConfiguration } from './table-configuration.ts';

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
  readonly extFederationConfig?: ExtFederationConfig;
  /** Keys of later features (`event_triggers`, `remote_relationships`), verbatim. */
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

/** Keys that are kept verbatim because their feature does not exist yet. */
export const LATER_TABLE_KEYS = ['remote_relationships', 'event_triggers'] as const;

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

const KNOWN: ReadonlySet<string> = new Set(KEYS);

function byName<T extends { readonly name: string }>(what: string, item: Codec<T>) {
  return defaulted(keyedList({ what, item, key: ({ name }) => name }), () => new Map<string, T>(), isEmptyMap);
}

function byRole<P>(what: string, permission: Codec<P>) {
  const item = permissionEntryCodec(permission);
  return defaulted(keyedList({ what, item, key: ({ role }) => role }), () => new Map<string, PermissionEntry<P>>(), isEmptyMap);
}

const permissionFields = {
  insertPermissions: byRole('insert permissions', insertPermissionCodec),
  selectPermissions: byRole('select permissions', selectPermissionCodec),
  updatePermissions: byRole('update permissions', updatePermissionCodec),
  deletePermissions: byRole('delete permissions', deletePermissionCodec),
};

/** One entry of a source's `tables`. Unknown keys are refused: a misspelled one would silently lose its objects. */
export function tableCodec(codecs: KindCodecs): Codec<TableMetadata> {
  const implemented = object('TableMetadata', {
    table: required(codecs.tableName),
    isEnum: defaulted(
      bool,
      () => false,
      (value) => !value,
    ),
    configuration: defaulted(
      tableConfigurationCodec,
      () => NO_TABLE_CONFIGURATION,
      (value) => !isConfigured(value),
    ),
    objectRelationships: byName('object relationships', objectRelationshipCodec(codecs)),
    arrayRelationships: byName('array relationships', arrayRelationshipCodec(codecs)),
    computedFields: byName('computed fields', computedFieldCodec(codecs)),
    ...permissionFields,
    extFederationConfig: optional(extFederationConfigCodec),
  });
  return leaf(
    'TableMetadata',
    (json, path) => {
      const value = implemented.decode(json, path);
      const other = new Map<string, Json>();
      const unknown: string[] = [];
      for (const [key, item] of Object.entries(json as JsonObject)) {
        if (!KNOWN.has(key)) unknown.push(key);
        else if ((LATER_TABLE_KEYS as readonly string[]).includes(key) && !isEmptySection(item)) other.set(key, item);
      }
      if (unknown.length > 0) throw parseFailed(`unexpected keys when parsing TableMetadata: ${JSON.stringify(unknown)}`, path);
      return { ...value, other };
    },
    (value) => {
      const known = implemented.encode(value);
      const out: Record<string, Json> = {};
      for (const key of KEYS) {
        const item = (isJsonObject(known) ? known[key] : undefined) ?? value.other.get(key);
        if (item !== undefined) out[key] = item;
      }
      return out;
    },
  );
}
