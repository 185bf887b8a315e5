import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { type MetadataPart, readMetadata } from '../../api/entries.ts';
import { failureOf } from '../../api/failure.ts';
import { overview } from '../../api/overview.ts';
import { readOnlyRefusal } from '../../api/settings.ts';
import { hrefOf } from '../../browser/place.ts';
import { attempt } from '../../features/attempt.ts';
import { equalJson, type Json } from '../../model/json.ts';
import { allTables, type Overview } from '../../model/overview.ts';
import { type RoleChange, roleSteps, type RoleSteps } from '../../model/role-change.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Check, Field } from '../../parts/field.tsx';
import { ACTIONS, ListTable } from '../../parts/list-table.tsx';
import { Loading } from '../../parts/loading.tsx';
import { showToast } from '../../parts/toast.tsx';

/** A role that is copied or renamed. */
interface Naming {
  readonly role: string;
  readonly kind: 'copy' | 'rename';
}

/** All roles with their inheritance. */
export function Roles() {
  const [isAdding, setAdding] = useState(false);
  const [naming, setNaming] = useState<Naming | null>(null);
  const data = overview.value;
  if (data === undefined) return <Loading what="the roles" />;
  return (
    <>
      <div class="row">
        <p class="muted grow">A role exists once it has a permission. An inherited role has the permissions of its parents.</p>
        <Button
          kind="primary"
          icon="plus"
          refusal={readOnlyRefusal ?? (data.roles.length < 2 ? 'An inherited role needs at least two parents' : undefined)}
          onClick={() => setAdding(true)}
        >
          New inherited role
        </Button>
      </div>
      {data.roles.length === 0 ? (
        <EmptyState
          icon="user"
          title="No roles yet"
          actions={
            <a class="button" href={hrefOf(['data'])}>
              Tables
            </a>
          }
        >
          Add a permission for a role on the page of a table.
        </EmptyState>
      ) : (
        <RoleList data={data} onName={setNaming} />
      )}
      {naming !== null && (
        <NameRole
          {...naming}
          known={data.roles}
          onClose={() => setNaming(null)}
          onName={(to) => {
            setNaming(null);
            void changeRole(naming.role, { kind: naming.kind, to });
          }}
        />
      )}
      {isAdding && <NewInheritedRole roles={data.roles} onClose={() => setAdding(false)} />}
    </>
  );
}

function RoleList({ data, onName }: { readonly data: Overview; onName(naming: Naming): void }) {
  const tables = allTables(data);
  return (
    <ListTable name="Roles" columns={['Role', 'Inherits from', 'Tables', ACTIONS]} isCard>
      {data.roles.map((role, index) => {
        const inherited = data.inheritedRoles.find(({ name }) => name === role);
        const buttons = [
          ['Copy', 'copy', () => onName({ role, kind: 'copy' })],
          ['Rename', 'edit', () => onName({ role, kind: 'rename' })],
          ['Delete', 'trash', () => void changeRole(role, { kind: 'drop' })],
        ] as const;
        return (
          <tr key={role}>
            <td>{role}</td>
            <td>{inherited === undefined ? '' : inherited.parents.join(', ')}</td>
            <td class="number">{tables.filter(({ granted }) => (granted[index] ?? '0') !== '0').length}</td>
            <td class="nowrap">
              {buttons.map(([verb, icon, run]) => (
                <Button key={verb} small kind="quiet" name={`${verb} ${role} …`} icon={icon} refusal={readOnlyRefusal} onClick={run} />
              ))}
            </td>
          </tr>
        );
      })}
    </ListTable>
  );
}

