import { functionPart } from '../../api/entries.ts';
import { routineNamed } from '../../api/routines.ts';
import { objectsIn } from '../../api/sections.ts';
import { isReadOnly, READ_ONLY_REASON } from '../../api/settings.ts';
import { attempt } from '../../features/attempt.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Overview, SourceOverview } from '../../model/overview.ts';
import type { Step } from '../../model/steps.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { RoleTicks } from '../../parts/role-ticks.tsx';

/** Which roles may call a function. */
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
    <Dialog title={`Who may call ${id}`} onClose={onClose}>
      <p class="muted">A role that may call it also has to be able to select from the table whose rows it returns.</p>
      <RoleTicks
        name={`Roles that may call ${id}`}
        what="May call it"
        roles={[...new Set([...data.roles, ...granted])].sort()}
        granted={granted}
        through={(role) =>
          (data.inheritedRoles.find((each) => each.name === role)?.parents ?? []).filter((parent) => granted.includes(parent))
        }
        refusal={isReadOnly ? READ_ONLY_REASON : undefined}
        operation={`${kind}_create_function_permission`}
        onToggle={async (role, on) =>
          (await attempt({
            title: on ? `Let ${role} call ${id}` : `No longer let ${role} call ${id}`,
            parts: [functionPart(source, address)],
            steps: () => [step(on ? 'create' : 'drop', role)],
            inverse: [step(on ? 'drop' : 'create', role)],
          })) !== null
        }
      />
    </Dialog>
  );
}
