import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { type Failure, failureOf } from '../../api/failure.ts';
import { isReadOnly, READ_ONLY_REASON } from '../../api/settings.ts';
import type { TableInfo } from '../../api/table-info.ts';
import { place, setQuery } from '../../browser/place.ts';
import { isObject, type JsonObject } from '../../model/json.ts';
import { accessOf, type Overview, type TableOverview, tableId, tableJson } from '../../model/overview.ts';
import { memberOf, PERMISSION_OPERATIONS, type PermissionOperation, tableSteps, withMember } from '../../model/table-entry.ts';
import { Button } from '../../parts/button.tsx';
import { Combobox } from '../../parts/combobox.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Check, Field } from '../../parts/field.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Grid } from '../../parts/grid.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { AccessMark } from './access-mark.tsx';
import { PermissionForm } from './permission-form.tsx';

interface EditorProps {
  readonly data: Overview;
  readonly table: TableOverview;
  readonly info: TableInfo;
}

function permissionOf(entry: JsonObject | null, role: string, operation: PermissionOperation): JsonObject | null {
  const permission = memberOf(entry, `${operation}_permissions`, 'role', role)?.['permission'];
  return isObject(permission) ? permission : null;
}

function isOperation(text: string | null): text is PermissionOperation {
  return PERMISSION_OPERATIONS.some((each) => each === text);
}

/** Who may do what with a table: every role, also those that may do nothing. */
export function PermissionEditor({ data, table, info }: EditorProps) {
  const [added, setAdded] = useState<readonly string[]>([]);
  const [isAdding, setAdding] = useState(false);
  const [copying, setCopying] = useState<{ readonly role: string; readonly operation: PermissionOperation } | null>(null);
  const [failure, setFailure] = useState<Failure>();
  const { query } = place.value;
  const roles = [...new Set([...data.roles, ...added])].sort();
  const role = query.get('role');
  const operationText = query.get('operation');
  const operation = isOperation(operationText) ? operationText : undefined;
  const inherited = new Map(data.inheritedRoles.map(({ name, parents }) => [name, parents]));
  const address = { source: table.source, kind: table.kind, table: tableJson(table) };
  const note = (of: string, each: PermissionOperation): string | undefined => {
    const permission = permissionOf(info.entry, of, each);
    if (permission === null) return inherited.has(of) && accessOf(data, table, of, each) !== 'none' ? 'inherited' : undefined;
    const { columns } = permission;
    return Array.isArray(columns) && columns.length < info.columns.length
      ? `${columns.length} of ${info.columns.length} columns`
      : undefined;
  };
  const choose = (of: string, each: PermissionOperation): void => setQuery({ role: of, operation: each });
  const copy = async (targets: readonly string[]): Promise<void> => {
    if (copying === null) return;
    const key = `${copying.operation}_permissions`;
    setCopying(null);
    setFailure(undefined);
    try {
      await makeChange({
        title: `${copying.operation} of ${copying.role} on ${tableId(table)}, for ${targets.join(', ')}`,
        tables: [address],
        review: true,
        steps: ([entry]) => {
          if (entry === null || entry === undefined) throw new Error('the table is no longer tracked');
          const source = memberOf(entry, key, 'role', copying.role);
          if (source === undefined) return [];
          const after = targets.reduce((all, target) => withMember(all, key, 'role', target, { ...source, role: target }), entry);
          return tableSteps(address, entry, after);
        },
      });
    } catch (error) {
      setFailure(failureOf(error));
    }
  };
  return (
    <>
      {failure !== undefined && <ErrorBox error={shownError(failure)} />}
      {roles.length === 0 ? (
        <EmptyState
          icon="shield"
          title="No role may do anything yet"
          actions={
            <Button kind="primary" icon="plus" onClick={() => setAdding(true)}>
              Add a role
            </Button>
          }
        >
          A role is there once a permission names it. Administrators may always do everything.
        </EmptyState>
      ) : (
        <>
          <Grid
            name={`Permissions of ${tableId(table)}`}
            class="grid-medium"
            columns={[{ id: 'role', header: 'Role', isSticky: true }, ...PERMISSION_OPERATIONS.map((each) => ({ id: each, header: each }))]}
            count={roles.length}
            cell={(row, column) => {
              const of = roles[row] ?? '';
              const each = PERMISSION_OPERATIONS[column - 1];
              if (each === undefined) {
                const parents = inherited.get(of);
                return (
                  <>
                    {of} {parents !== undefined && <span class="muted small">= {parents.join(' + ')}</span>}
                  </>
                );
              }
              return (
                <button
                  type="button"
                  tabIndex={-1}
                  class={`access-button${of === role && each === operation ? ' is-chosen' : ''}`}
                  aria-pressed={of === role && each === operation}
                  aria-label={`${each} of ${of}: ${[accessOf(data, table, of, each), note(of, each)].filter(Boolean).join(' ')}`}
                  onClick={() => choose(of, each)}
                >
                  <AccessMark access={accessOf(data, table, of, each)} note={note(of, each)} />
                </button>
              );
            }}
            onOpen={(row, column) => {
              const of = roles[row];
              const each = PERMISSION_OPERATIONS[column - 1];
              if (of !== undefined && each !== undefined) choose(of, each);
            }}
          />
          <div class="row">
            <Button small icon="plus" onClick={() => setAdding(true)}>
              Add a role
            </Button>
            {role !== null && operation !== undefined && (
              <Button
                small
                icon="copy"
                refusal={
                  isReadOnly
                    ? READ_ONLY_REASON
                    : permissionOf(info.entry, role, operation) === null
                      ? 'There is nothing to copy'
                      : undefined
                }
                onClick={() => setCopying({ role, operation })}
              >
                Copy to roles …
              </Button>
            )}
          </div>
        </>
      )}
      {role !== null && operation !== undefined && roles.includes(role) ? (
        <PermissionForm
          key={`${role} ${operation} ${info.version}`}
          data={data}
          table={table}
          info={info}
          role={role}
          operation={operation}
          saved={permissionOf(info.entry, role, operation)}
          others={roles
            .filter((each) => each !== role && permissionOf(info.entry, each, operation) !== null)
            .map((each) => ({ role: each, permission: permissionOf(info.entry, each, operation) ?? {} }))}
        />
      ) : (
        roles.length > 0 && <p class="muted">Choose a cell to see and change what the role may do.</p>
      )}
      {isAdding && (
        <AddRole
          known={data.roles}
          onClose={() => setAdding(false)}
          onAdd={(name) => {
            setAdded([...added, name]);
            setAdding(false);
            choose(name, 'select');
          }}
        />
      )}
      {copying !== null && (
        <CopyDialog
          {...copying}
          roles={roles.filter((each) => each !== copying.role)}
          onClose={() => setCopying(null)}
          onCopy={(targets) => void copy(targets)}
        />
      )}
    </>
  );
}

