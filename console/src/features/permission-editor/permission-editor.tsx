import { useRef, useState } from 'preact/hooks';
import { type Change, makeChange } from '../../api/changes.ts';
import { type Failure, failureOf } from '../../api/failure.ts';
import { isReadOnly, READ_ONLY_REASON } from '../../api/settings.ts';
import type { TableInfo } from '../../api/table-info.ts';
import { draftsUnder } from '../../browser/drafts.ts';
import { place, setQuery } from '../../browser/place.ts';
import { isObject, type JsonObject } from '../../model/json.ts';
import { accessOf, type Overview, type TableOverview, tableId, tableJson } from '../../model/overview.ts';
import {
  memberOf,
  PERMISSION_OPERATIONS,
  type PermissionOperation,
  type TableAddress,
  tableSteps,
  withMember,
} from '../../model/table-entry.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Grid } from '../../parts/grid.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { AccessMark } from './access-mark.tsx';
import { AddRoleDialog } from './add-role-dialog.tsx';
import { CopyDialog, type CopyTargets } from './copy-dialog.tsx';
import { PermissionForm } from './permission-form.tsx';
import { draftPrefix } from './use-permission-draft.ts';

interface EditorProps {
  readonly data: Overview;
  readonly table: TableOverview;
  readonly info: TableInfo;
}

/** A cell of the grid: one role and one operation. */
interface PermissionCell {
  readonly role: string;
  readonly operation: PermissionOperation;
}

function permissionOf(entry: JsonObject | null, role: string, operation: PermissionOperation): JsonObject | null {
  const permission = memberOf(entry, `${operation}_permissions`, 'role', role)?.['permission'];
  return isObject(permission) ? permission : null;
}

function addressOf(table: TableOverview): TableAddress {
  return { source: table.source, kind: table.kind, table: tableJson(table) };
}

function isOperation(text: string | null): text is PermissionOperation {
  return PERMISSION_OPERATIONS.some((each) => each === text);
}

/** The cell in the address of the page. */
function chosenCell(): PermissionCell | undefined {
  const { query } = place.value;
  const role = query.get('role');
  const operation = query.get('operation');
  return role !== null && isOperation(operation) ? { role, operation } : undefined;
}

/** Cells with drafts. */
function editedCells(table: TableOverview): readonly PermissionCell[] {
  return draftsUnder(draftPrefix(table)).flatMap((key) => {
    const [, operation = '', role = ''] = /^(\S+) (.*)$/s.exec(key) ?? [];
    return isOperation(operation) ? [{ role, operation }] : [];
  });
}

/** Copies a permission to other roles of its table, and to these and its own role on other tables. */
function copyChange(table: TableOverview, { role, operation }: PermissionCell, targets: CopyTargets): Change {
  const key = `${operation}_permissions`;
  const names = [...targets.roles, ...targets.tables.map(tableId)];
  const addresses = [table, ...targets.tables].map(addressOf);
  return {
    title: `Copy ${operation} permission of ${role} on ${tableId(table)} to ${names.join(', ')}`,
    tables: addresses,
    review: true,
    steps: (entries) => {
      const original = memberOf(entries[0] ?? null, key, 'role', role);
      if (original === undefined) return [];
      return addresses.flatMap((address, index) => {
        const entry = entries[index];
        if (entry === null || entry === undefined) throw new Error('A table is no longer tracked.');
        const roles = index === 0 ? targets.roles : [role, ...targets.roles];
        const after = roles.reduce((all, target) => withMember(all, key, 'role', target, { ...original, role: target }), entry);
        return tableSteps(address, entry, after);
      });
    },
  };
}

/** Permissions of a table: a grid of all roles and operations, with the form of the chosen cell below. */
export function PermissionEditor({ data, table, info }: EditorProps) {
  const [added, setAdded] = useState<readonly string[]>([]);
  const [isAdding, setAdding] = useState(false);
  const [copying, setCopying] = useState<PermissionCell | null>(null);
  const [failure, setFailure] = useState<Failure>();
  const frame = useRef<HTMLDivElement>(null);
  // A role without permissions exists only in its drafts.
  const drafted = editedCells(table).map(({ role }) => role);
  const roles = [...new Set([...data.roles, ...added, ...drafted])].sort();
  const chosen = chosenCell();
  const copy = async (targets: CopyTargets): Promise<void> => {
    if (copying === null) return;
    setCopying(null);
    setFailure(undefined);
    try {
      await makeChange(copyChange(table, copying, targets));
    } catch (error) {
      setFailure(failureOf(error));
    }
  };
  return (
    <div ref={frame} class="stack">
      {failure !== undefined && <ErrorBox error={shownError(failure)} />}
      {roles.length === 0 ? (
        <NoPermissions onAdd={() => setAdding(true)} />
      ) : (
        <>
          <PermissionGrid data={data} table={table} info={info} roles={roles} chosen={chosen} />
          <div class="row">
            <Button small icon="plus" onClick={() => setAdding(true)}>
              Add role
            </Button>
            {chosen !== undefined && <CopyButton cell={chosen} info={info} onCopy={() => setCopying(chosen)} />}
          </div>
        </>
      )}
      {chosen !== undefined && roles.includes(chosen.role) ? (
        <ChosenPermission data={data} table={table} info={info} roles={roles} chosen={chosen} frame={frame} />
      ) : (
        roles.length > 0 && <p class="muted">Select a cell to edit its permission.</p>
      )}
      {isAdding && (
        <AddRoleDialog
          known={data.roles}
          onClose={() => setAdding(false)}
          onAdd={(name) => {
            setAdded([...added, name]);
            setAdding(false);
            setQuery({ role: name, operation: 'select' });
          }}
        />
      )}
      {copying !== null && (
        <CopyDialog
          {...copying}
          roles={roles.filter((each) => each !== copying.role)}
          tables={(data.sources.find(({ name }) => name === table.source)?.tables ?? []).filter((each) => each !== table)}
          onClose={() => setCopying(null)}
          onCopy={(targets) => void copy(targets)}
        />
      )}
    </div>
  );
}

