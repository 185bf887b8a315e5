/** Descriptions of metadata objects in inconsistency records. */
import type { QualifiedName } from '../../catalog/catalog.ts';
import type { Json, JsonObject } from '../../util/json.ts';
import type { Action } from '../../metadata/action.ts';
import type { CustomField, CustomRelationship, CustomTypes } from '../../metadata/custom-types.ts';
import { printGraphqlType } from '../../metadata/graphql-type.ts';
import { entryCodecs } from '../../metadata/metadata.ts';
import { type EventTrigger, eventTriggerCodec } from '../../metadata/event-trigger.ts';
import type { RemoteSchema, RemoteSchemaPermission } from '../../metadata/remote-schema.ts';
import type { PermissionKind } from '../../metadata/permission.ts';
import { type RemoteRelationship, remoteRelationshipDefinitionCodec } from '../../metadata/remote-relationship.ts';
import type { ObjectDescription } from '../inconsistency.ts';
import { objectId } from '../object-id.ts';
import { printTable, type StageSource } from './lookups.ts';

/** The parts of a source that its objects are described with. */
export type NamedSource = Pick<StageSource, 'name' | 'backend'>;

function inTable(source: NamedSource, table: QualifiedName): string {
  return `in table ${printTable(source, table)} in source ${source.name}`;
}

export function describeSource(name: string): ObjectDescription {
  return { objectId: objectId.source(name), type: 'source', name: `source ${name}`, definition: name };
}

export function describeRemoteSchema(remote: RemoteSchema): ObjectDescription {
  return {
    objectId: objectId.remoteSchema(remote.name),
    type: 'remote_schema',
    name: `remote_schema ${remote.name}`,
    definition: entryCodecs.remoteSchema.encode(remote),
  };
}

/** Describes an action with all keys, including those with defaults. */
export function describeAction({ name, comment, definition }: Action): ObjectDescription {
  const { arguments: args, headers, forwardClientHeaders, timeout } = definition;
  const written = entryCodecs.action.encode({ name, definition, permissions: new Map() }) as { readonly definition: JsonObject };
  return {
    objectId: objectId.action(name),
    type: 'action',
    name: `action ${name}`,
    definition: {
      name,
      comment: comment ?? null,
      definition: {
        ...written.definition,
        arguments: args.map(describeField),
        headers: headers.length === 0 ? [] : (written.definition['headers'] ?? []),
        forward_client_headers: forwardClientHeaders,
        timeout,
      },
    },
  };
}

function describeField({ name, type, description }: CustomField): JsonObject {
  return { name, type: printGraphqlType(type), description: description ?? null };
}

/** Describes custom types with all keys, including those with defaults. @param printTableOf encodes a table of a source */
export function describeCustomTypes(
  { inputObjects, objects, scalars, enums }: CustomTypes,
  printTableOf: (source: string, table: Json) => Json = (_source, table) => table,
): ObjectDescription {
  return {
    objectId: objectId.customTypes(),
    type: 'custom_types',
    name: 'custom_types custom_types',
    definition: {
      input_objects: inputObjects.map(({ name, description, fields }) => ({
        name,
        description: description ?? null,
        fields: fields.map(describeField),
      })),
      objects: objects.map(({ name, description, fields, relationships }) => ({
        name,
        description: description ?? null,
        fields: fields.map((field) => ({ ...describeField(field), arguments: field.arguments ?? null })),
        relationships: relationships.map((each) => describeCustomRelationship(each, printTableOf)),
      })),
      scalars: scalars.map(({ name, description }) => ({ name, description: description ?? null })),
      enums: enums.map(({ name, description, values }) => ({
        name,
        description: description ?? null,
        values: values.map((value) => ({
          value: value.value,
          description: value.description ?? null,
          is_deprecated: value.isDeprecated ?? null,
        })),
      })),
    },
  };
}

function describeCustomRelationship(
  { name, definition, plain }: CustomRelationship,
  printTableOf: (source: string, table: Json) => Json,
): JsonObject {
  if (!plain || definition.kind !== 'source') return { name, definition: remoteRelationshipDefinitionCodec.encode(definition) };
  const { relationshipType, source, table, fieldMapping } = definition;
  return {
    name,
    type: relationshipType,
    source,
    remote_table: printTableOf(source, table),
    field_mapping: Object.fromEntries(fieldMapping),
  };
}

export function describeRemotePermission(remote: string, { role, schema, comment }: RemoteSchemaPermission): ObjectDescription {
  return {
    objectId: objectId.remotePermission(remote, role),
    type: 'remote_schema_permission',
    name: `remote_schema_permission ${role} permission in remote schema ${remote}`,
    definition: { remote_schema: remote, role, definition: { schema }, comment: comment ?? null },
  };
}

