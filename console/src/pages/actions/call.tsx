import { useEffect, useRef, useState } from 'preact/hooks';
import { type Failure, failureOf, isAbort } from '../../api/failure.ts';
import { type GraphqlRequest, sendGraphql } from '../../api/graphql.ts';
import { persona } from '../../api/persona.ts';
import { readOnlyRefusal } from '../../api/settings.ts';
import { hrefOf } from '../../browser/place.ts';
import { resultQueryOf, type ArgumentForm, callOf, formOf, sampleOf } from '../../model/action-code.ts';
import { type ActionField, signatureOf } from '../../model/action-document.ts';
import { isList, isObject, type Json, type JsonObject, parseJsonText, printJson } from '../../model/json.ts';
import { personaLabel } from '../../model/persona.ts';
import { requestHeaders } from '../../model/request-headers.ts';
import { Button } from '../../parts/button.tsx';
import { CodeEditor } from '../../parts/code-editor.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Field } from '../../parts/field.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { type ActionsMetadata, kindOf } from './read-actions.ts';

const POLL_MS = 1000;

interface Result {
  readonly json: Json;
  readonly ms: number;
  /** State of an asynchronous call. */
  readonly state?: 'waiting' | 'answered';
}

interface CallProps {
  readonly all: ActionsMetadata;
  readonly action: JsonObject;
}

/** Calls the action as the persona and shows the response; an asynchronous call is polled until it has a result. */
export function Call(props: CallProps) {
  const { all, action } = props;
  const signature = signatureOf(action);
  const call = useCall(props);
  const { texts, setTexts, errors, document, refusal, isRunning, result, run, stop } = call;
  return (
    <div class="columns">
      <section class="card stack">
        <header>
          <h2 class="grow">Arguments</h2>
        </header>
        {signature.arguments.length === 0 && <p class="muted">No arguments</p>}
        {signature.arguments.map((each) => (
          <Argument
            key={each.name}
            argument={each}
            form={formOf(each.type, all.types)}
            text={texts[each.name] ?? ''}
            error={errors[each.name]}
            onInput={(text) => setTexts({ ...texts, [each.name]: text })}
          />
        ))}
        <div class="row">
          <Button kind="primary" icon="play" refusal={refusal ?? (isRunning ? 'Calling …' : undefined)} onClick={() => void run()}>
            Call as {personaLabel(persona.value)}
          </Button>
          {isRunning && (
            <Button icon="stop" onClick={stop}>
              {result?.state === 'waiting' ? 'Stop waiting' : 'Stop'}
            </Button>
          )}
        </div>
        <details>
          <summary>Operation</summary>
          <pre class="code-block" tabIndex={0}>
            {document}
          </pre>
          <a href={hrefOf(['explorer'], { query: document })}>Open in Explorer</a>
        </details>
      </section>
      <Response call={call} />
    </div>
  );
}

function Response({ call: { result, failure, isRunning, run } }: { readonly call: ReturnType<typeof useCall> }) {
  const hasErrors = isObject(result?.json) && isList(result.json['errors']);
  return (
    <section class="card stack" aria-label="Response" aria-live="polite">
      <header>
        <h2 class="grow">Response</h2>
        {result !== undefined && (
          <>
            <span class={`badge ${result.state === 'waiting' ? 'badge-accent' : hasErrors ? 'badge-danger' : 'badge-ok'}`}>
              {result.state === 'waiting' ? 'pending' : hasErrors ? 'error' : 'success'}
            </span>
            <span class="muted number">{result.ms} ms</span>
          </>
        )}
      </header>
      {failure !== undefined && <ErrorBox error={shownError(failure)} onRetry={() => void run()} />}
      {result === undefined && failure === undefined && <p class="muted">{isRunning ? 'Waiting for the handler …' : 'Not called yet'}</p>}
      {result !== undefined && (
        <CodeEditor name="Action response" language="json" height="20rem" value={printJson(result.json, 2)} readOnly />
      )}
    </section>
  );
}

