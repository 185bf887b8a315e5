import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { type Failure, failureOf } from '../../api/failure.ts';
import { isReadOnly, READ_ONLY_REASON } from '../../api/settings.ts';
import { HeadersForm } from '../../features/headers-form.tsx';
import { DocumentError, parseActionDocument } from '../../model/action-document.ts';
import type { JsonObject } from '../../model/json.ts';
import { Button } from '../../parts/button.tsx';
import type { CodeMark } from '../../parts/code-editor-types.ts';
import { CodeEditor } from '../../parts/code-editor.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Check } from '../../parts/field.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { Segments } from '../../parts/tabs.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { type DefinitionDraft, definitionChange, definitionDraft, EXAMPLE_SDL } from './definition-draft.ts';
import type { ActionsMetadata } from './read-actions.ts';
import { marksOfSdl } from './sdl-marks.ts';

/** Signature, types and handler of an action. */
export function DefinitionForm({
  all,
  action,
  draft: edited,
  onDraft,
  onSaved,
}: {
  readonly all: ActionsMetadata;
  /** Undefined for a new one. */
  readonly action: JsonObject | undefined;
  /** Undefined while nothing is edited. */
  readonly draft: DefinitionDraft | undefined;
  onDraft(draft: DefinitionDraft | undefined): void;
  onSaved(name: string): void;
}) {
  const [failure, setFailure] = useState<Failure>();
  /** The text that the failure is about. */
  const [refusedText, setRefusedText] = useState('');
  const [isBusy, setBusy] = useState(false);
  const draft = edited ?? definitionDraft(action, all.types);
  const set = (changes: Partial<DefinitionDraft>): void => onDraft({ ...draft, ...changes });
  const marks = marksOfSdl(draft.sdl, failure === undefined ? undefined : { text: refusedText, failure });
  const isNew = action === undefined;
  const unchanged = edited === undefined ? 'Nothing is changed' : undefined;
  const refusal = isReadOnly ? READ_ONLY_REASON : isBusy ? 'Being saved' : ((isNew ? undefined : unchanged) ?? missingIn(draft));
  const save = async (): Promise<void> => {
    if (refusal !== undefined) return;
    setFailure(undefined);
    setBusy(true);
    try {
      const { name, change } = definitionChange(draft, action, all.types);
      if ((await makeChange(change)) === null) return;
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
      <Signature
        sdl={draft.sdl}
        marks={marks}
        hasExample={isNew}
        wrong={failure === undefined || draft.sdl !== refusedText ? marks[0]?.message : undefined}
        onChange={(sdl) => set({ sdl })}
        onRun={() => void save()}
      />
      <Handler draft={draft} set={set} />
      <div class="row">
        <Button kind="primary" title={isNew ? 'create_action' : 'update_action'} refusal={refusal} onClick={() => void save()}>
          {isNew ? 'Create' : 'Save'}
        </Button>
        <Button
          refusal={unchanged}
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

function missingIn({ sdl, handler }: DefinitionDraft): string | undefined {
  return sdl.trim() === '' ? 'Write its signature' : handler.trim() === '' ? 'Say which URL answers it' : undefined;
}

function Signature({
  sdl,
  marks,
  hasExample,
  wrong,
  onChange,
  onRun,
}: {
  readonly sdl: string;
  readonly marks: readonly CodeMark[];
  readonly hasExample: boolean;
  readonly wrong: string | undefined;
  onChange(sdl: string): void;
  onRun(): void;
}) {
  return (
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
        value={sdl}
        marks={marks}
        readOnly={isReadOnly}
        onChange={onChange}
        onRun={onRun}
      />
      {hasExample && (
        <details>
          <summary>An example</summary>
          <pre class="code-block">{EXAMPLE_SDL}</pre>
        </details>
      )}
      {wrong !== undefined && <p class="wrong small">{wrong}</p>}
    </section>
  );
}

function Handler({ draft, set }: { readonly draft: DefinitionDraft; set(changes: Partial<DefinitionDraft>): void }) {
  return (
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
        {draft.isLater && isQueryIn(draft.sdl) && <span class="wrong">A query is always waited for.</span>}
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
  );
}

function isQueryIn(sdl: string): boolean {
  try {
    return parseActionDocument(sdl).actions[0]?.type === 'query';
  } catch (error) {
    if (error instanceof DocumentError) return false;
    throw error;
  }
}
