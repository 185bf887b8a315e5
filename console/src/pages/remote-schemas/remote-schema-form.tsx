import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { memberPart } from '../../api/entries.ts';
import { isReadOnly } from '../../api/settings.ts';
import { FormDialog } from '../../features/form-dialog.tsx';
import { HeadersForm } from '../../features/headers-form.tsx';
import { equalJson, isObject, type JsonObject } from '../../model/json.ts';
import {
  hasNames,
  missingInRemoteSchema,
  NO_FIELD_NAMES,
  type RemoteSchemaDraft,
  remoteSchemaDraft,
  remoteSchemaJson,
} from '../../model/remote-schema-draft.ts';
import type { Step } from '../../model/steps.ts';
import { Button } from '../../parts/button.tsx';
import { Check } from '../../parts/field.tsx';
import { Pairs } from '../../parts/pairs.tsx';
import { Segments } from '../../parts/tabs.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { remoteSchemaArgs } from './remote-schema.tsx';
import { TestCall } from './test-call.tsx';

/** Form of a remote schema, with a test call before it is saved. */
export function RemoteSchemaForm({ before, onClose }: { readonly before: JsonObject | undefined; onClose(): void }) {
  const [draft, setDraft] = useState<RemoteSchemaDraft>(() => remoteSchemaDraft(before));
  const set = (changes: Partial<RemoteSchemaDraft>): void => setDraft({ ...draft, ...changes });
  const { args, error } = argsOf(draft, before);
  const name = draft.name.trim();
  const type = before === undefined ? 'add_remote_schema' : 'update_remote_schema';
  const missing = missingInRemoteSchema(draft) ?? error;
  const isSame = before !== undefined && args !== undefined && equalJson(args, remoteSchemaArgs(before));
  const isSameServer = before !== undefined && equalJson(args?.['definition'], before['definition']);
  return (
    <FormDialog
      title={before === undefined ? 'New remote schema' : `Remote schema ${name}`}
      kind="wide"
      action={before === undefined ? 'Add' : 'Save'}
      operation={type}
      refusal={missing ?? (isSame ? 'No changes' : undefined)}
      onClose={onClose}
      onSave={() => saveRemoteSchema(draft, before)}
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
      <Address draft={draft} onChange={set} />
      <TextField
        label="Timeout (seconds)"
        kind="number"
        hint="For each call, including introspection."
        value={draft.timeout}
        onInput={(timeout) => set({ timeout })}
      />
      <HeadersForm headers={draft.headers} onChange={(headers) => set({ headers })} />
      <Check
        label="Forward client headers to the server"
        checked={draft.forward}
        disabled={isReadOnly}
        onChange={(forward) => set({ forward })}
      />
      <Names draft={draft} onChange={set} />
      <TestCall
        key={JSON.stringify(draft)}
        step={args === undefined ? undefined : { type, args }}
        refusal={missing ?? (isSameServer ? 'Use Reload: the server settings are unchanged' : undefined)}
      />
    </FormDialog>
  );
}

interface DraftProps {
  readonly draft: RemoteSchemaDraft;
  onChange(changes: Partial<RemoteSchemaDraft>): void;
}

function Address({ draft, onChange }: DraftProps) {
  return (
    <>
      <Segments
        name="URL from"
        options={[
          ['env', 'Environment variable'],
          ['url', 'URL'],
        ]}
        chosen={draft.isFromEnvironment ? 'env' : 'url'}
        onChoose={(where) => onChange({ isFromEnvironment: where === 'env' })}
      />
      {draft.isFromEnvironment ? (
        <TextField
          label="Environment variable"
          hint="Read by the service. The metadata contains only its name."
          value={draft.variable}
          placeholder="COUNTRIES_URL"
          onInput={(variable) => onChange({ variable })}
        />
      ) : (
        <TextField
          label="URL"
          hint="May contain environment variables of the service, such as {{COUNTRIES_HOST}}."
          value={draft.url}
          placeholder="https://countries.example.org/graphql"
          onInput={(url) => onChange({ url })}
        />
      )}
    </>
  );
}

