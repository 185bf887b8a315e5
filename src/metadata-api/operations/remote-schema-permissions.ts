/** Operations on what roles see of remote schemas. */
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

const NOT_THERE = refused('not-exists', 'there is no such remote schema');

/** @throws SvcError not-exists */
function requireRemote(metadata: Metadata, name: string): RemoteSchema {
  const remote = metadata.remoteSchemas.get(name);
  if (remote === undefined) throw new SvcError('not-exists', `remote schema "${name}" doesn't exist`);
  return remote;
}

/** @throws SvcError at the arguments, or at the SDL where it is none */
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
      refused('constraint-violation', 'permissions on remote schemas are not enabled, or the role is that of administrators'),
      NOT_THERE,
      refused('already-exists', 'the role has permissions on the remote schema'),
      refused('parse-failed', 'the schema is no SDL'),
      refused('validation-failed', 'the schema says what the server does not; the message lists all that is wrong'),
      refused('remote-schema-error', 'types of the schema do not fit together, or the remote schema itself is inconsistent'),
      BREAKS_OTHERS,
    ],
    documentation: {
      summary: 'Says in SDL which part of a remote schema a role sees, and with `@preset` which inputs it cannot choose.',
      example: {
        remote_schema: 'countries',
        role: 'user',
        definition: { schema: 'type Query { country(code: ID! @preset(value: "x-svc-country")): String }' },
      },
    },
    // The whole schema that the SDL is a part of may be of an operation before.
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
    errors: [NOT_THERE, refused('not-exists', 'the role has no permissions on the remote schema'), BREAKS_OTHERS],
    documentation: {
      summary: 'Takes the permissions of a role on a remote schema away.',
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
