import { useState } from 'preact/hooks';
import { Button } from './button.tsx';
import { ListTable } from './list-table.tsx';

/** Which roles may do something: a tick for each, and a field for one that is not listed. What is shown is what holds. */
export function RoleTicks({
  name,
  what,
  roles,
  granted,
  through,
  refusal,
  operation,
  onToggle,
}: {
  /** What is listed, for readers of screens. */
  readonly name: string;
  /** The heading of the ticks: `May call it`. */
  readonly what: string;
  readonly roles: readonly string[];
  readonly granted: readonly string[];
  /** The roles by which a role has it that has no tick of its own. */
  through(role: string): readonly string[];
  readonly refusal: string | undefined;
  /** That grants. */
  readonly operation: string;
  /** @returns whether it was done */
  onToggle(role: string, on: boolean): Promise<boolean>;
}) {
  const [other, setOther] = useState('');
  return (
    <>
      {roles.length > 0 && (
        <ListTable name={name} columns={['Role', what]}>
          {roles.map((role) => {
            const has = granted.includes(role);
            const parents = through(role);
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
                    <span>{has ? 'yes' : parents.length > 0 ? `as ${parents.join(', ')} may` : 'no'}</span>
                  </label>
                </td>
              </tr>
            );
          })}
        </ListTable>
      )}
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          const role = other.trim();
          if (role === '' || refusal !== undefined) return;
          void onToggle(role, true).then((isDone) => {
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
        <Button type="submit" icon="plus" title={operation} refusal={refusal ?? (other.trim() === '' ? 'Name a role' : undefined)}>
          Permit it
        </Button>
      </form>
    </>
  );
}
