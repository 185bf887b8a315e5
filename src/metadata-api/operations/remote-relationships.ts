/** Operations on remote relationships from tables to other sources and to remote schemas. */
import type { QualifiedName } from '../../catalog/catalog.ts';
import type { Backend } from '../../backend/backend.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { anyJson, type Codec, leaf, like, nonEmptyText, object, optional, required } from '../../metadata/codec.ts';
import { withEntry, withoutEntry } from '../../metadata/edit.ts';
import { definitionOfArguments, type RemoteRelationshipDefinition } from '../../metadata/remote-relationship.ts';
import type { TableMetadata } from '../../metadata/table.ts';
import { printName } from '../../metadata/table-name.ts';
import { objectId } from '../../schema-cache/object-id.ts';
import type { JsonObject } from '../../util/json.ts';
import { define, everyKind, type OperationGroup, perKind } from '../operation.ts';
import { INCONSISTENT, refused, TABLE_ERRORS } from '../operation-error.ts';
import { editTargetTable, sourceArgument, type TableTarget } from '../target.ts';
import { hasField } from './relationships.ts';

interface RemoteRelationshipArguments extends TableTarget {
  readonly name: string;
  readonly definition: RemoteRelationshipDefinition;
}

/** Keys of an older form, without `definition`. */
const LEGACY = { remoteSchema: optional(anyJson), svcFields: optional(anyJson), remoteField: optional(anyJson) };

function argumentsOf(tableName: Codec<QualifiedName>): Codec<RemoteRelationshipArguments> {
  const written = object('CreateRemoteRelationship', {
    table: required(tableName),
    name: required(nonEmptyText),
    definition: optional(anyJson),
    source: sourceArgument,
    ...LEGACY,
  });
  return leaf(
    written.name,
    (json, path) => {
      const { table, name, source } = written.decode(json, path);
      const { remote_schema, svc_fields, remote_field, definition } = json as JsonObject;
      const keys = Object.entries({ remote_schema, svc_fields, remote_field, definition });
      const present = keys.filter((entry): entry is [string, NonNullable<(typeof entry)[1]>] => entry[1] !== undefined);
      return { table, name, source, definition: definitionOfArguments(Object.fromEntries(present), path) };
    },
    ({ table, name, source }) => written.encode({ table, name, source }),
    like(written),
  );
}

const EXAMPLE = {
  source: 'default',
  table: 'author',
  name: 'columns',
  definition: {
    to_source: { relationship_type: 'array', source: 'news', table: 'article', field_mapping: { id: 'author_id' } },
  },
};

const NO_RELATIONSHIP = refused('not-exists', 'the remote relationship does not exist');

/** @throws SvcError not-exists */
function requireRemoteRelationship(table: TableMetadata, name: string, backend: Backend): void {
  if (table.remoteRelationships.has(name)) return;
  const printed = printName(table.table, backend.defaultSchema);
  throw new SvcError('not-exists', `relationship "${name}" does not exist in table "${printed}"`);
}

function withRelationship(table: TableMetadata, { name, definition }: RemoteRelationshipArguments): TableMetadata {
  return { ...table, remoteRelationships: withEntry(table.remoteRelationships, name, { name, definition }) };
}

const create = perKind('create_remote_relationship', everyKind, (backend) =>
  define({
    args: argumentsOf(backend.tableName),
    changes: 'metadata',
    errors: [...TABLE_ERRORS, refused('already-exists', 'the table has a field with this name'), INCONSISTENT],
    documentation: {
      summary: 'Adds a field for rows of another source (`to_source`) or for a field of a remote schema (`to_remote_schema`).',
      example: EXAMPLE,
    },
    edit: (metadata, target, { snapshot }) =>
      editTargetTable(metadata, target, backend, snapshot, (table) => {
        const { name, source } = target;
        if (hasField(table, name, source, snapshot)) {
          const printed = printName(table.table, backend.defaultSchema);
          throw new SvcError('already-exists', `field with name "${name}" already exists in table "${printed}"`);
        }
        return withRelationship(table, target);
      }),
    edited: ({ source, table, name }) => [objectId.remoteRelationship(source, table, name)],
  }),
);

const update = perKind('update_remote_relationship', everyKind, (backend) =>
  define({
    args: argumentsOf(backend.tableName),
    changes: 'metadata',
    errors: [...TABLE_ERRORS, NO_RELATIONSHIP, INCONSISTENT],
    documentation: { summary: 'Replaces the definition of a remote relationship.', example: EXAMPLE },
    edit: (metadata, target, { snapshot }) =>
      editTargetTable(metadata, target, backend, snapshot, (table) => {
        requireRemoteRelationship(table, target.name, backend);
        return withRelationship(table, target);
      }),
    edited: ({ source, table, name }) => [objectId.remoteRelationship(source, table, name)],
  }),
);

const remove = perKind('delete_remote_relationship', everyKind, (backend) =>
  define({
    args: object('DeleteRemoteRelationship', {
      table: required(backend.tableName),
      name: required(nonEmptyText),
      source: sourceArgument,
    }),
    changes: 'metadata',
    errors: [...TABLE_ERRORS, NO_RELATIONSHIP],
    documentation: {
      summary: 'Removes a remote relationship.',
      example: { source: 'default', table: 'author', name: 'columns' },
    },
    edit: (metadata, target, { snapshot }) =>
      editTargetTable(metadata, target, backend, snapshot, (table) => {
        requireRemoteRelationship(table, target.name, backend);
        return { ...table, remoteRelationships: withoutEntry(table.remoteRelationships, target.name) };
      }),
  }),
);

export const remoteRelationshipOperations: readonly OperationGroup[] = [create, update, remove];
