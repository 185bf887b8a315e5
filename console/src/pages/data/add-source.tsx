import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { type Failure, failureOf } from '../../api/failure.ts';
import { ask } from '../../api/metadata.ts';
import { isReadOnly, READ_ONLY_REASON } from '../../api/settings.ts';
import { useResource } from '../../api/use-resource.ts';
import { go } from '../../browser/place.ts';
import { isList, isObject } from '../../model/json.ts';
import { isWarehouse, NO_SOURCE, type SourceDraft, sourceArgs, type WarehouseDraft } from '../../model/source-draft.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Field } from '../../parts/field.tsx';
import { Segments } from '../../parts/tabs.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { TextField } from '../../parts/text-field.tsx';

const PRODUCTS: Readonly<Record<string, string>> = { pg: 'PostgreSQL', dbb: 'MariaDB', dbc: 'Citus', dwh: 'BigQuery' };

/** A database becomes a source. The address had best be in the environment of the service, where no metadata shows it. */
export function AddSource() {
  const { value: kinds } = useResource(async (signal) => {
    const json = await ask('list_source_kinds', {}, { signal });
    return isObject(json) && isList(json['sources']) ? json['sources'].filter(isObject).map(({ kind }) => String(kind)) : [];
  }, 'kinds');
  const [draft, setDraft] = useState<SourceDraft>(NO_SOURCE);
  const [failure, setFailure] = useState<Failure>();
  const [isBusy, setBusy] = useState(false);
  const set = (changes: Partial<SourceDraft>): void => setDraft({ ...draft, ...changes });
  const refusal = isReadOnly ? READ_ONLY_REASON : isBusy ? 'Connecting' : undefined;
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (refusal !== undefined) return;
    setBusy(true);
    setFailure(undefined);
    try {
      const args = sourceArgs(draft);
      const name = draft.name.trim();
      await makeChange({
        title: `Source ${name}`,
        steps: () => [{ type: `${draft.kind}_add_source`, args }],
        inverse: [{ type: `${draft.kind}_drop_source`, args: { name, cascade: true } }],
      });
      go(['data', name]);
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
        <TextField
          label="Name"
          hint="How permissions, relationships and this console call it."
          required
          placeholder="shop"
          value={draft.name}
          onInput={(name) => set({ name })}
        />
        <Field label="Kind">
          {(id) => (
            <select id={id} class="select" value={draft.kind} onChange={(event) => set({ kind: event.currentTarget.value })}>
              {(kinds ?? ['pg']).map((each) => (
                <option key={each} value={each}>
                  {PRODUCTS[each] === undefined ? each : `${PRODUCTS[each]} (${each})`}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Segments
          name={isWarehouse(draft) ? 'Where the key is' : 'Where the address is'}
          options={[
            ['env', 'Environment variable'],
            ['here', 'Written here'],
          ]}
          chosen={draft.isInEnvironment ? 'env' : 'here'}
          onChoose={(where) => set({ isInEnvironment: where === 'env' })}
        />
        <Address draft={draft} onChange={set} />
        {isWarehouse(draft) && <Warehouse draft={draft.warehouse} onChange={(warehouse) => set({ warehouse })} />}
        <div class="row">
          <Button kind="primary" type="submit" title={`${draft.kind}_add_source`} refusal={refusal}>
            Connect
          </Button>
        </div>
      </form>
    </div>
  );
}

function Address({ draft, onChange }: { readonly draft: SourceDraft; onChange(changes: Partial<SourceDraft>): void }) {
  const ofKey = isWarehouse(draft);
  if (draft.isInEnvironment)
    return (
      <TextField
        label="Variable of the service"
        hint={`The service reads the ${ofKey ? 'key of the service account' : 'address'} from its environment; the metadata names only the variable.`}
        class="mono"
        required
        placeholder={ofKey ? 'SVC_BIGQUERY_KEY' : 'SHOP_DATABASE_URL'}
        value={draft.variable}
        onInput={(variable) => onChange({ variable })}
      />
    );
  return (
    <TextField
      label={ofKey ? 'Key of the service account' : 'Address'}
      hint={
        ofKey ? 'The JSON that Google gives out. It becomes part of the metadata.' : 'It becomes part of the metadata, with its password.'
      }
      kind="secret"
      class="mono"
      required
      placeholder={ofKey ? '{"type": "service_account", …}' : 'postgres://user:password@host:5432/database'}
      value={draft.address}
      onInput={(address) => onChange({ address })}
    />
  );
}

/** What is read, where it lies, and how much a query may read. */
function Warehouse({ draft, onChange }: { readonly draft: WarehouseDraft; onChange(draft: WarehouseDraft): void }) {
  const set = (changes: Partial<WarehouseDraft>): void => onChange({ ...draft, ...changes });
  return (
    <>
      <div class="row fields">
        <TextField
          label="Project"
          hint="That pays for the queries and has the datasets."
          required
          placeholder="my-project"
          value={draft.project}
          onInput={(project) => set({ project })}
        />
        <TextField
          label="Datasets"
          hint="With commas between."
          required
          placeholder="shop, sales"
          value={draft.datasets}
          onInput={(datasets) => set({ datasets })}
        />
        <TextField
          label="Location"
          hint="Of the datasets; empty: it is found out."
          placeholder="EU"
          value={draft.location}
          onInput={(location) => set({ location })}
        />
      </div>
      <div class="row fields">
        <TextField
          label="Most bytes that a query reads"
          hint="Each byte is paid for; what would read more is refused."
          kind="number"
          placeholder="10000000000"
          value={draft.bytes}
          onInput={(bytes) => set({ bytes })}
        />
        <TextField
          label="Most rows of a list"
          hint="Empty: 1000."
          kind="number"
          placeholder="1000"
          value={draft.rows}
          onInput={(rows) => set({ rows })}
        />
      </div>
      <TextField
        label="Address of the interface"
        hint="Empty: Google's own. Such as that of a private endpoint."
        placeholder="https://bigquery.googleapis.com"
        value={draft.endpoint}
        onInput={(endpoint) => set({ endpoint })}
      />
    </>
  );
}
