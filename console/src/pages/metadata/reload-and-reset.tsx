import { useState } from 'preact/hooks';
import { overview } from '../../api/overview.ts';
import { label, readOnlyRefusal } from '../../api/settings.ts';
import { attempt } from '../../features/attempt.ts';
import type { JsonObject } from '../../model/json.ts';
import { Button } from '../../parts/button.tsx';
import { Field } from '../../parts/field.tsx';

/** Reloads or resets the metadata. */
export function ReloadAndReset() {
  return (
    <>
      <Reload />
      <Reset />
    </>
  );
}

function Reload() {
  const data = overview.value;
  const reload = (title: string, args: JsonObject): void => void attempt({ title, steps: () => [{ type: 'reload_metadata', args }] });
  return (
    <section class="card stack">
      <header>
        <h2>Reload</h2>
      </header>
      <p class="muted">Reads the databases and remote schemas again, and checks the metadata against them.</p>
      <div class="row">
        <Button
          icon="reload"
          refusal={readOnlyRefusal}
          onClick={() => reload('Reload all', { reload_sources: true, reload_remote_schemas: true })}
        >
          Reload all
        </Button>
        {data?.sources.map(({ name }) => (
          <Button
            key={name}
            refusal={readOnlyRefusal}
            onClick={() => reload(`Reload ${name}`, { reload_sources: [name], reload_remote_schemas: false })}
          >
            Reload {name}
          </Button>
        ))}
        <Button
          title="Recreates the triggers in the databases"
          refusal={readOnlyRefusal}
          onClick={() =>
            reload('Recreate event triggers', { reload_sources: false, reload_remote_schemas: false, recreate_event_triggers: true })
          }
        >
          Recreate event triggers
        </Button>
      </div>
    </section>
  );
}

function Reset() {
  const [typed, setTyped] = useState('');
  const word = label === '' ? 'reset' : label;
  const clear = async (): Promise<void> => {
    const done = await attempt({ title: 'Reset metadata', review: true, steps: () => [{ type: 'clear_metadata', args: {} }] });
    if (done !== null) setTyped('');
  };
  return (
    <section class="card stack">
      <header>
        <h2>Reset</h2>
      </header>
      <p class="muted">Removes all sources, permissions and everything else from the metadata. The data in the databases is kept.</p>
      <Field label={`Type “${word}” to confirm`}>
        {(id) => (
          <input
            id={id}
            class="input narrow-input"
            value={typed}
            autocomplete="off"
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        )}
      </Field>
      <div class="row">
        <Button
          kind="danger"
          refusal={readOnlyRefusal ?? (typed === word ? undefined : `Type “${word}” first`)}
          onClick={() => void clear()}
        >
          Reset metadata …
        </Button>
      </div>
    </section>
  );
}
