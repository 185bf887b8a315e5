/** Operations on remote schemas. */
import { SvcError } from '../../errors/svc-error.ts';
import { nonEmptyText, object, optional, required, text } from '../../metadata/codec.ts';
import { withEntry, withoutEntry } from '../../metadata/edit.ts';
import type { Metadata } from '../../metadata/metadata.ts';
import { remoteSchemaDefinitionCodec } from '../../metadata/remote-schema.ts';
import { shareUnchanged } from '../../metadata/share.ts';
import { dependentsOfRemoteSchema, dropRefusal } from '../../schema-cache/dependencies.ts';
import { objectId } from '../../schema-cache/object-id.ts';
import { bytesOfText } from '../../util/bytes.ts';
import { PrintedJson } from '../answer.ts';
import { BROKEN_BY_DROP, operation, type OperationGroup } from '../operation.ts';
import { BREAKS_OTHERS, INCONSISTENT, type OperationErrors, refused } from '../operation-error.ts';

const written = object('AddRemoteSchema', {
  name: required(nonEmptyText),
  definition: required(remoteSchemaDefinitionCodec),
  comment: optional(text),
});
const named = object('RemoteSchemaName', { name: required(nonEmptyText) });

const DEFINITION = { url_from_env: 'COUNTRIES_URL', timeout_seconds: 10 };

const SERVER_ERRORS: OperationErrors = [
  refused('remote-schema-error', 'the server cannot be introspected, its schema is invalid, or the customization is invalid'),
  refused('not-found', 'an environment variable is not set'),
  refused('invalid-params', 'the address is missing, given twice or not a URL'),
  INCONSISTENT,
  BREAKS_OTHERS,
];

/** @throws SvcError not-exists */
function requireRemoteSchema({ remoteSchemas }: Metadata, name: string, message: string): void {
  if (!remoteSchemas.has(name)) throw new SvcError('not-exists', message);
}

const add: OperationGroup = () => [
  operation({
    type: 'add_remote_schema',
    args: written,
    changes: 'metadata',
    bringsAddresses: true,
    errors: [refused('already-exists', 'a remote schema with this name exists'), ...SERVER_ERRORS],
    documentation: {
      summary: 'Adds the schema of another GraphQL server to the API.',
      example: { name: 'countries', definition: DEFINITION },
    },
    edit(metadata, { name, definition, comment }) {
      if (metadata.remoteSchemas.has(name)) throw new SvcError('already-exists', `remote schema with name "${name}" already exists`);
      const remote = {
        name,
        definition,
        ...(comment === undefined ? {} : { comment }),
        permissions: new Map(),
        remoteRelationships: new Map(),
      };
      return { ...metadata, remoteSchemas: withEntry(metadata.remoteSchemas, name, remote) };
    },
    edited: ({ name }) => [objectId.remoteSchema(name)],
  }),
];

const update: OperationGroup = () => [
  operation({
    type: 'update_remote_schema',
    args: written,
    changes: 'metadata',
    bringsAddresses: true,
    errors: [refused('not-exists', 'the remote schema does not exist'), ...SERVER_ERRORS],
    documentation: {
      summary: 'Replaces the definition of a remote schema, and keeps its permissions and relationships.',
      example: { name: 'countries', definition: { ...DEFINITION, customization: { root_fields_namespace: 'world' } } },
    },
    edit(metadata, { name, definition, comment }) {
      const existing = metadata.remoteSchemas.get(name);
      if (existing === undefined) throw new SvcError('not-exists', `remote schema with name "${name}" doesn't exist`);
      const { comment: _, ...kept } = existing;
      const remote = shareUnchanged(existing, { ...kept, definition, ...(comment === undefined ? {} : { comment }) });
      return { ...metadata, remoteSchemas: withEntry(metadata.remoteSchemas, name, remote) };
    },
    edited: ({ name }) => [objectId.remoteSchema(name)],
  }),
];

const remove: OperationGroup = () => [
  operation({
    type: 'remove_remote_schema',
    args: named,
    changes: 'metadata',
    errors: [
      refused('not-exists', 'the remote schema does not exist'),
      refused('dependency-error', 'relationships refer to it; the message lists them'),
      BREAKS_OTHERS,
    ],
    documentation: { summary: 'Removes a remote schema with its permissions.', example: { name: 'countries' } },
    othersBroke: BROKEN_BY_DROP,
    readsDependencies: true,
    edit(metadata, { name }, { snapshot }) {
      requireRemoteSchema(metadata, name, 'no such remote schema');
      const found = dependentsOfRemoteSchema(snapshot.cache, name);
      if (found.length > 0) throw new SvcError('dependency-error', dropRefusal(found));
      return { ...metadata, remoteSchemas: withoutEntry(metadata.remoteSchemas, name) };
    },
  }),
];

const reload: OperationGroup = () => [
  operation({
    type: 'reload_remote_schema',
    args: named,
    changes: 'metadata',
    errors: [refused('not-exists', 'the remote schema does not exist'), ...SERVER_ERRORS],
    documentation: { summary: 'Introspects the server of a remote schema again.', example: { name: 'countries' } },
    edit(metadata, { name }) {
      requireRemoteSchema(metadata, name, `remote schema with name "${name}" does not exist`);
      return metadata;
    },
    refresh: ({ name }) => ({ remoteSchemas: [name] }),
    edited: ({ name }) => [objectId.remoteSchema(name)],
    // Does not change the document.
    isGuarded: () => false,
  }),
];

const introspect: OperationGroup = () => [
  operation({
    type: 'introspect_remote_schema',
    args: named,
    changes: 'nothing',
    errors: [
      refused('not-exists', 'the remote schema does not exist'),
      refused('remote-schema-error', 'its server was never introspected'),
    ],
    documentation: {
      summary: 'Returns the last introspection result of a remote schema.',
      example: { name: 'countries' },
    },
    async run({ name }, { snapshot }) {
      requireRemoteSchema(snapshot.metadata, name, `remote schema: "${name}" not found`);
      const introspection = await snapshot.introspectionOf(name);
      if (introspection === null) throw new SvcError('remote-schema-error', `remote schema: "${name}" was never introspected`);
      return new PrintedJson([bytesOfText(introspection)]);
    },
  }),
];

export const remoteSchemaOperations: readonly OperationGroup[] = [add, update, remove, reload, introspect];
