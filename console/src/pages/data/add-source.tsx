import { useState } from 'preact/hooks';
import type { ConsoleForm } from '../../../../packages/model/console-form.ts';
import { makeChange } from '../../api/changes.ts';
import { type Failure, failureOf } from '../../api/failure.ts';
import { readOperation } from '../../api/metadata.ts';
import { isReadOnly, READ_ONLY_REASON } from '../../api/settings.ts';
import { useResource } from '../../api/use-resource.ts';
import { useDraft } from '../../browser/drafts.ts';
import { go } from '../../browser/place.ts';
import { isList, isObject } from '../../model/json.ts';
import { DEFAULT_KIND, KINDS } from '../../model/kinds.generated.ts';
import { NO_SOURCE, type SourceDraft, sourceArgs } from '../../model/source-draft.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Field } from '../../parts/field.tsx';
import { Segments } from '../../parts/tabs.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { TextField } from '../../parts/text-field.tsx';

/** Form for a new source. Environment variables come first: they keep the secret out of the metadata. */
export function AddSource() {
  const { value: kinds } = useResource(async (signal) => {
    const json = await readOperation('list_source_kinds', {}, { signal });
    return isObject(json) && isList(json['sources']) ? json['sources'].filter(isObject).map(({ kind }) => String(kind)) : [];
  }, 'kinds');
  const [edited, setDraft] = useDraft<SourceDraft>('source');
  const [failure, setFailure] = useState<Failure>();
  const [isBusy, setBusy] = useState(false);
  const draft = edited ?? NO_SOURCE;
  const set = (changes: Partial<SourceDraft>): void => {
    setFailure(undefined);
    setDraft({ ...draft, ...changes });
  };
  const form = KINDS[draft.kind];
  const refusal = isReadOnly ? READ_ONLY_REASON : isBusy ? 'Connecting …' : undefined;
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (refusal !== undefined || form === undefined) return;
    setBusy(true);
    setFailure(undefined);
    try {
      const args = sourceArgs(form, draft);
      const name = draft.name.trim();
      await makeChange({
        title: `Add source ${name}`,
        steps: () => [{ type: `${draft.kind}_add_source`, args }],
        inverse: [{ type: `${draft.kind}_drop_source`, args: { name, cascade: true } }],
      });
      setDraft(undefined);
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
          hint="Name of the source in the metadata and in this console."
          required
          placeholder="shop"
          value={draft.name}
          onInput={(name) => set({ name })}
        />
        <Field label="Database type">
          {(id) => (
            <select id={id} class="select" value={draft.kind} onChange={(event) => set({ kind: event.currentTarget.value })}>
              {(kinds ?? [DEFAULT_KIND]).map((each) => (
                <option key={each} value={each}>
                  {KINDS[each] === undefined ? each : `${KINDS[each].title} (${each})`}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Connection form={form} draft={draft} onChange={set} />
        <div class="row">
          <Button kind="primary" type="submit" title={`${draft.kind}_add_source`} refusal={refusal}>
            Connect
          </Button>
        </div>
      </form>
    </div>
  );
}

interface DraftProps {
  readonly draft: SourceDraft;
  onChange(changes: Partial<SourceDraft>): void;
}

/** @param form undefined for a kind that this console does not know */
function Connection({ form, draft, onChange }: DraftProps & { readonly form: ConsoleForm | undefined }) {
  return (
    <>
      <Segments
        name="Connection"
        options={[
          ['env', 'Environment variable'],
          ['value', form?.secret.label ?? 'Value'],
        ]}
        chosen={draft.isInEnvironment ? 'env' : 'value'}
        onChoose={(place) => onChange({ isInEnvironment: place === 'env' })}
      />
      {form !== undefined && <Secret form={form} draft={draft} onChange={onChange} />}
      {form?.fields.map(({ key, type, label, hint, placeholder, required }) => (
        <TextField
          key={key}
          label={label}
          hint={hint}
          kind={type === 'number' ? 'number' : 'text'}
          required={required}
          placeholder={placeholder}
          value={draft.fields[key] ?? ''}
          onInput={(text) => onChange({ fields: { ...draft.fields, [key]: text } })}
        />
      ))}
    </>
  );
}

function Secret({ form, draft, onChange }: DraftProps & { readonly form: ConsoleForm }) {
  const { label, hint, placeholder, variable: example } = form.secret;
  if (draft.isInEnvironment)
    return (
      <TextField
        label="Environment variable"
        hint="Read by the service. The metadata contains only its name."
        class="mono"
        required
        placeholder={example}
        value={draft.variable}
        onInput={(variable) => onChange({ variable })}
      />
    );
  return (
    <TextField
      label={label}
      hint={hint}
      kind="secret"
      class="mono"
      required
      placeholder={placeholder}
      value={draft.secret}
      onInput={(secret) => onChange({ secret })}
    />
  );
}