/** Returns false if the review was discarded. @throws Failure */
async function saveRemoteSchema(draft: RemoteSchemaDraft, before: JsonObject | undefined): Promise<boolean> {
  const name = draft.name.trim();
  const done = await makeChange({
    title: `Remote schema ${name}`,
    parts: [memberPart('remote_schemas', name)],
    review: before !== undefined,
    ...(before === undefined
      ? {}
      : {
          draft: {
            before: remoteSchemaArgs(before),
            now: (_, [now = null]) => (isObject(now) ? remoteSchemaArgs(now) : null),
            after: (_, [now = null]) => remoteSchemaJson(draft, isObject(now) ? now : before),
          },
        }),
    steps: (_, [now = null]): readonly Step[] => {
      if (!isObject(now)) {
        if (before !== undefined) throw new Error(`The remote schema ${name} no longer exists.`);
        return [{ type: 'add_remote_schema', args: remoteSchemaJson(draft) }];
      }
      if (before === undefined) throw new Error(`A remote schema ${name} already exists.`);
      return [{ type: 'update_remote_schema', args: remoteSchemaJson(draft, now) }];
    },
    inverse: ([was = null]) =>
      isObject(was) ? [{ type: 'update_remote_schema', args: remoteSchemaArgs(was) }] : [{ type: 'remove_remote_schema', args: { name } }],
  });
  return done !== null;
}

function argsOf(draft: RemoteSchemaDraft, before: JsonObject | undefined): { readonly args?: JsonObject; readonly error?: string } {
  try {
    return { args: remoteSchemaJson(draft, before) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

/** Customization of names, to avoid conflicts with other types and fields. */
function Names({ draft, onChange }: DraftProps) {
  const { types, fields } = draft;
  const [isOpen] = useState(hasNames(draft));
  return (
    <details open={isOpen}>
      <summary>Customize names</summary>
      <div class="stack">
        <TextField
          label="Namespace"
          hint="A root field that contains all fields of the server. Leave empty to add them at the root."
          value={draft.namespace}
          placeholder="world"
          onInput={(namespace) => onChange({ namespace })}
        />
        <div class="row fields">
          <TextField
            label="Type name prefix"
            value={types.prefix}
            placeholder="World"
            onInput={(prefix) => onChange({ types: { ...types, prefix } })}
          />
          <TextField label="Type name suffix" value={types.suffix} onInput={(suffix) => onChange({ types: { ...types, suffix } })} />
        </div>
        <span class="label">Renamed types</span>
        <Pairs
          name="Renamed types"
          labels={['Type', 'New name']}
          pairs={types.mapping}
          add="Rename type"
          onChange={(mapping) => onChange({ types: { ...types, mapping } })}
        />
        {fields.map((each, index) => (
          <FieldNames
            key={index}
            names={each}
            onChange={(names) => onChange({ fields: fields.with(index, names) })}
            onRemove={() => onChange({ fields: fields.filter((_, at) => at !== index) })}
          />
        ))}
        <div class="row">
          <Button small icon="plus" onClick={() => onChange({ fields: [...fields, NO_FIELD_NAMES] })}>
            Rename fields of a type
          </Button>
        </div>
      </div>
    </details>
  );
}

/** Names of the fields of one type. */
function FieldNames({
  names,
  onChange,
  onRemove,
}: {
  readonly names: RemoteSchemaDraft['fields'][number];
  onChange(names: RemoteSchemaDraft['fields'][number]): void;
  onRemove(): void;
}) {
  const { parentType, prefix, suffix, mapping } = names;
  const type = parentType === '' ? 'a type' : parentType;
  const set = (changes: Partial<typeof names>): void => onChange({ ...names, ...changes });
  return (
    <fieldset class="card stack">
      <legend class="label">Fields of {type}</legend>
      <div class="row fields">
        <TextField label="Type on the server" value={parentType} placeholder="Query" onInput={(text) => set({ parentType: text })} />
        <TextField label="Field name prefix" value={prefix} onInput={(text) => set({ prefix: text })} />
        <TextField label="Field name suffix" value={suffix} onInput={(text) => set({ suffix: text })} />
      </div>
      <Pairs
        name={`Renamed fields of ${type}`}
        labels={['Field', 'New name']}
        pairs={mapping}
        add="Rename field"
        onChange={(next) => set({ mapping: next })}
      />
      <div class="row">
        <Button small icon="cross" onClick={onRemove}>
          Remove this type
        </Button>
      </div>
    </fieldset>
  );
}
