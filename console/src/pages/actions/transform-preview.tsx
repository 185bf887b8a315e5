import { useState } from 'preact/hooks';
import { readOperation } from '../../api/metadata.ts';
import { useResource } from '../../api/use-resource.ts';
import { samplePayload } from '../../model/action-code.ts';
import { signatureOf } from '../../model/action-document.ts';
import { isList, isObject, type Json, type JsonObject, parseJsonText, printJson } from '../../model/json.ts';
import { responseTransformOf, transformOf, variablesIn } from '../../model/webhook-transform.ts';
import { CodeEditor } from '../../parts/code-editor.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Field } from '../../parts/field.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { type ActionsMetadata, definitionOf } from './read-actions.ts';
import type { TransformsDraft } from './transforms-draft.ts';

const PAUSE_MS = 300;

/** Previews the request of a draft for a sample. The service computes it and sends nothing. */
export function TransformPreview({
  all,
  action,
  draft,
}: {
  readonly all: ActionsMetadata;
  readonly action: JsonObject;
  readonly draft: TransformsDraft;
}) {
  const handler = String(definitionOf(action)['handler'] ?? '');
  const [text, setText] = useState(() => printJson(samplePayload(signatureOf(action), all.types), 2));
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const variables = variablesIn(handler);
  const sample = readSample(text);
  const transform = transformOf(draft.request) ?? { version: 2, template_engine: 'Kriti' };
  const response = responseTransformOf(draft.response);
  const args: JsonObject = {
    webhook_url: handler,
    env: Object.fromEntries(variables.map((name) => [name, values[name] ?? 'http://localhost:3000'])),
    body: sample instanceof Error ? null : sample,
    session_variables:
      sample instanceof Error || !isObject(sample) || !isObject(sample['session_variables']) ? {} : sample['session_variables'],
    request_headers: [['content-type', 'application/json']],
    // Calls default to POST, but `test_webhook_transform` does not apply that default.
    request_transform: { method: 'POST', ...transform },
    ...(response === undefined ? {} : { response_transform: response }),
  };
  const { value, failure, isLoading, reload } = useResource(
    async (signal) => {
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      if (signal.aborted || sample instanceof Error) return undefined;
      return readOperation('test_webhook_transform', args, { signal });
    },
    printJson([args, sample instanceof Error]),
  );
  return (
    <section class="card stack" aria-label="Request preview">
      <header>
        <h2>Request preview</h2>
      </header>
      {variables.map((name) => (
        <Field key={name} label={`Value of ${name}`} hint="For the preview only. The service does not reveal its environment.">
          {(id) => (
            <input
              id={id}
              class="input"
              value={values[name] ?? 'http://localhost:3000'}
              spellcheck={false}
              onInput={(event) => setValues({ ...values, [name]: event.currentTarget.value })}
            />
          )}
        </Field>
      ))}
      <span class="label">Sample request body</span>
      <CodeEditor name="Sample" language="json" height="12.5rem" value={text} onChange={setText} />
      {sample instanceof Error && <p class="error-text small">{sample.message}</p>}
      <h3>Request</h3>
      {failure !== undefined ? (
        <ErrorBox error={shownError(failure)} onRetry={reload} />
      ) : value === undefined ? (
        isLoading && !(sample instanceof Error) ? (
          <Loading what="the request" />
        ) : null
      ) : (
        <div class={isLoading ? 'is-old' : ''}>
          <Request call={value} />
        </div>
      )}
    </section>
  );
}

function Request({ call }: { readonly call: Json }) {
  if (!isObject(call)) return null;
  const headers = isList(call['headers']) ? call['headers'].filter(isList) : [];
  const body = call['body'];
  const lines = [
    `${String(call['method'])} ${String(call['webhook_url'])}`,
    ...headers.map(([name, value]) => `${String(name)}: ${String(value)}`),
    '',
    typeof body === 'string' ? body : printJson(body ?? null, 2),
  ];
  return (
    <pre class="code-block" tabIndex={0} role="region" aria-label="Request">
      {lines.join('\n').trimEnd()}
    </pre>
  );
}

function readSample(text: string): Json | Error {
  try {
    return parseJsonText(text);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
