import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { type Failure, failureOf } from '../../api/failure.ts';
import { isReadOnly, READ_ONLY_REASON } from '../../api/settings.ts';
import { HeadersForm } from '../../features/headers-form.tsx';
import { SigningSecret } from '../../features/signing-secret.tsx';
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
  /** Text that the failure is about. */
  const [rejectedText, setRejectedText] = useState('');
  const [isBusy, setBusy] = useState(false);
  const draft = edited ?? definitionDraft(action, all.types);
  const set = (changes: Partial<DefinitionDraft>): void => onDraft({ ...draft, ...changes });
  const marks = marksOfSdl(draft.sdl, failure === undefined ? undefined : { text: rejectedText, failure });
  const isNew = action === undefined;
  const unchanged = edited === undefined ? 'No changes' : undefined;
  const refusal = isReadOnly ? READ_ONLY_REASON : isBusy ? 'Saving …' : ((isNew ? undefined : unchanged) ?? missingIn(draft));
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
      setRejectedText(draft.sdl);
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
        error={failure === undefined || draft.sdl !== rejectedText ? marks[0]?.message : undefined}
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
  return sdl.trim() === '' ? 'Enter a signature' : handler.trim() === '' ? 'Enter a handler URL' : undefined;
}

function Signature({
  sdl,
  marks,
  hasExample,
  error,
  onChange,
  onRun,
}: {
  readonly sdl: string;
  readonly marks: readonly CodeMark[];
  readonly hasExample: boolean;
  readonly error: string | undefined;
  onChange(sdl: string): void;
  onRun(): void;
}) {
  return (
    <section class="card stack">
      <header>
        <h2 class="grow">Signature and types</h2>
      </header>
      <p class="muted">
        The field in <code>type Mutation</code> or <code>type Query</code>, and the types that it uses. Refer to types of other actions and
        of tables by name.
      </p>
      <CodeEditor
        name="Signature and types"
        language="graphql"
        height="18.75rem"
        value={sdl}
        marks={marks}
        readOnly={isReadOnly}
        onChange={onChange}
        onRun={onRun}
      />
      {hasExample && (
        <details>
          <summary>Example</summary>
          <pre class="code-block">{EXAMPLE_SDL}</pre>
        </details>
      )}
      {error !== undefined && <p class="error-text small">{error}</p>}
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
        hint="May contain environment variables of the service, such as {{HANDLERS_URL}}."
        placeholder="{{HANDLERS_URL}}/login"
        value={draft.handler}
        readOnly={isReadOnly}
        onInput={(handler) => set({ handler })}
      />
      <div class="field">
        <span class="label">Execution</span>
        <Segments
          name="Execution"
          options={[
            ['now', 'Synchronous'],
            ['later', 'Asynchronous'],
          ]}
          chosen={draft.isAsynchronous ? 'later' : 'now'}
          onChoose={(kind) => set({ isAsynchronous: kind === 'later' })}
        />
        {draft.isAsynchronous && isQueryIn(draft.sdl) && <span class="error-text">Queries are always synchronous.</span>}
      </div>
      <div class="row fields">
        <TextField
          kind="number"
          readOnly={isReadOnly}
          label="Timeout (seconds)"
          value={draft.timeout}
          onInput={(timeout) => set({ timeout })}
        />
        {draft.isAsynchronous && (
          <>
            <TextField kind="number" readOnly={isReadOnly} label="Retries" value={draft.retries} onInput={(retries) => set({ retries })} />
            <TextField
              kind="number"
              readOnly={isReadOnly}
              label="Retry interval (seconds)"
              value={draft.interval}
              onInput={(interval) => set({ interval })}
            />
          </>
        )}
      </div>
      <Check
        label="Forward client headers to the handler"
        checked={draft.forward}
        disabled={isReadOnly}
        onChange={(forward) => set({ forward })}
      />
      {draft.forward && (
        <TextField
          label="Headers not forwarded"
          hint="Separated by commas. Defaults to connection headers such as Host and Accept."
          value={draft.ignored}
          readOnly={isReadOnly}
          onInput={(ignored) => set({ ignored })}
        />
      )}
      <HeadersForm headers={draft.headers} onChange={(headers) => set({ headers })} />
      <SigningSecret value={draft.secret} placeholder="ACTION_SECRET" onInput={(secret) => set({ secret })} />
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
