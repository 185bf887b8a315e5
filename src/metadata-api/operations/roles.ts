import { SvcError } from '../../errors/svc-error.ts';
import { nonEmptyText, object, required } from '../../metadata/codec.ts';
import { withEntry, withoutEntry } from '../../metadata/edit.ts';
import { newInheritedRoleCodec } from '../../metadata/inherited-role.ts';
import { introspectionCodec } from '../../metadata/metadata.ts';
import { objectId } from '../../schema-cache/object-id.ts';
import { define, operation, type OperationGroup } from '../operation.ts';
import { BREAKS_OTHERS, refused } from '../operation-error.ts';

const addInheritedRole: OperationGroup = () => [
  operation({
    type: 'add_inherited_role',
    args: newInheritedRoleCodec,
    changes: 'metadata',
    errors: [
      refused('invalid-params', 'the role is one of its own parents'),
      refused('invalid-configuration', 'a parent is neither a role with a permission nor an inherited role'),
      refused('cyclic-dependency', 'roles would inherit from each other'),
    ],
    documentation: {
      summary: 'Adds or replaces an inherited role, which has the permissions of its parents.',
      example: { role_name: 'manager', role_set: ['user', 'editor'] },
    },
    edit: (metadata, role) => ({ ...metadata, inheritedRoles: withEntry(metadata.inheritedRoles, role.roleName, role) }),
    edited: ({ roleName }) => [objectId.inheritedRole(roleName)],
  }),
];

const dropInheritedRole: OperationGroup = () => [
  operation({
    type: 'drop_inherited_role',
    args: object('DropInheritedRole', { roleName: required(nonEmptyText) }),
    changes: 'metadata',
    errors: [refused('not-exists', 'the inherited role does not exist'), BREAKS_OTHERS],
    documentation: { summary: 'Removes an inherited role.', example: { role_name: 'manager' } },
    edit(metadata, { roleName }) {
      if (!metadata.inheritedRoles.has(roleName)) throw new SvcError('not-exists', `"${roleName}" inherited role doesn't exist`);
      return { ...metadata, inheritedRoles: withoutEntry(metadata.inheritedRoles, roleName) };
    },
  }),
];

const introspection = define({
  args: introspectionCodec,
  changes: 'metadata',
  errors: [],
  documentation: { summary: 'Sets the roles that cannot introspect their GraphQL schema.', example: { disabled_for_roles: ['anonymous'] } },
  edit: (metadata, { disabledForRoles }) => ({ ...metadata, introspection: { disabledForRoles: [...new Set(disabledForRoles)].sort() } }),
});

const setIntrospectionOptions: OperationGroup = () => [
  operation({ ...introspection, type: 'set_graphql_introspection_options' }),
  operation({ ...introspection, type: 'set_graphql_schema_introspection_options' }),
];

export const roleOperations: readonly OperationGroup[] = [addInheritedRole, dropInheritedRole, setIntrospectionOptions];
