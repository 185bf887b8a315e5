import { useMemo, useRef, useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { type Failure, failureOf } from '../../api/failure.ts';
import { changesOf, OPERATION_NAMES } from '../../api/operation-names.ts';
import { type OperationRequest, readRequest, sendRead } from '../../api/operation-request.ts';
import { BULK_OPERATIONS } from '../../api/operations.generated.ts';
import { overview } from '../../api/overview.ts';
import { readOnlyRefusal } from '../../api/settings.ts';
import { settleText, useTextDraft } from '../../browser/drafts.ts';
import { docsHref } from '../../browser/place.ts';
import { type Json, printJson } from '../../model/json.ts';
import { keysAt, placeOfJsonPath } from '../../model/json-place.ts';
import { DEFAULT_KIND } from '../../model/kinds.generated.ts';
import { describeStep } from '../../model/steps.ts';
import { Button } from '../../parts/button.tsx';
import { CopyButton } from '../../parts/code-forms.tsx';
import type { CodeMark, Completion, Completions } from '../../parts/code-editor-types.ts';
import { CodeEditor, type EditorHandle } from '../../parts/code-editor.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { shownError } from '../../parts/shown-error.ts';

interface Outcome {
  /** Text that was run: the path of a failure is a place in it. */
  readonly text: string;
  readonly answer?: Json;
  readonly failure?: Failure;
}

const NO_MARKS: readonly CodeMark[] = [];
const EXAMPLE = `{"type": "${DEFAULT_KIND}_track_table", "args": {"table": "author"}}`;

/** Key of the draft of the request. */
const DRAFT = 'metadata operation';

/** Runs a request to the metadata API that is written or pasted as JSON. */
export function RunOperation() {
  const [text, edit] = useTextDraft(DRAFT);
  const handle = useRef<EditorHandle | null>(null);
  const { isRunning, answer, failure, place, marks, refusal, run } = useOperation(text);
  return (
    <>
      <section class="card stack">
        <header>
          <h2 class="grow">Run a metadata operation</h2>
          <a href={docsHref('reference/metadata-api.html')} target="_blank" rel="noreferrer">
            All operations
          </a>
        </header>
        <p class="muted">
          Paste the JSON of a request to <code>/v1/metadata</code>. Operations that drop something open a review first.
        </p>
        <CodeEditor
          name="Metadata operation"
          language="json"
          height="15rem"
          hint={EXAMPLE}
          value={text}
          handle={handle}
          marks={marks}
          complete={async (written, at) => completeType(written, at)}
          onChange={edit}
          onRun={() => void run()}
        />
        <div class="row">
          <Button kind="primary" icon="play" title="Ctrl+Enter" refusal={refusal} onClick={() => void run()}>
            Run
          </Button>
          <span class="muted" role="status">
            {isRunning ? 'Running …' : answer === undefined ? '' : 'Done'}
          </span>
        </div>
        {failure !== undefined && (
          <ErrorBox
            error={shownError(failure)}
            onName={place && ((name) => handle.current?.replace(place.valueFrom, place.to, JSON.stringify(name)))}
          />
        )}
      </section>
      {answer !== undefined && <Answer json={answer} />}
    </>
  );
}

/** State of a request: its answer or failure, with the place of the failure while the text is the same. */
function useOperation(text: string) {
  const [outcome, setOutcome] = useState<Outcome>();
  const [isRunning, setRunning] = useState(false);
  const refusal = isRunning
    ? 'Running …'
    : text.trim() === ''
      ? 'Paste an operation'
      : readOnlyRefusal !== undefined && changesSomething(text)
        ? readOnlyRefusal
        : undefined;
  const run = async (): Promise<void> => {
    if (refusal !== undefined) return;
    setOutcome(undefined);
    setRunning(true);
    try {
      const answer = await runRequest(readRequest(text));
      if (answer !== undefined) {
        settleText(DRAFT, text);
        setOutcome({ text, answer });
      }
    } catch (error) {
      setOutcome({ text, failure: failureOf(error) });
    } finally {
      setRunning(false);
    }
  };
  // The answer to another text would be read as the answer to this one.
  const { answer, failure } = outcome?.text === text ? outcome : {};
  const path = failure?.path;
  const place = useMemo(() => (path === undefined ? undefined : placeOfJsonPath(text, path)), [text, path]);
  const marks = useMemo(
    () => (place === undefined || failure === undefined ? NO_MARKS : [{ from: place.from, to: place.to, message: failure.message }]),
    [place, failure],
  );
  return { isRunning, answer, failure, place, marks, refusal, run };
}

function Answer({ json }: { readonly json: Json }) {
  const text = printJson(json, 2);
  return (
    <section class="card stack">
      <header>
        <h2 class="grow">Answer</h2>
        <CopyButton text={text} />
      </header>
      <CodeEditor name="Answer" language="json" height="15rem" readOnly value={text} />
    </section>
  );
}

/** Returns false for text that cannot be read: running it shows why. */
function changesSomething(text: string): boolean {
  try {
    return !readRequest(text).isRead;
  } catch {
    return false;
  }
}

/** Returns the answer; undefined if the review was discarded. @throws Failure */
async function runRequest(request: OperationRequest): Promise<Json | undefined> {
  if (request.isRead) return sendRead(request);
  const { body, steps } = request;
  const [only] = steps;
  const kinds = overview.peek()?.sources.map(({ kind }) => kind) ?? [];
  const title = steps.length === 1 && only !== undefined ? describeStep(only, kinds) : `${steps.length} operations`;
  // It replaces all custom types, which its name does not say.
  const review = steps.some(({ type }) => type === 'set_custom_types');
  return (await makeChange({ title, written: body, review, steps: () => steps })) ?? undefined;
}

/** Completes the name of an operation, also inside of a bulk. */
function completeType(text: string, at: number): Completions | null {
  if (!/^(?:args\.\[\]\.)*type$/.test(keysAt(text, at)?.join('.') ?? '')) return null;
  const kinds = overview.peek()?.sources.map(({ kind }) => kind) ?? [];
  const options = OPERATION_NAMES.map(
    (label): Completion => ({
      label,
      detail: DETAILS[changesOf(label) ?? 'metadata'],
      boost: kinds.some((kind) => label.startsWith(`${kind}_`)) ? 1 : 0,
    }),
  );
  return { options: [...options, ...BULK_OPERATIONS.map((label) => ({ label, detail: 'several operations' }))] };
}

const DETAILS = { nothing: 'reads', metadata: 'changes the metadata', database: 'changes stored data' } as const;
