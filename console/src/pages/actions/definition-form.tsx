import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { memberPart, sectionPart } from '../../api/entries.ts';
import { type Failure, failureOf } from '../../api/failure.ts';
import { isReadOnly, READ_ONLY_REASON } from '../../api/settings.ts';
import { DocumentError, parseActionDocument } from '../../model/action-document.ts';
import { equalJson, isObject, type Json, type JsonObject } from '../../model/json.ts';
import type { Step } from '../../model/steps.ts';
import { Button } from '../../parts/button.tsx';
import { CodeEditor } from '../../parts/code-editor.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Check } from '../../parts/field.tsx';
import { Segments } from '../../parts/tabs.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { TextField } from '../../parts/text-field.tsx';
import { basisOf, EXAMPLE_SDL, type DefinitionDraft, definitionDraft, writtenAction } from './definition-draft.ts';
import { HeadersForm } from '../../features/headers-form.tsx';
import { type Actions, headOf, setTypes } from './read-actions.ts';
import { marksOfSdl } from './sdl-marks.ts';

/** What an action is: its signature with the types that it uses, and how its handler is called. */
export function DefinitionForm({
  all,
  action,
  draft: given,
  onDraft,
  onSaved,
}: {
  readonly all: Actions;
  /** Undefined for a new one. */
  readonly action: JsonObject | undefined;
  /** Undefined while nothing is edited. */
  readonly draft: DefinitionDraft | undefined;
  onDraft(draft: DefinitionDraft | undefined): void;
  onSaved(name: string): void;
}) {
  const [failure, setFailure] = useState<Failure>();
  const [refusedText, setRefusedText] = useState('');
  const [isBusy, setBusy] = useState(false);
  const draft = given ?? definitionDraft(action, all.types);
  const set = (changes: Partial<DefinitionDraft>): void => onDraft({ ...draft, ...changes });
  const marks = marksOfSdl(draft.sdl, failure === undefined ? undefined : { text: refusedText, failure });
  const isQuery = isQueryIn(draft.sdl);
  const isNew = action === undefined;
  const refusal = isReadOnly
    ? READ_ONLY_REASON
    : isBusy
      ? 'Being saved'
      : !isNew && given === undefined
        ? 'Nothing is changed'
        : draft.sdl.trim() === ''
          ? 'Write its signature'
          : draft.handler.trim() === ''
            ? 'Say which URL answers it'
            : undefined;
  const save = async (): Promise<void> => {
    if (refusal !== undefined) return;
    setFailure(undefined);
    setBusy(true);
    try {
      // The text names the action: what the change is about is known once it is read.
      const { name } = writtenAction(draft, action, all.types).signature;
      const done = await makeChange({
        title: `Action ${name}`,
        parts: [memberPart('actions', name), sectionPart('custom_types')],
        steps: (_, [now = null, types = null]) => {
          if (isNew && now !== null) throw new Error(`There is an action ${name} already.`);
          if (!isNew && now === null) throw new Error(`The action ${name} is no longer there.`);
          return stepsOf(draft, isObject(now) ? now : undefined, types);
        },
        draft: {
          before: draft.basis,
          now: (_, [now = null, types = null]) => basisOf(isObject(now) ? now : undefined, types),
          after: (_, [now = null, types = null]) => {
            const current = isObject(now) ? now : undefined;
            const next = writtenAction(draft, current, types);
            return basisOf({ ...current, name, definition: next.definition }, next.types);
          },
        },
        inverse: ([before = null, types = null]) => {
          const back: Step[] = isObject(before)
            ? [{ type: 'update_action', args: headOf(before) }]
            : [{ type: 'drop_action', args: { name } }];
          return [setTypes(types), ...back];
        },
      });
      if (done === null) return;
      onDraft(undefined);
      onSaved(name);
    } catch (error) {
      setRefusedText(draft.sdl);
      setFailure(failureOf(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      {failure !== undefined && <ErrorBox error={shownError(failure)} />}
      <section class="card stack">
        <header>
          <h2 class="grow">Signature and types</h2>
        </header>
        <p class="muted">
          The field in <code>type Mutation</code> or <code>type Query</code>, with the types that it uses. Types of other actions and of
          tables are used by their names.
        </p>
        <CodeEditor
          name="Signature and types"
          language="graphql"
          height="300px"
          value={draft.sdl}
          marks={marks}
          readOnly={isReadOnly}
          onChange={(sdl) => set({ sdl })}
          onRun={() => void save()}
        />
        {isNew && (
          <details>
            <summary>An example</summary>
            <pre class="code-block">{EXAMPLE_SDL}</pre>
          </details>
        )}
        {marks.length > 0 && (failure === undefined || draft.sdl !== refusedText) && <p class="wrong small">{marks[0]?.message}</p>}
      </section>
      <section class="card stack">
        <header>
          <h2 class="grow">Handler</h2>
        </header>
        <TextField
          label="URL"
          hint="{{HANDLERS_URL}} in it is a variable of the service's environment."
          placeholder="{{HANDLERS_URL}}/login"
          value={draft.handler}
          readOnly={isReadOnly}
          onInput={(handler) => set({ handler })}
        />
        <div class="field">
          <span class="label">The client</span>
          <Segments
            name="The client"
            options={[
              ['now', 'waits for the answer'],
              ['later', 'gets an id, the answer later'],
            ]}
            chosen={draft.isLater ? 'later' : 'now'}
            onChoose={(kind) => set({ isLater: kind === 'later' })}
          />
          {draft.isLater && isQuery && <span class="wrong">A query is always waited for.</span>}
        </div>
        <div class="row fields">
          <TextField
            kind="number"
            readOnly={isReadOnly}
            label="Time limit, seconds"
            value={draft.timeout}
            onInput={(timeout) => set({ timeout })}
          />
          {draft.isLater && (
            <>
              <TextField
                kind="number"
                readOnly={isReadOnly}
                label="Calls after a failed one"
                value={draft.retries}
                onInput={(retries) => set({ retries })}
              />
              <TextField
                kind="number"
                readOnly={isReadOnly}
                label="Seconds between them"
                value={draft.interval}
                onInput={(interval) => set({ interval })}
              />
            </>
          )}
        </div>
        <Check
          label="The handler gets the headers of the client's request"
          checked={draft.forward}
          disabled={isReadOnly}
          onChange={(forward) => set({ forward })}
        />
        {draft.forward && (
          <TextField
            label="Headers that it does not get"
            hint="Names, with commas between; empty: those of the connection, such as Host and Accept."
            value={draft.ignored}
            readOnly={isReadOnly}
            onInput={(ignored) => set({ ignored })}
          />
        )}
        <HeadersForm headers={draft.headers} onChange={(headers) => set({ headers })} />
        <TextField
          label="Variable with the secret that calls are signed with"
          hint="Empty: they are not signed."
          class="narrow-input"
          placeholder="ACTION_SECRET"
          value={draft.secret}
          readOnly={isReadOnly}
          onInput={(secret) => set({ secret })}
        />
      </section>
      <div class="row">
        <Button kind="primary" title={isNew ? 'create_action' : 'update_action'} refusal={refusal} onClick={() => void save()}>
          {isNew ? 'Create' : 'Save'}
        </Button>
        <Button
          refusal={given === undefined ? 'Nothing is changed' : undefined}
          onClick={() => {
            setFailure(undefined);
            onDraft(undefined);
          }}
        >
          Reset
        </Button>
      </div>
    </>
  );
}

/** Types that are new come before the action that has them. */
function stepsOf(draft: DefinitionDraft, before: JsonObject | undefined, types: Json): readonly Step[] {
  const written = writtenAction(draft, before, types);
  const { name, description } = written.signature;
  const head = headOf({ name, definition: written.definition, ...(description === undefined ? {} : { comment: description }) });
  const next = setTypes(written.types);
  const isSame = equalJson(next.args, setTypes(types).args);
  return [...(isSame ? [] : [next]), { type: before === undefined ? 'create_action' : 'update_action', args: head }];
}

function isQueryIn(sdl: string): boolean {
  try {
    return parseActionDocument(sdl).actions[0]?.type === 'query';
  } catch (error) {
    if (error instanceof DocumentError) return false;
    throw error;
  }
}
