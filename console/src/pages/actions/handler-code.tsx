import { useState } from 'preact/hooks';
import { curlOfHandler, handlerStub, samplePayload } from '../../model/action-code.ts';
import { signatureOf } from '../../model/action-document.ts';
import { type JsonObject, printJson } from '../../model/json.ts';
import { CodeEditor } from '../../parts/code-editor.tsx';
import { CodeForms } from '../../parts/code-forms.tsx';
import { type Actions, definitionOf, kindOf } from './read-actions.ts';

/** Text to begin a handler with, and what it is asked. */
export function HandlerCode({ all, action }: { readonly all: Actions; readonly action: JsonObject }) {
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
        name="What is shown"
        options={[
          ['handler', 'Handler'],
          ['request', 'What it gets'],
          ['curl', 'curl'],
        ]}
        chosen={form}
        text={text}
        onChoose={setForm}
      />
      <p class="muted">
        {form === 'handler'
          ? 'TypeScript with nothing but Node: a server that has the types of this action, to be filled in.'
          : form === 'request'
            ? 'The body that a handler is sent, with some values.'
            : 'Asks the handler as the service does, to try it alone; variables in the URL are those of the service.'}
      </p>
      <CodeEditor key={form} name="Code" language={form === 'request' ? 'json' : 'text'} height="min(60vh, 520px)" value={text} readOnly />
    </section>
  );
}
