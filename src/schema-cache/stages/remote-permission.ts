/** Permissions on a remote schema: checks the SDL of roles against the whole schema, and derives those of inherited roles. */
import { ADMIN_ROLE } from '../../auth/session.ts';
import { SvcError } from '../../errors/svc-error.ts';
import type { InheritedRole } from '../../metadata/metadata.ts';
import type { RemoteSchema, RemoteSchemaPermission } from '../../metadata/remote-schema.ts';
import type { RemoteModel } from '../../remote-schema/model.ts';
import { roleModel } from '../../remote-schema/permission/role-model.ts';
import { sameModel } from '../../remote-schema/permission/same-model.ts';
import { Defect, fromDefect } from '../inconsistency.ts';
import { objectId } from '../object-id.ts';
import type { Inconsistency, RemoteSchemaInfo } from '../schema-cache.ts';
import { describeRemotePermission } from './describe.ts';
import type { InheritancePlan } from './inherited-role.ts';
import { rejectUnknownKeys } from './unknown-keys.ts';

interface Resolved {
  readonly metadata: RemoteSchemaPermission;
  /** `null` if the permission is invalid. */
  readonly model: RemoteModel | null;
  readonly inconsistency: Inconsistency | null;
}

export interface RemotePermissionStage {
  readonly remote: RemoteSchemaInfo;
  readonly metadata: RemoteSchema['permissions'];
  readonly plan: InheritancePlan;
  /** Permissions by role, without inherited roles. */
  readonly own: ReadonlyMap<string, Resolved>;
  /** The remote schema with the parts that roles see. */
  readonly info: RemoteSchemaInfo;
  readonly inconsistencies: readonly Inconsistency[];
}

/** @param remote the whole schema, which every role sees if there are no permissions */
export function resolveRemotePermissions(
  { name, permissions: metadata }: RemoteSchema,
  remote: RemoteSchemaInfo,
  plan: InheritancePlan,
  before: RemotePermissionStage | undefined,
): RemotePermissionStage {
  if (before !== undefined && before.remote === remote && before.metadata === metadata && before.plan === plan) return before;
  const known = before?.remote.model === remote.model ? before.own : undefined;
  const own = new Map<string, Resolved>();
  for (const [role, permission] of metadata) {
    const same = known?.get(role);
    own.set(role, same?.metadata === permission ? same : resolve(name, permission, remote.model));
  }
  const inconsistencies = [...own.values()].flatMap(({ inconsistency }) => (inconsistency === null ? [] : [inconsistency]));
  const models = new Map([...own].flatMap(([role, { model }]) => (model === null ? [] : [[role, model] as const])));
  // An invalid permission still counts as explicit: its role has no access, and inherits none.
  for (const role of plan.roles) if (!own.has(role.roleName)) inconsistencies.push(...inherit(name, role, models));
  return { remote, metadata, plan, own, info: { ...remote, permissions: models }, inconsistencies };
}

function resolve(remote: string, permission: RemoteSchemaPermission, whole: RemoteModel): Resolved {
  try {
    rejectUnknownKeys(permission);
    requireNoAdmin(permission.role);
    return { metadata: permission, model: roleModel(permission.schema, whole), inconsistency: null };
  } catch (thrown) {
    if (!(thrown instanceof SvcError) && !(thrown instanceof Defect)) throw thrown;
    const inconsistency = fromDefect(describeRemotePermission(remote, permission), '', new Defect(thrown.message));
    return { metadata: permission, model: null, inconsistency };
  }
}

/** @throws SvcError constraint-violation */
export function requireNoAdmin(role: string): void {
  if (role === ADMIN_ROLE) throw new SvcError('constraint-violation', 'cannot define permission for admin role');
}

/** Adds the permission of an inherited role to `models`, if all of its parents with a permission have the same one. */
function inherit(remote: string, { roleName, roleSet }: InheritedRole, models: Map<string, RemoteModel>): readonly Inconsistency[] {
  const [first, ...others] = roleSet.map((parent) => models.get(parent)).filter((model) => model !== undefined);
  if (first === undefined) return [];
  if (others.every((other) => sameModel(first, other))) {
    models.set(roleName, first);
    return [];
  }
  return [
    inheritedConflict(
      roleName,
      remote,
      `Could not inherit permission for the role '${roleName}' for the entity: 'remote schema: '${remote}''`,
    ),
  ];
}

/** Returns the record of an inherited role without access to a remote schema. */
export function inheritedConflict(role: string, remote: string, reason: string): Inconsistency {
  const type = 'inherited role permission inconsistency';
  const entity = { remote_schema: remote };
  return {
    objectId: objectId.inheritedRemotePermission(role, remote),
    type,
    name: role,
    reason,
    definition: entity,
    record: { reason, name: role, type, entity },
    informational: true,
  };
}