export function describeTable(source: StageSource, table: QualifiedName): ObjectDescription {
  return {
    objectId: objectId.table(source.name, table),
    type: 'table',
    name: `table ${printTable(source, table)} in source ${source.name}`,
    definition: source.backend.tableName.encode(table),
  };
}

export function describeRelationship(
  source: StageSource,
  table: QualifiedName,
  kind: 'object' | 'array',
  relationship: { readonly name: string; readonly comment?: string },
  using: Json,
): ObjectDescription {
  const type = `${kind}_relation`;
  return {
    objectId: objectId.relationship(source.name, table, relationship.name),
    type,
    name: `${type} ${relationship.name} ${inTable(source, table)}`,
    definition: {
      using,
      name: relationship.name,
      source: source.name,
      comment: relationship.comment ?? null,
      table: source.backend.tableName.encode(table),
    },
  };
}

export function describeRemoteRelationship(
  source: StageSource,
  table: QualifiedName,
  { name, definition }: RemoteRelationship,
): ObjectDescription {
  return {
    objectId: objectId.remoteRelationship(source.name, table, name),
    type: 'remote_relationship',
    name: `remote_relationship ${name} ${inTable(source, table)}`,
    definition: {
      name,
      source: source.name,
      table: source.backend.tableName.encode(table),
      definition: remoteRelationshipDefinitionCodec.encode(definition),
    },
  };
}

export function describeComputedField(
  source: StageSource,
  table: QualifiedName,
  field: { readonly name: string; readonly comment?: string },
  definition: Json,
): ObjectDescription {
  return {
    objectId: objectId.computedField(source.name, table, field.name),
    type: 'computed_field',
    name: `computed_field ${field.name} ${inTable(source, table)}`,
    definition: {
      name: field.name,
      source: source.name,
      table: source.backend.tableName.encode(table),
      definition,
      comment: field.comment ?? null,
    },
  };
}

export function describeEventTrigger(source: NamedSource, table: QualifiedName, trigger: EventTrigger): ObjectDescription {
  return {
    objectId: objectId.eventTrigger(source.name, trigger.name),
    type: 'event_trigger',
    name: `event_trigger ${trigger.name} ${inTable(source, table)}`,
    definition: { source: source.name, table: source.backend.tableName.encode(table), configuration: eventTriggerCodec.encode(trigger) },
  };
}

export function describePermission(
  source: NamedSource,
  table: QualifiedName,
  kind: PermissionKind,
  role: string,
  permission: Json,
  comment: string | undefined,
): ObjectDescription {
  return {
    objectId: objectId.permission(source.name, table, kind, role),
    type: `${kind}_permission`,
    name: `${kind}_permission ${role} ${inTable(source, table)}`,
    definition: { source: source.name, table: source.backend.tableName.encode(table), role, permission, comment: comment ?? null },
  };
}

export function describeFunction(source: StageSource, name: QualifiedName): ObjectDescription {
  return {
    objectId: objectId.function(source.name, name),
    type: 'function',
    name: `function ${printTable(source, name)} in source ${source.name}`,
    definition: source.backend.functionName.encode(name),
  };
}

export function describeFunctionPermission(source: StageSource, name: QualifiedName, role: string): ObjectDescription {
  return {
    objectId: objectId.functionPermission(source.name, name, role),
    type: 'function_permission',
    name: `function_permission ${role} permission for function ${printTable(source, name)} in source ${source.name}`,
    definition: { source: source.name, function: source.backend.functionName.encode(name), role },
  };
}

export function describeInheritedRole(role: string, roleSet: readonly string[]): ObjectDescription {
  return {
    objectId: objectId.inheritedRole(role),
    type: 'inherited_role',
    name: `inherited_role inherited role ${role}`,
    definition: { role_name: role, role_set: roleSet },
  };
}

/** Describes a key of a table that has no effect. */
export function describeTableExtra(
  source: StageSource,
  table: QualifiedName,
  type: string,
  key: string,
  name: string,
  definition: Json,
): ObjectDescription {
  return {
    objectId: objectId.tableExtra(source.name, table, key, name),
    type,
    name: `${type} ${name} ${inTable(source, table)}`,
    definition: { name, source: source.name, table: source.backend.tableName.encode(table), definition },
  };
}

export function describeRemoteTypeRelationship(
  remote: string,
  typeName: string,
  { name, definition }: RemoteRelationship,
): ObjectDescription {
  return {
    objectId: objectId.remoteTypeRelationship(remote, typeName, name),
    type: 'remote_schema_remote_relationship',
    name: `remote_schema_remote_relationship ${name} on type ${typeName} in remote schema ${remote}`,
    definition: { remote_schema: remote, type_name: typeName, name, definition: remoteRelationshipDefinitionCodec.encode(definition) },
  };
}
