import { SvcError } from '../errors/svc-error.ts';
import { at } from '../util/path.ts';
import { type Codec, leaf, like, list, nonEmptyText, object, parseFailed, required } from './codec.ts';
import type { WithUnknownKeys } from './unknown-keys.ts';

export interface InheritedRole extends WithUnknownKeys {
  readonly roleName: string;
  /** Distinct parents. */
  readonly roleSet: readonly string[];
}

const written = object('InheritedRole', { roleName: required(nonEmptyText), roleSet: required(list(nonEmptyText)) });

/**
 * Entry of `inherited_roles`. A role with one parent is that parent under another name; without parents it has no rights. Imported
 * documents contain both.
 * @throws SvcError also for a role that is its own parent (`invalid-params`)
 */
export const inheritedRoleCodec: Codec<InheritedRole> = leaf(
  'InheritedRole',
  (json, path) => {
    const { roleName, roleSet } = written.decode(json, path);
    const parents = [...new Set(roleSet)];
    if (parents.includes(roleName))
      throw new SvcError('invalid-params', 'an inherited role name cannot be in the role combination', { path: at(path, 'role_set') });
    return { roleName, roleSet: parents };
  },
  (value) => written.encode(value),
  like(written),
);

/** Arguments of `add_inherited_role`. @throws SvcError also for fewer than two parents */
export const newInheritedRoleCodec: Codec<InheritedRole> = {
  ...inheritedRoleCodec,
  decode(json, path) {
    const role = inheritedRoleCodec.decode(json, path);
    if (role.roleSet.length < 2) throw parseFailed('an inherited role needs at least two distinct parent roles', at(path, 'role_set'));
    return role;
  },
};
