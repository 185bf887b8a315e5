/** What roles see of a remote schema: their SDL next to the whole, and what inherited roles have of their parents. */
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
import { refuseUnknown } from './unknown-keys.ts';

interface Resolved {
  readonly metadata: RemoteSchemaPermission;
  /** null: it is wrong. */
  readonly model: RemoteModel | null;
  readonly inconsistency: Inconsistency | null;
}

export interface RemotePermissionStage {
  readonly remote: RemoteSchemaInfo;
  readonly metadata: RemoteSchema['permissions'];
  readonly plan: InheritancePlan;
  /** By role, without inherited roles. */
  readonly own: ReadonlyMap<string, Resolved>;
  /** The remote schema with what roles see of it. */
  readonly info: RemoteSchemaInfo;
  readonly inconsistencies: readonly Inconsistency[];
}

/** @param remote the whole, as every role sees it while there are no permissions */
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
  // One that is wrong is explicit all the same: its role gets nothing instead.
  for (const role of plan.roles) if (!own.has(role.roleName)) inconsistencies.push(...inherit(name, role, models));
  return { remote, metadata, plan, own, info: { ...remote, permissions: models }, inconsistencies };
}

function resolve(remote: string, permission: RemoteSchemaPermission, whole: RemoteModel): Resolved {
  try {
    refuseUnknown(permission);
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

/** Adds to `models` what the parents that have something all have. */
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

/** Why an inherited role has nothing of a remote schema. */
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