function AddRole({ known, onClose, onAdd }: { readonly known: readonly string[]; onClose(): void; onAdd(name: string): void }) {
  const [name, setName] = useState('');
  const refusal = name.trim() === '' ? 'Give it a name' : name.trim() === 'admin' ? 'admin may do everything already' : undefined;
  const add = (): void => {
    if (refusal === undefined) onAdd(name.trim());
  };
  return (
    <Dialog
      title="Add a role"
      onClose={onClose}
      onSubmit={add}
      footer={
        <Button kind="primary" refusal={refusal} onClick={add}>
          Add
        </Button>
      }
    >
      <Field label="Name" hint="Which role a request has, its token, webhook or headers say. The role is there once it has a permission.">
        {(id) => (
          <Combobox
            id={id}
            isLive
            name="Name of the role"
            value={name}
            options={known.map((value) => ({ value }))}
            placeholder="customer"
            onChange={setName}
          />
        )}
      </Field>
    </Dialog>
  );
}

function CopyDialog({
  role,
  operation,
  roles,
  onClose,
  onCopy,
}: {
  readonly role: string;
  readonly operation: string;
  readonly roles: readonly string[];
  onClose(): void;
  onCopy(targets: readonly string[]): void;
}) {
  const [chosen, setChosen] = useState<readonly string[]>([]);
  return (
    <Dialog
      title={`Copy ${operation} of ${role} to`}
      onClose={onClose}
      footer={
        <Button kind="primary" refusal={chosen.length === 0 ? 'Tick a role' : undefined} onClick={() => onCopy(chosen)}>
          Review
        </Button>
      }
    >
      {roles.length === 0 && <p class="muted">There is no other role yet.</p>}
      {roles.map((each) => (
        <Check
          key={each}
          label={each}
          checked={chosen.includes(each)}
          onChange={(on) => setChosen(on ? [...chosen, each] : chosen.filter((other) => other !== each))}
        />
      ))}
    </Dialog>
  );
}
