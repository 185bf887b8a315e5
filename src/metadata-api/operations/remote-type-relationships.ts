/** Operations on relationships from types of remote schemas to tables and to other remote schemas. */
import { SvcError } from '../../errors/svc-error.ts';
import { nonEmptyText, object, required } from '../../metadata/codec.ts';
import { withEntry } from '../../metadata/edit.ts';
import type { Metadata } from '../../metadata/metadata.ts';
import { type RemoteRelationship, remoteRelationshipDefinitionCodec } from '../../metadata/remote-relationship.ts';
import type { RemoteSchema } from '../../metadata/remote-schema.ts';
import { objectId } from '../../schema-cache/object-id.ts';
import { withoutTypeRelationship } from '../../schema-cache/remote-dependents.ts';
import { operation, type OperationGroup } from '../operation.ts';
import { INCONSISTENT, refused } from '../operation-error.ts';

const place = { remoteSchema: required(nonEmptyText), typeName: required(nonEmptyText), name: required(nonEmptyText) };
const written = object('CreateRemoteSchemaRemoteRelationship', { ...place, definition: required(remoteRelationshipDefinitionCodec) });
const named = object('DeleteRemoteSchemaRemoteRelationship', place);

const NO_REMOTE_SCHEMA = refused('not-exists', 'the remote schema does not exist');
const NO_RELATIONSHIP = refused('not-exists', 'the remote relationship does not exist');

const NAMED = { remote_schema: 'countries', type_name: 'Country', name: 'visitors' };
const DEFINITION = { to_source: { relationship_type: 'array', source: 'default', table: 'author', field_mapping: { code: 'name' } } };

/** @throws SvcError not-exists */
function requireRemoteSchema({ remoteSchemas }: Metadata, name: string): RemoteSchema {
  const remote = remoteSchemas.get(name);
  if (remote === undefined) throw new SvcError('not-exists', `remote schema with name "${name}" doesn't exist`);
  return remote;
}

interface Place {
  readonly remoteSchema: string;
  readonly typeName: string;
  readonly name: string;
}

function has(remote: RemoteSchema, { typeName, name }: Place): boolean {
  return remote.remoteRelationships.get(typeName)?.relationships.has(name) === true;
}

/** @throws SvcError not-exists */
function requireRelationship(remote: RemoteSchema, of: Place): void {
  if (has(remote, of)) return;
  throw new SvcError('not-exists', `no relationship defined on remote schema "${of.remoteSchema}" with name "${of.name}"`);
}

function withRelationship(metadata: Metadata, remote: RemoteSchema, typeName: string, relationship: RemoteRelationship): Metadata {
  const entry = remote.remoteRelationships.get(typeName) ?? { typeName, relationships: new Map<string, RemoteRelationship>() };
  const relationships = withEntry(entry.relationships, relationship.name, relationship);
  const remoteRelationships = withEntry(remote.remoteRelationships, typeName, { ...entry, relationships });
  return { ...metadata, remoteSchemas: withEntry(metadata.remoteSchemas, remote.name, { ...remote, remoteRelationships }) };
}

const create: OperationGroup = () => [
  operation({
    type: 'create_remote_schema_remote_relationship',
    args: written,
    changes: 'metadata',
    errors: [NO_REMOTE_SCHEMA, refused('already-exists', 'the type has a relationship with this name'), INCONSISTENT],
    documentation: {
      summary: 'Adds a field to an object type of a remote schema, for rows of a table or for another remote schema.',
      example: { ...NAMED, definition: DEFINITION },
    },
    edit(metadata, target) {
      const remote = requireRemoteSchema(metadata, target.remoteSchema);
      const { typeName, name, definition } = target;
      if (has(remote, target)) throw new SvcError('already-exists', `field with name "${name}" already exists in type "${typeName}"`);
      return withRelationship(metadata, remote, typeName, { name, definition });
    },
    edited: ({ remoteSchema, typeName, name }) => [objectId.remoteTypeRelationship(remoteSchema, typeName, name)],
  }),
];

const update: OperationGroup = () => [
  operation({
    type: 'update_remote_schema_remote_relationship',
    args: written,
    changes: 'metadata',
    errors: [NO_REMOTE_SCHEMA, NO_RELATIONSHIP, INCONSISTENT],
    documentation: {
      summary: 'Replaces the definition of a relationship from a remote schema.',
      example: { ...NAMED, definition: DEFINITION },
    },
    edit(metadata, target) {
      const remote = requireRemoteSchema(metadata, target.remoteSchema);
      requireRelationship(remote, target);
      return withRelationship(metadata, remote, target.typeName, { name: target.name, definition: target.definition });
    },
    edited: ({ remoteSchema, typeName, name }) => [objectId.remoteTypeRelationship(remoteSchema, typeName, name)],
  }),
];

const remove: OperationGroup = () => [
  operation({
    type: 'delete_remote_schema_remote_relationship',
    args: named,
    changes: 'metadata',
    errors: [NO_REMOTE_SCHEMA, NO_RELATIONSHIP],
    documentation: { summary: 'Removes a relationship from a remote schema.', example: NAMED },
    edit(metadata, target) {
      requireRelationship(requireRemoteSchema(metadata, target.remoteSchema), target);
      return withoutTypeRelationship(metadata, target.remoteSchema, target.typeName, target.name);
    },
  }),
];

export const remoteTypeRelationshipOperations: readonly OperationGroup[] = [create, update, remove];
