import { useState } from 'preact/hooks';
import { readOperation } from '../../api/metadata.ts';
import { useResource } from '../../api/use-resource.ts';
import { sampleOf } from '../../model/action-code.ts';
import { signatureOf } from '../../model/action-document.ts';
import { isObject, type Json, type JsonObject, parseJsonText, printJson } from '../../model/json.ts';
import { CodeEditor } from '../../parts/code-editor.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { shownError } from '../../parts/shown-error.ts';
import type { ActionsMetadata } from './read-actions.ts';

const PAUSE_MS = 300;

/** Result of a response template for a sample response of the handler. */
export function ResponsePreview({
  all,
  action,
  template,
}: {
  readonly all: ActionsMetadata;
  readonly action: JsonObject;
  readonly template: string;
}) {
  const [text, setText] = useState(() => printJson(sampleOf(signatureOf(action).outputType, all.types), 2));
  // These exist only in a real call.
  const needsCall = /\$(?:response|request)\b/.test(template);
  const { value, failure } = useResource(async (signal) => {
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    if (signal.aborted || needsCall) return undefined;
    const tried = await readOperation('test_webhook_transform', trialArgs(parseJsonText(text), template), { signal });
    return { body: isObject(tried) ? (tried['body'] ?? null) : null };
  }, `${template} ${text}`);
  return (
    <section class="card stack" aria-label="Response preview">
      <header>
        <h2>Response preview</h2>
      </header>
      {needsCall ? (
        <p class="muted">
          <code>$response</code> and <code>$request</code> exist only in a real call. Save the action, then call it.
        </p>
      ) : (
        <>
          <span class="label">Sample response of the handler</span>
          <CodeEditor name="Sample response" language="json" height="7.5rem" value={text} onChange={setText} />
          {failure !== undefined ? (
            <ErrorBox error={shownError(failure)} />
          ) : (
            value !== undefined && (
              <pre class="code-block" tabIndex={0} role="region" aria-label="Response">
                {printJson(value.body, 2)}
              </pre>
            )
          )}
        </>
      )}
    </section>
  );
}

/** Tries the response template as a request template: both have the same language, and only requests can be tried. */
function trialArgs(response: Json, template: string): JsonObject {
  return {
    webhook_url: 'http://localhost/',
    body: response,
    session_variables: { 'x-svc-role': 'user', 'x-svc-user-id': '1' },
    request_transform: { version: 2, template_engine: 'Kriti', method: 'POST', body: { action: 'transform', template } },
  };
}
