import { useRef, useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { type Failure, failureOf } from '../../api/failure.ts';
import { isReadOnly, READ_ONLY_REASON } from '../../api/settings.ts';
import type { TableInfo } from '../../api/table-info.ts';
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
import { Combobox } from '../../parts/combobox.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Check, Field, Search } from '../../parts/field.tsx';
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

function addressOf(table: TableOverview): TableAddress {
  return { source: table.source, kind: table.kind, table: tableJson(table) };
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
  const frame = useRef<HTMLDivElement>(null);
  // After a change its cell, which shows the result, is where one goes on.
  const focusCell = (): void => frame.current?.querySelector('.access-button.is-chosen')?.closest('td')?.focus();
  const { query } = place.value;
  const roles = [...new Set([...data.roles, ...added])].sort();
  const role = query.get('role');
  const operationText = query.get('operation');
  const operation = isOperation(operationText) ? operationText : undefined;
  const inherited = new Map(data.inheritedRoles.map(({ name, parents }) => [name, parents]));
  const address = addressOf(table);
  const note = (of: string, each: PermissionOperation): string | undefined => {
    const permission = permissionOf(info.entry, of, each);
    if (permission === null) return inherited.has(of) && accessOf(data, table, of, each) !== 'none' ? 'inherited' : undefined;
    const { columns } = permission;
    return Array.isArray(columns) && columns.length < info.columns.length
      ? `${columns.length} of ${info.columns.length} columns`
      : undefined;
  };
  const choose = (of: string, each: PermissionOperation): void => setQuery({ role: of, operation: each });
  const copy = async ({ roles: targets, tables }: CopyTargets): Promise<void> => {
    if (copying === null) return;
    const { role: from, operation: what } = copying;
    const key = `${what}_permissions`;
    setCopying(null);
    setFailure(undefined);
    const names = [...targets, ...tables.map(tableId)];
    try {
      await makeChange({
        title: `${what} of ${from} on ${tableId(table)}, for ${names.join(', ')}`,
        tables: [address, ...tables.map(addressOf)],
        review: true,
        steps: (entries) => {
          const source = memberOf(entries[0] ?? null, key, 'role', from);
          if (source === undefined) return [];
          return entries.flatMap((entry, index) => {
            if (entry === null) throw new Error('a table is no longer tracked');
            // Another table gets it for the role itself too.
            const given = index === 0 ? targets : [from, ...targets];
            const after = given.reduce((all, target) => withMember(all, key, 'role', target, { ...source, role: target }), entry);
            return tableSteps(index === 0 ? address : addressOf(tables[index - 1] ?? table), entry, after);
          });
        },
      });
    } catch (error) {
      setFailure(failureOf(error));
    }
  };
  return (
    <div ref={frame} class="stack">
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
                Copy …
              </Button>
            )}
          </div>
        </>
      )}
      {role !== null && operation !== undefined && roles.includes(role) ? (
        <PermissionForm
          key={`${role} ${operation}`}
          data={data}
          table={table}
          info={info}
          role={role}
          operation={operation}
          saved={permissionOf(info.entry, role, operation)}
          onApplied={focusCell}
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
          tables={(data.sources.find(({ name }) => name === table.source)?.tables ?? []).filter((each) => each !== table)}
          onClose={() => setCopying(null)}
          onCopy={(targets) => void copy(targets)}
        />
      )}
    </div>
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

interface CopyTargets {
  readonly roles: readonly string[];
  readonly tables: readonly TableOverview[];
}

/** So many tables are offered at a time; a filter finds the others. */
const MOST_OFFERED = 30;

function CopyDialog({
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
  const offered = [...chosenTables, ...found.filter((each) => !chosenTables.includes(each)).slice(0, MOST_OFFERED)];
  return (
    <Dialog
      title={`Copy ${operation} of ${role} to`}
      onClose={onClose}
      footer={
        <Button
          kind="primary"
          refusal={chosen.length + chosenTables.length === 0 ? 'Tick a role or a table' : undefined}
          onClick={() => onCopy({ roles: chosen, tables: chosenTables })}
        >
          Review
        </Button>
      }
    >
      <fieldset class="plain-fieldset">
        <legend class="label">Roles</legend>
        {roles.length === 0 && <p class="muted">There is no other role yet.</p>}
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
        <legend class="label">Tables, which get it for {role} too</legend>
        <Search name="Filter the tables" value={filter} onInput={setFilter} />
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
        {found.length > MOST_OFFERED && <p class="muted small">And {found.length - MOST_OFFERED} more: filter them.</p>}
      </fieldset>
    </Dialog>
  );
}
