/** Operations on actions and their permissions. */
import { SvcError } from '../../errors/svc-error.ts';
import { type Action, actionDefinitionCodec } from '../../metadata/action.ts';
import { anyJson, bool, defaulted, nonEmptyText, object, optional, required, text } from '../../metadata/codec.ts';
import { withEntry, withoutEntry } from '../../metadata/edit.ts';
import { graphqlName } from '../../metadata/graphql-name.ts';
import type { Metadata } from '../../metadata/metadata.ts';
import { shareUnchanged } from '../../metadata/share.ts';
import { objectId } from '../../schema-cache/object-id.ts';
import { BROKEN_BY_DROP, operation, type OperationGroup, SUCCESS } from '../operation.ts';
import { BREAKS_OTHERS, INCONSISTENT, NAME_TAKEN, type OperationErrors, refused } from '../operation-error.ts';
import { requireTransforms } from '../require-transforms.ts';

const written = object('CreateAction', {
  name: required(graphqlName),
  definition: required(actionDefinitionCodec),
  comment: optional(text),
});

const DEFINITION_ERRORS: OperationErrors = [
  INCONSISTENT,
  NAME_TAKEN,
  refused('remote-schema-conflicts', 'a remote schema has a root field of this name'),
  refused('validation-failed', 'a template of a transform is invalid; `internal` has the reasons'),
];

const NOT_FOUND = refused('not-exists', 'the action does not exist');

/** @throws SvcError not-exists */
function requireAction({ actions }: Metadata, name: string): Action {
  const action = actions.get(name);
  if (action === undefined) throw new SvcError('not-exists', `action with name "${name}" does not exist`);
  return action;
}

function withAction(metadata: Metadata, action: Action): Metadata {
  const actions = withEntry(metadata.actions, action.name, action);
  return actions === metadata.actions ? metadata : { ...metadata, actions };
}

const EXAMPLE = {
  name: 'login',
  definition: {
    kind: 'synchronous',
    handler: '{{HANDLERS_URL}}/login',
    arguments: [{ name: 'username', type: 'String!' }],
    output_type: 'Login!',
    forward_client_headers: true,
    timeout: 10,
  },
  comment: 'Returns a token.',
};

const create: OperationGroup = () => [
  operation({
    type: 'create_action',
    args: written,
    changes: 'metadata',
    bringsAddresses: true,
    errors: [refused('already-exists', 'an action with this name exists'), ...DEFINITION_ERRORS],
    documentation: { summary: 'Adds a root field that your own handler resolves.', example: EXAMPLE },
    edit(metadata, { name, definition, comment }, { path }) {
      if (metadata.actions.has(name)) throw new SvcError('already-exists', `action with name "${name}" already exists`);
      requireTransforms(definition, path);
      return withAction(metadata, { name, definition, ...(comment === undefined ? {} : { comment }), permissions: new Map() });
    },
    edited: ({ name }) => [objectId.action(name)],
  }),
];

const update: OperationGroup = () => [
  operation({
    type: 'update_action',
    args: written,
    changes: 'metadata',
    bringsAddresses: true,
    errors: [NOT_FOUND, ...DEFINITION_ERRORS, BREAKS_OTHERS],
    documentation: {
      summary: 'Replaces the definition and the comment of an action, and keeps its permissions.',
      example: { ...EXAMPLE, definition: { ...EXAMPLE.definition, timeout: 5 } },
    },
    edit(metadata, { name, definition, comment }, { path }) {
      const action = requireAction(metadata, name);
      requireTransforms(definition, path);
      const { permissions } = action;
      const next = { name, definition, ...(comment === undefined ? {} : { comment }), permissions };
      return withAction(metadata, shareUnchanged<Action>(action, next));
    },
    edited: ({ name }) => [objectId.action(name)],
  }),
];

const drop: OperationGroup = () => [
  operation({
    type: 'drop_action',
    args: object('DropAction', { name: required(nonEmptyText), clearData: defaulted(bool, () => true) }),
    changes: 'metadata',
    errors: [NOT_FOUND, BREAKS_OTHERS],
    documentation: {
      summary: 'Removes an action with its permissions and, unless `clear_data` is false, the stored calls of an asynchronous action.',
      example: { name: 'login' },
    },
    othersBroke: BROKEN_BY_DROP,
    edit(metadata, { name }) {
      requireAction(metadata, name);
      return { ...metadata, actions: withoutEntry(metadata.actions, name) };
    },
    async run({ name, clearData }, { services, afterCommit }) {
      const message = `the stored calls of the action "${name}" could not be deleted`;
      const warning = { code: 'action-log-kept', type: 'action', name: `action ${name}`, message };
      if (clearData) afterCommit({ warning, run: () => services.actionLog.clear(name) });
      return SUCCESS;
    },
  }),
];

const createPermission: OperationGroup = () => [
  operation({
    type: 'create_action_permission',
    args: object('CreateActionPermission', {
      action: required(nonEmptyText),
      role: required(nonEmptyText),
      comment: optional(text),
      definition: optional(anyJson),
    }),
    changes: 'metadata',
    errors: [NOT_FOUND, refused('already-exists', 'the role already has the permission'), BREAKS_OTHERS],
    documentation: {
      summary: 'Allows a role to use an action. `definition` is stored without effect, for older clients.',
      example: { action: 'login', role: 'user' },
    },
    edit(metadata, { action: name, role, comment, definition }) {
      const action = requireAction(metadata, name);
      if (action.permissions.has(role)) {
        throw new SvcError('already-exists', `permission for role "${role}" is already defined on "${name}"`);
      }
      const permission = { role, ...(comment === undefined ? {} : { comment }), ...(definition === undefined ? {} : { definition }) };
      return withAction(metadata, { ...action, permissions: withEntry(action.permissions, role, permission) });
    },
    edited: ({ action }) => [objectId.action(action)],
  }),
];

const dropPermission: OperationGroup = () => [
  operation({
    type: 'drop_action_permission',
    args: object('DropActionPermission', { action: required(nonEmptyText, 'name'), role: required(nonEmptyText) }),
    changes: 'metadata',
    errors: [NOT_FOUND, refused('not-exists', 'the role does not have the permission'), BREAKS_OTHERS],
    documentation: { summary: 'Removes the permission of a role to use an action.', example: { action: 'login', role: 'user' } },
    edit(metadata, { action: name, role }) {
      const action = requireAction(metadata, name);
      if (!action.permissions.has(role)) throw new SvcError('not-exists', `permission for role: "${role}" is not defined on "${name}"`);
      return withAction(metadata, { ...action, permissions: withoutEntry(action.permissions, role) });
    },
    edited: ({ action }) => [objectId.action(action)],
  }),
];

export const actionOperations: readonly OperationGroup[] = [create, update, drop, createPermission, dropPermission];
