import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { type MetadataPart, readMetadata } from '../../api/entries.ts';
import { failureOf } from '../../api/failure.ts';
import { overview } from '../../api/overview.ts';
import { isReadOnly, READ_ONLY_REASON } from '../../api/settings.ts';
import { attempt } from '../../features/attempt.ts';
import { equalJson, type Json } from '../../model/json.ts';
import { allTables } from '../../model/overview.ts';
import { type RoleChange, roleSteps, type RoleSteps } from '../../model/role-change.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Check, Field } from '../../parts/field.tsx';
import { ACTIONS, ListTable } from '../../parts/list-table.tsx';
import { Loading } from '../../parts/loading.tsx';
import { tell } from '../../parts/toast.tsx';

/** All roles, and what they inherit from each other. */
export function Roles() {
  const [isAdding, setAdding] = useState(false);
  const [naming, setNaming] = useState<{ readonly role: string; readonly kind: 'copy' | 'rename' } | null>(null);
  const data = overview.value;
  if (data === undefined) return <Loading what="the roles" />;
  const refusal = isReadOnly ? READ_ONLY_REASON : undefined;
  const tables = allTables(data);
  const change = async (role: string, how: RoleChange): Promise<boolean> => {
    try {
      const { metadata } = await readMetadata();
      const seen = roleSteps(metadata, role, how);
      // The steps for all but tables are the part that the change is about: another change that leaves them as they are is no conflict.
      const part: MetadataPart = { only: 'all', find: (now) => stepsAsJson(roleSteps(now, role, how)) };
      const done = await makeChange({
        title:
          how.kind === 'drop' ? `Drop the role ${role}` : how.kind === 'copy' ? `Copy ${role} to ${how.to}` : `Rename ${role} to ${how.to}`,
        tables: seen.tables,
        parts: [part],
        review: true,
        steps: (entries, [now]) => {
          if (!equalJson(now, stepsAsJson(seen))) throw new Error(`Another change of the role ${role} was made meanwhile. Begin again.`);
          return seen.steps(entries);
        },
        ...(seen.inverse === undefined ? {} : { inverse: seen.inverse }),
      });
      return done !== null;
    } catch (error) {
      tell(failureOf(error).message, { isWrong: true });
      return false;
    }
  };
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
                <td class="nowrap">
                  <Button
                    small
                    kind="quiet"
                    name={`Copy ${role} …`}
                    icon="copy"
                    refusal={refusal}
                    onClick={() => setNaming({ role, kind: 'copy' })}
                  />
                  <Button
                    small
                    kind="quiet"
                    name={`Rename ${role} …`}
                    icon="edit"
                    refusal={refusal}
                    onClick={() => setNaming({ role, kind: 'rename' })}
                  />
                  <Button
                    small
                    kind="quiet"
                    name={`Drop ${role} …`}
                    icon="trash"
                    refusal={refusal}
                    onClick={() => void change(role, { kind: 'drop' })}
                  />
                </td>
              </tr>
            );
          })}
        </ListTable>
      )}
      {naming !== null && (
        <NameRole
          {...naming}
          known={data.roles}
          onClose={() => setNaming(null)}
          onName={(to) => {
            setNaming(null);
            void change(naming.role, { kind: naming.kind, to });
          }}
        />
      )}
      {isAdding && <NewInheritedRole roles={data.roles} onClose={() => setAdding(false)} />}
    </>
  );
}

/** The steps of a role's change as they are compared; those of tables are made from their entries. */
function stepsAsJson({ tables, steps }: RoleSteps): Json {
  return { tables: tables.map(({ source, table }) => [source, table]), steps: steps([]).map(({ type, args }) => ({ type, args })) };
}

function NameRole({
  role,
  kind,
  known,
  onClose,
  onName,
}: {
  readonly role: string;
  readonly kind: 'copy' | 'rename';
  readonly known: readonly string[];
  onClose(): void;
  onName(name: string): void;
}) {
  const [name, setName] = useState('');
  const refusal =
    name.trim() === ''
      ? 'Give it a name'
      : name.trim() === 'admin' || known.includes(name.trim())
        ? 'There is such a role already'
        : undefined;
  const submit = (): void => {
    if (refusal === undefined) onName(name.trim());
  };
  return (
    <Dialog
      title={`${kind === 'copy' ? 'Copy' : 'Rename'} ${role}`}
      onClose={onClose}
      onSubmit={submit}
      footer={
        <Button kind="primary" refusal={refusal} onClick={submit}>
          Review
        </Button>
      }
    >
      <p class="muted">
        {kind === 'copy'
          ? 'The new role may do what this one may: on tables, functions, actions and remote schemas.'
          : 'Wherever the metadata names it. Tokens and webhooks that say the old name are not changed.'}
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
      ? 'Give it a name'
      : name.trim() === 'admin' || roles.includes(name.trim())
        ? 'There is such a role already'
        : parents.size < 2
          ? 'Tick two parents at least'
          : undefined;
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
