import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { memberPart } from '../../api/entries.ts';
import { type Failure, failureOf } from '../../api/failure.ts';
import { isReadOnly, READ_ONLY_REASON } from '../../api/settings.ts';
import { isObject, type Json, type JsonObject } from '../../model/json.ts';
import {
  type BodyDraft,
  type BodyForm,
  bodyDraft,
  responseTransformOf,
  type TransformDraft,
  transformDraft,
  transformOf,
} from '../../model/webhook-transform.ts';
import { Button } from '../../parts/button.tsx';
import { CodeEditor } from '../../parts/code-editor.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Field } from '../../parts/field.tsx';
import { Pairs } from '../../parts/pairs.tsx';
import { Segments } from '../../parts/tabs.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { TextField } from '../../parts/text-field.tsx';
import { AnswerPreview } from './answer-preview.tsx';
import { type Actions, definitionOf, headOf } from './read-actions.ts';
import { TransformPreview } from './transform-preview.tsx';
import type { TransformsDraft } from './transforms-draft.ts';

function basisOf({ request_transform: request = null, response_transform: response = null }: JsonObject): JsonObject {
  return { request_transform: request, response_transform: response };
}

const METHODS = ['', 'GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const BODIES: readonly (readonly [BodyForm, string])[] = [
  ['same', 'As it is'],
  ['template', 'Template'],
  ['form', 'Form'],
  ['none', 'None'],
];
const RESPONSES = BODIES.filter(([form]) => form !== 'form');

