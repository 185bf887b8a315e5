import { useEffect, useRef, useState } from 'preact/hooks';
import { type Failure, failureOf, isAbort } from '../../api/failure.ts';
import { sendGraphql } from '../../api/graphql.ts';
import { persona } from '../../api/persona.ts';
import { isReadOnly, READ_ONLY_REASON } from '../../api/settings.ts';
import { hrefOf } from '../../browser/place.ts';
import { answerQueryOf, type ArgumentForm, callOf, formOf, sampleOf } from '../../model/action-code.ts';
import { type ActionField, signatureOf } from '../../model/action-document.ts';
import { isList, isObject, type Json, type JsonObject, parseJson, printJson } from '../../model/json.ts';
import { personaLabel } from '../../model/persona.ts';
import { requestHeaders } from '../../model/request-headers.ts';
import { Button } from '../../parts/button.tsx';
import { CodeEditor } from '../../parts/code-editor.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Field } from '../../parts/field.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { type Actions, kindOf } from './read-actions.ts';

const POLL_MS = 1000;

interface Result {
  readonly json: Json;
  readonly ms: number;
  /** Of an asynchronous one. */
  readonly state?: 'waiting' | 'answered';
}

/** Calls the action as the persona, and shows what came of it: of an asynchronous one the id, and then the answer. */
export function Call({ all, action }: { readonly all: Actions; readonly action: JsonObject }) {
  const signature = signatureOf(action);
  const isLater = kindOf(action) === 'asynchronous';
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>(() =>
    Object.fromEntries(
      signature.arguments
        .filter(({ type }) => formOf(type, all.types) === 'json')
        .map(({ name, type }) => [name, type.endsWith('!') ? printJson(sampleOf(type, all.types), 2) : '']),
    ),
  );
  const [failure, setFailure] = useState<Failure>();
  const [result, setResult] = useState<Result>();
  const [wrong, setWrong] = useState<Readonly<Record<string, string>>>({});
  const running = useRef<AbortController | null>(null);
  const [isRunning, setRunning] = useState(false);
  useEffect(() => () => running.current?.abort(), []);
  const given = signature.arguments.filter(({ name, type }) => (texts[name] ?? '') !== '' || mayBeEmpty(type)).map(({ name }) => name);
  const document = callOf(signature, all.types, given, isLater);
  const refusal = signature.type === 'mutation' && isReadOnly ? READ_ONLY_REASON : undefined;

  const run = async (): Promise<void> => {
    if (refusal !== undefined || isRunning) return;
    const { values, problems } = readArguments(signature.arguments, texts, all.types);
    setWrong(problems);
    if (Object.keys(problems).length > 0) return;
    const mine = new AbortController();
    running.current = mine;
    const { signal } = mine;
    setRunning(true);
    setFailure(undefined);
    setResult(undefined);
    const start = performance.now();
    const ms = (): number => Math.round(performance.now() - start);
    try {
      const { json = null } = await sendGraphql({ query: document, variables: values }, requestHeaders(persona.peek()), signal);
      const id = isLater ? fieldOf(json, signature.name) : undefined;
      if (typeof id !== 'string') {
        setResult({ json, ms: ms() });
        return;
      }
      setResult({ json, ms: ms(), state: 'waiting' });
      const query = answerQueryOf(signature, all.types);
      for (;;) {
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
        if (signal.aborted) return;
        const answer = (await sendGraphql({ query, variables: { id } }, requestHeaders(persona.peek()), signal)).json ?? null;
        const found = fieldOf(answer, signature.name);
        const isThere = isObject(found) && (found['output'] !== null || found['errors'] !== null);
        // Errors of the query itself will not go by waiting.
        const isRefused = isObject(answer) && answer['errors'] !== undefined;
        setResult({ json: answer, ms: ms(), state: isThere || isRefused ? 'answered' : 'waiting' });
        if (isThere || isRefused) return;
      }
    } catch (error) {
      if (!isAbort(error)) setFailure(failureOf(error));
    } finally {
      if (running.current === mine) setRunning(false);
    }
  };
  const who = personaLabel(persona.value);
  const hasErrors = isObject(result?.json) && isList(result.json['errors']);
  return (
    <div class="columns">
      <section class="card stack">
        <header>
          <h2 class="grow">Arguments</h2>
        </header>
        {signature.arguments.length === 0 && <p class="muted">It takes none.</p>}
        {signature.arguments.map((each) => (
          <Argument
            key={each.name}
            argument={each}
            form={formOf(each.type, all.types)}
            text={texts[each.name] ?? ''}
            wrong={wrong[each.name]}
            onInput={(text) => setTexts({ ...texts, [each.name]: text })}
          />
        ))}
        <div class="row">
          <Button kind="primary" icon="play" refusal={refusal ?? (isRunning ? 'It is being called' : undefined)} onClick={() => void run()}>
            Call as {who}
          </Button>
          {isRunning && (
            <Button
              icon="stop"
              onClick={() => {
                running.current?.abort();
                setRunning(false);
              }}
            >
              {result?.state === 'waiting' ? 'Stop waiting' : 'Stop'}
            </Button>
          )}
        </div>
        <details>
          <summary>The operation</summary>
          <pre class="code-block" tabIndex={0}>
            {document}
          </pre>
          <a href={hrefOf(['explorer'], { query: document })}>Open in the Explorer</a>
        </details>
      </section>
      <section class="card stack" aria-label="Answer" aria-live="polite">
        <header>
          <h2 class="grow">Answer</h2>
          {result !== undefined && (
            <>
              <span class={`badge ${result.state === 'waiting' ? 'badge-accent' : hasErrors ? 'badge-danger' : 'badge-ok'}`}>
                {result.state === 'waiting' ? 'not answered yet' : hasErrors ? 'error' : 'answered'}
              </span>
              <span class="muted number">{result.ms} ms</span>
            </>
          )}
        </header>
        {failure !== undefined && <ErrorBox error={shownError(failure)} onRetry={() => void run()} />}
        {result === undefined && failure === undefined && <p class="muted">{isRunning ? 'Waiting for the handler.' : 'Not called yet.'}</p>}
        {result !== undefined && (
          <CodeEditor name="Answer of the action" language="json" height="320px" value={printJson(result.json, 2)} readOnly />
        )}
      </section>
    </div>
  );
}

