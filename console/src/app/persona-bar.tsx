import { useState } from 'preact/hooks';
import { overview } from '../api/overview.ts';
import { choosePersona, knownPersonas, persona } from '../api/persona.ts';
import { ADMIN, claimsOf, isAdmin, type Persona, personaLabel } from '../model/persona.ts';
import { Button } from '../parts/button.tsx';
import { ComboboxField } from '../parts/combobox.tsx';
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

type Variable = readonly [name: string, value: string];

function PersonaDialog({ onClose }: { onClose(): void }) {
  const start = persona.peek();
  const [mode, setMode] = useState<'role' | 'token'>(start.token === undefined ? 'role' : 'token');
  const [role, setRole] = useState(start.role);
  const [variables, setVariables] = useState<readonly Variable[]>([...Object.entries(start.variables), ['', '']]);
  const [token, setToken] = useState(start.token ?? '');
  const roles = ['admin', ...(overview.value?.roles ?? [])];
  const choose = (chosen: Persona): void => {
    choosePersona(chosen);
    onClose();
  };
  const apply = (): void => choose(mode === 'token' ? personaWithToken(role, token) : personaWithVariables(role, variables));
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
          <Button onClick={() => choose(ADMIN)}>Back to admin</Button>
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
      <ComboboxField label="Role" isLive value={role} options={roles.map((value) => ({ value }))} onChange={setRole} />
      {mode === 'role' ? <VariableFields variables={variables} onChange={setVariables} /> : <TokenField token={token} onInput={setToken} />}
      <RecentPersonas onChoose={choose} />
    </Dialog>
  );
}

function personaWithToken(role: string, token: string): Persona {
  return { role: role === 'admin' ? '' : role, variables: {}, token: token.trim() };
}

function personaWithVariables(role: string, variables: readonly Variable[]): Persona {
  const named = variables.map(([name, value]): Variable => [withoutPrefix(name), value]);
  return {
    role: role.trim() === '' ? 'admin' : role.trim(),
    variables: Object.fromEntries(named.filter(([name]) => name !== '' && name !== 'role')),
  };
}

function withoutPrefix(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replace(/^x-svc-/, '');
}

/** A row per variable. The last row is empty, for the next one. */
function VariableFields({
  variables,
  onChange,
}: {
  readonly variables: readonly Variable[];
  onChange(variables: readonly Variable[]): void;
}) {
  const change = (index: number, variable: Variable): void => {
    const next = variables.with(index, variable);
    onChange(next.at(-1)?.[0] === '' ? next : [...next, ['', '']]);
  };
  return (
    <fieldset class="plain-fieldset stack-tight">
      <legend class="label">Session variables</legend>
      {variables.map(([name, value], index) => (
        <div class="row-tight" key={index}>
          <span class="mono muted nowrap">X-Svc-</span>
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
  );
}

function TokenField({ token, onInput }: { readonly token: string; onInput(token: string): void }) {
  const claims = claimsOf(token.trim());
  return (
    <>
      <Field label="Token" hint="Sent instead of the admin secret. Not stored.">
        {(id) => (
          <textarea
            id={id}
            class="textarea"
            rows={4}
            spellcheck={false}
            value={token}
            onInput={(event) => onInput(event.currentTarget.value)}
          />
        )}
      </Field>
      {token.trim() !== '' &&
        (claims === undefined ? <p class="muted">This is not a valid JWT.</p> : <pre class="code-block">{claims}</pre>)}
    </>
  );
}

function RecentPersonas({ onChoose }: { onChoose(chosen: Persona): void }) {
  if (knownPersonas.value.length === 0) return null;
  return (
    <div class="stack-tight">
      <span class="label">Recent</span>
      <div class="row">
        {knownPersonas.value.map((known) => (
          <Button key={personaLabel(known)} small onClick={() => onChoose(known)}>
            {personaLabel(known)}
          </Button>
        ))}
      </div>
    </div>
  );
}
