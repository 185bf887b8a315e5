import { useState } from 'preact/hooks';
import { curlOfHandler, handlerStub, samplePayload } from '../../model/action-code.ts';
import { signatureOf } from '../../model/action-document.ts';
import { type JsonObject, printJson } from '../../model/json.ts';
import { CodeEditor } from '../../parts/code-editor.tsx';
import { CodeForms } from '../../parts/code-forms.tsx';
import { type ActionsMetadata, definitionOf, kindOf } from './read-actions.ts';

/** Starter code for a handler, and samples of its requests. */
export function HandlerCode({ all, action }: { readonly all: ActionsMetadata; readonly action: JsonObject }) {
  const [form, setForm] = useState<'handler' | 'request' | 'curl'>('handler');
  const signature = signatureOf(action);
  const sample = samplePayload(signature, all.types);
  const payload: JsonObject = kindOf(action) === 'asynchronous' ? { ...sample, request_query: null } : sample;
  const text =
    form === 'handler'
      ? handlerStub(signature, all.types)
      : form === 'request'
        ? printJson(payload, 2)
        : curlOfHandler(String(definitionOf(action)['handler'] ?? ''), payload);
  return (
    <section class="card stack">
      <CodeForms
        name="Code"
        options={[
          ['handler', 'Handler'],
          ['request', 'Request body'],
          ['curl', 'curl'],
        ]}
        chosen={form}
        text={text}
        onChoose={setForm}
      />
      <p class="muted">
        {form === 'handler'
          ? 'A Node.js server in TypeScript with the types of this action. No dependencies.'
          : form === 'request'
            ? 'A sample of the request body that the handler receives.'
            : 'Calls the handler as the service does. Replace variables in the URL by their values.'}
      </p>
      <CodeEditor
        key={form}
        name="Code"
        language={form === 'request' ? 'json' : 'text'}
        height="min(60vh, 32.5rem)"
        value={text}
        readOnly
      />
    </section>
  );
}
