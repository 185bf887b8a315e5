import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { type Failure, failureOf } from '../../api/failure.ts';
import { ask } from '../../api/metadata.ts';
import { useResource } from '../../api/use-resource.ts';
import { go } from '../../browser/place.ts';
import { isList, isObject, type JsonObject } from '../../model/json.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Field } from '../../parts/field.tsx';
import { Segments } from '../../parts/tabs.tsx';
import { shownError } from '../../parts/shown-error.ts';

const PRODUCTS: Readonly<Record<string, string>> = { pg: 'PostgreSQL', dbb: 'MariaDB', dbc: 'Citus' };

/** How a kind names the address of a database in its configuration. */
function configurationOf(kind: string, address: string | { readonly from_env: string }): JsonObject {
  return { connection_info: kind === 'dbb' ? { connection_string: address } : { database_url: address } };
}

/** A database becomes a source. The address had best be in the environment of the service, where no metadata shows it. */
export function AddSource() {
  const { value: kinds } = useResource(async (signal) => {
    const json = await ask('list_source_kinds', {}, { signal });
    return isObject(json) && isList(json['sources']) ? json['sources'].filter(isObject).map(({ kind }) => String(kind)) : [];
  }, 'kinds');
  const [name, setName] = useState('');
  const [kind, setKind] = useState('pg');
  const [form, setForm] = useState<'env' | 'url'>('env');
  const [variable, setVariable] = useState('');
  const [url, setUrl] = useState('');
  const [failure, setFailure] = useState<Failure>();
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setFailure(undefined);
    try {
      const configuration = configurationOf(kind, form === 'env' ? { from_env: variable.trim() } : url.trim());
      await makeChange({
        title: `Source ${name}`,
        steps: () => [{ type: `${kind}_add_source`, args: { name: name.trim(), configuration } }],
        inverse: [{ type: `${kind}_drop_source`, args: { name: name.trim(), cascade: true } }],
      });
      go(['data', name.trim()]);
    } catch (error) {
      setFailure(failureOf(error));
    }
    setBusy(false);
  };
  return (
    <div class="page">
      <header>
        <h1>Connect a database</h1>
      </header>
      <form class="card stack narrow-form" onSubmit={(event) => void submit(event)}>
        {failure !== undefined && <ErrorBox error={shownError(failure)} />}
        <Field label="Name" hint="How permissions, relationships and this console call it.">
          {(id) => (
            <input
              id={id}
              class="input"
              required
              placeholder="shop"
              value={name}
              spellcheck={false}
              onInput={(event) => setName(event.currentTarget.value)}
            />
          )}
        </Field>
        <Field label="Kind">
          {(id) => (
            <select id={id} class="select" value={kind} onChange={(event) => setKind(event.currentTarget.value)}>
              {(kinds ?? ['pg']).map((each) => (
                <option key={each} value={each}>
                  {PRODUCTS[each] === undefined ? each : `${PRODUCTS[each]} (${each})`}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Segments
          name="Where the address is"
          options={[
            ['env', 'Environment variable'],
            ['url', 'Written here'],
          ]}
          chosen={form}
          onChoose={setForm}
        />
        {form === 'env' ? (
          <Field
            label="Variable of the service"
            hint="The service reads the address from its environment; the metadata names only the variable."
          >
            {(id) => (
              <input
                id={id}
                class="input mono"
                required
                placeholder="SHOP_DATABASE_URL"
                value={variable}
                spellcheck={false}
                onInput={(event) => setVariable(event.currentTarget.value)}
              />
            )}
          </Field>
        ) : (
          <Field label="Address" hint="It becomes part of the metadata, with its password.">
            {(id) => (
              <input
                id={id}
                class="input mono"
                type="password"
                autocomplete="off"
                required
                placeholder="postgres://user:password@host:5432/database"
                value={url}
                onInput={(event) => setUrl(event.currentTarget.value)}
              />
            )}
          </Field>
        )}
        <div class="row">
          <Button kind="primary" type="submit" title={`${kind}_add_source`} refusal={isBusy ? 'Connecting' : undefined}>
            Connect
          </Button>
        </div>
      </form>
    </div>
  );
}
