import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { memberPart } from '../../api/entries.ts';
import { isReadOnly } from '../../api/settings.ts';
import { FormDialog } from '../../features/form-dialog.tsx';
import { HeadersForm } from '../../features/headers-form.tsx';
import { equalJson, isObject, type JsonObject } from '../../model/json.ts';
import {
  hasNames,
  missingOfRemoteSchema,
  NO_FIELD_NAMES,
  type RemoteSchemaDraft,
  remoteSchemaDraft,
  writtenRemoteSchema,
} from '../../model/remote-schema-draft.ts';
import type { Step } from '../../model/steps.ts';
import { Button } from '../../parts/button.tsx';
import { Check } from '../../parts/field.tsx';
import { Pairs } from '../../parts/pairs.tsx';
import { Segments } from '../../parts/tabs.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { headOf } from './remote-schema.tsx';
import { TestCall } from './test-call.tsx';

/** How a server is reached, what is sent along, and what its names become; it can be tried before it is saved. */
export function RemoteSchemaForm({ before, onClose }: { readonly before: JsonObject | undefined; onClose(): void }) {
  const [draft, setDraft] = useState<RemoteSchemaDraft>(() => remoteSchemaDraft(before));
  const set = (changes: Partial<RemoteSchemaDraft>): void => setDraft({ ...draft, ...changes });
  const { args, wrong } = attempted(draft, before);
  const name = draft.name.trim();
  const type = before === undefined ? 'add_remote_schema' : 'update_remote_schema';
  const missing = missingOfRemoteSchema(draft) ?? wrong;
  const isSame = before !== undefined && args !== undefined && equalJson(args, headOf(before));
  const isSameServer = before !== undefined && equalJson(args?.['definition'], before['definition']);
  const save = async (): Promise<boolean> => {
    const done = await makeChange({
      title: `Remote schema ${name}`,
      parts: [memberPart('remote_schemas', name)],
      review: before !== undefined,
      ...(before === undefined
        ? {}
        : {
            draft: {
              before: headOf(before),
              now: (_, [now = null]) => (isObject(now) ? headOf(now) : null),
              after: (_, [now = null]) => writtenRemoteSchema(draft, isObject(now) ? now : before),
            },
          }),
      steps: (_, [now = null]): readonly Step[] => {
        if (!isObject(now)) {
          if (before !== undefined) throw new Error(`There is no remote schema ${name} any more.`);
          return [{ type, args: writtenRemoteSchema(draft) }];
        }
        if (before === undefined) throw new Error(`There is a remote schema ${name} already.`);
        return [{ type, args: writtenRemoteSchema(draft, now) }];
      },
      inverse: ([was = null]) =>
        isObject(was) ? [{ type: 'update_remote_schema', args: headOf(was) }] : [{ type: 'remove_remote_schema', args: { name } }],
    });
    return done !== null;
  };
  return (
    <FormDialog
      title={before === undefined ? 'New remote schema' : `Remote schema ${name}`}
      kind="wide"
      action={before === undefined ? 'Add' : 'Save'}
      operation={type}
      refusal={missing ?? (isSame ? 'Nothing is changed' : undefined)}
      onClose={onClose}
      onSave={save}
    >
      <div class="row fields">
        <TextField
          label="Name"
          value={draft.name}
          placeholder="countries"
          readOnly={before !== undefined}
          onInput={(text) => set({ name: text })}
        />
        <TextField label="Comment" value={draft.comment} onInput={(comment) => set({ comment })} />
      </div>
      <Segments
        name="Where the URL is"
        options={[
          ['env', 'Environment variable'],
          ['url', 'Written here'],
        ]}
        chosen={draft.isFromEnvironment ? 'env' : 'url'}
        onChoose={(where) => set({ isFromEnvironment: where === 'env' })}
      />
      {draft.isFromEnvironment ? (
        <TextField
          label="Variable of the service"
          hint="The service reads the URL from its environment; the metadata names only the variable."
          value={draft.variable}
          placeholder="COUNTRIES_URL"
          onInput={(variable) => set({ variable })}
        />
      ) : (
        <TextField
          label="URL"
          hint="{{COUNTRIES_HOST}} in it is a variable of the service's environment."
          value={draft.url}
          placeholder="https://countries.example.org/graphql"
          onInput={(url) => set({ url })}
        />
      )}
      <TextField
        label="Time limit, seconds"
        kind="number"
        hint="Of each call, that for its schema too."
        value={draft.timeout}
        onInput={(timeout) => set({ timeout })}
      />
      <HeadersForm headers={draft.headers} onChange={(headers) => set({ headers })} />
      <Check
        label="The server gets the headers of the client's request"
        checked={draft.forward}
        disabled={isReadOnly}
        onChange={(forward) => set({ forward })}
      />
      <Names draft={draft} onChange={set} />
      <TestCall
        key={JSON.stringify(draft)}
        step={args === undefined ? undefined : { type, args }}
        refusal={missing ?? (isSameServer ? 'Its server is as it was: Reload asks it again' : undefined)}
      />
    </FormDialog>
  );
}

