import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { type Failure, failureOf } from '../../api/failure.ts';
import { isReadOnly, readOnlyRefusal } from '../../api/settings.ts';
import type { JsonObject } from '../../model/json.ts';
import type { BodyDraft, BodyForm, TransformDraft } from '../../model/webhook-transform.ts';
import { Button } from '../../parts/button.tsx';
import { CodeEditor } from '../../parts/code-editor.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Field } from '../../parts/field.tsx';
import { Pairs } from '../../parts/pairs.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { Segments } from '../../parts/tabs.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { ResponsePreview } from './response-preview.tsx';
import type { ActionsMetadata } from './read-actions.ts';
import { TransformPreview } from './transform-preview.tsx';
import { type TransformsDraft, transformsChange, transformsDraft } from './transforms-draft.ts';

const METHODS = ['', 'GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const BODIES: readonly (readonly [BodyForm, string])[] = [
  ['same', 'Unchanged'],
  ['template', 'Template'],
  ['form', 'Form'],
  ['none', 'None'],
];
const RESPONSES = BODIES.filter(([form]) => form !== 'form');

/** Request and response transforms of an action, with a preview of the call. */
export function Transforms({
  all,
  action,
  draft: edited,
  onDraft,
}: {
  readonly all: ActionsMetadata;
  readonly action: JsonObject;
  /** Undefined while nothing is edited. */
  readonly draft: TransformsDraft | undefined;
  onDraft(draft: TransformsDraft | undefined): void;
}) {
  const [failure, setFailure] = useState<Failure>();
  const draft = edited ?? transformsDraft(action);
  const unchanged = edited === undefined ? 'No changes' : undefined;
  const save = async (): Promise<void> => {
    setFailure(undefined);
    try {
      const done = await makeChange(transformsChange(String(action['name']), draft));
      if (done !== null) onDraft(undefined);
    } catch (error) {
      setFailure(failureOf(error));
    }
  };
  return (
    <div class="columns">
      <div class="stack">
        {failure !== undefined && <ErrorBox error={shownError(failure)} />}
        <RequestTransform request={draft.request} onChange={(request) => onDraft({ ...draft, request })} />
        <section class="card stack">
          <header>
            <h2>Response</h2>
          </header>
          <Body
            name="Response body"
            forms={draft.response.form === 'form' ? BODIES : RESPONSES}
            body={draft.response}
            hint="$body is the response of the handler, $response.status its status."
            example={'{\n  "token": {{$body.access_token}}\n}'}
            onChange={(response) => onDraft({ ...draft, response })}
          />
        </section>
        <div class="row">
          <Button kind="primary" title="update_action" refusal={readOnlyRefusal ?? unchanged} onClick={() => void save()}>
            Save
          </Button>
          <Button refusal={unchanged} onClick={() => onDraft(undefined)}>
            Reset
          </Button>
        </div>
      </div>
      <div class="stack">
        <TransformPreview all={all} action={action} draft={draft} />
        {draft.response.form === 'template' && <ResponsePreview all={all} action={action} template={draft.response.template} />}
      </div>
    </div>
  );
}

function RequestTransform({ request, onChange }: { readonly request: TransformDraft; onChange(request: TransformDraft): void }) {
  const set = (changes: Partial<TransformDraft>): void => onChange({ ...request, ...changes });
  return (
    <section class="card stack">
      <header>
        <h2>Request</h2>
      </header>
      <div class="row fields">
        <Method method={request.method} onChange={(method) => set({ method })} />
        <TextField
          label="URL template"
          placeholder="{{$base_url}}/users/{{$body.input.id}}"
          value={request.url}
          readOnly={isReadOnly}
          onInput={(url) => set({ url })}
        />
      </div>
      <QueryParameters query={request.query} onChange={(query) => set({ query })} />
      <div class="stack-tight">
        <span class="label">Headers</span>
        <Pairs
          name="Added headers"
          labels={['Header', 'Template']}
          pairs={request.headers}
          add="Add header"
          refusal={readOnlyRefusal}
          onChange={(headers) => set({ headers })}
        />
      </div>
      <TextField
        label="Removed headers"
        hint="Separated by commas."
        value={request.withoutHeaders}
        readOnly={isReadOnly}
        onInput={(withoutHeaders) => set({ withoutHeaders })}
      />
      <Body
        name="Request body"
        forms={BODIES}
        body={request.body}
        hint="$body is the default request body: action, input, session_variables."
        example={'{\n  "id": {{$body.input.id}}\n}'}
        onChange={(body) => set({ body })}
      />
    </section>
  );
}

function Method({ method, onChange }: { readonly method: string; onChange(method: string): void }) {
  return (
    <Field label="Method">
      {(id) => (
        <select id={id} class="select" value={method} disabled={isReadOnly} onChange={(event) => onChange(event.currentTarget.value)}>
          {(METHODS.includes(method as '') ? METHODS : [...METHODS, method]).map((each) => (
            <option key={each} value={each}>
              {each === '' ? 'default (POST)' : each}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

type Query = TransformDraft['query'];

/** Query parameters: pairs, or one template for all. */
function QueryParameters({ query, onChange }: { readonly query: Query; onChange(query: Query): void }) {
  return (
    <div class="stack-tight">
      <span class="label">Query parameters</span>
      {typeof query === 'string' ? (
        <input
          class="input"
          aria-label="Query string template"
          value={query}
          spellcheck={false}
          readOnly={isReadOnly}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      ) : (
        <Pairs
          name="Query parameters"
          labels={['Parameter', 'Template']}
          pairs={query}
          add="Add parameter"
          refusal={readOnlyRefusal}
          onChange={onChange}
        />
      )}
    </div>
  );
}

function Body({
  name,
  forms,
  body,
  hint,
  example,
  onChange,
}: {
  readonly name: string;
  readonly forms: readonly (readonly [BodyForm, string])[];
  readonly body: BodyDraft;
  readonly hint: string;
  /** Template to start with. */
  readonly example: string;
  onChange(body: BodyDraft): void;
}) {
  return (
    <div class="stack-tight">
      <span class="label">{name}</span>
      <Segments
        name={name}
        options={forms}
        chosen={body.form}
        onChoose={(form) => {
          if (isReadOnly) return;
          onChange({ ...body, form, template: form === 'template' && body.template === '' ? example : body.template });
        }}
      />
      {body.form === 'template' && (
        <>
          <CodeEditor
            name={`${name} template`}
            language="text"
            height="10rem"
            value={body.template}
            readOnly={isReadOnly}
            onChange={(template) => onChange({ ...body, template })}
          />
          <span class="hint muted small">{hint}</span>
        </>
      )}
      {body.form === 'form' && (
        <Pairs
          name={`${name} fields`}
          labels={['Field', 'Template']}
          pairs={body.rows}
          add="Add field"
          refusal={readOnlyRefusal}
          onChange={(rows) => onChange({ ...body, rows })}
        />
      )}
    </div>
  );
}