/** What is made of the call before it is sent, and of its answer before it is checked; with the call as it would be sent. */
export function Transforms({
  all,
  action,
  draft: given,
  onDraft,
}: {
  readonly all: Actions;
  readonly action: JsonObject;
  /** Undefined while nothing is edited. */
  readonly draft: TransformsDraft | undefined;
  onDraft(draft: TransformsDraft | undefined): void;
}) {
  const name = String(action['name']);
  const definition = definitionOf(action);
  const [failure, setFailure] = useState<Failure>();
  const response = isObject(definition['response_transform']) ? definition['response_transform'] : {};
  const draft = given ?? {
    request: transformDraft(definition['request_transform']),
    response: bodyDraft(response['body']),
    basis: basisOf(definition),
  };
  const { request } = draft;
  const set = (changes: Partial<TransformDraft>): void => onDraft({ ...draft, request: { ...request, ...changes } });
  const refusal = isReadOnly ? READ_ONLY_REASON : undefined;
  const written = (now: JsonObject): JsonObject => {
    const { request_transform: _request, response_transform: _response, ...rest } = definitionOf(now);
    const next = transformOf(draft.request);
    const answer = responseTransformOf(draft.response);
    return {
      ...rest,
      ...(next === undefined ? {} : { request_transform: next }),
      ...(answer === undefined ? {} : { response_transform: answer }),
    };
  };
  const basisIn = (now: Json): Json => (isObject(now) ? basisOf(definitionOf(now)) : null);
  const save = async (): Promise<void> => {
    setFailure(undefined);
    try {
      const done = await makeChange({
        title: `Transforms of ${name}`,
        parts: [memberPart('actions', name)],
        draft: {
          before: draft.basis,
          now: (_, [now = null]) => basisIn(now),
          after: (_, [now = null]) => (isObject(now) ? basisOf(written(now)) : null),
        },
        steps: (_, [now = null]) => {
          if (!isObject(now)) throw new Error(`The action ${name} is no longer there.`);
          return [{ type: 'update_action', args: headOf({ ...now, definition: written(now) }) }];
        },
        inverse: ([before = null]) => (isObject(before) ? [{ type: 'update_action', args: headOf(before) }] : []),
      });
      if (done !== null) onDraft(undefined);
    } catch (error) {
      setFailure(failureOf(error));
    }
  };
  return (
    <div class="columns">
      <div class="stack">
        {failure !== undefined && <ErrorBox error={shownError(failure)} />}
        <section class="card stack">
          <header>
            <h2>The call</h2>
          </header>
          <div class="row fields">
            <Field label="Method">
              {(id) => (
                <select
                  id={id}
                  class="select"
                  value={request.method}
                  disabled={isReadOnly}
                  onChange={(event) => set({ method: event.currentTarget.value })}
                >
                  {(METHODS.includes(request.method as '') ? METHODS : [...METHODS, request.method]).map((method) => (
                    <option key={method} value={method}>
                      {method === '' ? 'as it is: POST' : method}
                    </option>
                  ))}
                </select>
              )}
            </Field>
            <TextField
              label="URL template"
              placeholder="{{$base_url}}/users/{{$body.input.id}}"
              value={request.url}
              readOnly={isReadOnly}
              onInput={(url) => set({ url })}
            />
          </div>
          <div class="stack-tight">
            <span class="label">Query parameters</span>
            {typeof request.query === 'string' ? (
              <input
                class="input"
                aria-label="Query string, a template"
                value={request.query}
                spellcheck={false}
                readOnly={isReadOnly}
                onInput={(event) => set({ query: event.currentTarget.value })}
              />
            ) : (
              <Pairs
                name="Query parameters"
                labels={['Parameter', 'Its template']}
                pairs={request.query}
                add="Add a parameter"
                refusal={refusal}
                onChange={(query) => set({ query })}
              />
            )}
          </div>
          <div class="stack-tight">
            <span class="label">Headers</span>
            <Pairs
              name="Headers that are added"
              labels={['Header', 'Its template']}
              pairs={request.headers}
              add="Add a header"
              refusal={refusal}
              onChange={(headers) => set({ headers })}
            />
          </div>
          <TextField
            label="Headers that are left out"
            hint="Names, with commas between."
            value={request.withoutHeaders}
            readOnly={isReadOnly}
            onInput={(withoutHeaders) => set({ withoutHeaders })}
          />
          <Body
            name="Body"
            forms={BODIES}
            body={request.body}
            hint="$body is what the handler would get: action, input, session_variables."
            start={'{\n  "id": {{$body.input.id}}\n}'}
            onChange={(body) => set({ body })}
          />
        </section>
        <section class="card stack">
          <header>
            <h2>The answer</h2>
          </header>
          <Body
            name="Body of the answer"
            forms={draft.response.form === 'form' ? BODIES : RESPONSES}
            body={draft.response}
            hint="$body is what the handler answered, $response.status its status."
            start={'{\n  "token": {{$body.access_token}}\n}'}
            onChange={(body) => onDraft({ ...draft, response: body })}
          />
        </section>
        <div class="row">
          <Button
            kind="primary"
            title="update_action"
            refusal={refusal ?? (given === undefined ? 'Nothing is changed' : undefined)}
            onClick={() => void save()}
          >
            Save
          </Button>
          <Button refusal={given === undefined ? 'Nothing is changed' : undefined} onClick={() => onDraft(undefined)}>
            Reset
          </Button>
        </div>
      </div>
      <div class="stack">
        <TransformPreview all={all} action={action} draft={draft} />
        {draft.response.form === 'template' && <AnswerPreview all={all} action={action} template={draft.response.template} />}
      </div>
    </div>
  );
}

function Body({
  name,
  forms,
  body,
  hint,
  start,
  onChange,
}: {
  readonly name: string;
  readonly forms: readonly (readonly [BodyForm, string])[];
  readonly body: BodyDraft;
  readonly hint: string;
  /** A template to begin with. */
  readonly start: string;
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
          onChange({ ...body, form, template: form === 'template' && body.template === '' ? start : body.template });
        }}
      />
      {body.form === 'template' && (
        <>
          <CodeEditor
            name={`Template of the ${name.toLowerCase()}`}
            language="text"
            height="160px"
            value={body.template}
            readOnly={isReadOnly}
            onChange={(template) => onChange({ ...body, template })}
          />
          <span class="hint muted small">{hint}</span>
        </>
      )}
      {body.form === 'form' && (
        <Pairs
          name={`Fields of the ${name.toLowerCase()}`}
          labels={['Field', 'Its template']}
          pairs={body.rows}
          add="Add a field"
          refusal={isReadOnly ? READ_ONLY_REASON : undefined}
          onChange={(rows) => onChange({ ...body, rows })}
        />
      )}
    </div>
  );
}
