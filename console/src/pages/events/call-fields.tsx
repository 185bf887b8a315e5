import { isReadOnly } from '../../api/settings.ts';
import { HeadersForm } from '../../features/headers-form.tsx';
import type { ScheduledCall } from '../../model/scheduled-call.ts';
import { CodeEditor } from '../../parts/code-editor.tsx';
import { TextField } from '../../parts/text-field.tsx';

/** What a call at a time is made with, and what becomes of it when it fails. */
export function CallFields({ call, onChange }: { readonly call: ScheduledCall; onChange(changes: Partial<ScheduledCall>): void }) {
  return (
    <>
      <div class="stack-tight">
        <span class="label">Payload, which goes along in each call</span>
        <CodeEditor
          name="Payload"
          language="json"
          height="120px"
          value={call.payload}
          hint={'{ "job": "report" }'}
          readOnly={isReadOnly}
          onChange={(payload) => onChange({ payload })}
        />
      </div>
      <HeadersForm headers={call.headers} onChange={(headers) => onChange({ headers })} />
      <div class="row fields">
        <TextField label="Calls after a failed one" kind="number" value={call.retries} onInput={(retries) => onChange({ retries })} />
        <TextField label="Seconds between them" kind="number" value={call.interval} onInput={(interval) => onChange({ interval })} />
        <TextField label="Time limit of a call, seconds" kind="number" value={call.timeout} onInput={(timeout) => onChange({ timeout })} />
        <TextField
          label="May be late, seconds"
          kind="number"
          hint="Later than this it is not called at all."
          value={call.tolerance}
          onInput={(tolerance) => onChange({ tolerance })}
        />
      </div>
    </>
  );
}

/** Where a call goes to. */
export function WebhookField({
  value,
  placeholder,
  onInput,
}: {
  readonly value: string;
  readonly placeholder: string;
  onInput(value: string): void;
}) {
  return (
    <TextField
      label="Webhook"
      hint="A URL; {{HOOKS}} in it is a variable of the service's environment."
      value={value}
      placeholder={placeholder}
      onInput={onInput}
    />
  );
}
