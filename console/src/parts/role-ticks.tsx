import { useState } from 'preact/hooks';
import { Button } from './button.tsx';
import { ListTable } from './list-table.tsx';

/** A checkbox per role for a permission, and a field for another role. The checkboxes show the stored state. */
export function RoleTicks({
  name,
  what,
  roles,
  granted,
  inheritedFrom,
  refusal,
  operation,
  onToggle,
}: {
  /** Caption for screen readers. */
  readonly name: string;
  /** Heading of the checkboxes, such as `Can call`. */
  readonly what: string;
  readonly roles: readonly string[];
  readonly granted: readonly string[];
  /** Roles from which a role inherits the permission. */
  inheritedFrom(role: string): readonly string[];
  readonly refusal: string | undefined;
  /** Operation that grants the permission. */
  readonly operation: string;
  /** @returns true if the change was made */
  onToggle(role: string, on: boolean): Promise<boolean>;
}) {
  return (
    <>
      {roles.length > 0 && (
        <ListTable name={name} columns={['Role', what]}>
          {roles.map((role) => {
            const has = granted.includes(role);
            const parents = inheritedFrom(role);
            return (
              <tr key={role}>
                <td>{role}</td>
                <td>
                  <label class="check">
                    <input
                      type="checkbox"
                      aria-label={`${role} ${what.charAt(0).toLowerCase()}${what.slice(1)}`}
                      checked={has}
                      disabled={refusal !== undefined}
                      onChange={(event) => {
                        const { currentTarget } = event;
                        const on = currentTarget.checked;
                        currentTarget.checked = !on;
                        void onToggle(role, on);
                      }}
                    />
                    <span>{has ? 'yes' : parents.length > 0 ? `via ${parents.join(', ')}` : 'no'}</span>
                  </label>
                </td>
              </tr>
            );
          })}
        </ListTable>
      )}
      <AnotherRole refusal={refusal} operation={operation} onGrant={(role) => onToggle(role, true)} />
    </>
  );
}

function AnotherRole({
  refusal,
  operation,
  onGrant,
}: {
  readonly refusal: string | undefined;
  readonly operation: string;
  onGrant(role: string): Promise<boolean>;
}) {
  const [other, setOther] = useState('');
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault();
        const role = other.trim();
        if (role === '' || refusal !== undefined) return;
        void onGrant(role).then((isDone) => {
          if (isDone) setOther('');
        });
      }}
    >
      <input
        class="input narrow-input"
        aria-label="Another role"
        placeholder="Another role"
        value={other}
        spellcheck={false}
        onInput={(event) => setOther(event.currentTarget.value)}
      />
      <Button type="submit" icon="plus" title={operation} refusal={refusal ?? (other.trim() === '' ? 'Enter a role' : undefined)}>
        Grant
      </Button>
    </form>
  );
}