function attempted(draft: RemoteSchemaDraft, before: JsonObject | undefined): { readonly args?: JsonObject; readonly wrong?: string } {
  try {
    return { args: writtenRemoteSchema(draft, before) };
  } catch (error) {
    return { wrong: error instanceof Error ? error.message : String(error) };
  }
}

/** What names of the server become, so that they meet no names of ours. */
function Names({ draft, onChange }: { readonly draft: RemoteSchemaDraft; onChange(changes: Partial<RemoteSchemaDraft>): void }) {
  const { types, fields } = draft;
  const [isOpen] = useState(hasNames(draft));
  return (
    <details open={isOpen}>
      <summary>Names</summary>
      <div class="stack">
        <TextField
          label="Namespace"
          hint="One field that holds all fields of the server; empty: they stand beside ours."
          value={draft.namespace}
          placeholder="world"
          onInput={(namespace) => onChange({ namespace })}
        />
        <div class="row fields">
          <TextField
            label="Before names of types"
            value={types.prefix}
            placeholder="World"
            onInput={(prefix) => onChange({ types: { ...types, prefix } })}
          />
          <TextField label="After names of types" value={types.suffix} onInput={(suffix) => onChange({ types: { ...types, suffix } })} />
        </div>
        <span class="label">Types that are renamed</span>
        <Pairs
          name="Types that are renamed"
          labels={['Type', 'Its name here']}
          pairs={types.mapping}
          add="Rename a type"
          onChange={(mapping) => onChange({ types: { ...types, mapping } })}
        />
        {fields.map((each, index) => {
          const set = (changes: Partial<typeof each>): void => onChange({ fields: fields.with(index, { ...each, ...changes }) });
          const title = `Fields of ${each.parentType === '' ? 'a type' : each.parentType}`;
          return (
            <fieldset key={index} class="card stack">
              <legend class="label">{title}</legend>
              <div class="row fields">
                <TextField
                  label="Type, as the server calls it"
                  value={each.parentType}
                  placeholder="Query"
                  onInput={(parentType) => set({ parentType })}
                />
                <TextField label="Before names of fields" value={each.prefix} onInput={(prefix) => set({ prefix })} />
                <TextField label="After names of fields" value={each.suffix} onInput={(suffix) => set({ suffix })} />
              </div>
              <Pairs
                name={`${title} that are renamed`}
                labels={['Field', 'Its name here']}
                pairs={each.mapping}
                add="Rename a field"
                onChange={(mapping) => set({ mapping })}
              />
              <div class="row">
                <Button small icon="cross" onClick={() => onChange({ fields: fields.filter((_, at) => at !== index) })}>
                  Leave {title.toLowerCase().replace(each.parentType.toLowerCase(), each.parentType)} as they are
                </Button>
              </div>
            </fieldset>
          );
        })}
        <div class="row">
          <Button small icon="plus" onClick={() => onChange({ fields: [...fields, NO_FIELD_NAMES] })}>
            Rename fields of a type
          </Button>
        </div>
      </div>
    </details>
  );
}