function NoPermissions({ onAdd }: { onAdd(): void }) {
  const add = (
    <Button kind="primary" icon="plus" onClick={onAdd}>
      Add role
    </Button>
  );
  return (
    <EmptyState icon="shield" title="No permissions yet" actions={add}>
      A role exists once it has a permission. Administrators have all permissions.
    </EmptyState>
  );
}

/** Form of the chosen cell. */
function ChosenPermission({
  data,
  table,
  info,
  roles,
  chosen,
  frame,
}: EditorProps & {
  readonly roles: readonly string[];
  readonly chosen: PermissionCell;
  /** Element with the grid. */
  readonly frame: { readonly current: HTMLDivElement | null };
}) {
  return (
    <PermissionForm
      key={`${chosen.role} ${chosen.operation}`}
      data={data}
      table={table}
      info={info}
      {...chosen}
      saved={permissionOf(info.entry, chosen.role, chosen.operation)}
      // After a change the focus moves to its cell, which shows the result.
      onApplied={() => frame.current?.querySelector('.access-button.is-chosen')?.closest('td')?.focus()}
      others={roles.flatMap((role) => {
        const permission = role === chosen.role ? null : permissionOf(info.entry, role, chosen.operation);
        return permission === null ? [] : [{ role, permission }];
      })}
    />
  );
}

function CopyButton({ cell, info, onCopy }: { readonly cell: PermissionCell; readonly info: TableInfo; onCopy(): void }) {
  const hasNone = permissionOf(info.entry, cell.role, cell.operation) === null;
  return (
    <Button
      small
      icon="copy"
      refusal={isReadOnly ? READ_ONLY_REASON : hasNone ? 'There is no permission to copy' : undefined}
      onClick={onCopy}
    >
      Copy permission …
    </Button>
  );
}

interface GridProps extends EditorProps {
  readonly roles: readonly string[];
  readonly chosen: PermissionCell | undefined;
}

function PermissionGrid({ data, table, info, roles, chosen }: GridProps) {
  const edited = editedCells(table);
  const parentsOf = new Map(data.inheritedRoles.map(({ name, parents }) => [name, parents]));
  const noteOf = (role: string, operation: PermissionOperation): string | undefined => {
    const permission = permissionOf(info.entry, role, operation);
    if (permission === null) return parentsOf.has(role) && accessOf(data, table, role, operation) !== 'none' ? 'inherited' : undefined;
    const { columns } = permission;
    return Array.isArray(columns) && columns.length < info.columns.length
      ? `${columns.length} of ${info.columns.length} columns`
      : undefined;
  };
  return (
    <Grid
      name={`Permissions of ${tableId(table)}`}
      class="grid-medium"
      columns={[{ id: 'role', header: 'Role', isSticky: true }, ...PERMISSION_OPERATIONS.map((each) => ({ id: each, header: each }))]}
      count={roles.length}
      cell={(row, column) => {
        const role = roles[row] ?? '';
        const operation = PERMISSION_OPERATIONS[column - 1];
        if (operation === undefined) {
          const parents = parentsOf.get(role);
          return (
            <>
              {role} {parents !== undefined && <span class="muted small">= {parents.join(' + ')}</span>}
            </>
          );
        }
        const isChosen = chosen?.role === role && chosen.operation === operation;
        const access = accessOf(data, table, role, operation);
        const isEdited = edited.some((each) => each.role === role && each.operation === operation);
        const note = [noteOf(role, operation), isEdited ? 'edited' : undefined].filter(Boolean).join(', ') || undefined;
        return (
          <button
            type="button"
            tabIndex={-1}
            class={`access-button${isChosen ? ' is-chosen' : ''}`}
            aria-pressed={isChosen}
            aria-label={`${operation} permission of ${role}: ${[access === 'part' ? 'partial' : access, note].filter(Boolean).join(' ')}`}
            onClick={() => setQuery({ role, operation })}
          >
            <AccessMark access={access} note={note} />
          </button>
        );
      }}
      opensByClick={(_, column) => column > 0}
      onOpen={(row, column) => {
        const role = roles[row];
        const operation = PERMISSION_OPERATIONS[column - 1];
        if (role !== undefined && operation !== undefined) setQuery({ role, operation });
      }}
    />
  );
}
