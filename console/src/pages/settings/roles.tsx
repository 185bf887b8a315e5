import { useState } from 'preact/hooks';
import { overview } from '../../api/overview.ts';
import { isReadOnly, READ_ONLY_REASON } from '../../api/settings.ts';
import { attempt } from '../../features/attempt.ts';
import { allTables, type InheritedRole } from '../../model/overview.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Check, Field } from '../../parts/field.tsx';
import { ACTIONS, ListTable } from '../../parts/list-table.tsx';
import { Loading } from '../../parts/loading.tsx';

/** All roles, and what they inherit from each other. */
export function Roles() {
  const [isAdding, setAdding] = useState(false);
  const data = overview.value;
  if (data === undefined) return <Loading what="the roles" />;
  const refusal = isReadOnly ? READ_ONLY_REASON : undefined;
  const tables = allTables(data);
  const remove = ({ name, parents }: InheritedRole): void =>
    void attempt({
      title: `Drop the inherited role ${name}`,
      review: true,
      steps: () => [{ type: 'drop_inherited_role', args: { role_name: name } }],
      inverse: [{ type: 'add_inherited_role', args: { role_name: name, role_set: parents } }],
    });
  return (
    <>
      <div class="row">
        <p class="muted grow">A role is there when something is permitted to it. An inherited role has what its parents have.</p>
        <Button
          kind="primary"
          icon="plus"
          refusal={refusal ?? (data.roles.length < 2 ? 'An inherited role has two parents at least' : undefined)}
          onClick={() => setAdding(true)}
        >
          New inherited role
        </Button>
      </div>
      {data.roles.length === 0 ? (
        <EmptyState icon="user" title="No role yet">
          Permit something to a role on the page of a table.
        </EmptyState>
      ) : (
        <ListTable name="Roles" columns={['Role', 'Inherits from', 'Tables', ACTIONS]} isCard>
          {data.roles.map((role, index) => {
            const inherited = data.inheritedRoles.find(({ name }) => name === role);
            return (
              <tr key={role}>
                <td>{role}</td>
                <td>{inherited === undefined ? '' : inherited.parents.join(', ')}</td>
                <td class="number">{tables.filter(({ granted }) => (granted[index] ?? '0') !== '0').length}</td>
                <td>
                  {inherited !== undefined && (
                    <Button small kind="quiet" refusal={refusal} onClick={() => remove(inherited)}>
                      Drop …
                    </Button>
                  )}
                </td>
              </tr>
            );
          })}
        </ListTable>
      )}
      {isAdding && <NewInheritedRole roles={data.roles} onClose={() => setAdding(false)} />}
    </>
  );
}

function NewInheritedRole({ roles, onClose }: { readonly roles: readonly string[]; onClose(): void }) {
  const [name, setName] = useState('');
  const [parents, setParents] = useState<ReadonlySet<string>>(new Set());
  const missing = name.trim() === '' ? 'Give it a name' : parents.size < 2 ? 'Tick two parents at least' : undefined;
  const add = async (): Promise<void> => {
    if (missing !== undefined) return;
    const done = await attempt({
      title: `Inherited role ${name.trim()}`,
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
