/** Operations on permissions for remote schemas. */
import { SvcError } from '../../errors/svc-error.ts';
import { nonEmptyText, object, optional, required, text } from '../../metadata/codec.ts';
import { withEntry, withoutEntry } from '../../metadata/edit.ts';
import type { Metadata } from '../../metadata/metadata.ts';
import type { RemoteSchema } from '../../metadata/remote-schema.ts';
import type { RemoteModel } from '../../remote-schema/model.ts';
import { roleModel } from '../../remote-schema/permission/role-model.ts';
import { objectId } from '../../schema-cache/object-id.ts';
import { requireNoAdmin } from '../../schema-cache/stages/remote-permission.ts';
import { along, type Path } from '../../util/path.ts';
import { operation, type OperationGroup } from '../operation.ts';
import { BREAKS_OTHERS, refused } from '../operation-error.ts';

const NOT_FOUND = refused('not-exists', 'the remote schema does not exist');

/** @throws SvcError not-exists */
function requireRemote(metadata: Metadata, name: string): RemoteSchema {
  const remote = metadata.remoteSchemas.get(name);
  if (remote === undefined) throw new SvcError('not-exists', `remote schema "${name}" doesn't exist`);
  return remote;
}

/** @throws SvcError at the path of the arguments, or at that of the SDL if this cannot be parsed */
function checkSchema(sdl: string, whole: RemoteModel, path: Path): void {
  try {
    roleModel(sdl, whole);
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    throw error.withPath(error.code === 'parse-failed' ? along(path, 'definition', 'schema') : path);
  }
}

function withPermissions(metadata: Metadata, remote: RemoteSchema, permissions: RemoteSchema['permissions']): Metadata {
  return { ...metadata, remoteSchemas: withEntry(metadata.remoteSchemas, remote.name, { ...remote, permissions }) };
}

const add: OperationGroup = () => [
  operation({
    type: 'add_remote_schema_permissions',
    args: object('AddRemoteSchemaPermissions', {
      remoteSchema: required(nonEmptyText),
      role: required(nonEmptyText),
      definition: required(object('RemoteSchemaPermissionDefinition', { schema: required(nonEmptyText) })),
      comment: optional(text),
    }),
    changes: 'metadata',
    errors: [
      refused('constraint-violation', 'permissions for remote schemas are not enabled, or the role is `admin`'),
      NOT_FOUND,
      refused('already-exists', 'the role already has permissions for the remote schema'),
      refused('parse-failed', 'the schema is not valid SDL'),
      refused('validation-failed', 'the schema is not a part of the remote schema; the message lists all problems'),
      refused('remote-schema-error', 'the types of the schema do not fit together, or the remote schema is inconsistent'),
      BREAKS_OTHERS,
    ],
    documentation: {
      summary: 'Sets, as SDL, the part of a remote schema that is visible to a role; `@preset` fixes the values of arguments.',
      example: {
        remote_schema: 'countries',
        role: 'user',
        definition: { schema: 'type Query { country(code: ID! @preset(value: "x-svc-country")): String }' },
      },
    },
    // An earlier operation of the bulk may have added the remote schema.
    readsDependencies: true,
    edit(metadata, { remoteSchema: name, role, definition: { schema }, comment }, { snapshot: { cache }, path }) {
      if (!cache.remotePermissionsEnabled) {
        const message = 'remote schema permissions can only be added when remote schema permissions are enabled in the service';
        throw new SvcError('constraint-violation', message);
      }
      requireNoAdmin(role);
      const remote = requireRemote(metadata, name);
      if (remote.permissions.has(role)) {
        throw new SvcError('already-exists', `permissions for role: "${role}" for remote schema:"${name}" already exists`);
      }
      const known = cache.remoteSchemas.get(name);
      if (known === undefined) throw new SvcError('remote-schema-error', `remote schema "${name}" is inconsistent`);
      checkSchema(schema, known.model, path);
      const permission = { role, schema, ...(comment === undefined ? {} : { comment }) };
      return withPermissions(metadata, remote, withEntry(remote.permissions, role, permission));
    },
    edited: ({ remoteSchema, role }) => [objectId.remotePermission(remoteSchema, role)],
  }),
];

const drop: OperationGroup = () => [
  operation({
    type: 'drop_remote_schema_permissions',
    args: object('DropRemoteSchemaPermissions', { remoteSchema: required(nonEmptyText), role: required(nonEmptyText) }),
    changes: 'metadata',
    errors: [NOT_FOUND, refused('not-exists', 'the role has no permissions for the remote schema'), BREAKS_OTHERS],
    documentation: {
      summary: 'Removes the permissions of a role for a remote schema.',
      example: { remote_schema: 'countries', role: 'user' },
    },
    edit(metadata, { remoteSchema: name, role }) {
      const remote = requireRemote(metadata, name);
      if (!remote.permissions.has(role)) {
        throw new SvcError('not-exists', `permissions for role: "${role}" for remote schema:"${name}" doesn't exist`);
      }
      return withPermissions(metadata, remote, withoutEntry(remote.permissions, role));
    },
  }),
];

export const remoteSchemaPermissionOperations: readonly OperationGroup[] = [add, drop];
