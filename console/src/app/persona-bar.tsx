import { useState } from 'preact/hooks';
import { overview } from '../api/overview.ts';
import { choosePersona, knownPersonas, persona } from '../api/persona.ts';
import { ADMIN, claimsOf, isAdmin, type Persona, personaLabel } from '../model/persona.ts';
import { Button } from '../parts/button.tsx';
import { Combobox } from '../parts/combobox.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import { Segments } from '../parts/tabs.tsx';

/** Button with the persona of the console, on every page. */
export function PersonaBar() {
  const [isOpen, setOpen] = useState(false);
  const current = persona.value;
  const isOther = !isAdmin(current);
  return (
    <>
      <span class="persona row-tight">
        <Button
          class={`persona-button${isOther ? ' is-other' : ''}`}
          icon="user"
          popup="dialog"
          title="Act as a role in the whole console"
          onClick={() => setOpen(true)}
        >
          <span class="ellipsis">
            <span class="hide-narrow">as </span>
            <strong>{personaLabel(current)}</strong>
          </span>
        </Button>
        {isOther && <Button kind="quiet" icon="cross" name="Back to admin" onClick={() => choosePersona(ADMIN)} />}
      </span>
      {isOpen && <PersonaDialog onClose={() => setOpen(false)} />}
    </>
  );
}

function PersonaDialog({ onClose }: { onClose(): void }) {
  const start = persona.peek();
  const [mode, setMode] = useState<'role' | 'token'>(start.token === undefined ? 'role' : 'token');
  const [role, setRole] = useState(start.role);
  const [variables, setVariables] = useState<readonly (readonly [string, string])[]>([...Object.entries(start.variables), ['', '']]);
  const [token, setToken] = useState(start.token ?? '');
  const roles = ['admin', ...(overview.value?.roles ?? [])];
  const chosen = (): Persona =>
    mode === 'token'
      ? { role: role === 'admin' ? '' : role, variables: {}, token: token.trim() }
      : {
          role: role.trim() === '' ? 'admin' : role.trim(),
          variables: Object.fromEntries(
            variables
              .map(
                ([name, value]) =>
                  [
                    name
                      .trim()
                      .toLowerCase()
                      .replace(/^x-svc-/, ''),
                    value,
                  ] as const,
              )
              .filter(([name]) => name !== '' && name !== 'role'),
          ),
        };
  const apply = (): void => {
    choosePersona(chosen());
    onClose();
  };
  const claims = claimsOf(token.trim());
  const change = (index: number, entry: readonly [string, string]): void => {
    const next = variables.with(index, entry);
    setVariables(next.at(-1)?.[0] === '' ? next : [...next, ['', '']]);
  };
  return (
    <Dialog
      title="Act as"
      onClose={onClose}
      onSubmit={apply}
      footer={
        <>
          <Button kind="primary" onClick={apply}>
            Use persona
          </Button>
          <Button
            onClick={() => {
              choosePersona(ADMIN);
              onClose();
            }}
          >
            Back to admin
          </Button>
        </>
      }
    >
      <p class="muted">Everything you read, write and export on any page uses this persona and its permissions.</p>
      <Segments
        name="Type of persona"
        options={[
          ['role', 'Role and variables'],
          ['token', 'JWT'],
        ]}
        chosen={mode}
        onChoose={setMode}
      />
      <Field label="Role">
        {(id) => <Combobox id={id} isLive name="Role" value={role} options={roles.map((value) => ({ value }))} onChange={setRole} />}
      </Field>
      {mode === 'role' ? (
        <fieldset class="plain-fieldset stack-tight">
          <legend class="label">Session variables</legend>
          {variables.map(([name, value], index) => (
            <div class="row-tight" key={index}>
              <span class="mono muted">X-Svc-</span>
              <input
                class="input grow"
                aria-label={`Variable name ${index + 1}`}
                placeholder="user-id"
                value={name}
                spellcheck={false}
                onInput={(event) => change(index, [event.currentTarget.value, value])}
              />
              <input
                class="input grow"
                aria-label={`Variable value ${index + 1}`}
                placeholder="value"
                value={value}
                spellcheck={false}
                onInput={(event) => change(index, [name, event.currentTarget.value])}
              />
            </div>
          ))}
        </fieldset>
      ) : (
        <>
          <Field label="Token" hint="Sent instead of the admin secret. Not stored.">
            {(id) => (
              <textarea
                id={id}
                class="textarea"
                rows={4}
                spellcheck={false}
                value={token}
                onInput={(event) => setToken(event.currentTarget.value)}
              />
            )}
          </Field>
          {token.trim() !== '' &&
            (claims === undefined ? <p class="muted">This is not a valid JWT.</p> : <pre class="code-block">{claims}</pre>)}
        </>
      )}
      {knownPersonas.value.length > 0 && (
        <div class="stack-tight">
          <span class="label">Recent</span>
          <div class="row">
            {knownPersonas.value.map((known) => (
              <Button
                key={personaLabel(known)}
                small
                onClick={() => {
                  choosePersona(known);
                  onClose();
                }}
              >
                {personaLabel(known)}
              </Button>
            ))}
          </div>
        </div>
      )}
    </Dialog>
  );
}
