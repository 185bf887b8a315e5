import { memberPart } from '../../api/entries.ts';
import { overview } from '../../api/overview.ts';
import { objectsIn } from '../../api/sections.ts';
import { isReadOnly, READ_ONLY_REASON } from '../../api/settings.ts';
import { attempt } from '../../features/attempt.ts';
import { isObject, type JsonObject } from '../../model/json.ts';
import type { Step } from '../../model/steps.ts';
import { RoleTicks } from '../../parts/role-ticks.tsx';

/** The operation that lets a role call an action, as its entry in the metadata says. */
export function permissionStep(action: string, { role = '', comment }: JsonObject): Step {
  return { type: 'create_action_permission', args: { action, role, ...(comment === undefined ? {} : { comment }) } };
}

/** Which roles may call the action. */
export function Permissions({ action }: { readonly action: JsonObject }) {
  const name = String(action['name']);
  const granted = objectsIn(action['permissions']).map(({ role }) => String(role));
  const data = overview.value;
  const toggle = async (role: string, on: boolean): Promise<boolean> => {
    const drop: Step = { type: 'drop_action_permission', args: { action: name, role } };
    const done = await attempt({
      title: on ? `Let ${role} call ${name}` : `No longer let ${role} call ${name}`,
      parts: [memberPart('actions', name)],
      steps: () => [on ? permissionStep(name, { role }) : drop],
      inverse: ([before = null]) => {
        const former = objectsIn(isObject(before) ? before['permissions'] : undefined).find((each) => each['role'] === role);
        return [former === undefined ? drop : permissionStep(name, former)];
      },
    });
    return done !== null;
  };
  return (
    <section class="card stack">
      <p class="muted">An administrator may call every action. To other roles it is there only where they may call it.</p>
      <RoleTicks
        name={`Roles that may call ${name}`}
        what="May call it"
        roles={[...new Set([...(data?.roles ?? []), ...granted])].sort()}
        granted={granted}
        through={(role) =>
          (data?.inheritedRoles.find((each) => each.name === role)?.parents ?? []).filter((parent) => granted.includes(parent))
        }
        refusal={isReadOnly ? READ_ONLY_REASON : undefined}
        operation="create_action_permission"
        onToggle={toggle}
      />
    </section>
  );
}