/** State of the call: the arguments as they are typed, and the result. A running call ends with the component. */
function useCall({ all, action }: CallProps) {
  const signature = signatureOf(action);
  const isAsynchronous = kindOf(action) === 'asynchronous';
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>(() =>
    Object.fromEntries(
      signature.arguments
        .filter(({ type }) => formOf(type, all.types) === 'json')
        .map(({ name, type }) => [name, type.endsWith('!') ? printJson(sampleOf(type, all.types), 2) : '']),
    ),
  );
  const [failure, setFailure] = useState<Failure>();
  const [result, setResult] = useState<Result>();
  const [errors, setErrors] = useState<Readonly<Record<string, string>>>({});
  const running = useRef<AbortController | null>(null);
  const [isRunning, setRunning] = useState(false);
  useEffect(() => () => running.current?.abort(), []);
  const passed = signature.arguments.filter(({ name, type }) => (texts[name] ?? '') !== '' || mayBeEmpty(type)).map(({ name }) => name);
  const document = callOf(signature, all.types, passed, isAsynchronous);
  const refusal = signature.type === 'mutation' ? readOnlyRefusal : undefined;
  const run = async (): Promise<void> => {
    if (refusal !== undefined || isRunning) return;
    const { values, problems } = readArguments(signature.arguments, texts, all.types);
    setErrors(problems);
    if (Object.keys(problems).length > 0) return;
    const controller = new AbortController();
    running.current = controller;
    setRunning(true);
    setFailure(undefined);
    setResult(undefined);
    try {
      const resultQuery = isAsynchronous ? { name: signature.name, query: resultQueryOf(signature, all.types) } : undefined;
      await send({ query: document, variables: values }, resultQuery, setResult, controller.signal);
    } catch (error) {
      if (!isAbort(error)) setFailure(failureOf(error));
    } finally {
      if (running.current === controller) setRunning(false);
    }
  };
  const stop = (): void => {
    running.current?.abort();
    setRunning(false);
  };
  return { texts, setTexts, errors, document, refusal, isRunning, result, failure, run, stop };
}

/**
 * Calls the action.
 * @param resultQuery query for the result of an asynchronous action, and the field of both responses
 * @param onResult called for the response, and again for each response to `resultQuery`
 */
async function send(
  call: GraphqlRequest,
  resultQuery: { readonly name: string; readonly query: string } | undefined,
  onResult: (result: Result) => void,
  signal: AbortSignal,
): Promise<void> {
  const start = performance.now();
  const ms = (): number => Math.round(performance.now() - start);
  const { json = null } = await sendGraphql(call, requestHeaders(persona.peek()), signal);
  const id = resultQuery === undefined ? undefined : fieldOf(json, resultQuery.name);
  if (resultQuery === undefined || typeof id !== 'string') {
    onResult({ json, ms: ms() });
    return;
  }
  onResult({ json, ms: ms(), state: 'waiting' });
  const { name, query } = resultQuery;
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    if (signal.aborted) return;
    const response = (await sendGraphql({ query, variables: { id } }, requestHeaders(persona.peek()), signal)).json ?? null;
    const found = fieldOf(response, name);
    const isDone = isObject(found) && (found['output'] !== null || found['errors'] !== null);
    // Waiting does not help if the query itself fails.
    const isRejected = isObject(response) && response['errors'] !== undefined;
    onResult({ json: response, ms: ms(), state: isDone || isRejected ? 'answered' : 'waiting' });
    if (isDone || isRejected) return;
  }
}

/** Returns a field of `data`. */
function fieldOf(json: Json, name: string): Json | undefined {
  const data = isObject(json) ? json['data'] : undefined;
  return isObject(data) ? data[name] : undefined;
}

function Argument({
  argument: { name, type, description },
  form,
  text,
  error,
  onInput,
}: {
  readonly argument: ActionField;
  readonly form: ArgumentForm;
  readonly text: string;
  readonly error: string | undefined;
  onInput(text: string): void;
}) {
  const options = form === 'boolean' ? ['true', 'false'] : typeof form === 'string' ? undefined : form;
  return (
    <Field label={`${name}: ${type}`} hint={description} error={error}>
      {(id) =>
        options !== undefined ? (
          <select id={id} class="select" value={text} onChange={(event) => onInput(event.currentTarget.value)}>
            <option value="">not set</option>
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
            placeholder="JSON, or empty"
            value={text}
            spellcheck={false}
            onInput={(event) => onInput(event.currentTarget.value)}
          />
        ) : (
          <input
            id={id}
            class="input"
            inputMode={form === 'number' ? 'decimal' : undefined}
            placeholder={type.endsWith('!') ? '' : 'not set'}
            value={text}
            spellcheck={false}
            onInput={(event) => onInput(event.currentTarget.value)}
          />
        )
      }
    </Field>
  );
}

/** Returns true for types with empty values. */
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
      else if (type.endsWith('!')) problems[name] = 'Required';
      continue;
    }
    // A custom scalar accepts any value: text that looks like a list or an object is read as JSON.
    const isText = form === 'text' && (/^(?:String|ID)!?$/.test(type) || !/^\s*[[{]/.test(text));
    if (isText || typeof form !== 'string') values[name] = text;
    else {
      try {
        values[name] = parseJsonText(text);
      } catch (error) {
        problems[name] = form === 'number' ? 'Enter a number' : error instanceof Error ? error.message : String(error);
      }
    }
  }
  return { values, problems };
}
