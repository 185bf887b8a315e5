import { functionPart } from '../../api/entries.ts';
import { routineNamed } from '../../api/routines.ts';
import { readOnlyRefusal } from '../../api/settings.ts';
import { attempt } from '../../features/attempt.ts';
import { type JsonObject, objectsIn } from '../../model/json.ts';
import type { Overview, SourceOverview } from '../../model/overview.ts';
import type { Step } from '../../model/steps.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { RoleTicks } from '../../parts/role-ticks.tsx';

/** Roles that can call a function. */
export function FunctionPermissions({
  data,
  source: { name: source, kind, defaultSchema },
  id,
  entry,
  onClose,
}: {
  readonly data: Overview;
  readonly source: SourceOverview;
  readonly id: string;
  readonly entry: JsonObject;
  onClose(): void;
}) {
  const address = routineNamed(id, defaultSchema);
  const granted = objectsIn(entry['permissions']).map(({ role }) => String(role));
  const step = (verb: 'create' | 'drop', role: string): Step => ({
    type: `${kind}_${verb}_function_permission`,
    args: { source, function: address, role },
  });
  return (
    <Dialog title={`Permissions of ${id}`} onClose={onClose}>
      <p class="muted">A role also needs a select permission on the table that the function returns.</p>
      <RoleTicks
        name={`Roles that can call ${id}`}
        what="Can call"
        roles={[...new Set([...data.roles, ...granted])].sort()}
        granted={granted}
        inheritedFrom={(role) =>
          (data.inheritedRoles.find((each) => each.name === role)?.parents ?? []).filter((parent) => granted.includes(parent))
        }
        refusal={readOnlyRefusal}
        operation={`${kind}_create_function_permission`}
        onToggle={async (role, on) =>
          (await attempt({
            title: on ? `Allow ${role} to call ${id}` : `Revoke permission of ${role} to call ${id}`,
            parts: [functionPart(source, address)],
            steps: () => [step(on ? 'create' : 'drop', role)],
            inverse: [step(on ? 'drop' : 'create', role)],
          })) !== null
        }
      />
    </Dialog>
  );
}