/** A value of `data`. */
function fieldOf(json: Json, name: string): Json | undefined {
  const data = isObject(json) ? json['data'] : undefined;
  return isObject(data) ? data[name] : undefined;
}

function Argument({
  argument: { name, type, description },
  form,
  text,
  wrong,
  onInput,
}: {
  readonly argument: ActionField;
  readonly form: ArgumentForm;
  readonly text: string;
  readonly wrong: string | undefined;
  onInput(text: string): void;
}) {
  const options = form === 'boolean' ? ['true', 'false'] : typeof form === 'string' ? undefined : form;
  return (
    <Field label={`${name}: ${type}`} hint={description} wrong={wrong}>
      {(id) =>
        options !== undefined ? (
          <select id={id} class="select" value={text} onChange={(event) => onInput(event.currentTarget.value)}>
            <option value="">not given</option>
            {options.map((option) => (
              <option key={option} value={option}>
                {option}
              </option>
            ))}
          </select>
        ) : form === 'json' ? (
          <textarea
            id={id}
            class="textarea"
            rows={Math.min(10, Math.max(3, text.split('\n').length))}
            placeholder="JSON; empty: not given"
            value={text}
            spellcheck={false}
            onInput={(event) => onInput(event.currentTarget.value)}
          />
        ) : (
          <input
            id={id}
            class="input"
            inputMode={form === 'number' ? 'decimal' : undefined}
            placeholder={type.endsWith('!') ? '' : 'not given'}
            value={text}
            spellcheck={false}
            onInput={(event) => onInput(event.currentTarget.value)}
          />
        )
      }
    </Field>
  );
}

/** An empty text is a text; nothing else can be empty. */
function mayBeEmpty(type: string): boolean {
  return type === 'String!' || type === 'ID!';
}

function readArguments(
  fields: readonly ActionField[],
  texts: Readonly<Record<string, string>>,
  types: Json,
): { readonly values: JsonObject; readonly problems: Readonly<Record<string, string>> } {
  const values: Record<string, Json> = {};
  const problems: Record<string, string> = {};
  for (const { name, type } of fields) {
    const text = texts[name] ?? '';
    const form = formOf(type, types);
    if (text === '') {
      if (mayBeEmpty(type)) values[name] = '';
      else if (type.endsWith('!')) problems[name] = 'It has to be given.';
      continue;
    }
    // A scalar of one's own takes any value; one that is written as a list or an object is meant so.
    const isText = form === 'text' && (/^(?:String|ID)!?$/.test(type) || !/^\s*[[{]/.test(text));
    if (isText || typeof form !== 'string') values[name] = text;
    else {
      try {
        values[name] = parseJson(text);
      } catch (error) {
        problems[name] = form === 'number' ? 'That is no number.' : error instanceof Error ? error.message : String(error);
      }
    }
  }
  return { values, problems };
}