async function changeRole(role: string, how: RoleChange): Promise<void> {
  try {
    const { metadata } = await readMetadata();
    const planned = roleSteps(metadata, role, how);
    // The part is the list of steps for everything but tables, so that only changes of these steps are conflicts.
    const part: MetadataPart = { only: 'all', find: (now) => stepsAsJson(roleSteps(now, role, how)) };
    await makeChange({
      title:
        how.kind === 'drop'
          ? `Delete role ${role}`
          : how.kind === 'copy'
            ? `Copy role ${role} to ${how.to}`
            : `Rename role ${role} to ${how.to}`,
      tables: planned.tables,
      parts: [part],
      review: true,
      steps: (entries, [now]) => {
        if (!equalJson(now, stepsAsJson(planned))) throw new Error(`The role ${role} has changed in the meantime. Try again.`);
        return planned.steps(entries);
      },
      ...(planned.inverse === undefined ? {} : { inverse: planned.inverse }),
    });
  } catch (error) {
    showToast(failureOf(error).message, { isError: true });
  }
}

/** Steps of a role's change for comparison, without those of tables, which depend on their entries. */
function stepsAsJson({ tables, steps }: RoleSteps): Json {
  return { tables: tables.map(({ source, table }) => [source, table]), steps: steps([]).map(({ type, args }) => ({ type, args })) };
}

function NameRole({
  role,
  kind,
  known,
  onClose,
  onName,
}: Naming & {
  readonly known: readonly string[];
  onClose(): void;
  onName(name: string): void;
}) {
  const [name, setName] = useState('');
  const refusal =
    name.trim() === '' ? 'Enter a name' : name.trim() === 'admin' || known.includes(name.trim()) ? 'This role already exists' : undefined;
  const submit = (): void => {
    if (refusal === undefined) onName(name.trim());
  };
  return (
    <Dialog
      title={`${kind === 'copy' ? 'Copy' : 'Rename'} role ${role}`}
      onClose={onClose}
      onSubmit={submit}
      footer={
        <Button kind="primary" refusal={refusal} onClick={submit}>
          Review changes
        </Button>
      }
    >
      <p class="muted">
        {kind === 'copy'
          ? 'Copies all permissions on tables, functions, actions and remote schemas.'
          : 'Renames the role everywhere in the metadata. Tokens and auth hooks that use the old name are not updated.'}
      </p>
      <Field label="Name">
        {(id) => (
          <input id={id} class="input" value={name} spellcheck={false} autofocus onInput={(event) => setName(event.currentTarget.value)} />
        )}
      </Field>
    </Dialog>
  );
}

function NewInheritedRole({ roles, onClose }: { readonly roles: readonly string[]; onClose(): void }) {
  const [name, setName] = useState('');
  const [parents, setParents] = useState<ReadonlySet<string>>(new Set());
  const missing =
    name.trim() === ''
      ? 'Enter a name'
      : name.trim() === 'admin' || roles.includes(name.trim())
        ? 'This role already exists'
        : parents.size < 2
          ? 'Select at least two parents'
          : undefined;
  const add = async (): Promise<void> => {
    if (missing !== undefined) return;
    const done = await attempt({
      title: `Add inherited role ${name.trim()}`,
      steps: () => [{ type: 'add_inherited_role', args: { role_name: name.trim(), role_set: [...parents] } }],
      inverse: [{ type: 'drop_inherited_role', args: { role_name: name.trim() } }],
    });
    if (done !== null) onClose();
  };
  return (
    <Dialog
      title="New inherited role"
      onClose={onClose}
      onSubmit={() => void add()}
      footer={
        <Button kind="primary" refusal={missing} onClick={() => void add()}>
          Add
        </Button>
      }
    >
      <Field label="Name">
        {(id) => <input id={id} class="input" value={name} spellcheck={false} onInput={(event) => setName(event.currentTarget.value)} />}
      </Field>
      <fieldset class="plain-fieldset">
        <legend class="label">Parents</legend>
        <div class="check-list">
          {roles.map((role) => (
            <Check
              key={role}
              label={role}
              checked={parents.has(role)}
              onChange={(on) => {
                const next = new Set(parents);
                if (on) next.add(role);
                else next.delete(role);
                setParents(next);
              }}
            />
          ))}
        </div>
      </fieldset>
    </Dialog>
  );
}
