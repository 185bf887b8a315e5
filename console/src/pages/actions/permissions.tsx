import { memberPart } from '../../api/entries.ts';
import { overview } from '../../api/overview.ts';
import { readOnlyRefusal } from '../../api/settings.ts';
import { attempt } from '../../features/attempt.ts';
import { isObject, type JsonObject, objectsIn } from '../../model/json.ts';
import type { Step } from '../../model/steps.ts';
import { RoleTicks } from '../../parts/role-ticks.tsx';

/** Step that grants a permission from the metadata. */
export function actionPermissionStep(action: string, { role = '', comment }: JsonObject): Step {
  return { type: 'create_action_permission', args: { action, role, ...(comment === undefined ? {} : { comment }) } };
}

/** Roles that can call the action. */
export function Permissions({ action }: { readonly action: JsonObject }) {
  const name = String(action['name']);
  const granted = objectsIn(action['permissions']).map(({ role }) => String(role));
  const data = overview.value;
  const toggle = async (role: string, on: boolean): Promise<boolean> => {
    const drop: Step = { type: 'drop_action_permission', args: { action: name, role } };
    const done = await attempt({
      title: on ? `Allow ${role} to call ${name}` : `Revoke permission of ${role} to call ${name}`,
      parts: [memberPart('actions', name)],
      steps: () => [on ? actionPermissionStep(name, { role }) : drop],
      inverse: ([before = null]) => {
        const former = objectsIn(isObject(before) ? before['permissions'] : undefined).find((each) => each['role'] === role);
        return [former === undefined ? drop : actionPermissionStep(name, former)];
      },
    });
    return done !== null;
  };
  return (
    <section class="card stack">
      <p class="muted">Administrators can call every action. For other roles, the action exists only if they can call it.</p>
      <RoleTicks
        name={`Roles that can call ${name}`}
        what="Can call"
        roles={[...new Set([...(data?.roles ?? []), ...granted])].sort()}
        granted={granted}
        inheritedFrom={(role) =>
          (data?.inheritedRoles.find((each) => each.name === role)?.parents ?? []).filter((parent) => granted.includes(parent))
        }
        refusal={readOnlyRefusal}
        operation="create_action_permission"
        onToggle={toggle}
      />
    </section>
  );
}
