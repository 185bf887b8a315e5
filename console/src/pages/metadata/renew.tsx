import { useState } from 'preact/hooks';
import { overview } from '../../api/overview.ts';
import { isReadOnly, label, READ_ONLY_REASON } from '../../api/settings.ts';
import { attempt } from '../../features/attempt.ts';
import type { JsonObject } from '../../model/json.ts';
import { Button } from '../../parts/button.tsx';
import { Field } from '../../parts/field.tsx';

/** Reads databases and servers anew; or begins from nothing. */
export function Renew() {
  const [typed, setTyped] = useState('');
  const data = overview.value;
  const refusal = isReadOnly ? READ_ONLY_REASON : undefined;
  const reload = (title: string, args: JsonObject): void => void attempt({ title, steps: () => [{ type: 'reload_metadata', args }] });
  const word = label === '' ? 'clear' : label;
  const clear = async (): Promise<void> => {
    const done = await attempt({ title: 'Clear the metadata', review: true, steps: () => [{ type: 'clear_metadata', args: {} }] });
    if (done !== null) setTyped('');
  };
  return (
    <>
      <section class="card stack">
        <header>
          <h2>Reload</h2>
        </header>
        <p class="muted">Reads what is in the databases and what remote schemas say again, and checks the metadata against it.</p>
        <div class="row">
          <Button
            icon="reload"
            refusal={refusal}
            onClick={() => reload('Reload everything', { reload_sources: true, reload_remote_schemas: true })}
          >
            Everything
          </Button>
          {data?.sources.map(({ name }) => (
            <Button
              key={name}
              refusal={refusal}
              onClick={() => reload(`Reload ${name}`, { reload_sources: [name], reload_remote_schemas: false })}
            >
              {name}
            </Button>
          ))}
          <Button
            title="Makes anew what event triggers have in their databases"
            refusal={refusal}
            onClick={() =>
              reload('Make event triggers anew', { reload_sources: false, reload_remote_schemas: false, recreate_event_triggers: true })
            }
          >
            Make event triggers anew
          </Button>
        </div>
      </section>
      <section class="card stack">
        <header>
          <h2>Clear</h2>
        </header>
        <p class="muted">Forgets all sources, permissions and whatever else the metadata has. The databases keep their rows.</p>
        <Field label={`To clear it, type “${word}”`}>
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
          <Button kind="danger" refusal={refusal ?? (typed === word ? undefined : `Type “${word}” first`)} onClick={() => void clear()}>
            Clear …
          </Button>
        </div>
      </section>
    </>
  );
}
