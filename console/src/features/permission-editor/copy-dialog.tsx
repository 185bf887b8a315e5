import { useState } from 'preact/hooks';
import { type TableOverview, tableId } from '../../model/overview.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Check, Search } from '../../parts/field.tsx';

export interface CopyTargets {
  readonly roles: readonly string[];
  readonly tables: readonly TableOverview[];
}

/** Tables listed at a time; the filter finds the others. */
const TABLES_LISTED = 30;

/** Chooses the roles and tables to copy a permission to. */
export function CopyDialog({
  role,
  operation,
  roles,
  tables,
  onClose,
  onCopy,
}: {
  readonly role: string;
  readonly operation: string;
  readonly roles: readonly string[];
  readonly tables: readonly TableOverview[];
  onClose(): void;
  onCopy(targets: CopyTargets): void;
}) {
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [chosenTables, setChosenTables] = useState<readonly TableOverview[]>([]);
  const [filter, setFilter] = useState('');
  const found = tables.filter((each) => tableId(each).toLowerCase().includes(filter.toLowerCase()));
  const offered = [...chosenTables, ...found.filter((each) => !chosenTables.includes(each)).slice(0, TABLES_LISTED)];
  return (
    <Dialog
      title={`Copy ${operation} permission of ${role}`}
      onClose={onClose}
      footer={
        <Button
          kind="primary"
          refusal={chosen.length + chosenTables.length === 0 ? 'Select a role or a table' : undefined}
          onClick={() => onCopy({ roles: chosen, tables: chosenTables })}
        >
          Review changes
        </Button>
      }
    >
      <fieldset class="plain-fieldset">
        <legend class="label">Roles</legend>
        {roles.length === 0 && <p class="muted">There are no other roles.</p>}
        <div class="check-list">
          {roles.map((each) => (
            <Check
              key={each}
              label={each}
              checked={chosen.includes(each)}
              onChange={(on) => setChosen(on ? [...chosen, each] : chosen.filter((other) => other !== each))}
            />
          ))}
        </div>
      </fieldset>
      <fieldset class="plain-fieldset stack-tight">
        <legend class="label">Tables (with {role} as well)</legend>
        <Search name="Filter tables" value={filter} onInput={setFilter} />
        <div class="check-list">
          {offered.map((each) => (
            <Check
              key={tableId(each)}
              label={tableId(each)}
              checked={chosenTables.includes(each)}
              onChange={(on) => setChosenTables(on ? [...chosenTables, each] : chosenTables.filter((other) => other !== each))}
            />
          ))}
        </div>
        {found.length > TABLES_LISTED && <p class="muted small">And {found.length - TABLES_LISTED} more. Use the filter.</p>}
      </fieldset>
    </Dialog>
  );
}
