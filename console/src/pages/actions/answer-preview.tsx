import { useState } from 'preact/hooks';
import { ask } from '../../api/metadata.ts';
import { useResource } from '../../api/use-resource.ts';
import { sampleOf } from '../../model/action-code.ts';
import { signatureOf } from '../../model/action-document.ts';
import { isObject, type Json, type JsonObject, parseJson, printJson } from '../../model/json.ts';
import { CodeEditor } from '../../parts/code-editor.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { shownError } from '../../parts/shown-error.ts';
import type { Actions } from './read-actions.ts';

const PAUSE_MS = 300;

/** What a template makes of a sample of the handler's answer. */
export function AnswerPreview({
  all,
  action,
  template,
}: {
  readonly all: Actions;
  readonly action: JsonObject;
  readonly template: string;
}) {
  const [text, setText] = useState(() => printJson(sampleOf(signatureOf(action).outputType, all.types), 2));
  // These are known of a real call only.
  const needsCall = /\$(?:response|request)\b/.test(template);
  const { value, failure } = useResource(async (signal) => {
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    if (signal.aborted || needsCall) return undefined;
    const tried = await ask('test_webhook_transform', trial(parseJson(text), template), { signal });
    return { body: isObject(tried) ? (tried['body'] ?? null) : null };
  }, `${template} ${text}`);
  return (
    <section class="card stack" aria-label="The answer as it would be checked">
      <header>
        <h2>As it would be checked</h2>
      </header>
      {needsCall ? (
        <p class="muted">
          What <code>$response</code> and <code>$request</code> hold is known of a call only: call the action once it is saved.
        </p>
      ) : (
        <>
          <span class="label">Sample of what the handler answers</span>
          <CodeEditor name="Sample of the answer" language="json" height="120px" value={text} onChange={setText} />
          {failure !== undefined ? (
            <ErrorBox error={shownError(failure)} />
          ) : (
            value !== undefined && (
              <pre class="code-block" tabIndex={0} role="region" aria-label="The answer">
                {printJson(value.body, 2)}
              </pre>
            )
          )}
        </>
      )}
    </section>
  );
}

/** Templates of answers are of the language of those of calls, whose body can be tried. */
function trial(answer: Json, template: string): JsonObject {
  return {
    webhook_url: 'http://localhost/',
    body: answer,
    session_variables: { 'x-svc-role': 'user', 'x-svc-user-id': '1' },
    request_transform: { version: 2, template_engine: 'Kriti', method: 'POST', body: { action: 'transform', template } },
  };
}
